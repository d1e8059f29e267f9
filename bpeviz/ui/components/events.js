// How the player and what follows its step talk, within the page. So the player's data is not sent
// again when its step changes, nor when Python sends it to another.

const STEP = "bpeviz-step"; // the player stands at {step, film}
const ASK = "bpeviz-ask"; // where does it stand? It tells all, or only whom `detail` calls
const JUMP = "bpeviz-jump"; // go to a step
const PICK = "bpeviz-pick"; // this word was clicked

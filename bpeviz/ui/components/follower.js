// Tells Python where the player stands, and sends the player where Python asks. It is a component
// of its own, without a face, so that only what follows the step is run again.

const obeyed = new Map(); // follower → the number of the last jump
const followers = new WeakMap(); // a component's root → how to stop listening

export default function ({ data, parentElement, setStateValue }) {
  if (!followers.has(parentElement)) {
    const told = ({ detail }) => data.steps && setStateValue("step", detail);
    let picks = 0; // so that the same word may be clicked again
    const picked = ({ detail }) => data.picks && setStateValue("word", { word: detail, number: ++picks });
    document.addEventListener(STEP, told);
    document.addEventListener(PICK, picked);
    followers.set(parentElement, () => {
      document.removeEventListener(STEP, told);
      document.removeEventListener(PICK, picked);
    });
    document.dispatchEvent(new CustomEvent(ASK));
  }
  const { jump, name } = data;
  if (jump && obeyed.get(name) !== jump.number) {
    obeyed.set(name, jump.number);
    document.dispatchEvent(new CustomEvent(JUMP, { detail: jump.step }));
  }
  return () => {
    followers.get(parentElement)?.();
    followers.delete(parentElement);
  };
}

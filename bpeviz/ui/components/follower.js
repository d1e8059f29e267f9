// Tells Python where the player stands, and sends the player where Python asks. It is a component
// of its own, without a face, so that only what follows the step is run again.

const obeyed = new Map(); // follower → the number of the last jump
const followers = new WeakMap(); // a component's root → how to stop listening

// Who goes to another page must not tell anything more from this one: where a fragment is asked for
// that the next page does not have, Streamlit clears that page. The address changes when the next
// page begins; until then it is known from the click. The link may also open another tab.
const LEAVING = 3000; // milliseconds
let left = { from: "", at: 0 };
const stays = (home) =>
  location.pathname === home && (left.from !== home || performance.now() - left.at > LEAVING);

// Streamlit sends what is told in the next moment. A click that comes before that waits for it.
let telling = false;
function tell(send) {
  telling = true;
  send();
  setTimeout(() => (telling = false));
}

function goes(event) {
  const link = event.target.closest?.("a");
  if (!link) return;
  if (telling && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    event.stopImmediatePropagation();
    setTimeout(() => link.click());
    return;
  }
  left = { from: location.pathname, at: performance.now() };
  setTimeout(() => document.dispatchEvent(new CustomEvent(ASK)), LEAVING + 50);
}
document.addEventListener("click", goes, true);

export default function ({ data, parentElement, setStateValue }) {
  if (!followers.has(parentElement)) {
    const home = location.pathname;
    const told = ({ detail }) =>
      data.steps && stays(home) && tell(() => setStateValue("step", detail));
    let picks = 0; // so that the same word may be clicked again
    const picked = ({ detail }) =>
      data.picks && tell(() => setStateValue("word", { word: detail, number: ++picks }));
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

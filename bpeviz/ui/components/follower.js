// Tells Python where the player stands, and sends the player where Python asks. It is a component
// of its own, without a face, so that only what follows the step is run again.

const obeyed = new Map(); // follower → the number of the last jump
const followers = new WeakMap(); // a component's root → how to stop listening

// Who goes to another page must not tell anything more from this one: where a fragment is asked for
// that the next page does not have, Streamlit clears that page. The link may also open another tab.
const LEAVING = 3000; // milliseconds
let left = -Infinity;
const stays = () => performance.now() - left > LEAVING;
const goes = ({ target }) => {
  if (!target.closest?.("a")) return;
  left = performance.now();
  setTimeout(() => stays() && document.dispatchEvent(new CustomEvent(ASK)), LEAVING + 50);
};

export default function ({ data, parentElement, setStateValue }) {
  if (!followers.has(parentElement)) {
    const told = ({ detail }) => data.steps && stays() && setStateValue("step", detail);
    let picks = 0; // so that the same word may be clicked again
    const picked = ({ detail }) => data.picks && setStateValue("word", { word: detail, number: ++picks });
    document.addEventListener(STEP, told);
    document.addEventListener(PICK, picked);
    document.addEventListener("click", goes, true);
    followers.set(parentElement, () => {
      document.removeEventListener(STEP, told);
      document.removeEventListener(PICK, picked);
      document.removeEventListener("click", goes, true);
      left = -Infinity;
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

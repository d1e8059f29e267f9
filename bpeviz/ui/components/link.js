// The button that copies a link to what is on the page. Python packs the choices when the button is
// pressed (`bpeviz/ui/links.py`); the step is known here, from the player.

const SHOWN = 2500; // milliseconds for which the button says how it went

// Where the player stands, if there is one. It answers at once.
function stepNow() {
  let now = null;
  document.dispatchEvent(new CustomEvent(ASK, { detail: (step) => (now = step) }));
  return now;
}

// Copy a text that is still on its way. Browsers let a page do so for some seconds after a press.
async function copied(coming) {
  try {
    const blob = coming.then((text) => new Blob([text], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    return true;
  } catch {
    // Without https there is no such clipboard (as in a room that opens a teacher's machine), but
    // there is this older way.
    const field = document.body.appendChild(document.createElement("textarea"));
    field.value = await coming;
    field.style.cssText = "position: fixed; opacity: 0";
    const before = document.activeElement;
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    before?.focus?.({ preventScroll: true });
    return done;
  }
}

class Button {
  constructor(root) {
    this.button = root.querySelector(".link");
    this.words = root.querySelector(".words");
    this.byHand = root.querySelector(".by-hand");
    this.byHand.addEventListener("keydown", ({ key }) => key === "Escape" && this.close());
    this.byHand.addEventListener("focusout", () => this.close());
  }

  async press(ask) {
    if (this.waiting) return;
    const step = stepNow();
    const number = Date.now();
    const coming = new Promise((arrived) => (this.waiting = { number, arrived })).then((packed) => {
      const address = new URL(location.pathname, location.origin);
      address.searchParams.set("s", packed);
      if (step !== null) address.searchParams.set("step", step);
      return address.href;
    });
    ask(number);
    const done = await copied(coming);
    if (!done) {
      const field = this.byHand.querySelector("input");
      field.value = await coming;
      this.byHand.hidden = false;
      field.select();
    }
    this.say(done ? "Copied" : "Not copied");
  }

  arrived({ number, packed }) {
    if (this.waiting?.number !== number) return;
    this.waiting.arrived(packed);
    this.waiting = null;
  }

  say(words) {
    this.words.textContent = words;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.words.textContent = "Copy link"), SHOWN);
  }

  close() {
    this.byHand.hidden = true;
  }
}

const buttons = new WeakMap(); // a component's root → its button

export default function ({ data, parentElement, setStateValue }) {
  let button = buttons.get(parentElement);
  if (!button) buttons.set(parentElement, (button = new Button(parentElement)));
  button.button.onclick = () => button.press((number) => setStateValue("asked", number));
  button.arrived(data);
  return () => buttons.delete(parentElement);
}

// The button that copies a link to what is on the page. Python packs the choices when the button is
// pressed (`bpeviz/ui/permalink/session.py`); the step is known here, from the player.

const SHOWN = 2500; // milliseconds for which the button says how it went
const ASK_AGAIN = 1000; // milliseconds
const MOST_TIMES = 60;

// Where the player stands, if there is one. It answers at once.
function stepNow() {
  let found = null;
  document.dispatchEvent(new CustomEvent(ASK, { detail: (step) => (found = step) }));
  return found;
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
    const before = now.root.activeElement ?? document.activeElement;
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    before?.focus?.({ preventScroll: true });
    return done;
  }
}

// One button for the page. Streamlit may put another in its place at any time, also between a press
// and the answer; so what is waited for stands here, and `root` and `ask` are of the one there now.
const now = { root: null, ask: null, waiting: null, timer: null };
const find = (selector) => now.root.querySelector(selector);

async function press() {
  const step = stepNow();
  const coming = asked().then((packed) => {
    const address = new URL(location.pathname, location.origin);
    address.searchParams.set("s", packed);
    if (step !== null) address.searchParams.set("step", step);
    return address.href;
  });
  const done = await copied(coming);
  if (!done) showByHand(await coming);
  say(done ? "Copied" : "Not copied");
}

// Ask Python for what is packed, and ask again: of two that ask in the same moment, as when the
// player tells where it stands, Streamlit only hears one.
function asked() {
  const waiting = (now.waiting = { first: Date.now() });
  const answer = new Promise((arrived) => (waiting.arrived = arrived));
  let times = 0;
  const ask = () => {
    if (now.waiting !== waiting || ++times > MOST_TIMES) return clearInterval(waiting.timer);
    now.ask(Date.now());
  };
  waiting.timer = setInterval(ask, ASK_AGAIN);
  ask();
  return answer;
}

function arrived({ number, packed }) {
  if (!now.waiting || number < now.waiting.first) return;
  clearInterval(now.waiting.timer);
  now.waiting.arrived(packed);
  now.waiting = null;
}

function say(words) {
  find(".words").textContent = words;
  clearTimeout(now.timer);
  now.timer = setTimeout(() => (find(".words").textContent = "Copy link"), SHOWN);
}

function showByHand(address) {
  const field = find(".by-hand input");
  field.value = address;
  find(".by-hand").hidden = false;
  field.select();
}

export default function ({ data, parentElement, setStateValue }) {
  now.root = parentElement;
  now.ask = (number) => setStateValue("asked", number);
  const byHand = find(".by-hand");
  find(".link").onclick = press;
  byHand.onkeydown = ({ key }) => key === "Escape" && (byHand.hidden = true);
  byHand.onfocusout = () => (byHand.hidden = true);
  arrived(data);
}

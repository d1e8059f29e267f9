// The buttons that copy a link to the page or the code of a frame, and that ask for its QR code. Python
// writes the settings when one is pressed (`bpeviz/ui/permalink/session.py`); the step comes from the player.

import { withParameters } from "../shared/address.js";
import { copyText } from "../shared/clipboard.js";
import { currentStep, sendUntil } from "../shared/events.js";

const RESULT_SHOWN = 2500; // milliseconds
const RETRY_AFTER = 1000; // milliseconds
const PICTURES = ".st-key-player, .st-key-lock_step, .st-key-score, .st-key-texts_table, .st-key-inspect_player, .st-key-grid";

// A page has these buttons once. Streamlit may replace them at any time, also between a press and the answer:
// the pending request is stored here, with `root` and `send` of the present button.
const button = { root: null, send: null, pending: null, fitFrames: "" };
const find = (selector) => button.root.querySelector(selector);

/**
 * @param {string} selector of the button
 * @param {(url: URL) => string} write returns what is copied
 */
async function press(selector, write) {
  const step = currentStep();
  const text = request(step, false).then(({ query, page }) => {
    const url = new URL(page || location.origin + location.pathname);
    url.search = query;
    const tour = new URLSearchParams(location.search).get("tour");
    return write(
      withParameters(url.href, (given) => {
        if (step !== null) given.set("step", String(step));
        if (tour) given.set("tour", tour);
      }),
    );
  });
  const isCopied = await copyText(text, button.root);
  if (!isCopied) {
    find(".by-hand input").value = await text;
    find(".by-hand").hidden = false;
    find(".by-hand input").select();
  }
  showResult(selector, isCopied ? "Copied" : "Not copied");
}

/** Return the HTML of a frame that is as high as the page's picture. */
function embedCode(url) {
  const { href } = withParameters(url.href, (given) => given.set("embed", "true"));
  const height = Math.ceil(document.querySelector(PICTURES)?.getBoundingClientRect().height ?? 700);
  const address = href.replaceAll("&", "&amp;");
  return `<iframe src="${address}" title="${document.title}" width="100%" height="${height + 16}" style="border: 0" allow="fullscreen"></iframe>\n${button.fitFrames}`;
}

// Ask Python for the settings.
function request(step, qr) {
  const pending = (button.pending = { first: Date.now(), ...Promise.withResolvers() });
  const send = () => button.send({ number: Date.now(), page: location.origin + location.pathname, step, qr });
  sendUntil(send, () => button.pending !== pending, RETRY_AFTER);
  return pending.promise;
}

function receive(answer) {
  const { pending } = button;
  if (!pending || answer.request < pending.first) return;
  pending.resolve(answer);
  button.pending = null;
}

function showResult(selector, words) {
  const shown = find(`${selector} .words`);
  const name = (shown.dataset.name ??= shown.textContent);
  shown.textContent = words;
  setTimeout(() => (shown.textContent = name), RESULT_SHOWN);
}

/**
 * @typedef {object} CopyLinkPayload
 * @property {number} request the request that is answered, 0 for none
 * @property {string} query the page's settings
 * @property {string} [page] the page's address as others reach it
 * @property {boolean} [isEmbeddable] whether pages of others may show the app in a frame
 * @property {string} fitFrames the script that makes frames as high as their content
 */

/**
 * @param {any} root
 * @param {CopyLinkPayload} data
 * @param {(name: string, value: any) => void} on
 */
export function mount(root, data, on) {
  button.root = root;
  button.fitFrames = data.fitFrames;
  button.send = (request) => on("request", request);
  const byHand = find(".by-hand");
  find(".copy-link").onclick = () => press(".copy-link", (url) => url.href);
  find(".copy-embed").onclick = () => press(".copy-embed", embedCode);
  find(".copy-embed").hidden = !data.isEmbeddable;
  find(".show-code").onclick = () => request(currentStep(), true); // Python shows it
  byHand.onkeydown = ({ key }) => key === "Escape" && (byHand.hidden = true);
  byHand.onfocusout = () => (byHand.hidden = true);
  receive(data);
}

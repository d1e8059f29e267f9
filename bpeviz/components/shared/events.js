// Two events of the document: a menu asks the player for its step, and a button of the player or of a tour
// leads on, to the text or to a page.

export const STEP_REQUESTED = "bpeviz-step-requested"; // detail: a callback
export const WAY_CHOSEN = "bpeviz-way-chosen"; // detail: "text", or the title of a page

/**
 * @param {string} name
 * @param {any} [detail]
 */
export const emit = (name, detail = null) => document.dispatchEvent(new CustomEvent(name, { detail }));

/**
 * Call `listener` with the detail of each event, until `signal` is aborted.
 * @param {string} name
 * @param {(detail: any) => void} listener
 * @param {AbortSignal} signal
 */
export function subscribe(name, listener, signal) {
  document.addEventListener(name, (event) => listener(/** @type {CustomEvent} */ (event).detail), { signal });
}

/**
 * Send a message until it is answered: of two components that report at the same time, as when the player
 * reports its step, Streamlit receives one.
 * @param {() => void} send
 * @param {() => any} isAnswered also where the message is out of date
 * @param {number} pause milliseconds
 */
export function sendUntil(send, isAnswered, pause) {
  send();
  const timer = setInterval(() => (isAnswered() ? clearInterval(timer) : send()), pause);
}

/**
 * Return the player's step, or null without a player.
 * @returns {number | null}
 */
export function currentStep() {
  let step = null;
  emit(STEP_REQUESTED, (value) => (step = value));
  return step;
}

// Events of the document, by which the frame of a page, a tour or a room asks the player or sends it to a step.

export const STEP_REQUESTED = "bpeviz-step-requested"; // detail: a callback
export const FOLLOW = "bpeviz-follow"; // detail: the display of a room's leader (`room/room.js`); the focus stays
export const DISPLAY_REQUESTED = "bpeviz-display-requested"; // detail: a callback
export const JUMP = "bpeviz-jump"; // detail: the step to go to

export const WAY_CHOSEN = "bpeviz-way-chosen"; // detail: "text", or the title of a page

export const TEXT_TYPED = "bpeviz-text-typed"; // a key was pressed in the box of the text
export const TEXT_SENT = "bpeviz-text-sent"; // a new text is used, and plays once typing has paused; detail: returns whether a text is the part shown of it
export const TEXT_WRITTEN = "bpeviz-text-written"; // a new text was written or opened, and typing has paused; detail: returns whether a text is the part shown of it

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
 * Return the player's step, or null without a player.
 * @returns {number | null}
 */
export const currentStep = () => asked(STEP_REQUESTED);

/**
 * @typedef {object} Display the state of a player that followers in a room see, too
 * @property {number} step
 * @property {boolean} playing
 * @property {number} speed
 * @property {number[] | null} lit the token that is pointed at: the index of its text, and an atom of it
 */

/**
 * Return the display of the player, or null without one.
 * @returns {Display | null}
 */
export const currentDisplay = () => asked(DISPLAY_REQUESTED);

function asked(name) {
  let answer = null;
  emit(name, (value) => (answer = value));
  return answer;
}

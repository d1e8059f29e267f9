// The arithmetic of the player's controls.

import { firstIndex } from "../shared/search.js";

/** The action of each key; letters in lower case. */
export const KEY_ACTIONS = {
  " ": "play",
  ArrowRight: "forward",
  ArrowLeft: "back",
  Home: "first",
  End: "last",
  ".": "next-token",
  ",": "previous-token",
  Enter: "tree",
  p: "projector",
  Escape: "close",
};

/**
 * Return the nearest step of a timeline.
 * @param {number} step
 * @param {number} last
 */
export const clampStep = (step, last) => Math.max(0, Math.min(last, Math.round(step)));

/**
 * Return the step to which an action leads.
 * @param {"first" | "back" | "forward" | "last"} action
 * @param {number} step
 * @param {number} last
 */
export const stepAfter = (action, step, last) =>
  clampStep({ first: 0, back: step - 1, forward: step + 1, last }[action], last);

/**
 * Return the last step whose vocabulary size is at most `size`, or 0.
 * @param {number[]} vocabSizes increasing
 * @param {number} size
 */
export const stepOfSize = (vocabSizes, size) =>
  Math.max(0, firstIndex(vocabSizes.length, (i) => vocabSizes[i] > size) - 1);

/**
 * Return the difference of two token counts in percent, rounded to one digit. It is below 100 while
 * any token is left.
 * @param {number} first
 * @param {number} now
 */
export const percentChange = (first, now) => {
  const percent = Math.round(Math.abs(1 - now / first) * 1000) / 10;
  return now > 0 && now < first ? Math.min(percent, 99.9) : percent;
};

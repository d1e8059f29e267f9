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
  Enter: "merges",
  p: "projector",
  "?": "help",
  Escape: "close",
};

// The keys that controls use themselves.
const USED_KEYS = {
  "textarea, select, [role=textbox], [role=searchbox], [role=combobox], [role=listbox], [role=option], [role=menu], [role=menuitem], [role=grid], [role=tree], [role=application]": /^/,
  "input:not([type]), input:is([type=text], [type=search], [type=email], [type=url], [type=tel], [type=password], [type=date], [type=time])": /^/,
  "[type=number], [role=spinbutton]": /^(Arrow|Page|(Home|End|Enter|[-+.,eE\d])$)/,
  "[type=range], [role=slider]": /^(Arrow|Page|(Home|End)$)/,
  "[type=radio], [role=radio], [role=radiogroup], [role=tab], [role=tablist]": /^(Arrow|Page|(Home|End|Enter| )$)/,
  "[type=checkbox], [role=checkbox], [role=switch], button, summary, [role=button]": /^(Enter| )$/,
  "a, [role=link]": /^Enter$/,
};

/**
 * Return whether a key is a letter or a punctuation mark: users can switch such shortcuts off (WCAG 2.1.4).
 * @param {string} key
 */
export const isSingleCharacter = (key) => [...key].length === 1 && key !== " ";

/**
 * Return whether a focused control uses a key itself, so that it is not a shortcut.
 * @param {any} control
 * @param {string} key
 */
export const usesKey = (control, key) =>
  control.isContentEditable || Object.entries(USED_KEYS).some(([controls, keys]) => keys.test(key) && control.matches(controls));

/**
 * Return the nearest step of a timeline.
 * @param {number} step
 * @param {number} last
 */
export const clampStep = (step, last) => Math.max(0, Math.min(last, Math.round(step)));

/**
 * Return how many of the steps up to `step` change the text.
 * @param {number[] | null | undefined} changing the steps that do, in order; none if all do
 * @param {number} step
 */
export const rankOf = (changing, step) => (changing ? firstIndex(changing.length, (i) => changing[i] > step) : step);

/** Return the step of a rank: the inverse of `rankOf`. */
export const stepOfRank = (changing, rank) => (changing && rank > 0 ? changing[rank - 1] : Math.max(0, rank));

/**
 * Return the step to which an action leads. Back and forward pass over steps that change nothing.
 * @param {"first" | "back" | "forward" | "last"} action
 * @param {number} step
 * @param {number} last
 * @param {number[] | null} [changing] the steps that change the text; none if all do
 */
export function stepAfter(action, step, last, changing) {
  if (action === "first" || action === "last") return action === "first" ? 0 : last;
  if (action === "back") return stepOfRank(changing, rankOf(changing, step - 1));
  return Math.max(step, stepOfRank(changing, Math.min(rankOf(changing, step) + 1, rankOf(changing, last))));
}

/**
 * Return the last step whose vocabulary size is at most `size`, or 0.
 * @param {number[]} vocabSizes increasing
 * @param {number} size
 */
export const stepOfSize = (vocabSizes, size) =>
  Math.max(0, firstIndex(vocabSizes.length, (i) => vocabSizes[i] > size) - 1);

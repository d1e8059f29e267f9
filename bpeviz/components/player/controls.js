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

const NAVIGATION = /^(Arrow|Page|Home$|End$)/;
const TEXT_INPUTS = ["text", "search", "email", "url", "tel", "password", "date", "time"];
const CHOICES = ["combobox", "listbox", "option", "menu", "menuitem", "grid", "tree", "application"];

/**
 * Return whether a key is a letter or a punctuation mark: users can switch such shortcuts off (WCAG 2.1.4).
 * @param {string} key
 */
export const isSingleCharacter = (key) => [...key].length === 1 && key !== " ";

/**
 * Return whether a focused control uses a key itself, so that it is not a shortcut.
 * @param {{tag: string, type?: string, role?: string | null, editable?: boolean}} control tag in lower case
 * @param {string} key
 */
export function usesKey({ tag, type = "", role = null, editable = false }, key) {
  if (editable || tag === "textarea" || tag === "select" || role === "textbox" || role === "searchbox") return true;
  if (CHOICES.includes(role)) return true;
  if (tag === "input" && TEXT_INPUTS.includes(type)) return true;
  if ((tag === "input" && type === "number") || role === "spinbutton")
    return NAVIGATION.test(key) || /^[-+.,eE\d]$/.test(key) || key === "Enter";
  if ((tag === "input" && type === "range") || role === "slider") return NAVIGATION.test(key);
  if (type === "radio" || ["radio", "radiogroup", "tab", "tablist"].includes(role))
    return NAVIGATION.test(key) || key === " " || key === "Enter";
  if (type === "checkbox" || role === "checkbox" || role === "switch") return key === " " || key === "Enter";
  if (tag === "button" || tag === "summary" || role === "button") return key === " " || key === "Enter";
  return (tag === "a" || role === "link") && key === "Enter";
}

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

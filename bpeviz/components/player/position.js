// The step at which a timeline is shown: after other data, a change of page, or a reload.

import { store, stored } from "../shared/storage.js";
import { rankOf, stepOfRank } from "./controls.js";

const STORED_STEP = "bpeviz-step";
const MAX_STORED = 20; // timelines

/** Return the last step that changes the text: the end of playback. */
const lastChange = ({ changingSteps, last }) => stepOfRank(changingSteps, rankOf(changingSteps, last));

/**
 * Return the step to show when new data arrive.
 *
 * Another size never moves the step, unless it lies beyond the end. Each timeline remembers its
 * step. Another training of the same text keeps the step, and the end stays the end. Else the new
 * timeline begins at its initial step, also where there were no steps before. A task about pairs begins
 * at the last step, whose pairs it asks about.
 * @param {import("./player.js").PlayerPayload | undefined} before the data shown before
 * @param {number} step the step shown before
 * @param {import("./player.js").PlayerPayload} data
 * @param {Map<string, number>} known the last step of each timeline
 */
export function shownStep(before, step, data, known) {
  const isSame = before !== undefined && (before.key === data.key || isPartOfSame(before, data));
  const isAsked = data.task?.act === "pair" && !data.task.isVote;
  if (!isSame && isAsked) return data.last;
  return Math.min(isSame ? step : (known.get(data.key) ?? begin()), data.last);

  function begin() {
    const first = data.initialStep === data.last ? lastChange(data) : data.initialStep;
    if (!before?.last || before.views.length > 1 || data.views.length > 1) return first;
    if (step >= lastChange(before)) return lastChange(data);
    return before.views[0].text === data.views[0].text ? step : first;
  }
}

/** Return whether two parts are of one text, with the same steps. */
function isPartOfSame(one, other) {
  const [[first], [second]] = [one.views, other.views];
  const counts = ({ views }) => String(views.map(({ tokenCounts }) => tokenCounts));
  return Boolean(first.part && second.part) && first.part[2] === second.part[2] && counts(one) === counts(other);
}

/**
 * Return the step of each known timeline: after a reload, those that the tab showed before. Any other way to
 * open the page begins with its link.
 * @returns {Map<string, number>}
 */
export function storedSteps() {
  const [navigation] = globalThis.performance?.getEntriesByType?.("navigation") ?? [];
  return ["reload", "back_forward"].includes(/** @type {any} */ (navigation)?.type) ? steps() : new Map();
}

/** @returns {Map<string, number>} */
function steps() {
  try {
    const entries = JSON.parse(stored(STORED_STEP, "sessionStorage") ?? "[]");
    return new Map(entries.filter(([, step]) => Number.isInteger(step) && step >= 0));
  } catch {
    return new Map();
  }
}

/** @param {{key: string, step: number}} position of a timeline */
export function storeStep({ key, step }) {
  const known = steps();
  known.delete(key); // the last one is the newest
  const entries = [...known, [key, step]].slice(-MAX_STORED);
  store(STORED_STEP, JSON.stringify(entries), "sessionStorage");
}

// Reports the player's step, clicked words and chosen parts to Python, and brings it candidates. It
// is a component of its own, without markup, so that only the fragments that use it run again.

import {
  PART_CHOSEN,
  RACE,
  RACE_REQUESTED,
  RACE_WATCHED,
  STEP_CHANGED,
  STEP_REQUESTED,
  WORD_CLICKED,
  emit,
  subscribe,
} from "../shared/events.js";

const controllers = new WeakMap(); // root element → ends its listeners
const races = new WeakMap(); // root element → the candidates that it has sent

// After a click on a link to another page, this page must not report: if Streamlit is asked for a
// fragment that the next page lacks, it clears that page. The address changes only when the next page
// starts, and the link may also open another tab.
const LEAVING = 3000; // milliseconds
let left = { path: "", at: 0 };
const isLeaving = (path) =>
  location.pathname !== path || (left.path === path && performance.now() - left.at <= LEAVING);

// Streamlit sends a report in the next task. A click on a link before that waits for it.
let isReporting = false;
function report(send) {
  isReporting = true;
  send();
  setTimeout(() => (isReporting = false));
}

function onClick(event) {
  const link = event.target.closest?.("a");
  if (!link) return;
  if (isReporting && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    event.stopImmediatePropagation();
    setTimeout(() => link.click());
    return;
  }
  left = { path: location.pathname, at: performance.now() };
  setTimeout(() => emit(STEP_REQUESTED), LEAVING + 50);
}
document.addEventListener("click", onClick, true);

/**
 * @typedef {object} PlayerEventsPayload
 * @property {boolean} steps whether to report steps
 * @property {boolean} words whether to report clicked words
 * @property {boolean} parts whether to report parts of a text that the user opens
 * @property {import("../player/bars.js").RacePayload[] | null} races the candidates of the steps, which arrive later than the
 *   player, so that its payload stays small; null without them, and while the player draws a text
 */

/**
 * @param {any} root
 * @param {PlayerEventsPayload} data
 * @param {(name: string, value: any) => void} on
 */
export function mount(root, data, on) {
  if (!controllers.has(root)) {
    const controller = new AbortController();
    const { signal } = controller;
    controllers.set(root, controller);
    const path = location.pathname;
    let clicks = 0; // so that the same word or part may be clicked again
    const onStep = (step) => data.steps && !isLeaving(path) && report(() => on("step", step));
    const onWord = (word) => data.words && report(() => on("word", { word, number: ++clicks }));
    const onPart = (character) => data.parts && report(() => on("part", { character, number: ++clicks }));
    subscribe(STEP_CHANGED, onStep, signal);
    subscribe(PART_CHOSEN, onPart, signal);
    subscribe(WORD_CLICKED, onWord, signal);
    subscribe(RACE_REQUESTED, () => races.get(root) && emit(RACE, races.get(root)), signal);
    subscribe(RACE_WATCHED, () => races.get(root) && on("watched", races.get(root)[0].timelineId), signal);
    emit(STEP_REQUESTED);
  }
  races.set(root, data.races);
  if (data.races) emit(RACE, data.races);
  return () => {
    controllers.get(root)?.abort();
    controllers.delete(root);
  };
}

// The chapters of the Learn page as ticks, with the name of the present one. It stores the user's answers and marks in the
// browser, and sends them to a session that does not have them.

import { withParameters } from "../shared/address.js";
import { component, element, newButton } from "../shared/dom.js";
import { store, stored } from "../shared/storage.js";

const STORE = "bpeviz-learn";
const EMPTY = { answers: {}, marks: {} };

/** @typedef {{answers: Record<string, any>, marks: Record<string, string>}} Progress */

/**
 * Return the stored progress, which is empty at first or where storage is switched off.
 * @returns {Progress}
 */
function storedProgress() {
  try {
    return { ...EMPTY, ...JSON.parse(stored(STORE) ?? "{}") };
  } catch {
    return EMPTY; // it is damaged
  }
}

/**
 * @typedef {object} ChapterBarPayload
 * @property {{key: string, number: string, title: string, marks: (string | null)[]}[]} chapters
 * @property {string} current the key of the present chapter
 * @property {string} place the present question
 * @property {string} progress the answers and marks of the session, as JSON
 * @property {boolean} cleared whether the user started again
 * @property {string} session identifies the session
 * @property {string} names the parameter of the address that lacks the present question, or ""
 */

class ChapterBar {
  constructor(root) {
    this.nav = root.querySelector("nav");
    this.name = root.querySelector("b");
    this.list = root.querySelector("ol");
  }

  /** @param {ChapterBarPayload} data */
  update(data, setState) {
    this.go = (key) => setState("chapter", { key, number: Date.now() });
    const own = JSON.parse(data.progress);
    const saved = data.cleared ? EMPTY : storedProgress();
    // Another tab may have stored more; the first mark of a question counts.
    const all = { answers: { ...saved.answers, ...own.answers }, marks: { ...own.marks, ...saved.marks } };
    store(STORE, JSON.stringify(all));
    const isMore = Object.values(saved).some((values) => Object.keys(values).length > 0);
    if (isMore && this.asked !== data.session) setState("restored", JSON.stringify(all));
    this.asked = data.session;
    if (data.names && /\/learn$/i.test(location.pathname)) {
      const url = withParameters(location.href, (given) => given.set(data.names, data.place));
      history.replaceState(history.state, "", url);
    }
    const key = JSON.stringify(data.chapters) + data.place;
    if (this.key === key) return;
    this.key = key;
    const isMoved = this.place !== undefined && this.place !== data.place;
    this.place = data.place;
    const focused = this.nav.getRootNode().activeElement?.dataset?.chapter;
    this.list.replaceChildren(...data.chapters.map((chapter) => this.#tick(chapter, data.current)));
    if (isMoved || focused) this.nav.querySelector("[aria-current]")?.focus({ preventScroll: true });
    // The button “Next” is below a question, and the next one begins below these ticks.
    if (isMoved) this.nav.scrollIntoView({ block: "start" });
  }

  #tick({ key, number, title, marks }, current) {
    const words = number ? `Chapter ${number}: ${title}` : title;
    const firsts = marks.filter((mark) => mark === "first").length;
    const isDone = marks.length > 0 && marks.at(-1) !== null;
    const state = isDone ? `, done, ${firsts} of ${marks.length} at the first try` : "";
    const button = newButton(isDone ? "done" : "", "", () => this.go(key), words + state);
    button.dataset.chapter = key;
    button.title = words + state;
    if (key === current) {
      button.setAttribute("aria-current", "step");
      this.name.textContent = number ? `${number} · ${title}` : title;
    }
    return element("li", "", button);
  }
}

export const mount = component(ChapterBar);

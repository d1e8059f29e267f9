// The chapters of the Learn page as a progress bar. It stores the user's answers in the tab, so
// that they survive a reload, and sends them to a session that does not have them.

import { component, element } from "../shared/dom.js";

const STORE = "bpeviz-learn";

/**
 * Return the value stored in this tab, or null where there is none or storage is switched off.
 * @returns {string | null}
 */
function stored() {
  try {
    return sessionStorage.getItem(STORE);
  } catch {
    return null;
  }
}

/** @param {string} value */
function store(value) {
  try {
    sessionStorage.setItem(STORE, value);
  } catch {
    // Without storage, answers last as long as the session.
  }
}

/**
 * @typedef {object} ChapterBarPayload
 * @property {{key: string, number: number, title: string, core: boolean, done: boolean}[]} chapters
 * @property {string} current
 * @property {string} progress the user's answers, as JSON
 * @property {string} session identifies the session
 */

class ChapterBar {
  constructor(root) {
    this.list = root.querySelector("ol");
    this.asked = null;
  }

  /** @param {ChapterBarPayload} data */
  update(data, setState) {
    const saved = stored();
    const isEmpty = data.progress === "{}";
    if (isEmpty && saved && saved !== "{}" && this.asked !== data.session && !data.cleared) {
      this.asked = data.session;
      setState("restored", saved);
    } else if (!isEmpty || data.cleared) store(data.progress);
    const key = JSON.stringify(data.chapters) + data.current;
    if (this.key === key) return;
    this.key = key;
    const isMoved = this.current !== undefined && this.current !== data.current;
    this.current = data.current;
    const focused = this.list.getRootNode().activeElement?.dataset?.chapter;
    this.list.replaceChildren(
      ...data.chapters.map((chapter) => {
        const item = element("li", chapter.core ? "core" : "more");
        const button = element("button", chapter.done ? "done" : "");
        button.type = "button";
        button.dataset.chapter = chapter.key;
        const state = chapter.done ? ", done" : "";
        const path = chapter.core ? "" : ", more";
        button.ariaLabel = `Chapter ${chapter.number}: ${chapter.title}${path}${state}`;
        button.title = `${chapter.title}${chapter.core ? "" : " (more)"}${state}`;
        if (chapter.key === data.current) button.setAttribute("aria-current", "step");
        button.append(element("span", "", String(chapter.number)));
        button.addEventListener("click", () => setState("chapter", { key: chapter.key, number: Date.now() }));
        item.append(button);
        return item;
      }),
    );
    const shown = isMoved ? data.current : focused;
    if (shown) this.list.querySelector(`[data-chapter="${CSS.escape(shown)}"]`)?.focus({ preventScroll: true });
    // The button “Next” is at the end of a chapter, and the next one begins below this bar.
    if (isMoved) this.list.scrollIntoView({ block: "start" });
  }
}

export const mount = component(ChapterBar);

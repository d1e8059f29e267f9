// The chapters of the Learn page as a progress bar. It stores the user's answers and marks in the
// browser, and sends them to a session that does not have them.

import { component, element } from "../shared/dom.js";

const STORE = "bpeviz-learn";
const SIGNS = { first: "●", second: "◐", shown: "○" };

/**
 * @typedef {{answers: Record<string, any>, marks: Record<string, string>}} Progress
 */

/**
 * Return the stored progress, which is empty at first or where storage is switched off.
 * @returns {Progress}
 */
function stored() {
  try {
    const { answers = {}, marks = {} } = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    return { answers, marks };
  } catch {
    return { answers: {}, marks: {} };
  }
}

/** @param {Progress} progress */
function store(progress) {
  try {
    localStorage.setItem(STORE, JSON.stringify(progress));
  } catch {
    // Without storage, answers last as long as the session.
  }
}

/**
 * @typedef {object} ChapterBarPayload
 * @property {{key: string, number: number, title: string, core: boolean, opened: boolean, marks: (string | null)[]}[]} chapters
 * @property {string} current
 * @property {string} progress the answers and marks of the session, as JSON
 * @property {boolean} cleared whether the user started again
 * @property {string} session identifies the session
 */

class ChapterBar {
  constructor(root) {
    this.list = root.querySelector("ol");
    this.asked = null;
  }

  /** @param {ChapterBarPayload} data */
  update(data, setState) {
    const own = JSON.parse(data.progress);
    const saved = data.cleared ? { answers: {}, marks: {} } : stored();
    // Another tab may have stored more; the first mark of a question counts.
    const all = { answers: { ...saved.answers, ...own.answers }, marks: { ...own.marks, ...saved.marks } };
    store(all);
    const isMore = Object.keys(saved.marks).length + Object.keys(saved.answers).length > 0;
    if (isMore && this.asked !== data.session) setState("restored", JSON.stringify(all));
    this.asked = data.session;
    const key = JSON.stringify(data.chapters) + data.current;
    if (this.key === key) return;
    this.key = key;
    const isMoved = this.current !== undefined && this.current !== data.current;
    this.current = data.current;
    const focused = this.list.getRootNode().activeElement?.dataset?.chapter;
    this.list.replaceChildren(
      ...data.chapters.map((chapter) => {
        const item = element("li", chapter.core ? "core" : "more");
        const { marks } = chapter;
        const firsts = marks.filter((mark) => mark === "first").length;
        const isDone = marks.at(-1) !== null;
        const button = element("button", isDone ? "done" : "");
        button.type = "button";
        button.dataset.chapter = chapter.key;
        const sum = isDone ? `, done, ${firsts} of ${marks.length} at the first try` : "";
        const state = sum || (chapter.opened ? ", opened" : "");
        const path = chapter.core ? "" : ", more";
        button.ariaLabel = `Chapter ${chapter.number}: ${chapter.title}${path}${state}`;
        button.title = `${chapter.title}${chapter.core ? "" : " (more)"}${state}`;
        if (chapter.key === data.current) button.setAttribute("aria-current", "step");
        button.append(element("span", "", String(chapter.number)));
        const signs = marks.map((mark) => SIGNS[mark] ?? "").join("");
        if (signs) button.append(element("small", "marks", signs));
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

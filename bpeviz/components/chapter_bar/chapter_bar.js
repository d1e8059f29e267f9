// The chapters of the Learn page as a progress bar. It stores the user's answers and marks in the
// browser, and sends them to a session that does not have them.

import { withParameters } from "../shared/address.js";
import { component, element, newButton } from "../shared/dom.js";
import { store, stored } from "../shared/storage.js";

const STORE = "bpeviz-learn";
const EMPTY = { answers: {}, marks: {} };

/**
 * @typedef {{answers: Record<string, any>, marks: Record<string, string>}} Progress
 */

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
 * @property {Record<string, string>} signs the sign of each mark
 * @property {string} current
 * @property {string} progress the answers and marks of the session, as JSON
 * @property {boolean} cleared whether the user started again
 * @property {string} session identifies the session
 * @property {string} names the parameter of the address that lacks the current chapter, or ""
 */

class ChapterBar {
  constructor(root, signal) {
    this.nav = root.querySelector("nav");
    this.menu = root.querySelector("select");
    this.list = root.querySelector("ol");
    this.sum = root.querySelector(".sum");
    this.asked = null;
    this.menu.addEventListener("change", () => this.go(this.menu.value), { signal });
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
      const url = withParameters(location.href, (given) => given.set(data.names, data.current));
      history.replaceState(history.state, "", url);
    }
    const key = JSON.stringify(data.chapters) + data.current;
    if (this.key === key) return;
    this.key = key;
    const isMoved = this.current !== undefined && this.current !== data.current;
    this.current = data.current;
    const active = this.nav.getRootNode().activeElement;
    const focused = active?.dataset?.chapter;
    this.signs = data.signs;
    this.list.replaceChildren();
    this.menu.replaceChildren();
    for (const chapter of data.chapters) this.#add(chapter, data.current);
    this.menu.value = data.current;
    const marks = data.chapters.flatMap((chapter) => chapter.marks).filter(Boolean);
    const count = (mark) => marks.filter((one) => one === mark).length;
    this.sum.textContent = marks.length
      ? `${count("first")} of ${marks.length} at the first try ${data.signs.first}, ${count("second")} at the second ${data.signs.second}`
      : "";
    const shown = isMoved ? data.current : focused;
    if (shown && active !== this.menu) this.#focus(shown);
    // The button “Next” is at the end of a chapter, and the next one begins below this bar.
    if (isMoved) this.nav.scrollIntoView({ block: "start" });
  }

  #focus(chapter) {
    const button = this.nav.querySelector(`[data-chapter="${CSS.escape(chapter)}"]`);
    (button?.offsetParent ? button : this.menu).focus({ preventScroll: true });
  }

  #add({ key, number, title, marks }, current) {
    const firsts = marks.filter((mark) => mark === "first").length;
    const isDone = marks.length > 0 && marks.at(-1) !== null;
    const state = isDone ? `, done, ${firsts} of ${marks.length} at the first try` : "";
    const words = number ? `Chapter ${number}: ${title}` : title;
    const item = element("li");
    const button = newButton(isDone ? "done" : "", `${number} ${title}`.trim(), () => this.go(key), words + state);
    button.dataset.chapter = key;
    if (state) button.title = state.slice(2);
    if (key === current) button.setAttribute("aria-current", "step");
    const signs = marks.map((mark) => this.signs[mark] ?? "").join("");
    if (signs) button.append(element("span", "marks", signs));
    item.append(button);
    this.list.append(item);
    const option = element("option", "", `${number ? `${number}. ` : ""}${title}${signs && ` ${signs}`}`);
    option.value = key;
    this.menu.append(option);
  }
}

export const mount = component(ChapterBar);

// The race: the best candidates of a step as bars, one for each value, with its candidates behind it.

import { element, moveFocus } from "../shared/dom.js";
import { formatFigure } from "../shared/format.js";

const LEAVING_TIME = 200; // milliseconds
const TURNS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * @typedef {object} RacePayload the payload from Python (`bpeviz.views.race.payload`)
 * @property {string} heading
 * @property {string} measure name of the value: "count" or "score"
 * @property {Group[][]} first the candidates of the first decisions
 * @property {boolean} [isUnwatched] whether these arrive once the player shows a step that lacks them
 * @property {{step: number, groups: Group[]} | null} atRest those of a later decision
 * @property {string} [note] says where candidates are absent, in a page that gets no others
 * @property {Object<string, [string, number]>} styles label and color index of each id
 */

/** @typedef {[number, number, number[][]]} Group a value, the number of its candidates, and the ids of the first */

/**
 * Return the candidates of the decision of a step, and at step 0 those of the first one.
 * @param {RacePayload} data
 * @param {number} step
 * @returns {Group[] | null} null where they are not known
 */
export function groupsAt({ first, atRest }, step) {
  const decision = Math.max(step, 1) - 1;
  return first[decision] ?? (atRest?.step === decision ? atRest.groups : null);
}

export class Bars {
  /**
   * @param {any} box
   * @param {import("./timeline_view.js").TimelineView} view
   * @param {(ids: number[] | null) => void} pointed called for a candidate that the user points at, and with null after it
   */
  constructor(box, view, pointed) {
    this.box = box;
    box.dir = view.dir;
    this.view = view;
    [this.heading, this.list, this.note] = ["h2", "ol", ".note"].map((name) => box.querySelector(name));
    this.rows = new Map();
    const point = ({ target }) => pointed(target.closest(".pair")?.ids ?? null);
    for (const name of ["pointerover", "focusin"]) this.list.addEventListener(name, point);
    for (const name of ["pointerleave", "focusout"]) this.list.addEventListener(name, () => pointed(null));
    this.list.addEventListener("keydown", (event) => moveFocus(event, this.#pairs, TURNS));
  }

  /** @param {RacePayload | null} data */
  update(data) {
    this.data = data;
    this.view.more = data?.styles;
  }

  /**
   * Show the candidates of a step. Where they are not known, those of another step stay with their heading.
   * @param {number} step
   * @param {number[]} taken the ids that its decision took
   * @param {(tied: string) => (string | Node)[]} headingOf returns the heading, with the tie of the winner
   * @returns {boolean | void} whether they may still arrive
   */
  show(step, taken, headingOf) {
    const groups = groupsAt(this.data, step);
    if (!groups && this.data.isUnwatched) return true;
    this.note.textContent = groups ? "" : (this.data.note ?? "");
    if (!groups && !this.data.note) return;
    const [value, ties, members] = groups?.[0] ?? [0, 0, []];
    const at = `${this.data.measure === "count" ? "" : `${this.data.measure} `}${formatFigure(value)}`;
    this.heading.replaceChildren(...(ties ? headingOf(ties > 1 ? `${ties} ${members[0].length > 1 ? "pairs" : "pieces"} tie at ${at}` : "") : []));
    const hasFocus = this.list.contains(this.list.getRootNode().activeElement);
    const longest = Math.max(...(groups ?? []).map(([value]) => value)) || 1;
    const rows = new Map();
    groups?.forEach((group, place) => rows.set(String(group[0]), this.#draw(group, place, longest, String(taken), [...rows.values()].at(-1))));
    for (const [key, row] of this.rows) if (!rows.has(key)) this.#remove(row);
    this.rows = rows;
    const [first] = this.#pairs;
    if (first) first.tabIndex = 0;
    if (hasFocus) first?.focus();
  }

  get #pairs() {
    return [...this.list.querySelectorAll(".group:not(.gone) .pair")];
  }

  #draw([value, number, members], place, longest, taken, before) {
    // An item of a list must not be a group.
    const row = this.rows.get(String(value)) ?? element("div", { className: "group", role: "group", ariaLabel: formatFigure(value) });
    row.style.setProperty("--place", place);
    row.style.setProperty("--share", String(Math.max(0, value) / longest));
    row.classList.toggle("wins", members.some((ids) => String(ids) === taken));
    const pairs = members.map((ids) => this.#pair(ids, String(ids) === taken));
    const more = number > members.length ? element("small", "more", `+${number - members.length}`) : "";
    row.replaceChildren(element("b", "value", row.ariaLabel), element("span", "length"), element("span", "pairs", ...pairs, more));
    if (!row.isConnected) before ? before.after(row) : this.list.prepend(row);
    return row;
  }

  #pair(ids, wins) {
    const properties = { className: wins ? "pair wins" : "pair", ids, tabIndex: -1, role: "option", ariaSelected: String(wins) };
    return element("span", properties, ...this.view.labels(ids));
  }

  #remove(row) {
    row.classList.add("gone");
    for (const pair of row.querySelectorAll(".wins")) pair.classList.remove("wins");
    row.ariaHidden = "true";
    setTimeout(() => row.remove(), LEAVING_TIME);
  }
}

// The race: the best candidates of a step as bars, the winner first.

import { element, tokenLabel } from "../shared/dom.js";
import { RACE_WATCHED, emit } from "../shared/events.js";
import { formatFigure } from "../shared/format.js";

/**
 * @typedef {object} RacePayload the payload from Python (`bpeviz.views.race.payload`)
 * @property {string} timelineId
 * @property {string} heading
 * @property {string} measure name of the value: "count" or "score"
 * @property {Row[][]} first the candidates of the first decisions
 * @property {boolean} [isUnwatched] whether these arrive once the player shows a step that lacks them
 * @property {{step: number, rows: Row[]} | null} atRest those of a later decision
 * @property {string} [note] says where candidates are absent, in a page that gets no others
 * @property {Object<string, [string, number]>} styles label and color index of each id
 */

/** @typedef {[number[], number]} Row ids, and the value that decides */

/**
 * @typedef {object} Bar
 * @property {string} key
 * @property {number[]} ids
 * @property {number} value
 * @property {number} share length relative to the longest bar
 * @property {boolean} wins
 * @property {boolean} equals whether it has the value of the winner
 */

/**
 * Return the bars of a step: the candidates of its decision, and at step 0 those of the first one.
 * @param {RacePayload} data
 * @param {number} step
 * @param {number[]} taken the ids that the decision took
 * @returns {Bar[] | null} null where they are not known
 */
export function barsAt(data, step, taken) {
  const decision = Math.max(step, 1) - 1;
  const rows = data.first[decision] ?? (data.atRest?.step === decision ? data.atRest.rows : null);
  if (!rows) return null;
  const longest = Math.max(...rows.map(([, value]) => value)) || 1;
  const winner = rows.find(([ids]) => String(ids) === String(taken));
  return rows.map((row) => ({
    key: String(row[0]),
    ids: row[0],
    value: row[1],
    share: Math.max(0, row[1]) / longest,
    wins: row === winner,
    equals: row !== winner && row[1] === winner?.[1],
  }));
}

export class Bars {
  /** @param {any} box */
  constructor(box) {
    this.box = box;
    this.heading = box.querySelector("h2");
    this.list = box.querySelector("ol");
    this.waiting = box.querySelector(".waiting");
    this.items = new Map();
  }

  /** @param {RacePayload | null} data */
  update(data) {
    this.data = data;
    if (data?.note) this.waiting.textContent = data.note;
    this.heading.replaceChildren();
    this.list.replaceChildren();
    this.items.clear();
  }

  /**
   * @param {number} step
   * @param {number[]} taken the ids that its decision took
   * @param {boolean} isPlaying
   * @param {string[]} words the heading, and those about the time and the text of the counts
   */
  show(step, taken, isPlaying, [heading, ...words]) {
    const bars = barsAt(this.data, step, taken);
    this.heading.replaceChildren(...(bars?.length === 0 ? [] : [heading, ...words.map((about) => element("small", "", about))]));
    if (!bars && this.data.isUnwatched) return emit(RACE_WATCHED);
    this.waiting.hidden = Boolean(bars) || !(isPlaying || this.data.note);
    const kept = new Map();
    bars?.forEach((bar, place) => kept.set(bar.key, this.#draw(bar, place)));
    for (const [key, item] of this.items) if (!kept.has(key)) this.#remove(item);
    this.items = kept;
  }

  #draw(bar, place) {
    const item = this.items.get(bar.key) ?? this.#add(bar);
    item.style.setProperty("--place", place);
    item.style.setProperty("--share", bar.share);
    item.classList.toggle("wins", bar.wins);
    item.querySelector(".value").textContent = formatFigure(bar.value);
    item.querySelector(".equal").textContent = bar.equals ? `same ${this.data.measure}` : "";
    return item;
  }

  #add({ ids }) {
    const item = element("li", "bar");
    const pair = element("span", "pair");
    pair.append(...ids.map((id) => tokenLabel(.../** @type {[string, number]} */ (this.data.styles[id]))));
    pair.title = pair.textContent;
    for (const byte of pair.querySelectorAll(".byte")) byte.textContent = byte.textContent.slice(1, -1); // fields, as on rulers
    item.append(pair, element("small", "equal"), element("b", "value"), element("span", "length"));
    return this.list.appendChild(item);
  }

  #remove(item) {
    item.classList.add("gone");
    item.ariaHidden = "true";
    setTimeout(() => item.remove(), 200);
  }
}

const MOST_GROUPS = 4;

/** Return bars that stand in the order of their values, in groups of one value. */
function grouped(bars) {
  const groups = new Map();
  for (const bar of bars) groups.set(bar.value, [...(groups.get(bar.value) ?? []), bar]);
  return [...groups.values()];
}

/** The race of one text: pairs of the same value are one group, in the order of the text. */
export class Ties extends Bars {
  constructor(box) {
    super(box);
    box.classList.add("tied");
    this.pointed = (ids) => {};
  }

  show(step, taken, isPlaying, [heading], ties = 0, rule = null) {
    const bars = barsAt(this.data, step, taken);
    if (!bars && this.data.isUnwatched) return emit(RACE_WATCHED);
    this.waiting.hidden = Boolean(bars) || !(isPlaying || this.data.note);
    const groups = grouped(bars ?? []).slice(0, MOST_GROUPS);
    const first = groups[0];
    const all = first ? Math.max(first.length, ties + 1) : 0;
    const isTie = all > 1;
    const { measure } = this.data;
    const value = first && formatFigure(first[0].value);
    this.heading.textContent = !first ? "" : isTie ? `${all} ${first[0].ids.length > 1 ? "pairs" : "pieces"} tie at ${measure === "count" ? "" : `${measure} `}${value}${rule ? `; ${rule}` : ""}` : heading;
    this.list.replaceChildren(...groups.map((group, i) => this.#group(group, i ? group.length : all)));
  }

  #group(group, all) {
    const item = element("li", "group");
    item.classList.toggle("wins", group.some(({ wins }) => wins));
    const length = element("span", "length");
    length.style.setProperty("--share", String(group[0].share));
    const pairs = element("span", "pairs");
    for (const bar of group) pairs.append(this.#pair(bar));
    item.append(element("b", "value", formatFigure(group[0].value)), length, pairs);
    if (all > group.length) item.append(element("small", "more", `+${all - group.length}`));
    return item;
  }

  #pair({ ids, wins }) {
    const pair = element("span", wins ? "pair wins" : "pair");
    pair.append(...ids.map((id) => tokenLabel(.../** @type {[string, number]} */ (this.data.styles[id]))));
    for (const byte of pair.querySelectorAll(".byte")) byte.textContent = byte.textContent.slice(1, -1);
    pair.tabIndex = 0;
    for (const name of ["mouseenter", "focus"]) pair.addEventListener(name, () => this.pointed(ids));
    for (const name of ["mouseleave", "blur"]) pair.addEventListener(name, () => this.pointed(null));
    return pair;
  }
}

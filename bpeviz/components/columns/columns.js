// One text under several tokenizers or pre-tokenizers, side by side. Positions are UTF-8 bytes, which
// all of them share, whatever their atoms are.

import { UNKNOWN_ID } from "../shared/cells.js";
import { CAN_SAVE, saveSheet } from "../shared/picture.js";
import { Tooltip, component, element, toggleFullscreen, tokenLabel } from "../shared/dom.js";
import { COLUMNS_DRAWN, COLUMNS_REQUESTED, DISPLAY_REQUESTED, FOLLOW, emit, subscribe } from "../shared/events.js";
import { counted } from "../shared/format.js";
import { firstIndex } from "../shared/search.js";
import { spokenBytes } from "../shared/spoken.js";
import { columnsSheet, drawColumn } from "./column.js";

const SCROLL_REST = 120; // milliseconds after which another column may lead the scrolling

let revealed = null; // a change of the page does not scroll again

/** @typedef {[number | null, string, string, number]} Token id, label, bytes in hex or a note, color */

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {number[]} tokenEnds where each token ends
 * @property {number[]} tokens the index of each in `distinct`
 * @property {Token[]} distinct
 * @property {number[]} extra boundaries that the baseline lacks
 * @property {number[]} missing boundaries of the baseline that this column lacks
 * @property {string[]} notes a line below the title, and lines below the text; for pre-tokens, all below
 * @property {number} tokenCount tokens of the whole text, of which a part may be shown
 * @property {boolean} [isBest] whether no other column has fewer tokens
 */

/**
 * @typedef {object} ColumnsPayload the payload from Python (`bpeviz.views.player.side_by_side`, `bpeviz.views.pretokenization.side_by_side`)
 * @property {string} key
 * @property {string} text
 * @property {Column[]} columns
 * @property {number} baseline index of the baseline, -1 for none
 * @property {boolean} [showIds] whether to show the id of each token
 * @property {boolean} [isShort] whether columns are only as high as the text
 * @property {boolean} [isLarge] whether the text is as large as in the player
 * @property {string} [unit] "token" unless given
 * @property {string} [ariaLabel] the accessible name of all columns
 * @property {import("../shared/picture.js").SheetPayload} [picture] the words around a picture of them, if it can be saved
 * @property {string} [verdict] the result of the comparison, for the projector; the page shows it, too
 * @property {number | null} [reveal] another number than before scrolls to the columns
 */

/**
 * Return the index of the token at a byte.
 * @param {number[]} ends
 * @param {number} byte
 */
export const tokenAt = (ends, byte) => firstIndex(ends.length, (i) => ends[i] > byte);

/**
 * Return how many tokens overlap bytes [start, end).
 * @param {number[]} ends
 * @param {number} start
 * @param {number} end
 */
export const countOverlapping = (ends, start, end) =>
  ends.filter((tokenEnd, i) => tokenEnd > start && (i ? ends[i - 1] : 0) < end).length;

/**
 * Return a token of a column in words, for screen readers.
 * @param {Column} column
 * @param {Uint8Array} bytes of the text
 * @param {number} index of the token
 */
export function tokenInWords({ tokenEnds, tokens, distinct, extra, missing }, bytes, index) {
  const [start, end] = [index ? tokenEnds[index - 1] : 0, tokenEnds[index]];
  const [id, label, details] = distinct[tokens[index]];
  const words = [end > start ? spokenBytes(bytes.subarray(start, end)) : label];
  if (id === null) return [...words, details].filter(Boolean).join(", "); // a pre-token
  words.push(id < 0 ? details : `id ${id}`);
  if (extra.includes(end)) words.push("extra cut after it");
  const inside = missing.filter((at) => at > start && at < end).length;
  if (inside) words.push(`the baseline has ${counted(inside, "cut")} inside it`);
  return words.join(", ");
}

class Columns {
  constructor(root, signal) {
    this.root = root;
    const find = (selector) => root.querySelector(selector);
    this.board = find(".board");
    this.frame = find(".columns");
    this.tooltip = new Tooltip(find(".card"), this.board);
    this.columns = [];
    const on = (target, name, listener) => target.addEventListener(name, listener, { signal });
    on(this.frame, "mouseover", (event) => this.hover(event));
    on(this.frame, "mouseleave", () => this.clear());
    on(this.frame, "copy", (event) => {
      const column = this.columns.find(({ box }) => box.contains(event.composedPath()[0]));
      column?.score.copyTo(event, root);
    });
    this.save = find(".save-picture");
    on(this.save, "click", () => this.#save());
    on(find(".projector"), "click", () => toggleFullscreen(this.board));
    on(this.board, "fullscreenchange", () => this.#showVerdict());
    subscribe(COLUMNS_REQUESTED, () => this.key && this.#announce(), signal);
    subscribe(DISPLAY_REQUESTED, (callback) => callback({ step: 0, playing: false, speed: 1, lit: this.#lit }), signal);
    subscribe(FOLLOW, ({ lit }) => this.#follow(lit), signal);
  }

  // Other parts of the page wait until the columns are on the screen. A hidden page draws nothing.
  #announce() {
    const announce = () => setTimeout(() => emit(COLUMNS_DRAWN));
    if (document.hidden) announce();
    else requestAnimationFrame(announce);
  }

  // Beside the columns, the page itself shows the verdict.
  #showVerdict() {
    const verdict = this.root.querySelector(".verdict");
    verdict.hidden = !document.fullscreenElement;
    verdict.textContent = verdict.hidden ? "" : this.verdict;
  }

  /** @param {ColumnsPayload} data */
  update(data) {
    this.verdict = data.verdict ?? "";
    this.#showVerdict();
    if (this.key !== data.key) this.#draw(data);
    if (data.reveal && data.reveal !== revealed) this.#reveal();
    revealed = data.reveal ?? revealed;
  }

  #save() {
    const { picture } = this.data;
    saveSheet(columnsSheet(this.board, this.data, picture), picture.title, "tokens.svg");
  }

  #reveal() {
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    // The title and the choices of the page are above the columns.
    const shown = this.board.getRootNode().host?.closest(".st-key-shown_text") ?? this.board;
    shown.scrollIntoView({ block: "start", behavior: isCalm ? "instant" : "smooth" });
    this.board.focus({ preventScroll: true });
  }

  /** @param {ColumnsPayload} data */
  #draw(data) {
    this.key = data.key;
    this.clear();
    this.unit = data.unit ?? "token";
    if (data.ariaLabel) this.board.ariaLabel = data.ariaLabel;
    const { classList } = this.board;
    classList.toggle("pre-tokens", this.unit !== "token");
    classList.toggle("fitted", Boolean(data.isShort));
    classList.toggle("large", Boolean(data.isLarge));
    classList.toggle("single", data.columns.length < 2);
    classList.toggle("lossless", data.columns.every(({ distinct }) => distinct.every(([id]) => id !== UNKNOWN_ID)));
    this.root.querySelector(".foot").hidden = !data.verdict;
    this.data = data;
    this.save.hidden = !CAN_SAVE || !data.picture;
    this.columns = data.columns.map((column, i) => drawColumn(data, column, i === data.baseline));
    this.frame.replaceChildren(...this.columns.map(({ box }) => box));
    const bytes = new TextEncoder().encode(data.text);
    this.columns.forEach(({ list, tokens }, i) =>
      list.show(() => ({ count: tokens.length, words: (index) => tokenInWords(data.columns[i], bytes, index) })),
    );
    for (const { host } of this.columns) host.addEventListener("scroll", () => this.#scrolled(host));
    // Pre-tokenize reserves the height of its first text; another one may be shorter.
    if (this.unit !== "token")
      this.board.getRootNode().host?.closest("[class*=st-key-]")?.style.setProperty("min-height", "0");
    this.#announce();
  }

  // Scroll all columns together, so that the same place is visible in each.
  #scrolled(host) {
    if (this.scrolling && this.scrolling !== host) return;
    this.scrolling = host;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.scrolling = null), SCROLL_REST);
    const share = host.scrollTop / Math.max(1, host.scrollHeight - host.clientHeight);
    for (const other of this.columns)
      if (other.host !== host) other.host.scrollTop = share * (other.host.scrollHeight - other.host.clientHeight);
  }

  hover(event) {
    const column = this.columns.find(({ host }) => host.contains(event.target));
    const place = column?.score.at(event);
    if (!place) this.clear();
    else this.#light(column, place.atom);
  }

  get #lit() {
    return this.lit ? [this.columns.indexOf(this.lit.column), this.lit.span[0]] : null;
  }

  // The token that the leader of a room points at.
  #follow(lit) {
    if (String(lit) === this.litByLeader) return; // a follower may point elsewhere meanwhile
    this.litByLeader = String(lit);
    const column = this.columns[lit?.[0]];
    if (!column) return this.clear();
    column.cells.reveal(lit[1]);
    this.#light(column, lit[1]);
  }

  /** Light the token of a column at a byte, in all columns. */
  #light(column, byte) {
    const i = tokenAt(column.ends, byte);
    const [start, end] = [i ? column.ends[i - 1] : 0, column.ends[i]];
    if (this.lit?.column === column && this.lit.span[0] === start) return;
    this.clear();
    this.lit = { column, span: [start, end] };
    for (const { cells } of this.columns) cells.toggle(start, end, "lit", true);
    const [id, label, details, color] = column.distinct[column.tokens[i]];
    const head = element("p");
    head.append(tokenLabel(label, color), id === null || id < 0 ? "" : ` id ${id}`);
    const others = this.columns
      .filter((other) => other !== column)
      .map(({ title, ends }) => `${title}: ${counted(countOverlapping(ends, start, end), this.unit)} here`);
    this.tooltip.show(
      [head, element("p", id === null ? "" : "hex", details), ...others.map((line) => element("p", "", line))],
      column.cells.elementAt(start),
    );
  }

  clear() {
    if (this.lit) for (const { cells } of this.columns) cells.toggle(...this.lit.span, "lit", false);
    this.lit = null;
    this.tooltip.hide();
  }
}

export const mount = component(Columns);

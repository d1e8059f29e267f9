// The merge diagram of a short text, or of a token: its letters once, the merges of a tokenizer as blocks on
// them, and those of a second one below. One step field moves both, each by its own merges up to that number.

import { unbrokenSize } from "../player/fit.js";
import { LEFT_OUT_ID, RIGHT_TO_LEFT, TOKEN_END, UNKNOWN_ID } from "../shared/cells.js";
import { element } from "../shared/dom.js";
import { STEP_CHANGED, currentStep, subscribe } from "../shared/events.js";
import { counted, formatCount } from "../shared/format.js";
import { MergeBlocks } from "../shared/merge_blocks.js";
import { CAN_SAVE, newSheet, saveSheet } from "../shared/picture.js";
import { Score } from "../shared/score.js";
import { firstIndex } from "../shared/search.js";

const LETTERS = [20, 44]; // pixels, the smallest and the largest
const BETWEEN_LINES = 14; // pixels
const PADDING = 24; // pixels at both sides
const LARGEST_ON_SLIDE = 110;
const BLOCKS_ON_SLIDE = 1.8; // relative to those of a page

/**
 * @typedef {[number, number, number, number, number]} DiagramToken first column, column after the
 *   last, steps when it is created, steps when it ends (-1: never), id
 */

/**
 * @typedef {object} Side
 * @property {string} title
 * @property {string} unit name of a step
 * @property {number} stepCount number of steps
 * @property {string} note words after the number of tokens
 * @property {DiagramToken[]} tokens
 * @property {Object<string, [string, number]>} tokenStyles label and color index of each id
 */

/**
 * @typedef {object} DiagramPayload the payload from Python (`bpeviz.views.merge_diagram.payload`)
 * @property {string} key
 * @property {number} columnCount one for each byte, and for each mark that is not text
 * @property {[number, number, string, [number, string][]][]} signs first column, column after the
 *   last, sign, its bytes in hex with their columns
 * @property {{notes: string[], credit: any}} words those of a saved drawing, below it
 * @property {Side[]} sides one, or a second mirrored below the text
 * @property {string} [timelineId] the timeline of the player whose step it shows
 * @property {[number, number]} [characters] on a slide, the first character of the text, and the one after the last
 */

/**
 * Return the cells of a diagram: one for each sign, and for each mark that is not text.
 * @param {DiagramPayload} data
 * @returns {import("../shared/cells.js").Cell[]}
 */
export function cellsOfSigns({ signs, columnCount, sides: [{ tokens, tokenStyles }] }) {
  const cells = [];
  const hasRightToLeft = signs.some(([, , sign]) => RIGHT_TO_LEFT.test(sign));
  let [column, offset, isRtl] = [0, 0, false];
  const add = (text, baseClass, end, labels) => {
    const start = offset;
    offset += text.length;
    cells.push({ text, baseClass, start, end: offset, firstAtom: column, size: end - column, labels, line: 0, wraps: false, endOfWord: false });
    column = end;
  };
  const addMarks = (end) => {
    while (column < end) {
      const [, , , , id] = tokens.find(([first, last, since]) => first === column && last === column + 1 && !since) ?? [];
      add(tokenStyles[id]?.[0] ?? "", "c quiet", column + 1, [""]);
    }
  };
  for (const [from, to, sign, bytes] of signs) {
    addMarks(from);
    if (/[\p{L}\p{N}]/u.test(sign)) isRtl = RIGHT_TO_LEFT.test(sign);
    const isSpace = bytes.length === 1 && bytes[0][1] === "20";
    const isQuiet = /^(⟨.+⟩|[→↵␍])$/u.test(sign);
    const text = isSpace ? (hasRightToLeft ? " " : "\u00A0") : sign;
    add(text, `c${isSpace ? " space" : isQuiet ? " quiet" : ""}${isRtl ? " rtl" : ""}`, to, bytes.map(([, hex]) => hex));
  }
  addMarks(columnCount);
  return cells;
}

/** Return the steps at which a token is created, and 0 and the last, in order. */
export const stepsOf = (sides) =>
  [...new Set([0, ...sides.flatMap(({ tokens, stepCount }) => [stepCount, ...tokens.map(([, , since]) => since)])])].sort((one, other) => one - other);

export class MergeDiagram {
  constructor(root, signal) {
    const find = (selector) => root.querySelector(selector);
    [this.frame, this.readout, this.said, this.field, this.track, this.number] = [".frame", ".readout", ".said", ".field", ".track", ".step"].map(find);
    find(".save").hidden = !CAN_SAVE;
    find(".save").addEventListener("click", () => this.#save(), { signal });
    this.track?.addEventListener("input", () => this.show(this.steps[Number(this.track.value)]), { signal });
    this.number?.addEventListener("change", () => this.show(Number(this.number.value) || 0), { signal });
    const observer = new ResizeObserver(() => this.fit());
    this.height = 0; // pixels of a slide, which it fills
    observer.observe(this.frame);
    signal.addEventListener("abort", () => observer.disconnect());
    subscribe(STEP_CHANGED, ({ step, timelineId }) => timelineId === this.data?.timelineId && this.show(step), signal);
  }

  /** @param {DiagramPayload} data */
  update(data) {
    if (this.data?.key === data.key && this.data.timelineId === data.timelineId) return;
    Object.assign(this, { data, width: 0, steps: stepsOf(data.sides) });
    const cells = cellsOfSigns(data);
    const host = element("div", "text");
    const text = cells.map((cell) => cell.text).join("");
    this.score = new Score(host, text, [{ atomKind: "bytes", cells }]);
    this.score.room.between = BETWEEN_LINES;
    const [row] = this.score.rows;
    this.score.blocks = data.sides.map(({ tokens, tokenStyles, unit, stepCount }, i) => {
      const own = stepsOf([{ tokens, stepCount: 0 }]);
      const fallback = { [LEFT_OUT_ID]: "dropped", [UNKNOWN_ID]: "unknown" };
      const payload = {
        spans: tokens,
        style: (id) => ({ label: tokenStyles[id]?.[0] ?? fallback[id] ?? "…", color: tokenStyles[id]?.[1] ?? -1 }),
        stepInWords: (step) => `${unit} ${formatCount(step)} of ${formatCount(stepCount)}`,
        rankOf: (step) => firstIndex(own.length, (k) => own[k] > step) - 1,
      };
      const said = (words, box) => {
        this.said.textContent = words;
        box.focus({ preventScroll: true });
      };
      return new MergeBlocks(row, payload, stepCount, { isBelow: i > 0, hasIds: data.sides.length === 1, said });
    });
    this.frame.replaceChildren(host);
    if (this.field) {
      this.said.textContent = "";
      this.field.hidden = Boolean(data.timelineId); // the track of the player moves it
      this.field.querySelector("output").textContent = formatCount(this.steps.at(-1));
      this.track.max = this.steps.length - 1;
      this.number.max = this.steps.at(-1);
    }
    this.fit();
    this.show((data.timelineId ? currentStep() : null) ?? this.steps.at(-1));
  }

  /** Set the size of the letters: in one line if they have room, or on a slide as large as fits. */
  fit() {
    const width = this.frame.clientWidth - PADDING;
    if (!this.data || width <= 0 || Math.abs(width - this.width) < 4) return;
    this.width = width;
    const { score, height } = this;
    const words = score.blocks[0].starts.map((start, i, starts) => score.cells.slice(start, starts[i + 1]).map(({ text }) => text).join(""));
    const [smallest, largest] = LETTERS;
    const longest = unbrokenSize(words, width);
    let size = Math.min(longest, height ? LARGEST_ON_SLIDE : Math.max(smallest, Math.min(largest, unbrokenSize([words.join("")], width))));
    for (const blocks of score.blocks) blocks.scale = height ? BLOCKS_ON_SLIDE : 1;
    const set = () => (score.host.style.fontSize = `${Math.floor(2 * size) / 2}px`);
    set();
    for (; height && size > 12 && (score.measure()?.lines.at(-1).bottom ?? 0) > height; size -= 2) set();
    set();
    score.layOut();
  }

  #save() {
    const { sides, words } = this.data;
    const title = `Merge diagram of ${sides.map((side) => side.title).join(" and ")}`;
    const copy = this.score.host.cloneNode(true);
    const pieces = [this.score.host, copy].map((host) => host.querySelectorAll(".c"));
    pieces[0].forEach(({ cell, end }, i) => Object.assign(pieces[1][i], { cell, end }));
    copy.style.width = `${this.score.host.clientWidth}px`;
    saveSheet(newSheet(this.frame, { title, about: [...this.readout.children].map((line) => line.textContent), ...words }, copy), title, "bpeviz-merge-diagram.svg");
  }

  /**
   * Show the tokens after `step` steps.
   * @param {number} step
   * @param {number[]} [own] the step of each side, where they differ
   */
  show(step, own) {
    const { sides } = this.data;
    const { blocks, rows: [row] } = this.score;
    const at = Math.max(0, Math.min(this.steps.at(-1), Math.round(step)));
    const words = sides.map(({ title, unit, stepCount, note }, i) => {
      const current = Math.min(own?.[i] ?? at, stepCount);
      blocks[i].show(current);
      const tokens = blocks[i].tree.tokensAt(current).filter(({ id }) => id !== LEFT_OUT_ID);
      return `${title}: ${counted(tokens.length, "token")} after ${counted(current, unit)}${note}`;
    });
    for (const { first, end, id } of blocks[0].tree.tokensAt(blocks[0].step)) {
      row.colors.fill(sides[0].tokenStyles[id]?.[1] ?? -1, first, end);
      row.flags.fill(0, first, end);
      row.flags[end - 1] = TOKEN_END;
    }
    row.paint(0, row.flags.length);
    this.readout.replaceChildren(...words.map((sentence) => element("p", "", sentence)));
    if (!this.field) return;
    this.number.value = at;
    this.track.value = firstIndex(this.steps.length, (i) => this.steps[i] > at) - 1;
    this.track.setAttribute("aria-valuetext", words.join("; "));
  }
}

// The merge diagram: merges as blocks on the letters of a row of a score, the ids of its tokens below.
// Letters never move; what stands over and under them only depends on their edges.

import { BlockTree } from "./block_tree.js";
import { idInWords, idOf } from "./cells.js";
import { element, tokenLabel } from "./dom.js";
import { counted, formatCount } from "./format.js";

export const BLOCK_LETTERS = [26, 18, 13]; // pixels of the letters of a block; less where those of the text would be small
const LOWEST_BLOCK = 16; // height of a block
const SMALLEST_LABEL = 7; // a block without room for such letters has none …
const SMALLEST_BYTES = 11; // … and for such bytes in hex, an ellipsis
const SMALLEST_HIDDEN = 9; // of the number of merges below
const BLOCK_GAP = 2; // pixels between blocks
const ABOVE_LETTERS = 4; // … and between blocks and letters
const ID = { large: 22, small: 11, height: 1.18, digit: 0.58, room: 0.55 }; // pixels, relative to these, and to the letters, on each line
const PARTIAL = /(?:⟨[0-9A-F]{2}⟩)+/g; // the bytes of a part of a character

/**
 * @typedef {object} BlocksPayload
 * @property {import("./block_tree.js").TokenSpan[]} spans
 * @property {(id: number) => {label: string, color: number}} style
 * @property {(step: number) => string} stepInWords as in "merge 12 of 256"
 */

export class MergeBlocks {
  /**
   * @param {import("./score_row.js").ScoreRow} row
   * @param {BlocksPayload} payload
   * @param {number} last the last step
   * @param {{isBelow?: boolean, hasIds?: boolean, said?: (words: HTMLElement, box: any) => void}} [how]
   *   isBelow: whether blocks hang below the letters
   */
  constructor(row, payload, last, { isBelow = false, hasIds = true, said = () => {} } = {}) {
    Object.assign(this, { row, payload, last, isBelow, hasIds, said });
    const { cells, cellOf } = row;
    const hasCharacter = (first, end) => cells.slice(cellOf[first], cellOf[end - 1] + 1).some(({ firstAtom, size, text }) => text && firstAtom >= first && firstAtom + size <= end);
    this.tree = new BlockTree(payload.spans, (first, end) => end - first > 1 && hasCharacter(first, end));
    this.steps = [...new Set(payload.spans.map(([, , since]) => since))].sort((one, other) => one - other);
    this.opened = new Set();
    this.step = last;
    this.scale = 1; // of the projector view
    [this.letters] = BLOCK_LETTERS;
    this.boxes = new Map(); // the box of each block on each line
    this.focused = null;
  }

  get isEmpty() {
    return this.tree.blocks.every(({ height, since }) => !height || since > this.last);
  }

  /** The cells at which a line may begin: those of the last tokens. */
  get starts() {
    const { cellOf, cells } = this.row;
    return this.tree.tokensAt(Infinity).filter(({ first }) => cells[cellOf[first]].firstAtom === first).map(({ first }) => cellOf[first]);
  }

  /** The words between which a line may break. */
  get words() {
    const { cells } = this.row;
    return this.starts.map((start, i, starts) => cells.slice(start, starts[i + 1]).map(({ text }) => text).join(""));
  }

  get #largest() {
    return this.letters * this.scale;
  }

  /** Return the width of a label relative to its size. */
  #emsOf(label) {
    return this.pen.measureText(label).width / 100;
  }

  #heightOf(size) {
    return Math.max(LOWEST_BLOCK, Math.round(1.2 * Math.min(this.#largest, size)));
  }

  /** Return the pixels of blocks over (or under) cells [first, end) at a size of letters. */
  heightIn(first, end, size) {
    const levels = this.tree.levels(...this.row.atomsOfCells(first, end), this.last, this.opened);
    return levels * (this.#heightOf(size) + BLOCK_GAP) + (levels ? ABOVE_LETTERS : 0);
  }

  /** Return the size of ids below letters of a size, and their lines: large, where those of the last tokens have room. */
  #idsBelow(size) {
    const hasRoom = (lines) => ({ first, end, id }) => String(id).length * ID.digit * ID.large <= ID.room * lines * (end - first) * size;
    const lines = [2, 3].find((lines) => this.tree.tokensAt(Infinity).every(hasRoom(lines)));
    return { idSize: this.scale * (lines ? ID.large : ID.small), lines: lines ?? 2 };
  }

  /** Return the pixels of ids below letters of a size. */
  idsHeight(size) {
    const { idSize, lines } = this.#idsBelow(size);
    return this.hasIds ? lines * Math.ceil(ID.height * idSize) : 0;
  }

  // ---- drawing

  /** Measure the edges of all letters, after the lines have been drawn. */
  measure() {
    const { row } = this;
    this.boxes.clear();
    const { fontSize, fontFamily } = getComputedStyle(row.score.host);
    this.size = parseFloat(fontSize);
    this.pen ??= element("canvas").getContext("2d");
    this.pen.font = `600 100px ${fontFamily}`;
    this.edges = new Array(row.cellOf.length); // [left, right] of each atom, in pixels of its line
    this.layers = row.score.lines.map((line) => {
      const staff = line.staves[row.index];
      const { left, top, bottom } = line.element.getBoundingClientRect();
      const ends = staff.box.getBoundingClientRect();
      for (let cell = line.first; cell < line.end; cell++) {
        const { firstAtom, size, baseClass } = row.cells[cell];
        if (!size) continue; // of a mark that another row has
        const box = row.boxOf(cell);
        for (let i = 0; i < size; i++) {
          const at = box.left - left + (box.width / size) * (baseClass.includes("rtl") ? size - 1 - i : i);
          this.edges[firstAtom + i] = [at, at + box.width / size];
        }
      }
      const layer = element("div", {
        className: this.isBelow ? "merge-blocks below" : "merge-blocks",
        role: "group",
        ariaLabel: "Merge diagram",
        style: `--blocks: ${this.scale}`,
        onkeydown: (event) => this.#key(event),
        onclick: ({ target }) => target.closest(".merge-block") && this.press(target.closest(".merge-block").at),
      });
      line.element.append(layer);
      const [start, end] = row.atomsOfCells(line.first, line.end);
      const ids = ends.bottom - top;
      return { element: layer, start, end, letters: this.isBelow ? ends.bottom - top + ABOVE_LETTERS : bottom - ends.top + ABOVE_LETTERS, ids, labels: [] };
    });
    this.show(this.step);
  }

  /** Return the edges of those atoms of a token that are on a line, or null. */
  #span({ first, end }, layer) {
    const edges = this.edges.slice(Math.max(first, layer.start), Math.min(end, layer.end)).filter(Boolean);
    return edges.length ? [Math.min(...edges.map(([left]) => left)), Math.max(...edges.map(([, right]) => right))] : null;
  }

  /**
   * Show the blocks after `step` steps.
   * @param {number} step
   */
  show(step) {
    this.step = step;
    if (!this.layers) return;
    const placed = this.tree.placedAt(step, this.opened);
    const kept = new Set();
    this.placed = placed;
    for (const layer of this.layers)
      for (const at of placed) {
        const span = this.#span(at.block, layer);
        if (!span) continue;
        const key = `${layer.start} ${this.tree.blocks.indexOf(at.block)} ${at.hidden > 0}`;
        kept.add(key);
        this.#place(key, layer, at, span);
      }
    for (const [key, box] of this.boxes)
      if (!kept.has(key)) {
        box.remove();
        this.boxes.delete(key);
      }
    const first = this.boxes.get([...kept].find((key) => this.boxes.get(key).at.block === this.focused) ?? [...kept][0]);
    for (const box of this.boxes.values()) box.tabIndex = box === first ? 0 : -1;
    if (this.hasIds) for (const layer of this.layers) this.#drawIds(layer);
  }

  #place(key, layer, at, [left, right]) {
    const { block, level, hidden, parent } = at;
    const { label, color } = this.payload.style(block.id);
    const height = this.#heightOf(this.size);
    const width = right - left - BLOCK_GAP;
    let box = this.boxes.get(key);
    if (!box) {
      box = element("div", { role: "button" });
      this.boxes.set(key, box);
      const room = width + BLOCK_GAP;
      const isNarrow = this.#emsOf(label) * SMALLEST_BYTES * this.scale > room;
      const below = hidden ? `${counted(hidden, "merge")} below` : "";
      const fits = this.#emsOf(below) * SMALLEST_HIDDEN * this.scale <= width;
      const words = hidden ? (fits ? below : `+${hidden}`) : isNarrow ? label.replace(PARTIAL, "…") : label;
      const ems = this.#emsOf(words);
      const size = Math.min(hidden ? Math.max(SMALLEST_HIDDEN * this.scale, this.#largest / 2) : this.#largest, this.size, room / ems);
      if (size >= SMALLEST_LABEL * this.scale) box.append(element("bdi", "", words));
      const rank = formatCount(this.steps.indexOf(block.since));
      if (!hidden && block.since && (width - ems * size) / 2 > (6 * rank.length + 4) * this.scale) box.append(element("small", "", rank));
      box.style.cssText = `left:${left + BLOCK_GAP / 2}px;width:${width}px;height:${height}px;font-size:${size}px;line-height:${height}px`;
      box.ariaLabel = hidden ? `${below}. Press to show them.` : this.describe(block).textContent;
      layer.element.append(box);
    }
    box.at = at;
    box.style[this.isBelow ? "top" : "bottom"] = `${layer.letters + (level - 1) * (height + BLOCK_GAP)}px`;
    const looks = ["merge-block", color >= 0 && !hidden ? `t color${color}` : "", parent ? "" : "top", block.since === this.step && block.since && !hidden ? "now" : ""];
    box.className = looks.filter(Boolean).join(" ");
  }

  /** Draw the ids of the tokens of a line, on other lines where they would touch. */
  #drawIds(layer) {
    const { idSize: size, lines } = this.#idsBelow(this.size);
    const ends = Array(lines).fill(-Infinity);
    layer.element.style.setProperty("--id-size", `${size}px`);
    for (const label of layer.labels) label.remove();
    const tokens = this.tree.tokensAt(this.step).filter(({ first, id }) => idOf(id) !== null && first >= layer.start);
    const places = tokens.map((token) => ({ token, span: this.#span(token, layer) })).filter(({ span }) => span);
    places.sort((one, other) => one.span[0] - other.span[0]);
    layer.labels = places.flatMap(({ token, span }) => {
      const words = String(token.id);
      const width = words.length * ID.digit * size;
      const left = Math.max(0, (span[0] + span[1] - width) / 2);
      const line = ends.findIndex((end) => left > end + 3 * this.scale);
      if (line < 0) return [];
      ends[line] = left + width;
      const style = `left:${left}px;width:${width}px;top:${layer.ids + line * Math.ceil(ID.height * size)}px`;
      return [layer.element.appendChild(element("i", { style }, words))];
    });
  }

  // ---- a block in words

  /** Return a paragraph that says a block in words, with tokens as they look in the text. */
  describe({ id, since, parts }) {
    const { style, stepInWords } = this.payload;
    const piece = (token) => tokenLabel(style(token).label, style(token).color);
    const sum = parts.flatMap((part, i) => [i ? " + " : "", piece(part.id)]);
    return element("p", "", since && `${stepInWords(since)}: `, ...sum, parts.length && " → ", piece(id), `, ${idInWords(id)}`);
  }

  press(at) {
    this.focused = at.block;
    if (at.hidden) {
      this.opened.add(at.block);
      return this.row.score.layOut();
    }
    const box = [...this.boxes.values()].find((other) => other.at === at);
    this.said(this.describe(at.block), box);
  }

  /** Press the block of a token; return whether it has one. */
  pressToken({ start, end }) {
    const at = this.placed?.find(({ block, parent }) => !parent && block.first === start && block.end === end);
    if (at) this.press(at);
    return Boolean(at);
  }

  // Arrows move between parent, parts and neighbors.
  #key(event) {
    const at = event.target.at;
    if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") this.press(at);
    else if (/^Arrow/.test(event.key)) this.#focus(this.#neighbor(at, event.key));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #neighbor({ block, level, parent }, key) {
    const [up, down] = this.isBelow ? ["ArrowDown", "ArrowUp"] : ["ArrowUp", "ArrowDown"];
    if (key === up) return this.placed.find((other) => other.block === parent?.block && !other.hidden);
    if (key === down) return this.placed.find((other) => other.parent?.block === block);
    const isRtl = this.edges[block.first]?.[0] > this.edges[block.end - 1]?.[0];
    const isNext = (key === "ArrowRight") !== isRtl;
    const gap = (other) => (isNext ? other.block.first - block.end : block.first - other.block.end);
    const beside = this.placed.filter((other) => gap(other) >= 0);
    const far = (other) => gap(other) * 100 + Math.abs(other.level - level);
    return beside.sort((one, other) => far(one) - far(other))[0];
  }

  #focus(at) {
    const box = at && [...this.boxes.values()].find((other) => other.at === at);
    if (!box) return;
    this.focused = at.block;
    for (const other of this.boxes.values()) other.tabIndex = other === box ? 0 : -1;
    box.focus();
  }
}

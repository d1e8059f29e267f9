// Draws a text in lines, and each line once per row of tokens, letters exactly below letters. Lines are
// broken once for a width and a size of letters, for all rows; a step only changes the elements of
// tokens that it changes.

import { directionOf, splitIntoRows } from "./cells.js";
import { element } from "./dom.js";
import { hasFreeLines, isList } from "./list.js";
import { ScoreRow, isInside } from "./score_row.js";
import { firstIndex } from "./search.js";

const BLOCK = 500; // signs of all rows after which a line begins a new block: one for each line would be slow
const LINE_HEIGHT = 1.65; // height of a line, relative to the size of letters
const CLOSE_LINE_HEIGHT = 1.58; // of a row, where there are several
const BLANK_LINE = 0.7; // height of all rows of a blank line, relative to one row
const COLUMN_GAP = 1.5; // between columns, relative to the size of letters …
const WIDEST_GAP = 4; // … and at most
const LONGEST_ENTRY = 24; // signs of a line of a list that makes columns wider; a longer one is broken
export const ABOVE_BYTES = 2.9; // height of the letters above bytes, relative to the size of these
export const LONGEST_OF_BYTES = 400; // UTF-16 units of a text that is shown in bytes
const FIRST_LETTER = 200; // signs of a paragraph in which its first letter is looked for
const BREAK = "\u200B"; // a line may break here
const CODE_SIGNS = /^[!-~\u00A0\u200B↵]*$/; // signs of the code font, of which each is at most this wide, relative to its size
const SIGN_WIDTH = 0.65;

/**
 * @typedef {object} Line
 * @property {number} first its first cell
 * @property {number} end the cell after its last
 * @property {boolean} isBlank
 * @property {boolean} isThin whether it is a blank line of several rows that has not their height
 * @property {string} kind "" for all rows, "once" for the first row alone, "fold" with a number, or "gone"
 * @property {number} top pixels from the top of the first line: of the line, or in columns of its page
 * @property {number} bottom
 * @property {number} [column] that of its page, from 0
 * @property {"ltr" | "rtl"} dir
 * @property {number} over pixels of merges over its letters (`blocks`)
 * @property {number} under … and under them
 * @property {any} element
 * @property {any} block
 * @property {import("./score_row.js").Staff[]} staves one for each row
 */

/**
 * A text in lines. A line contains, for each row, an element `.score-row` with the name, the staff (the
 * text in tokens) and the ruler; `rows` draws and finds tokens (`ScoreRow`). Only the first row can be
 * found, selected and reached by the pointer; the others are `inert`, so hovering goes by position (`at`).
 *
 *     const score = new Score(host, text, [{ atomKind: "bytes", name: "GPT-2" }, { atomKind: "characters", name: "WordPiece" }]);
 *     score.room = { names: 120, below: 0, between: 14 };
 *     score.rows[1].colors.fill(3, 0, 4); // likewise `flags`
 *     score.rows[1].paint(0, 4);
 *     host.addEventListener("mousemove", (event) => score.at(event)); // { row, atom } or null
 */
export class Score {
  /**
   * @param {any} host the element to draw into
   * @param {string} text
   * @param {import("./score_row.js").RowOptions[]} rows
   */
  constructor(host, text, rows) {
    this.host = host;
    this.text = text;
    /** Whether lines of the text are the entries of a list, and whether each may stand beside others. */
    [this.isList, this.hasFreeLines] = [isList(text), hasFreeLines(text)];
    const cells = rows[0].cells ? rows.map((row) => row.cells) : splitIntoRows(text, rows);
    this.rows = rows.map((row, i) => new ScoreRow(this, i, row, cells[i]));
    this.cells = cells[0]; // those of other rows have other atoms
    /** Pixels at the left of lines for names, and for numbers alone, below each staff for labels, and between lines. */
    this.room = { names: 0, counts: 0, below: 0, between: 0 };
    this.lineHeight = rows.length > 1 ? CLOSE_LINE_HEIGHT : LINE_HEIGHT;
    host.classList.toggle("several", rows.length > 1);
    this.hasShares = false; // whether the number of tokens of a line is a bar, too
    this.underRows = 0; // pixels under each row of the last line, for what is drawn there
    this.under = 0; // pixels under each line, likewise
    this.bars = 0; // pixels at the right of lines
    this.apart = 0; // pixels above each row that stands apart
    /** @type {((lines: {first: number, end: number, isThin: boolean}[]) => string[]) | null} returns the kind of each line */
    this.kindsOf = null;
    /** @type {import("./cells.js").Cell[] | null} */
    this.signs = null; // those of a text in bytes, which stand above these
    /** @type {import("./merge_blocks.js").MergeBlocks[]} */
    this.blocks = []; // merges on the letters of a short text, which then breaks between its tokens
    /** Whether lines stand in columns, page after page of so many pixels, as far as the width has room. */
    this.isInColumns = false;
    this.pageHeight = Infinity;
    /** @type {Record<string, number | null>} the size that fitted last, in columns (true) and else (false) */
    this.fitted = {};
    this.laidOut = () => {}; // called after lines or the visible height have changed
    /** @type {Line[]} */
    this.lines = []; // none until the text has a place on the page
    new ResizeObserver(() => this.layOut()).observe(host);
    host.addEventListener("scroll", () => this.#look(), { passive: true });
    host.addEventListener("scrollend", () => this.#snap());
  }

  // ---- lines

  /** Measure the text at its present size: the first cell of each line, and the height of all lines. */
  measure() {
    const { host, room } = this;
    const { paddingTop, paddingLeft, fontSize } = getComputedStyle(host);
    const [padding, size] = [2 * parseFloat(paddingTop), parseFloat(fontSize)];
    const columns = this.#columnsIn(host.clientWidth - 2 * parseFloat(paddingLeft) - this.bars, size);
    const { width } = columns;
    const key = `${Object.values(columns)} ${size} ${columns.count > 1 && this.pageHeight} ${Object.values(room)} ${this.under} ${this.underRows} ${this.bars} ${this.apart} ${this.lineHeight} ${this.blocks.map(({ last, opened, tree, letters }) => [last, opened.size, tree.mostLevels, letters])}`;
    if (!(width > 0)) return null; // not on the page
    if (this.measured?.key === key && this.measured.isFinal) return this.measured;
    const [plain, strip] = [Math.round(this.lineHeight * size), Math.min(14, Math.max(6, Math.round(size / 4)))];
    host.style.setProperty("--line-height", `${plain}px`); // browsers round other heights, each in its way
    const thin = Math.max(4, Math.round((BLANK_LINE * plain) / this.rows.length));
    const mayBeThin = this.rows.length > 1 && this.text.trim() !== "";
    const isRuled = (cells) => cells.some((cell) => cell.size > 1);
    const ruledInColumns = columns.count > 1 ? this.rows.map(({ cells }) => isRuled(cells)) : null; // equally high
    let height = 0;
    const starts = this.#breaks(width, size);
    const spans = starts.map((first, i) => {
      const end = starts[i + 1] ?? this.cells.length;
      const isBlank = !this.text.slice(this.cells[first].start, this.cells[end - 1].end).trim();
      return { first, end, isBlank, isThin: mayBeThin && isBlank };
    });
    const kinds = this.kindsOf?.(spans) ?? [];
    const lines = spans.map(({ first, end, isBlank, isThin }, i) => {
      const kind = kinds[i] ?? "";
      const ruled = ruledInColumns ?? this.rows.map(({ cells }) => !isThin && isRuled(cells.slice(first, end)));
      const top = height;
      const pixels = (isBelow) => this.blocks.reduce((sum, blocks) => sum + (blocks.isBelow === isBelow ? blocks.heightIn(first, end, size) : 0), 0);
      const [over, under] = [pixels(false) + (this.over?.(size, first, end) ?? 0), pixels(true) + this.blocks.reduce((sum, blocks) => sum + blocks.idsHeight(size), this.under)];
      if (kind === "gone") return { first, end, isBlank, isThin, kind, ruled, top, bottom: top, over, under };
      const heights = ruled.map((isRuled, k) => (isThin ? thin : plain + (isRuled ? strip : 0) + room.below + (this.rows[k].isApart ? this.apart : 0)) + (i === spans.length - 1 ? this.underRows : 0));
      height += kind.startsWith("fold") ? plain : over + under + heights.slice(0, kind ? 1 : undefined).reduce((sum, pixels) => sum + pixels, 0);
      const bottom = height;
      height += room.between;
      return { first, end, isBlank, isThin, kind, ruled, top, bottom, over, under };
    });
    if (columns.count > 1) this.#arrange(lines, columns.count, padding);
    return (this.measured = { key, lines, columns, strip, thin, padding, isFinal: document.fonts.status === "loaded" });
  }

  /** Return the number of columns, and the pixels of the letters of each, and between columns. */
  #columnsIn(all, size) {
    const { names, counts } = this.room;
    const whole = { count: 1, width: all - names, gap: 0 };
    if (!this.isInColumns) return whole;
    const width = Math.ceil(this.widest() * size) + 1;
    const count = Math.floor((all - names + counts + COLUMN_GAP * size) / (width + counts + COLUMN_GAP * size));
    if (count < 2) return whole;
    return { count, width, gap: Math.floor(Math.min(WIDEST_GAP * size, (all - names - count * width) / (count - 1) - counts)) };
  }

  /** Return the width of the widest line, but for broken ones, relative to the size of letters. */
  widest() {
    if (this.widestLine?.isFinal) return this.widestLine.width;
    const lines = this.#words().words.split("\n");
    const most = this.isList ? LONGEST_ENTRY + 1 : Infinity; // with the sign of the line break
    const probe = this.host.appendChild(element("div", "probe", lines.filter((line) => [...line].length <= most).join("\n")));
    probe.style.cssText = "white-space: pre; font-size: 100px";
    const { width } = probe.getBoundingClientRect();
    this.widestLine = { width: width / 100, isFinal: document.fonts.status === "loaded" }; // in this order: a font may load only now
    probe.remove();
    return this.widestLine.width;
  }

  /** Give lines their places in columns, page after page: as few pages as possible, and low columns. */
  #arrange(lines, columns, padding) {
    const { room, pageHeight } = this;
    const heights = lines.map(({ top, bottom }) => bottom - top);
    let limit = Math.max(...heights, lines.at(-1).bottom / columns);
    const place = () => {
      let [column, y] = [0, 0];
      lines.forEach((line, i) => {
        if (y && y + heights[i] > Math.min(limit, pageHeight)) [column, y] = [column + 1, 0];
        y += heights[i] + room.between;
        Object.assign(line, { column: column % columns, page: Math.floor(column / columns), bottom: y - room.between });
      });
      return column < columns || limit >= pageHeight;
    };
    while (!place()) limit += Math.min(...heights);
    const bottoms = [];
    for (const { page, bottom } of lines) bottoms[page] = Math.max(bottoms[page] ?? 0, bottom);
    for (const line of lines) {
      line.top = line.page && line.page * (pageHeight + padding); // each fills the visible part
      line.bottom = line.top + bottoms[line.page];
    }
  }

  /** Return the number of lines that fit into the element. */
  fitting({ lines, padding } = this.measure()) {
    return firstIndex(lines.length, (i) => lines[i].bottom > this.host.clientHeight - padding + 1);
  }

  /** Break the text into lines, unless its width and its size are the same as before. */
  layOut() {
    const measured = this.measure();
    if (!measured) return;
    if (this.drawn !== measured) {
      const first = this.drawn ? (this.lines[this.wholeLines()[0]]?.first ?? 0) : 0;
      this.drawn = measured;
      this.#draw(measured.lines);
      for (const row of this.rows) row.draw(0, row.flags.length);
      this.host.scrollTop = this.lines[this.lineOfCell(first)]?.top ?? 0;
      if (!measured.isFinal) document.fonts.ready.then(() => this.layOut());
    }
    this.#look();
    for (const blocks of this.blocks) if (blocks.drawn !== this.drawn) Object.assign(blocks, { drawn: this.drawn }).measure();
    this.laidOut();
  }

  /** Return the first cell of each line, by bisection over the text as the browser breaks it. */
  #breaks(width, size) {
    const { at, words } = this.#words();
    const probe = this.host.appendChild(element("div", "probe", words));
    if (this.blocks.length) return this.#breaksBetween(this.blocks[0].starts, probe, at, width);
    probe.style.width = `${width}px`;
    const most = Math.ceil((10 * width) / size); // signs of a line
    const node = probe.firstChild;
    const range = document.createRange();
    const top = (cell) => {
      range.setStart(node, at[cell]);
      range.setEnd(node, at[cell] + this.cells[cell].text.length);
      return range.getClientRects()[0]?.top ?? (cell ? top(cell - 1) : 0);
    };
    const starts = [];
    const paragraphs = this.cells.flatMap(({ line }, i) => (line === this.cells[i - 1]?.line ? [] : [i]));
    paragraphs.forEach((paragraph, i) => {
      const last = (paragraphs[i + 1] ?? this.cells.length) - 1;
      const all = words.slice(words.lastIndexOf("\n", at[paragraph] - 1) + 1, at[last] + 1);
      if (SIGN_WIDTH * size * all.length <= width && CODE_SIGNS.test(all)) return starts.push(paragraph);
      for (let first = paragraph; first <= last; ) {
        starts.push(first);
        const below = top(first) + size / 2;
        const next = first + 1;
        first = next + firstIndex(Math.min(last + 1 - next, most), (k) => top(next + k) > below);
      }
    });
    probe.remove();
    return starts;
  }

  /** Return the signs of all cells in lines, and where each cell is among them. */
  #words() {
    const at = [];
    let words = "";
    this.cells.forEach((cell, i) => {
      at.push(words.length);
      words += cell.text + (cell.endOfWord ? "</w>" : "") + (cell.wraps ? BREAK : "");
      if (cell.line !== this.cells[i + 1]?.line) words += "\n";
    });
    return { at, words };
  }

  /** Likewise before tokens only. */
  #breaksBetween(starts, probe, at, width) {
    const range = document.createRange();
    probe.style.whiteSpace = "pre";
    const lines = [0];
    let room = width;
    starts.forEach((start, i) => {
      const next = starts[i + 1] ?? this.cells.length;
      range.setStart(probe.firstChild, at[start]);
      range.setEnd(probe.firstChild, at[next] ?? probe.firstChild.length);
      const token = range.getBoundingClientRect().width;
      if (token > room && start > lines.at(-1)) {
        lines.push(start);
        room = width;
      }
      room -= token;
    });
    probe.remove();
    return lines;
  }

  #draw(lines) {
    const { cells, host, text } = this;
    const { columns, padding, strip, thin } = this.drawn;
    const blocks = element("div");
    let [block, column, dir] = [null, null, "ltr"];
    const { bars, apart } = this;
    const lengths = { strip, thin, bars, apart, "under-rows": this.underRows, ...this.room };
    for (const name in lengths) host.style.setProperty(`--${name}`, `${lengths[name]}px`);
    this.mostAtoms = Math.max(1, ...this.rows.flatMap((row) => lines.map(({ first, end }) => row.atomsOfCells(first, end)).map(([start, stop]) => stop - start)));
    this.lines = lines.map((line) => {
      const { line: paragraph, start } = cells[line.first];
      if (paragraph !== cells[line.first - 1]?.line) dir = directionOf(text.slice(start, start + FIRST_LETTER).split("\n", 1)[0]);
      if (!block || (columns.count > 1 ? line.top > block.top : line.first >= block.first + BLOCK / this.rows.length)) {
        block = Object.assign(blocks.appendChild(element("div", columns.count > 1 ? "block page" : "block")), line);
        if (columns.count > 1) block.style.cssText = `gap:${columns.gap}px;margin-top:${line.top && padding}px`;
        block.dir = dir;
        column = null;
      }
      block.style.height = `${lines.at(-1).top && columns.count > 1 ? this.pageHeight : line.bottom - block.top}px`;
      if (columns.count > 1 && column?.number !== line.column) {
        column = block.appendChild(element("div", { className: "column", number: line.column, style: `min-width: ${columns.width}px` }));
      }
      const box = (column ?? block).appendChild(element("div", `line${line.isThin ? " thin" : ""}${line.isBlank ? " bare" : ""} ${line.kind}`.trim()));
      box.dir = dir;
      if (line.over || line.under) box.style.padding = `${line.over}px 0 ${line.under}px`;
      const staves = this.rows.map((row, i) => row.newStaff(box, line.ruled[i]));
      return (box.line = { ...line, dir, element: box, block, staves });
    });
    for (const block of host.querySelectorAll(":scope > .block")) block.remove();
    host.prepend(...blocks.children); // what stands beside the lines keeps the focus
  }

  /** Draw the letters above their bytes, centered. */
  drawLetters() {
    const [row] = this.rows;
    for (const { first, end, element: line } of this.signs ? this.lines : []) {
      line.querySelector(".letters")?.remove();
      line.querySelector(".staff").ariaHidden = "true"; // a screen reader reads the letters
      const box = line.appendChild(element("div", "letters"));
      const { left } = line.getBoundingClientRect();
      for (const { text, firstAtom, size, baseClass } of this.signs) {
        if (firstAtom < first || firstAtom >= end) continue;
        const ends = [firstAtom, Math.min(firstAtom + size, end) - 1].map((atom) => row.boxOf(atom)).sort((one, other) => one.left - other.left);
        const style = `left:${ends[0].left - left}px;width:${ends[1].right - ends[0].left}px`;
        box.append(element("span", { className: baseClass.replace(/^c ?/, ""), style }, baseClass.includes("space") ? "·" : text));
      }
    }
  }

  lineOfCell(cell) {
    return Math.max(0, firstIndex(this.lines.length, (i) => this.lines[i].first > cell) - 1);
  }

  /** Return the lines that are visible from top to bottom as [from, to). */
  wholeLines() {
    const { lines, scrollTop, clientHeight } = this;
    return [
      firstIndex(lines.length, (i) => lines[i].top >= scrollTop - 1),
      firstIndex(lines.length, (i) => lines[i].bottom > scrollTop + clientHeight - this.drawn.padding + 1),
    ];
  }

  /** Return the visible lines, and some more above and below, as [from, to). */
  nearLines() {
    const { lines, scrollTop, clientHeight } = this;
    return [
      firstIndex(lines.length, (i) => lines[i].bottom > scrollTop - clientHeight / 2),
      firstIndex(lines.length, (i) => lines[i].top > scrollTop + 1.5 * clientHeight),
    ];
  }

  /**
   * Scroll the text, and not the page, until a line is visible. Only a short way is shown.
   * @param {number} i
   * @param {boolean} [calmly]
   */
  revealLine(i, calmly = false) {
    const { host, lines } = this;
    if (!lines.length) return;
    const [from, to] = this.wholeLines();
    if (i >= from && i < to) return;
    const wanted = lines[i].top - host.clientHeight / 3;
    const { top } = lines[firstIndex(i, (k) => lines[k].top >= wanted)];
    const isNear = Math.abs(top - host.scrollTop) < 2 * host.clientHeight;
    host.scrollTo({ top, behavior: calmly && isNear ? "smooth" : "instant" });
    this.#look();
  }

  /** End a scroll at a page of columns: at the next one in its direction. */
  #snap() {
    if (!this.lines.at(-1)?.top || this.drawn.columns.count < 2) return;
    const { host, pageHeight, drawn } = this;
    const stride = pageHeight + drawn.padding;
    const pages = host.scrollTop / stride;
    const isDown = pages > (this.page ?? 0);
    this.page = Math.abs(pages - Math.round(pages)) * stride < 2 ? Math.round(pages) : isDown ? Math.ceil(pages) : Math.floor(pages);
    host.scrollTo({ top: this.page * stride, behavior: "smooth" });
  }

  // Reading where the text is scrolled to lays out the page, so this is done once for each change.
  #look() {
    [this.scrollTop, this.clientHeight] = [this.host.scrollTop, this.host.clientHeight];
    this.showNear();
  }

  // Blocks near the visible part are drawn at once, where the browser would take a frame more; rulers
  // only there, since their signs are measured.
  showNear() {
    const near = this.lines.slice(...this.nearLines());
    const blocks = new Set(near.map(({ block }) => block));
    for (const block of this.nearBlocks) if (!blocks.has(block)) block.classList.remove("near");
    for (const block of blocks) block.classList.add("near");
    this.nearBlocks = blocks;
    const stale = near.flatMap(({ staves }) => staves.filter(({ ruler, labels, isStale }) => (ruler || labels) && isStale));
    for (const staff of stale) staff.row.measure(staff);
    for (const staff of stale) staff.row.drawBelow(staff);
  }

  nearBlocks = new Set();

  /** Return the row and the atom under the pointer, or the first atom of its piece; null if there is none. */
  at({ target, clientX, clientY }) {
    const line = target.closest?.(".line")?.line;
    if (!line || target.closest(".merge-blocks")) return null;
    const row = this.rows.find((_, i) => line.staves[i].box.contains(target) || isInside(line.staves[i].box, clientX, clientY));
    const atom = row?.atomAt(line.staves[row.index], target, clientX, clientY) ?? -1;
    return atom < 0 ? null : { row, atom };
  }

  // ---- places in the text

  /** Put the selected part of the original text on the clipboard, without stand-ins. */
  copyTo(event, root) {
    const selection = root.getSelection?.() ?? document.getSelection();
    if (!selection || selection.isCollapsed || !selection.rangeCount) return;
    const range = selection.getComposedRanges
      ? selection.getComposedRanges({ shadowRoots: [root] })[0]
      : selection.getRangeAt(0);
    const offsetOf = (node, offset) => {
      const before = document.createRange();
      before.setStart(this.host, 0);
      before.setEnd(node, offset);
      const fragment = before.cloneContents();
      for (const sign of fragment.querySelectorAll(".mark, .ruler, .labels, .letters, .merge-blocks, .score-name, .unfold, [inert]")) sign.remove();
      let left = fragment.textContent.length;
      const cell = this.cells.find(({ text }) => (left -= text.length) < 0);
      return !cell ? this.text.length : left === -cell.text.length ? cell.start : cell.end;
    };
    const start = offsetOf(range.startContainer, range.startOffset);
    const end = offsetOf(range.endContainer, range.endOffset);
    event.clipboardData.setData("text/plain", this.text.slice(start, end));
    event.preventDefault();
  }
}

// Draws a text in lines, with a row of tokens on them. Lines are broken once for a width and a size of
// letters; a step only changes the elements of tokens that it changes. Below a line whose signs have
// several atoms (bytes, or code points) there is a ruler with a tick for each of these.

import { RIGHT_TO_LEFT, TOKEN_END, classNames, flagOf, piecesOf, splitIntoCells } from "./cells.js";
import { element } from "./dom.js";
import { firstIndex } from "./search.js";

const BLOCK = 500; // cells after which a line begins a new block: one for each line would be slow
const LINE_HEIGHT = 1.65; // height of a line, relative to the size of letters
const NARROWEST_TICK = 3; // pixels
const MOST_ENLARGED = 8; // signs
const FIRST_LETTER = 200; // signs of a paragraph in which its first letter is looked for
const BREAK = "\u200B"; // a line may break here
const CODE_SIGNS = /^[!-~\u00A0\u200B↵]*$/; // signs of the code font, of which each is at most this wide, relative to its size
const SIGN_WIDTH = 0.65;

/** Return whether a paragraph runs from right to left: its first letter does. */
const isRtl = (paragraph) => RIGHT_TO_LEFT.test(paragraph.match(/\p{L}/u)?.[0] ?? "");

/**
 * @typedef {object} Line
 * @property {number} first its first cell
 * @property {number} end the cell after its last
 * @property {number} top pixels from the top of the first line
 * @property {number} bottom
 * @property {any} element
 * @property {any} block
 * @property {any} row contains an element for each piece
 * @property {any} ruler null where each sign is one atom
 * @property {any[] | null} signs the measured signs of several atoms, with their elements on the ruler
 * @property {boolean} isStale whether the ruler is not up to date
 */

export class Score {
  /**
   * @param {any} host the element to draw into
   * @param {string} text
   * @param {"bytes" | "characters"} atomKind
   * @param {object} [options] those of `splitIntoCells`
   */
  constructor(host, text, atomKind, options) {
    this.host = host;
    this.text = text;
    this.cells = splitIntoCells(text, atomKind, options);
    this.cellOf = []; // the cell of each atom
    this.cells.forEach(({ size }, index) => {
      for (let i = 0; i < size; i++) this.cellOf.push(index);
    });
    this.colors = new Int8Array(this.cellOf.length).fill(-1);
    this.flags = new Uint16Array(this.cellOf.length);
    /** @type {Map<number, any[]>} elements before a cell */
    this.before = new Map();
    this.laidOut = () => {}; // called after lines or the visible height have changed
    /** @type {Line[]} */
    this.lines = []; // none until the text has a place on the page
    new ResizeObserver(() => this.layOut()).observe(host);
    host.addEventListener("scroll", () => this.#showNear(), { passive: true });
  }

  // ---- lines

  /** Measure the text at its present size: the first cell of each line, and the height of all lines. */
  measure() {
    const { host } = this;
    const { paddingTop, paddingLeft, fontSize } = getComputedStyle(host);
    const [padding, width, size] = [2 * parseFloat(paddingTop), host.clientWidth - 2 * parseFloat(paddingLeft), parseFloat(fontSize)];
    const key = `${width} ${size}`;
    if (!(width > 0)) return null; // not on the page
    if (this.measured?.key === key && this.measured.isFinal) return this.measured;
    const [plain, strip] = [Math.round(LINE_HEIGHT * size), Math.min(14, Math.max(6, Math.round(size / 4)))];
    host.style.setProperty("--line-height", `${plain}px`); // browsers round other heights, each in its way
    let height = 0;
    const starts = this.#breaks(width, size);
    const lines = starts.map((first, i) => {
      const end = starts[i + 1] ?? this.cells.length;
      const isRuled = this.cells.slice(first, end).some((cell) => cell.size > 1);
      const top = height;
      height += plain + (isRuled ? strip : 0);
      return { first, end, isRuled, top, bottom: height };
    });
    return (this.measured = { key, lines, strip, padding, isFinal: document.fonts.status === "loaded" });
  }

  /** Return whether all lines fit into the element. */
  get fits() {
    const { lines, padding } = this.measure();
    return (lines.at(-1)?.bottom ?? 0) + padding <= this.host.clientHeight + 1;
  }

  /** Break the text into lines, unless its width and its size are the same as before. */
  layOut() {
    const measured = this.measure();
    if (!measured) return;
    if (this.drawn === measured) this.#showNear();
    else {
      const first = this.drawn ? (this.lines[this.wholeLines()[0]]?.first ?? 0) : 0;
      this.drawn = measured;
      this.#draw(measured.lines);
      this.paint(0, this.cellOf.length);
      this.host.scrollTop = this.lines[this.#lineOfCell(first)]?.top ?? 0;
      if (!measured.isFinal) document.fonts.ready.then(() => this.layOut());
    }
    this.laidOut();
  }

  /** Return the first cell of each line, by bisection over the text as the browser breaks it. */
  #breaks(width, size) {
    const at = [];
    let words = "";
    this.cells.forEach((cell, i) => {
      for (const { textContent } of this.before.get(i) ?? []) words += textContent;
      at.push(words.length);
      words += cell.text + (cell.endOfWord ? "</w>" : "") + (cell.wraps ? BREAK : "");
      if (cell.line !== this.cells[i + 1]?.line) words += "\n";
    });
    const probe = this.host.appendChild(element("div", "probe", words));
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

  #draw(lines) {
    const { cells, host, text } = this;
    const blocks = element("div");
    let block = null;
    let dir = "ltr";
    host.style.setProperty("--strip", `${this.drawn.strip}px`);
    this.lines = lines.map((line) => {
      const { line: paragraph, start } = cells[line.first];
      if (paragraph !== cells[line.first - 1]?.line) dir = isRtl(text.slice(start, start + FIRST_LETTER).split("\n", 1)[0]) ? "rtl" : "ltr";
      if (!block || line.first >= block.first + BLOCK) {
        block = Object.assign(blocks.appendChild(element("div", "block")), line);
      }
      block.style.height = `${line.bottom - block.top}px`;
      const box = block.appendChild(element("div", "line"));
      box.dir = dir;
      const row = box.appendChild(element("div", "staff", this.#words(line.first, line.end)));
      const ruler = line.isRuled ? box.appendChild(element("div", "ruler")) : null;
      return { ...line, element: box, block, row, ruler, signs: null, isStale: true };
    });
    host.replaceChildren(...blocks.children);
  }

  #words(from, to) {
    return this.cells.slice(from, to).map(({ text }) => text).join("");
  }

  lineOf(atom) {
    return this.#lineOfCell(this.cellOf[atom]);
  }

  #lineOfCell(cell) {
    return Math.max(0, firstIndex(this.lines.length, (i) => this.lines[i].first > cell) - 1);
  }

  /** Return the lines that are visible from top to bottom as [from, to). */
  wholeLines() {
    const { lines, host } = this;
    const { scrollTop, clientHeight } = host;
    return [
      firstIndex(lines.length, (i) => lines[i].top >= scrollTop - 1),
      firstIndex(lines.length, (i) => lines[i].bottom > scrollTop + clientHeight - this.drawn.padding + 1),
    ];
  }

  /** Return the visible lines, and some more above and below, as [from, to). */
  #nearLines() {
    const { lines, host } = this;
    const { scrollTop, clientHeight } = host;
    return [
      firstIndex(lines.length, (i) => lines[i].bottom > scrollTop - clientHeight / 2),
      firstIndex(lines.length, (i) => lines[i].top > scrollTop + 1.5 * clientHeight),
    ];
  }

  /** Return the atoms of lines [from, to) as [start, end). */
  atomsOf([from, to]) {
    const { lines, cells } = this;
    const at = (i) => (i < lines.length ? cells[lines[i].first].firstAtom : this.cellOf.length);
    return [at(from), at(Math.max(from, to))];
  }

  /** Return the visible atoms, and some more above and below, as [start, end). */
  visible() {
    return this.atomsOf(this.#nearLines());
  }

  /**
   * Scroll the text, and not the page, until the line of an atom is visible. Only a short way is shown.
   * @param {number} atom
   * @param {boolean} [calmly]
   */
  reveal(atom, calmly = false) {
    const { host, lines } = this;
    if (!this.lines.length) return;
    const i = this.lineOf(atom);
    const [from, to] = this.wholeLines();
    if (i >= from && i < to) return;
    const wanted = lines[i].top - host.clientHeight / 3;
    const { top } = lines[firstIndex(i, (k) => lines[k].top >= wanted)];
    const isNear = Math.abs(top - host.scrollTop) < 2 * host.clientHeight;
    host.scrollTo({ top, behavior: calmly && isNear ? "smooth" : "instant" });
    this.#showNear();
  }

  // ---- tokens

  /** Draw the tokens of atoms [start, end) from their colors and flags. */
  paint(start, end) {
    if (start >= end || !this.lines.length) return;
    const last = this.lineOf(end - 1);
    for (let i = this.lineOf(start); i <= last; i++) {
      this.#paintRow(this.lines[i]);
      this.lines[i].isStale = true;
    }
    this.#showNear();
  }

  #paintRow({ first, end, row }) {
    let node = row.firstChild;
    const removeTo = (cell) => {
      while (node && !(node.cell >= cell)) {
        const { nextSibling } = node;
        node.remove();
        node = nextSibling;
      }
    };
    for (const { from, to, className } of piecesOf(this.cells, first, end, this.colors, this.flags)) {
      removeTo(from);
      if (node?.cell !== from) node = row.insertBefore(element("span"), node);
      if (node.end !== to) this.#fill(node, from, to);
      if (node.className !== className) node.className = className;
      node = node.nextSibling;
      removeTo(to);
    }
    removeTo(Infinity);
  }

  #fill(span, from, to) {
    Object.assign(span, { cell: from, end: to, textContent: this.#words(from, to) });
    if (this.before.has(from)) span.prepend(...this.before.get(from));
    if (this.cells[to - 1].endOfWord) span.append(element("span", "mark", "</w>"));
  }

  // Blocks near the visible part are drawn at once, where the browser would take a frame more; rulers
  // only there, since their signs are measured.
  #showNear() {
    const near = this.lines.slice(...this.#nearLines());
    const blocks = new Set(near.map(({ block }) => block));
    for (const block of this.nearBlocks) if (!blocks.has(block)) block.classList.remove("near");
    for (const block of blocks) block.classList.add("near");
    this.nearBlocks = blocks;
    const stale = near.filter(({ ruler, isStale }) => ruler && isStale);
    for (const line of stale) line.signs ??= this.#signsOf(line);
    for (const line of stale) this.#rule(line);
  }

  nearBlocks = new Set();

  /** Measure the signs of several atoms in a line; return each with its element on the ruler. */
  #signsOf({ element: line, row, ruler }) {
    const { left } = line.getBoundingClientRect();
    const range = document.createRange();
    const signs = [];
    for (const span of row.children) {
      const node = [...span.childNodes].find(({ nodeType }) => nodeType === Node.TEXT_NODE);
      let offset = 0;
      for (const cell of this.cells.slice(span.cell, span.end)) {
        range.setStart(node, offset);
        range.setEnd(node, (offset += cell.text.length));
        if (cell.size > 1) signs.push({ cell, box: range.getBoundingClientRect() });
      }
    }
    return signs.map(({ cell, box }) => {
      const fields = ruler.appendChild(element("div", cell.baseClass.includes("rtl") ? "atoms rtl" : "atoms"));
      const width = Math.max(box.width, NARROWEST_TICK);
      fields.style.cssText = `left:${box.left - left}px;width:${width}px`;
      return { ...cell, fields, isWide: width >= NARROWEST_TICK * cell.size };
    });
  }

  /** Draw the ruler of a line: a field for each atom, or where these are too narrow, for each token. */
  #rule(line) {
    line.isStale = false;
    for (const { firstAtom, size, fields, isWide } of line.signs) {
      const end = firstAtom + size;
      const starts = [];
      for (let a = firstAtom; a < end; a++) if (isWide || a === firstAtom || this.flags[a - 1] & TOKEN_END) starts.push(a);
      while (fields.children.length > starts.length) fields.lastChild.remove();
      while (fields.children.length < starts.length) fields.append(element("i"));
      starts.forEach((atom, i) => {
        const className = classNames(this.colors, this.flags, atom, (starts[i + 1] ?? end) - 1).trim();
        const field = Object.assign(fields.children[i], { atom });
        if (field.className !== className) field.className = className;
      });
    }
  }

  /** Return the signs of several atoms at atoms [start, end) over these in hex, or null if there are none. */
  enlarged(start, end) {
    const signs = this.cells.slice(this.cellOf[start], this.cellOf[end - 1] + 1).filter(({ size }) => size > 1);
    if (!signs.length) return null;
    const box = element("div", "enlarged");
    for (const { text, labels, firstAtom } of signs.slice(0, MOST_ENLARGED)) {
      const fields = element("div", "atoms");
      const look = (atom) => classNames(this.colors, this.flags, atom, atom).trim();
      fields.append(...labels.map((label, i) => element("i", look(firstAtom + i), label)));
      box.appendChild(element("div", "", text)).append(fields);
    }
    if (signs.length > MOST_ENLARGED) box.append("…");
    return box;
  }

  /** Return the atom under an element of this text, or the first one of its piece, or -1. */
  atomAt(target) {
    const field = target?.closest?.(".atoms > i");
    if (field) return field.atom;
    const span = target?.closest?.(".c");
    return span?.cell === undefined ? -1 : this.cells[span.cell].firstAtom;
  }

  /** Return the element that contains an atom. */
  elementAt(atom) {
    const { children } = this.lines[this.lineOf(atom)].row;
    return children[firstIndex(children.length, (i) => children[i].end > this.cellOf[atom])];
  }

  /** Add or remove the class of a flag on atoms [start, end). */
  toggle(start, end, className, on) {
    const flag = flagOf(className);
    for (let a = start; a < end; a++) this.flags[a] = on ? this.flags[a] | flag : this.flags[a] & ~flag;
    this.paint(start, Math.min(end, this.flags.length));
  }

  /** Show the text up to a place in UTF-16 units only. */
  crop(offset) {
    const end = firstIndex(this.cells.length, (c) => this.cells[c].start >= offset);
    this.lines = this.lines.filter((line) => !(line.element.hidden = line.first >= end));
    const last = this.lines.at(-1);
    last.end = Math.min(last.end, end);
    last.signs = last.ruler?.replaceChildren(); // none
    this.paint(0, this.atomsOf([0, this.lines.length])[1]);
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
      for (const sign of fragment.querySelectorAll(".mark, .id, .ruler")) sign.remove();
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

// A row of a score: the tokens of one tokenizer on each line. Below the part of a line whose signs have
// several atoms (bytes, or code points) there is a ruler with a tick for each of these.

import { LEFT_OUT, TOKEN_END, classNames, piecesOf } from "./cells.js";
import { element } from "./dom.js";
import { formatCount } from "./format.js";
import { firstIndex } from "./search.js";

const NARROWEST_TICK = 3; // pixels
const MOST_ENLARGED = 8; // signs

/**
 * @typedef {object} RowOptions
 * @property {"bytes" | "characters"} atomKind
 * @property {import("./cells.js").Cell[]} [cells] those of the only row, if the host has them
 * @property {string} [name] stands beside each line, with the number of tokens that end in it
 * @property {number[] | null} [atomBytes] see `splitIntoCells`
 * @property {number[]} [marks]
 * @property {number[]} [rowEnds]
 * @property {(atom: number) => string} [markLabel]
 * @property {boolean} [isApart] whether it stands below a line
 *
 * @typedef {object} Staff a line of a row
 * @property {ScoreRow} row
 * @property {any} box
 * @property {any} count null where the row has no name
 * @property {any} pieces contains an element for each piece
 * @property {any} ruler null where each sign is one atom
 * @property {any} labels null where the row has none
 * @property {any[] | null} signs the measured signs of several atoms, with their elements on the ruler
 * @property {boolean} isStale whether what is below the pieces is older than these
 */

export class ScoreRow {
  /**
   * @param {import("./score.js").Score} score
   * @param {number} index
   * @param {RowOptions} options
   * @param {import("./cells.js").Cell[]} cells
   */
  constructor(score, index, { name, isApart = false }, cells) {
    Object.assign(this, { score, index, name, isApart, cells });
    this.cellOf = []; // the cell of each atom
    cells.forEach(({ size }, cell) => {
      for (let i = 0; i < size; i++) this.cellOf.push(cell);
    });
    /** @type {((atom: number) => string) | null} the label below the token that begins at an atom */
    this.labelOf = null;
    this.colors = new Int8Array(this.cellOf.length).fill(-1);
    this.flags = new Uint16Array(this.cellOf.length);
  }

  /** @returns {Staff} */
  newStaff(line, isRuled) {
    const box = line.appendChild(element("div", this.isApart ? "score-row apart" : "score-row"));
    if (this.index) Object.assign(box, { inert: true, ariaHidden: "true" });
    const count = this.name ? element("b") : null;
    if (count) {
      box.dataset.row = this.name;
      const share = this.score.hasShares && element("i", "share");
      box.append(element("div", { className: "score-name", inert: true }, element("span", "", this.name), " ", count, share));
    }
    const pieces = box.appendChild(element("div", "staff"));
    const ruler = isRuled ? box.appendChild(element("div", "ruler")) : null;
    const labels = this.labelOf ? box.appendChild(element("div", "labels")) : null;
    return { row: this, box, count, pieces, ruler, labels, signs: null, isStale: false };
  }

  #words(from, to) {
    return this.cells.slice(from, to).map(({ text }) => text).join("");
  }

  lineOf(atom) {
    return this.score.lineOfCell(this.cellOf[atom]);
  }

  /** Return the atoms of lines [from, to) as [start, end). */
  atomsOf([from, to]) {
    const { lines } = this.score;
    const at = (i) => lines[i]?.first ?? this.cells.length;
    return this.atomsOfCells(at(from), at(Math.max(from, to)));
  }

  /** Return the atoms of cells [from, to) as [start, end). */
  atomsOfCells(from, to) {
    return [from, to].map((cell) => this.cells[cell]?.firstAtom ?? this.cellOf.length);
  }

  /** Return the cells of atoms [start, end) as [from, to). */
  cellsOf(start, end) {
    return [this.cellOf[start], this.cellOf[end - 1] + 1];
  }

  /** Scroll until the line of an atom is visible; see `Score.revealLine`. */
  reveal(atom, calmly = false) {
    this.score.revealLine(this.lineOf(atom), calmly);
  }

  /** Draw the tokens of atoms [start, end) from their colors and flags, with their rulers. */
  paint(start, end) {
    this.draw(start, end);
    this.score.showNear();
  }

  /** Likewise without rulers, which the browser lays out the page for; `Score.showNear` draws these. */
  draw(start, end) {
    const { lines } = this.score;
    if (start >= end || !lines.length) return;
    const last = this.lineOf(end - 1);
    for (let i = this.lineOf(start); i <= last; i++) {
      const staff = lines[i].staves[this.index];
      this.#paintStaff(staff, lines[i]);
      const atom = (cell) => this.cells[cell]?.firstAtom ?? this.cellOf.length;
      if (staff.count) {
        const count = this.countIn(atom(lines[i].first), atom(lines[i].end));
        staff.count.textContent = formatCount(count);
        if (this.score.hasShares) staff.count.parentNode.style.setProperty("--share", String(count / this.score.mostAtoms));
      }
      staff.isStale = true;
    }
  }

  /** Return how many tokens end in atoms [start, end). */
  countIn(start, end) {
    let count = 0;
    for (let a = start; a < end; a++) if ((this.flags[a] & (TOKEN_END | LEFT_OUT)) === TOKEN_END) count++;
    return count;
  }

  #paintStaff({ pieces }, { first, end }) {
    let node = pieces.firstChild;
    const removeTo = (cell) => {
      while (node && !(node.cell >= cell)) {
        const { nextSibling } = node;
        node.remove();
        node = nextSibling;
      }
    };
    for (const { from, to, className } of piecesOf(this.cells, first, end, this.colors, this.flags)) {
      removeTo(from);
      if (node?.cell !== from) node = pieces.insertBefore(element("span"), node);
      if (node.end !== to) this.#fill(node, from, to);
      if (node.className !== className) node.className = className;
      node = node.nextSibling;
      removeTo(to);
    }
    removeTo(Infinity);
  }

  #fill(span, from, to) {
    Object.assign(span, { cell: from, end: to, textContent: this.#words(from, to) });
    const { endOfWord, leavesRoom } = this.cells[to - 1];
    if (endOfWord || leavesRoom) span.append(element("span", endOfWord ? "mark" : "mark blank", "</w>"));
  }

  /** Measure what stands below a staff. Nothing is drawn meanwhile: the page would be laid out each time. */
  measure(staff) {
    const { left } = staff.pieces.getBoundingClientRect();
    if (staff.ruler) staff.signs ??= this.#signsOf(staff, left);
    if (!staff.labels) return;
    staff.tokens = [];
    for (const piece of staff.pieces.children) {
      const [{ firstAtom }, last] = [this.cells[piece.cell], this.cells[piece.end - 1]];
      const starts = [];
      for (let a = firstAtom; a < last.firstAtom + last.size; a++) if (!a || this.flags[a - 1] & TOKEN_END) starts.push(a);
      const box = piece.getBoundingClientRect();
      const before = staff.tokens.at(-1);
      if (starts.length) staff.tokens.push({ words: starts.map(this.labelOf).join(" ").trim(), left: box.left - left, right: box.right - left });
      else if (before) Object.assign(before, { left: Math.min(before.left, box.left - left), right: Math.max(before.right, box.right - left) });
    }
  }

  /** Return the signs of several atoms in a staff with their places. */
  #signsOf({ pieces }, left) {
    const range = document.createRange();
    const signs = [];
    for (const span of pieces.children) {
      const node = span.firstChild;
      let offset = 0;
      for (const cell of this.cells.slice(span.cell, span.end)) {
        range.setStart(node, offset);
        range.setEnd(node, (offset += cell.text.length));
        if (cell.size < 2) continue;
        const box = range.getBoundingClientRect();
        const width = Math.max(box.width, NARROWEST_TICK);
        const isWide = width >= NARROWEST_TICK * cell.size;
        signs.push({ ...cell, place: `left:${box.left - left}px;width:${width}px`, isWide, fields: null });
      }
    }
    return signs;
  }

  /** Draw what stands below a staff: the ruler, and the labels of its tokens. */
  drawBelow(staff) {
    staff.isStale = false;
    if (staff.ruler) this.#rule(staff);
    staff.labels?.replaceChildren(
      ...staff.tokens.map(({ words, left, right }) => element("i", { style: `left:${left}px;width:${right - left}px` }, words)),
    );
  }

  /** Draw a ruler: a field for each atom, or where these are too narrow, for each token. */
  #rule({ ruler, signs }) {
    for (const sign of signs) {
      const { firstAtom, size, isWide, baseClass, place } = sign;
      const className = baseClass.includes("rtl") ? "atoms rtl" : "atoms";
      const fields = (sign.fields ??= ruler.appendChild(element("div", { className, style: place })));
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

  /**
   * Return the signs of several atoms at atoms [start, end) over these in hex, or null if there are none.
   * @param {number} start
   * @param {number} end
   * @param {number} [most] atoms of a sign; of a longer one those around `start` are shown
   * @param {Int8Array} [colors]
   * @param {Uint16Array} [flags]
   */
  enlarged(start, end, most = Infinity, colors = this.colors, flags = this.flags) {
    const signs = this.cells.slice(this.cellOf[start], this.cellOf[end - 1] + 1).filter(({ size }) => size > 1);
    if (!signs.length) return null;
    const look = (atom) => classNames(colors, flags, atom, atom).trim();
    const boxes = signs.slice(0, MOST_ENLARGED).map(({ text, labels, firstAtom, size }) => {
      const from = size > most ? Math.max(0, Math.min(start - 1 - firstAtom, size - most)) : 0;
      const fields = labels.map((label, i) => element("i", look(firstAtom + i), label)).slice(from, from + most);
      return element("div", "", text, element("div", "atoms", from ? "…" : "", ...fields, from + most < size ? "…" : ""));
    });
    return element("div", "enlarged", ...boxes, signs.length > MOST_ENLARGED ? "…" : "");
  }

  /** Return the atom of a staff under the pointer, or the first one of its piece, or -1. */
  atomAt({ pieces, signs }, target, x, y) {
    const fields = signs?.flatMap((sign) => [...(sign.fields?.children ?? [])]);
    const field = target.closest(".atoms > i") ?? fields?.find((at) => isInside(at, x, y));
    if (field) return field.atom;
    const { top, bottom } = pieces.getBoundingClientRect(); // below them are labels
    const piece = target.closest(".c") ?? [...pieces.children].find((at) => isInside(at, x, (top + bottom) / 2));
    return piece ? this.cells[piece.cell].firstAtom : -1;
  }

  /** Return the element that contains an atom. */
  elementAt(atom) {
    const { children } = this.score.lines[this.lineOf(atom)].staves[this.index].pieces;
    return children[firstIndex(children.length, (i) => children[i].end > this.cellOf[atom])];
  }

  /** Return the box of a sign in pixels of the window. */
  boxOf(cell) {
    const { firstAtom, text } = this.cells[cell];
    const piece = this.elementAt(firstAtom);
    const offset = this.#words(piece.cell, cell).length;
    const range = document.createRange();
    range.setStart(piece.firstChild, offset);
    range.setEnd(piece.firstChild, offset + text.length);
    return range.getBoundingClientRect();
  }

  /** Return the edge after an atom in pixels of the window: that of its sign, or of its field on the ruler. */
  edgeAfter(atom) {
    const { firstAtom, size, baseClass } = this.cells[this.cellOf[atom]];
    const { signs } = this.score.lines[this.lineOf(atom)].staves[this.index];
    const isInside = atom + 1 < firstAtom + size;
    const field = isInside && signs?.find((sign) => sign.firstAtom === firstAtom)?.fields?.children[atom - firstAtom];
    const { left, right, top, bottom } = field ? field.getBoundingClientRect() : this.boxOf(this.cellOf[atom]);
    return { x: baseClass.includes("rtl") ? left : right, top, bottom };
  }

  /** Return where the tooltip of an atom stands: below all rows of its line. */
  placeOf(atom) {
    const piece = this.elementAt(atom);
    const { left } = piece.getBoundingClientRect();
    const { top, bottom } = piece.closest(".line").getBoundingClientRect();
    return { getBoundingClientRect: () => ({ left, top, bottom }) };
  }

  /** Add a flag to atoms [start, end), or remove it. */
  toggle(start, end, flag, on) {
    for (let a = start; a < end; a++) this.flags[a] = on ? this.flags[a] | flag : this.flags[a] & ~flag;
    this.paint(start, Math.min(end, this.flags.length));
  }
}

/** Return whether a point is inside an element; one of text from both directions has several boxes. */
export const isInside = (shown, x, y) =>
  [...shown.getClientRects()].some(({ left, right, top, bottom }) => x >= left && x < right && y >= top && y < bottom);

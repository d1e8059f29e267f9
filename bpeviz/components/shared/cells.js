// Text drawn as cells. A cell is one grapheme, with one or more atoms (bytes or characters).
// Cells never move: a change of step only changes their class names.

import { element } from "./dom.js";
import { toHex } from "./format.js";
import { firstIndex } from "./search.js";

// Flags of an atom.
export const TOKEN_END = 1; // a boundary follows the atom
export const NEW = 2; // the atom belongs to a token that the current step created …
export const NEW_START = 4; // … and is its first atom
export const NEW_END = 8; // … or its last
export const JUST_MERGED = 16; // the current step removed the boundary after the atom
export const EXTRA = 32; // a boundary follows the atom, but not in the reference
export const MISSING = 64; // a boundary follows the atom in the reference, but not here
export const UNKNOWN = 128; // the atom is not in the vocabulary
export const LEFT_OUT = 256; // the atom belongs to no token

// The class name of each flag, and of every combination of flags.
const FLAG_NAMES = ["b", "new", "first", "last", "merged", "extra", "missing", "unknown", "left-out"];
const COMBINED_NAMES = Array.from({ length: 1 << FLAG_NAMES.length }, (_, flags) =>
  FLAG_NAMES.map((name, bit) => (flags & (1 << bit) ? ` ${name}` : "")).join(""),
);
const START_FLAGS = NEW | NEW_START; // read from a token's first atom, all others from its last

// Ids of atoms without a token of the vocabulary (`UNKNOWN_ID` and `DROPPED` in Python).
export const UNKNOWN_ID = -1;
export const LEFT_OUT_ID = -2;
export const SPECIAL_ID = -4; // of the last special token; those before it have -5 and so on

const STAND_INS = { " ": "·", "\t": "→", "\n": "↵", "\r": "␍" };
const INVISIBLE = /[\p{C}\p{Z}]/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
const NO_BREAK_SPACE = "\u00A0"; // one of the text itself has a stand-in
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const MAX_GRAPHEME = 16; // UTF-16 units; a longer grapheme is drawn by code point
const BLOCK = 500; // cells after which a line begins a new block: one for each line would be slow
const STRIP_ROWS = 4; // rows of a strip before it continues in a second column

/**
 * @typedef {object} Cell
 * @property {string} text the displayed sign
 * @property {string} baseClass class names that never change
 * @property {number} start where the cell starts in the text, in UTF-16 units
 * @property {number} end
 * @property {number} firstAtom
 * @property {number} size number of atoms
 * @property {string[]} labels one per atom: a byte or a code point in hex
 * @property {number} line
 * @property {boolean} endOfWord whether an end-of-word mark is attached
 */

/**
 * @typedef {Cell & {element: any, className: string, rows: any[]}} DrawnCell with the class names last
 *   written, and the elements of its strip
 */

/**
 * Yield the text by grapheme, or by code point where a grapheme has an invisible part: a joiner or a
 * direction mark is then visible and has no effect on the page.
 * @param {string} text
 */
function* graphemes(text) {
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text))
    if (INVISIBLE.test(segment) || segment.length > MAX_GRAPHEME) yield* segment;
    else yield segment;
}

/**
 * Split a text into cells.
 * @param {string} text
 * @param {"bytes" | "characters"} atomKind
 * @param {object} [options]
 * @param {number[] | null} [options.atomBytes] bytes of each atom where `atomKind` does not imply
 *   them: 0 for a mark that is not text, 1 for a byte of a character outside the vocabulary
 * @param {number[]} [options.marks] atoms with an attached end-of-word mark
 * @param {(atom: number) => string} [options.markLabel] the label of an atom of 0 bytes
 * @returns {Cell[]}
 */
export function splitIntoCells(text, atomKind, { atomBytes = null, marks = [], markLabel = () => "" } = {}) {
  const utf8 = new TextEncoder();
  const marked = new Set(marks);
  const cells = [];
  let atom = 0;
  let offset = 0;
  let line = 0;
  let rightToLeft = false;
  const hasRightToLeft = RIGHT_TO_LEFT.test(text);
  const bytesOf = (sign) => Array.from(utf8.encode(sign), (byte) => toHex(byte, 2));
  const codePoint = (character) => toHex(character.codePointAt(0), 4);
  const known = new Map(); // a text has few different signs
  const labelsOf = (sign) => {
    if (atomBytes && atomKind !== "bytes") return labelsOfAtoms(sign);
    if (!known.has(sign)) known.set(sign, atomKind === "bytes" ? bytesOf(sign) : Array.from(sign, codePoint));
    return known.get(sign);
  };
  const labelsOfAtoms = (sign) => {
    const labels = [];
    for (const character of sign) {
      const bytes = bytesOf(character);
      const isAtom = atomBytes[atom + labels.length] === bytes.length;
      labels.push(...(isAtom ? [codePoint(character)] : bytes));
    }
    return labels;
  };
  // A pre-token may end inside a grapheme. Its code points are then separate cells, so that the
  // end-of-word mark has a place.
  const splitAtMarks = (grapheme) => {
    const characters = [...grapheme];
    const endsWord = (i) => marked.has(atom + i) || atomBytes?.[atom + i + 1] === 0;
    return characters.slice(1).some((_, i) => endsWord(i)) ? characters : [grapheme];
  };
  const add = (sign, text, baseClass, labels) => {
    const [firstAtom, start] = [atom, offset];
    atom += labels.length;
    offset += sign.length;
    const endOfWord = marked.has(atom - 1);
    cells.push({ text, baseClass, start, end: offset, firstAtom, size: labels.length, labels, line, endOfWord });
  };
  const addMarks = () => {
    while (atomBytes?.[atom] === 0) add("", markLabel(atom), "c quiet", [""]);
  };
  addMarks();
  for (const grapheme of graphemes(text))
    for (const sign of splitAtMarks(grapheme)) {
      // Spaces and punctuation have the direction of the letters before them.
      if (LETTER_OR_DIGIT.test(sign)) rightToLeft = RIGHT_TO_LEFT.test(sign);
      const labels = labelsOf(sign);
      let baseClass = "c";
      let shown = sign;
      // A space and a tab stay in the text, so that lines wrap; the stylesheet draws their signs.
      if (sign === "\t") baseClass += " tab";
      else if (sign === " ") {
        baseClass += " space";
        // A line breaks before a space, so that a word keeps it. In lines with letters from right
        // to left, a no-break space between two numbers would change their order.
        if (!hasRightToLeft) {
          shown = NO_BREAK_SPACE;
          const before = cells.at(-1);
          if (before?.line === line && ![shown, "\t"].includes(before.text)) before.baseClass += " w";
        }
      }
      else if (INVISIBLE.test(sign)) {
        baseClass += " quiet";
        shown = STAND_INS[sign] ?? `⟨${codePoint(sign)}⟩`;
      }
      if (labels.length > 1) {
        baseClass += ` multi r${Math.min(labels.length, STRIP_ROWS)}`;
        if (labels.length > STRIP_ROWS || labels[0].length > 2) baseClass += " wide";
      }
      add(sign, shown, rightToLeft ? `${baseClass} rtl` : baseClass, labels);
      addMarks();
      if (sign === "\n") {
        line++;
        rightToLeft = false;
      }
    }
  return cells;
}

/**
 * Return the class names of a token's atoms `first` to `last`, each after a space.
 * @param {ArrayLike<number>} colors color index of each atom, -1 for none
 * @param {ArrayLike<number>} flags flags of each atom
 * @param {number} first
 * @param {number} last
 */
export function classNames(colors, flags, first, last) {
  const color = colors[first] >= 0 ? ` t color${colors[first]}` : "";
  return color + COMBINED_NAMES[(flags[first] & START_FLAGS) | (flags[last] & ~START_FLAGS)];
}

/** The cells of a text in the document. */
export class CellText {
  /**
   * @param {any} host the element to draw into
   * @param {string} text
   * @param {"bytes" | "characters"} atomKind
   * @param {object} [options] those of `splitIntoCells`
   */
  constructor(host, text, atomKind, options) {
    this.host = host;
    this.text = text;
    /** @type {DrawnCell[]} */
    this.cells = /** @type {any} */ (splitIntoCells(text, atomKind, options));
    this.cellOf = []; // the cell of each atom
    const blocks = document.createDocumentFragment();
    let block = null;
    let line = null;
    let blockStart = -BLOCK;
    this.cells.forEach((cell, index) => {
      if (cell.line !== this.cells[index - 1]?.line) {
        if (index >= blockStart + BLOCK) {
          block = blocks.appendChild(element("div", "block"));
          blockStart = index;
        }
        line = block.appendChild(element("div", "line"));
      }
      line.append(this.#draw(cell, index));
      for (let i = 0; i < cell.size; i++) this.cellOf.push(index);
    });
    for (const { style, children } of blocks.children) style.setProperty("--lines", children.length);
    host.replaceChildren(blocks);
    this.colors = new Int8Array(this.cellOf.length).fill(-1);
    this.flags = new Uint16Array(this.cellOf.length);
  }

  #draw(cell, index) {
    const span = element("span", cell.baseClass, cell.text);
    span.cell = index;
    cell.element = span;
    cell.className = cell.baseClass;
    cell.rows = [];
    if (cell.size > 1) {
      // A strip below a sign lists its bytes, or the code points of its grapheme. It is shown where
      // a token boundary falls inside the sign.
      const strip = span.appendChild(element("span", "strip"));
      strip.ariaHidden = "true";
      cell.rows = cell.labels.map((label) => strip.appendChild(element("i", "", label)));
      cell.rows.forEach((row, i) => (row.row = i));
      const columns = Math.ceil(cell.size / STRIP_ROWS) * (cell.labels[0].length / 2);
      if (columns > 1) span.style.setProperty("--columns", columns);
    }
    if (cell.endOfWord) span.append(element("span", "mark", "</w>"));
    return span;
  }

  /** Return where an atom starts in the text, in UTF-16 units; atoms are characters or marks. */
  offset(atom) {
    if (atom >= this.cellOf.length) return this.text.length;
    const cell = this.cells[this.cellOf[atom]];
    const before = [...this.text.slice(cell.start, cell.end)].slice(0, atom - cell.firstAtom);
    return cell.start + before.join("").length;
  }

  /**
   * Return the visible atoms as [start, end).
   * @param {number} [margin] frame heights more on either side; negative to leave out what is cut off
   */
  visible(margin = 0.5) {
    const { top, bottom, height } = this.host.getBoundingClientRect();
    const low = top - height * margin;
    const high = bottom + height * margin;
    const first = ({ children }, test) =>
      firstIndex(children.length, (i) => test(children[i].getBoundingClientRect()));
    if (!this.cells.length) return [0, 0];
    let [from, to] = [this.host, this.host];
    // From a block to its line to the cell: a line may be a long paragraph.
    while (from.cell === undefined) from = from.children[first(from, ({ bottom }) => bottom >= low)] ?? from.lastChild;
    while (to.cell === undefined) to = to.children[first(to, ({ top }) => top > high) - 1] ?? to.firstChild;
    const last = this.cells[to.cell];
    return [this.cells[from.cell].firstAtom, last.firstAtom + last.size];
  }

  /** Scroll the text, and not the page, until an atom is visible. */
  reveal(atom) {
    const row = this.cells[this.cellOf[atom]].element.getBoundingClientRect();
    const { top, bottom, height } = this.host.getBoundingClientRect();
    if (row.top < top || row.bottom > bottom) this.host.scrollTop += row.top - top - height / 3;
  }

  /** Write the class names for the colors and flags of atoms [start, end). */
  paint(start, end) {
    if (start >= end) return;
    const { colors, flags } = this;
    const lastCell = this.cellOf[end - 1];
    for (let c = this.cellOf[start]; c <= lastCell; c++) {
      const cell = this.cells[c];
      const last = cell.firstAtom + cell.size - 1;
      let isSplit = false;
      for (let a = cell.firstAtom; a < last; a++) isSplit ||= (flags[a] & TOKEN_END) !== 0;
      let className;
      if (isSplit) {
        className = `${cell.baseClass} split${flags[last] & TOKEN_END ? " b" : ""}`;
        cell.rows.forEach((row, i) => {
          const atom = cell.firstAtom + i;
          const names = classNames(colors, flags, atom, atom);
          if (row.className !== names) row.className = names;
        });
      } else className = cell.baseClass + classNames(colors, flags, cell.firstAtom, last);
      if (cell.className !== className) {
        cell.className = className;
        cell.element.className = className;
      }
    }
  }

  /** Return the atom under an element of this text, or -1. */
  atomAt(target) {
    const span = target?.closest?.(".c");
    if (!span || span.cell === undefined) return -1;
    return this.cells[span.cell].firstAtom + (target.closest("i")?.row ?? 0);
  }

  /** Add or remove a class on the cells, or on the rows of strips, of atoms [start, end). */
  toggle(start, end, className, on) {
    for (let a = start; a < end; a++) {
      const cell = this.cells[this.cellOf[a]];
      if (!cell) continue;
      const isSplit = cell.size > 1 && cell.className.includes(" split");
      (isSplit ? cell.rows[a - cell.firstAtom] : cell.element).classList.toggle(className, on);
    }
  }

  /** Put the selected part of the original text on the clipboard, without stand-ins. */
  copyTo(event, root) {
    const selection = root.getSelection?.() ?? document.getSelection();
    if (!selection || selection.isCollapsed || !selection.rangeCount) return;
    const range = selection.getComposedRanges
      ? selection.getComposedRanges({ shadowRoots: [root] })[0]
      : selection.getRangeAt(0);
    const offsetOf = (node, offset, atEnd) => {
      const isText = node.nodeType === Node.TEXT_NODE;
      const parent = isText ? node.parentElement : node;
      const span = parent.closest(".c");
      if (span) {
        const cell = this.cells[span.cell];
        return (isText ? offset > 0 : atEnd) ? cell.end : cell.start;
      }
      // Between cells or between lines: use the neighbor.
      let next = parent.childNodes[offset]?.querySelector?.(".c") ?? parent.childNodes[offset];
      while (next && next.cell === undefined) next = next.nextSibling; // an id
      if (next?.cell !== undefined) return this.cells[next.cell].start;
      const before = parent.childNodes[offset - 1];
      let last = before;
      while (last && last.cell === undefined) last = last.lastElementChild;
      return last?.cell !== undefined ? this.cells[last.cell].end : atEnd ? this.text.length : 0;
    };
    const start = offsetOf(range.startContainer, range.startOffset, false);
    const end = offsetOf(range.endContainer, range.endOffset, true);
    event.clipboardData.setData("text/plain", this.text.slice(start, end));
    event.preventDefault();
  }
}

// A text as cells. A cell is one grapheme, with one or more atoms (bytes or characters).

import { hexOf, toHex } from "./format.js";

// Flags of an atom.
export const TOKEN_END = 1; // a boundary follows the atom
export const NEW = 2; // the atom belongs to a token that the current step created …
export const NEW_START = 4; // … and is its first atom
export const NEW_END = 8; // … or its last
export const JUST_MERGED = 16; // the current step removed the boundary after the atom
export const TICK = 32; // the boundary after the atom is drawn as a tick
export const UNKNOWN = 64; // the atom is not in the vocabulary
export const LEFT_OUT = 128; // the atom belongs to no token

export const LIT = 256; // the atom belongs to the token that the user looks at, elsewhere, too
export const OUTLINED = 512; // the atom belongs to the token that the user looks at …
export const OUTLINED_START = 1024; // … and is its first atom
export const OUTLINED_END = 2048; // … or its last

// The class name of each flag, and of every combination of flags.
const FLAG_NAMES = ["b", "new", "first", "last", "merged", "tick", "unknown", "left-out", "lit", "outlined", "outlined-first", "outlined-last"];
const COMBINED_NAMES = Array.from({ length: 1 << FLAG_NAMES.length }, (_, flags) =>
  FLAG_NAMES.map((name, bit) => (flags & (1 << bit) ? ` ${name}` : "")).join(""),
);
const START_FLAGS = NEW | NEW_START | OUTLINED_START; // read from a token's first atom, all others from its last
const BEFORE = NEW_START | OUTLINED_START; // a piece begins at such an atom
const AFTER = TOKEN_END | NEW_END | JUST_MERGED | OUTLINED_END; // … and ends after such a one
const EVEN = NEW | UNKNOWN | LEFT_OUT | LIT | OUTLINED; // equal for all atoms of a piece

// In place of ids: of no token of the vocabulary (`UNKNOWN_ID`, `DROPPED_ID` and so on in Python).
export const UNKNOWN_ID = -1;
export const LEFT_OUT_ID = -2;
export const INSIDE = -3; // no token starts at this atom; of the first atom: it starts before the part
// The last special token has -4, those before it -5 and so on.

/** Return an id, or null where there is none, or another one at each step. */
export const idOf = (id) => (typeof id === "number" && id >= 0 ? id : null);

/** Return an id in words, or why there is none. */
export function idInWords(id) {
  const reasons = { [UNKNOWN_ID]: "not in the vocabulary", [LEFT_OUT_ID]: "dropped", [INSIDE]: "its token starts in the previous part" };
  return idOf(id) === null ? (reasons[id] ?? "special token") : `id ${id}`;
}

const utf8 = new TextEncoder();
const bytesOf = (sign) => hexOf(utf8.encode(sign));

const STAND_INS = { " ": "·", "\t": "→", "\n": "↵", "\r": "␍" };
const INVISIBLE = /[\p{C}\p{Z}]/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
const NO_BREAK_SPACE = "\u00A0"; // one of the text itself has a stand-in
const NO_WIDTH = "\u200B"; // a cell has a text, of which the place is measured
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const MAX_GRAPHEME = 16; // UTF-16 units; a longer grapheme is drawn by code point
// Graphemes whose shape depends on joiners and tags: emoji, and letters of scripts that join.
const JOINED = /^(\u{1F3F4}|\p{Extended_Pictographic}(?!.*[\u{E0000}-\u{E007F}])|(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{L}[\p{L}\p{M}\u200C\u200D]*$)/u;

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
 * @property {boolean} wraps whether a line may break after the cell, which is before a space
 * @property {boolean} endOfWord whether an end-of-word mark is attached
 * @property {string} [look] class names after a space, of which each piece has those of its cells
 * @property {boolean} [leavesRoom] whether one is attached in another row of the score
 */

/**
 * Yield the text by grapheme, or by code point where a grapheme has an invisible part: a direction
 * mark is then visible and has no effect on the page. A joiner stays where it shapes a letter or an emoji.
 * @param {string} text
 */
function* graphemes(text) {
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text))
    if ((INVISIBLE.test(segment) && !JOINED.test(segment)) || segment.length > MAX_GRAPHEME) yield* segment;
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
 * @param {Set<number>} [options.starts] where cells start in any case
 * @param {number[]} [options.rowEnds] atoms that are line ends between rows of a table, which have no sign
 * @returns {Cell[]}
 */
export function splitIntoCells(text, atomKind, { atomBytes = null, marks = [], markLabel = () => "", starts = new Set(), rowEnds = [] } = {}) {
  const marked = new Set(marks);
  const betweenRows = new Set(rowEnds);
  const cells = [];
  let atom = 0;
  let offset = 0;
  let line = 0;
  let rightToLeft = false;
  const hasRightToLeft = RIGHT_TO_LEFT.test(text);
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
    let at = offset;
    const isStart = (character) => starts.has((at += character.length));
    return characters.slice(0, -1).some((character, i) => isStart(character) || endsWord(i)) ? characters : [grapheme];
  };
  const add = (sign, text, baseClass, labels) => {
    const [firstAtom, start] = [atom, offset];
    atom += labels.length;
    offset += sign.length;
    const endOfWord = marked.has(atom - 1);
    cells.push({ text, baseClass, start, end: offset, firstAtom, size: labels.length, labels, line, wraps: false, endOfWord });
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
          if (before?.line === line && ![shown, "\t"].includes(before.text)) before.wraps = true;
        }
      }
      else if (INVISIBLE.test(sign) && !JOINED.test(sign)) {
        baseClass += sign === "\n" ? " quiet break" : " quiet";
        shown = betweenRows.has(atom) ? NO_WIDTH : (STAND_INS[sign] ?? `⟨${codePoint(sign)}⟩`);
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

const SIGNS = Object.fromEntries(Object.entries(STAND_INS).map(([sign, label]) => [label, sign]));

/** Return the bytes of a token's label as hex digits, with spaces between them. */
export function labelInBytes(label, direction = "ltr") {
  return [...label.replace(/◌(?=\p{M})/gu, "").matchAll(/⟨([0-9A-F]+)⟩|./gsu)]
    .flatMap(([sign, hex]) => (hex?.length === 2 ? [hex] : sign === "…" ? [sign] : bytesOf(hex ? String.fromCodePoint(parseInt(hex, 16)) : (SIGNS[sign] ?? sign))))
    .join(direction === "rtl" ? ` ${RIGHT_TO_LEFT_MARK}` : " ");
}

const RIGHT_TO_LEFT_MARK = "\u200F"; // between bytes, or digits would run from left to right

/** Return the direction of a text: that of its first letter. */
export const directionOf = (text) => (RIGHT_TO_LEFT.test(text.match(/\p{L}/u)?.[0] ?? "") ? "rtl" : "ltr");

/** Return a cell for each atom of some cells, with its two hex digits. */
export const intoBytes = (cells) =>
  cells.flatMap((cell, i) =>
    (cell.size > 1 ? cell.labels : [cell.labels[0]]).map((label, k, all) => ({
      ...cell,
      text: `${label}\u202F${cell.baseClass.includes("rtl") ? RIGHT_TO_LEFT_MARK : ""}`,
      baseClass: cell.baseClass.includes("rtl") ? "c rtl" : "c",
      firstAtom: cell.firstAtom + k,
      size: 1,
      labels: [label],
      wraps: k === all.length - 1 && (cell.size > 1 || cells[i + 1]?.baseClass.includes("space")),
    })),
  );

/**
 * Split a text once per row, into cells of the same signs: where a row has a mark the others leave
 * room for it, and what one divides all do.
 * @param {string} text
 * @param {{atomKind: "bytes" | "characters", atomBytes?: number[] | null, marks?: number[], rowEnds?: number[]}[]} rows
 * @returns {Cell[][]}
 */
export function splitIntoRows(text, rows) {
  const split = (starts) => {
    const plain = {}; // rows without marks share their cells
    return rows.map((row) => {
      const isPlain = !row.atomBytes && !row.marks?.length;
      const cells = (isPlain && plain[row.atomKind]) || splitIntoCells(text, row.atomKind, { ...row, starts });
      if (isPlain) plain[row.atomKind] = cells;
      return cells;
    });
  };
  const all = split();
  if (new Set(all).size < 2 || !rows.some(({ atomBytes, marks }) => atomBytes || marks?.length)) return all;
  const parts = split(new Set(all.flatMap((cells) => cells.map(({ start }) => start))));
  const aligned = rows.map(() => []);
  const at = rows.map(() => 0);
  const isMark = (cell) => cell?.start === cell?.end;
  for (;;) {
    const next = parts.map((cells, i) => cells[at[i]]);
    const mark = next.find((cell) => cell && isMark(cell));
    if (!mark && !next[0]) return aligned;
    const leavesRoom = !mark && next.some(({ endOfWord }) => endOfWord);
    next.forEach((cell, i) => {
      const isHere = !mark || (cell && isMark(cell) && cell.text === mark.text);
      const before = aligned[i].at(-1);
      const firstAtom = before ? before.firstAtom + before.size : 0;
      aligned[i].push(isHere ? { ...cell, leavesRoom } : { ...mark, baseClass: "c quiet blank", firstAtom, size: 0, labels: [] });
      at[i] += Number(isHere);
    });
  }
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

/**
 * @typedef {object} Piece a stretch of a line with one look, drawn as one element
 * @property {number} from the first cell
 * @property {number} to the cell after the last
 * @property {string} className
 */

/**
 * Return the pieces of cells [first, end): tokens, divided where a sign has a look of its own. A token
 * that the step created stands in its parts, so that the line between them is seen to fade.
 * @param {Cell[]} cells
 * @param {number} first
 * @param {number} end
 * @param {ArrayLike<number>} colors color index of each atom, -1 for none
 * @param {ArrayLike<number>} flags flags of each atom
 * @returns {Piece[]}
 */
export function piecesOf(cells, first, end, colors, flags) {
  const pieces = [];
  let from = first;
  for (let c = first; c < end; c++) {
    const cell = cells[c];
    const last = cell.firstAtom + cell.size - 1;
    const next = cells[c + 1];
    const isEnd =
      c + 1 === end || cell.baseClass !== next.baseClass || cell.look !== next.look || !isPlain(cell) || cell.endOfWord || cell.leavesRoom ||
      flags[last] & AFTER || flags[last + 1] & BEFORE || colors[last] !== colors[last + 1] ||
      (flags[last] ^ flags[last + 1]) & EVEN || isSplit(cell, flags) || isSplit(next, flags);
    if (!isEnd) continue;
    const className = !cell.size
      ? cell.baseClass
      : isSplit(cell, flags)
      ? `${cell.baseClass} split${COMBINED_NAMES[flags[last] & (TOKEN_END | TICK)]}`
      : cell.baseClass + classNames(colors, flags, cells[from].firstAtom, last);
    pieces.push({ from, to: c + 1, className: cell.look ? className + cell.look : className });
    from = c + 1;
  }
  return pieces;
}

const isPlain = ({ baseClass }) => baseClass === "c" || baseClass === "c rtl";

/** Return whether a token ends inside a cell. */
function isSplit({ firstAtom, size }, flags) {
  for (let a = firstAtom; a < firstAtom + size - 1; a++) if (flags[a] & TOKEN_END) return true;
  return false;
}

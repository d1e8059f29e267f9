// The merge diagram of a text from Python's payload. Each side has its own merges up to a step.

import { LEFT_OUT_ID, RIGHT_TO_LEFT, UNKNOWN_ID } from "../shared/cells.js";
import { counted, formatCount } from "../shared/format.js";
import { MergeDiagram } from "./diagram.js";

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
 * @property {Side[]} sides one, or a second mirrored below the text
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

/** Return the blocks of a side in Python's terms. */
function blocksOf({ tokens, tokenStyles, unit, stepCount }) {
  const fallback = { [LEFT_OUT_ID]: "dropped", [UNKNOWN_ID]: "unknown" };
  return {
    spans: tokens,
    style: (id) => ({ label: tokenStyles[id]?.[0] ?? fallback[id] ?? "…", color: tokenStyles[id]?.[1] ?? -1 }),
    stepInWords: (step) => `${unit} ${formatCount(step)} of ${formatCount(stepCount)}`,
  };
}

/** The diagram of a payload, with the tokens in words. */
export class TextDiagram extends MergeDiagram {
  /** @param {DiagramPayload} data */
  load(data) {
    this.data = data;
    this.steps = stepsOf(data.sides);
    this.draw(cellsOfSigns(data), data.sides.map((side) => ({ blocks: blocksOf(side), last: side.stepCount })));
  }

  /** Show a step, each side by its own merges up to that number; return the tokens in words. */
  showStep(step) {
    const at = this.data.sides.map(({ stepCount }) => Math.min(step, stepCount));
    this.show(at);
    return this.data.sides.map(({ title, unit, note }, i) => {
      const tokens = this.score.blocks[i].tree.tokensAt(at[i]).filter(({ id }) => id !== LEFT_OUT_ID);
      return { title, tokens: tokens.length, step: at[i], words: `${title}: ${counted(tokens.length, "token")} after ${counted(at[i], unit)}${note}` };
    });
  }
}

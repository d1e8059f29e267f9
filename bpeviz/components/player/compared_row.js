// A row of a comparison: the tokens of a text under one tokenizer or pre-tokenizer. Positions are UTF-8
// bytes, which all rows share, whatever their atoms are.

import { idOf } from "../shared/cells.js";
import { element, tokenLabel } from "../shared/dom.js";
import { spokenBytes } from "../shared/spoken.js";
import { overlapping, tokenAt } from "./agreement.js";

const MOST_TOKENS = 12; // of a row in the tooltip

/** @typedef {[number | null, string, string, number, string[] | string]} Token id, label, bytes in hex or a note, color, how it was made: two labels, or words */

/**
 * @typedef {object} Row
 * @property {string} title
 * @property {number[]} tokenEnds where each token ends
 * @property {number[]} tokens the index of each in `distinct`
 * @property {Token[]} distinct
 * @property {string[]} notes beside the title
 * @property {number} tokenCount tokens of the whole text, of which a part may be shown
 * @property {boolean} [isBest] whether no other row has fewer tokens
 * @property {boolean} [isOwn] whether it is the user's own tokenizer, below a line
 * @property {boolean} [isInSample] whether it was trained on this text, so that it is not compared
 */

/**
 * Return bytes [start, end) in words, for screen readers: the tokens of each row.
 * @param {import("./comparison.js").ScorePayload} data
 * @param {Uint8Array} bytes of the text
 * @param {number} start
 * @param {number} end
 */
export function spanInWords({ rows, unit }, bytes, start, end) {
  const words = rows.map(({ tokenEnds, tokens, distinct }) => {
    const [from, to] = overlapping(tokenEnds, start, end);
    return tokens.slice(from, to).map((token, i) => {
      const at = from + i;
      const [id, label, details] = distinct[token];
      const begin = at ? tokenEnds[at - 1] : 0;
      const word = tokenEnds[at] > begin ? spokenBytes(bytes.subarray(begin, tokenEnds[at])) : label;
      return [word, idOf(id) === null ? details : rows.length > 1 ? "" : `id ${id}`].filter(Boolean).join(", ");
    }).join(rows.length > 1 ? "; " : ", ");
  });
  if (rows.length < 2) return words[0];
  if (new Set(words).size < 2) return `${words[0]}: ${unit ?? "token"} in all`;
  return rows.map(({ title }, i) => `${title.replace(/ \(.*/, "")}: ${words[i]}`).join(". ");
}

/** The tokens of a row, for the selection (`token_selection.js`); those of a timeline are a `TimelineView`. */
export class ComparedRow {
  /**
   * @param {import("./comparison.js").Comparison} comparison
   * @param {Row} data
   * @param {import("../shared/score_row.js").ScoreRow} cells
   */
  constructor(comparison, data, cells) {
    Object.assign(this, { comparison, data, cells });
  }

  #at(index) {
    const { tokenEnds } = this.data;
    return { index, start: tokenEnds[index - 1] ?? 0, end: tokenEnds[index] };
  }

  token(byte) {
    return this.#at(tokenAt(this.data.tokenEnds, byte));
  }

  inspect = this.token;

  /** Return the tokens over a token of another row. */
  tokensOver(_, { start, end }) {
    const [from, to] = overlapping(this.data.tokenEnds, start, end);
    return Array.from({ length: to - from }, (_, i) => this.#at(from + i));
  }

  /** Return the line on which a token ends, which is not folded then. */
  elementOf({ start, end }) {
    const byte = Math.max(start, end - 1);
    this.comparison.unfold(this.cells.lineOf(byte));
    return this.cells.elementAt(byte).closest(".line");
  }

  /** Return the lines of a token's tooltip: the tokens of each row over it, and how it was made. */
  describeToken({ index, start, end }) {
    const { names, data: { rows } } = this.comparison;
    const spans = element("div", rows.length > 1 ? "spans" : "");
    rows.forEach((row, i) => {
      if (rows.length > 1) spans.append(element("b", row === this.data ? "own" : "", names[i]));
      const line = spans.appendChild(element("p"));
      const [from, to] = overlapping(row.tokenEnds, start, end);
      for (const token of row.tokens.slice(from, Math.min(to, from + MOST_TOKENS))) {
        const [id, label, details, color, origin] = row.distinct[token];
        line.append(tokenLabel(label, color), element("small", "", id === null ? ` ${origin} ` : idOf(id) === null ? ` ${details} ` : ` id ${id} `));
      }
      if (to - from > MOST_TOKENS) line.append(` and ${to - from - MOST_TOKENS} more`);
    });
    const [id, label, details, color, origin] = this.data.distinct[this.data.tokens[index]];
    const parents = id !== null && origin.length ? [" from ", tokenLabel(origin[0], -1), " + ", tokenLabel(origin[1], -1)] : [];
    return [spans, element("p", "origin", tokenLabel(label, color), " ", element("span", id === null ? "" : "hex", details), ...parents)];
  }
}

// Where the grid breaks into lines, and how wide its columns are. A column is a byte.

import { WIDE_CHARACTER, toHex } from "../shared/format.js";

const MIN_WIDTH = 1.9; // rem: a code point of four digits fits
const MAX_LABEL = 14; // characters of a label for which its token's columns make room

/**
 * @typedef {object} GridToken
 * @property {number} start first column
 * @property {number} end the column after the last
 * @property {number | null} id null where text belongs to no token
 * @property {string} label
 * @property {number} color color index, -1 for none
 * @property {string} hex
 * @property {string} note
 * @property {"" | "left out" | "unknown" | "special" | "partial"} kind
 */

/**
 * @typedef {object} GridPayload the payload from Python (`bpeviz.views.inspection.grid`); spans are in columns
 * @property {string} key
 * @property {number} firstByte the first byte shown
 * @property {number} columnCount
 * @property {[number, number, string][]} graphemes
 * @property {[number, number, string, string][]} codePoints code points in hex, with their names
 * @property {[number, number][]} bytes the column and value of each byte
 * @property {boolean} decimal whether bytes are shown in decimal
 * @property {[number, number, string, string][] | null} normalized normalized text of each unit, and its change in
 *   words or ""; null where nothing changes
 * @property {[number, number, string][] | null} preTokens
 * @property {GridToken[]} tokens
 * @property {[number, "character" | "grapheme"][]} innerBoundaries token boundaries inside a character, or
 *   between the code points of a grapheme
 */

/**
 * Return a byte in decimal or in two hexadecimal digits.
 * @param {number} byte
 * @param {boolean} decimal
 */
export const byteText = (byte, decimal) => (decimal ? String(byte) : toHex(byte, 2));

/**
 * Return the width of each column in rem, so that ids and labels fit above their bytes.
 * @param {GridPayload} data
 */
export function columnWidths({ columnCount, graphemes, codePoints, normalized, tokens }) {
  const widths = new Array(columnCount).fill(MIN_WIDTH);
  const reserve = (start, end, width) => {
    for (let c = start; c < end; c++) widths[c] = Math.max(widths[c], width / (end - start));
  };
  for (const [start, end, codePoint] of codePoints) reserve(start, end, Math.max(codePoint.length, String(parseInt(codePoint, 16)).length) * 0.49 + 0.25);
  const reserveText = (start, end, text) => {
    const signs = [...text].slice(0, MAX_LABEL);
    reserve(start, end, signs.reduce((sum, sign) => sum + (WIDE_CHARACTER.test(sign) ? 1.5 : 0.76), 0.35));
  };
  for (const [start, end, text] of [...graphemes.filter(([, , text]) => text.includes("⟨")), ...(normalized ?? [])]) reserveText(start, end, text);
  for (const { start, end, id, label } of tokens) {
    if (id !== null) reserve(start, end, String(id).length * 0.97 + 0.3);
    reserveText(start, end, label);
  }
  return widths;
}

/**
 * Break the columns into lines of at most `room` rem, as [start, end) each.
 *
 * A line ends after a pre-token if it is then at least 60 % full; else, from 40 % on, after a token
 * and a character; else after a character, or after a token inside one that is wider than a line.
 * @param {GridPayload} data
 * @param {number[]} widths
 * @param {number} room
 */
export function breakLines({ columnCount, preTokens, tokens, graphemes }, widths, room) {
  const preTokenEnds = new Set((preTokens ?? []).map(([, end]) => end));
  const tokenEnds = new Set(tokens.map(({ end }) => end));
  const graphemeEnds = new Set(graphemes.map(([, end]) => end));
  const isBoth = (at) => tokenEnds.has(at) && graphemeEnds.has(at);
  /** @type {[number, (at: number) => boolean][]} */
  const places = [
    [0.6, (at) => preTokenEnds.has(at) && isBoth(at)],
    [0.4, isBoth],
    [0, (at) => graphemeEnds.has(at)],
    [0.4, (at) => tokenEnds.has(at)],
  ];
  const lines = [];
  for (let start = 0; start < columnCount; ) {
    let end = start;
    for (let used = 0; end < columnCount && (end === start || used + widths[end] <= room); ) used += widths[end++];
    const full = end;
    for (const [share, fits] of end < columnCount ? places : []) {
      let at = full;
      while (at > start && !fits(at)) at--;
      if (at === start || at - start < (full - start) * share) continue;
      end = at;
      break;
    }
    lines.push([start, end]);
    start = end;
  }
  return lines;
}

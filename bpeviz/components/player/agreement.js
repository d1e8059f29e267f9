// Where the rows of a score have the same tokens, and where they part, without access to the document.

import { LEFT_OUT_ID } from "../shared/cells.js";
import { firstIndex } from "../shared/search.js";

const LINE_FEED = 10;

/**
 * Return the index of the token at a byte.
 * @param {number[]} ends
 * @param {number} byte
 */
export const tokenAt = (ends, byte) => firstIndex(ends.length, (i) => ends[i] > byte);

/**
 * Return the indices of the tokens that overlap bytes [start, end), as [from, to).
 * @param {number[]} ends
 * @param {number} start
 * @param {number} end
 */
export const overlapping = (ends, start, end) => [tokenAt(ends, start), Math.min(ends.length, tokenAt(ends, end - 1) + 1)];

/**
 * Return the number of tokens of a row that overlap bytes [start, end).
 * @param {import("./score.js").Row} row
 * @param {number} start
 * @param {number} end
 */
export function tokensIn({ tokenEnds, tokens, distinct }, start, end) {
  const [from, to] = overlapping(tokenEnds, start, end);
  return tokens.slice(from, to).filter((token) => distinct[token][0] !== LEFT_OUT_ID).length;
}

/**
 * @typedef {object} Agreement
 * @property {number[]} common where all rows have a token boundary, in bytes
 * @property {boolean[][]} alike for each row which of its tokens all rows have
 * @property {[number, number][]} places where rows part: the smallest pieces at whose ends all have a boundary
 * @property {boolean} breaksDiffer whether they have other boundaries beside line feeds
 */

/**
 * Compare the tokens of rows. A boundary beside a line feed that only some have is no difference.
 * @param {{tokenEnds: number[]}[]} rows
 * @param {Uint8Array} bytes of the text
 * @returns {Agreement}
 */
export function agreement(rows, bytes) {
  const size = bytes.length;
  const votes = new Uint8Array(size + 1);
  for (const { tokenEnds } of rows) tokenEnds.forEach((end, i) => end !== tokenEnds[i - 1] && votes[end]++);
  votes[0] = votes[size] = rows.length;
  const isBreak = (at) => bytes[at - 1] === LINE_FEED || bytes[at] === LINE_FEED;
  const isCommon = (at) => votes[at] === rows.length || isBreak(at);
  const [common, places] = [[], []];
  const parting = new Uint32Array(size + 1); // places up to here where only some rows have a boundary
  let [start, breaksDiffer] = [0, false];
  for (let at = 1; at <= size; at++) {
    parting[at] = parting[at - 1] + Number(votes[at] > 0 && !isCommon(at));
    if (votes[at] === rows.length) common.push(at);
    else if (votes[at]) breaksDiffer ||= isBreak(at);
    if (!isCommon(at)) continue;
    if (parting[at] > parting[start]) places.push([start, at]);
    start = at;
  }
  const alike = rows.map(({ tokenEnds }) =>
    tokenEnds.map((end, i) => {
      const from = i ? tokenEnds[i - 1] : 0;
      return end === from || (isCommon(from) && isCommon(end) && parting[end] === parting[from]);
    }),
  );
  return { common, alike, places, breaksDiffer };
}

/** Return places of which those that touch are one. */
export function joinedPlaces(places) {
  const all = [];
  for (const [start, end] of places)
    if (all.at(-1)?.[1] === start) all.at(-1)[1] = end;
    else all.push([start, end]);
  return all;
}

// Where the rows of a score have the same tokens, without access to the document.

import { firstIndex } from "../shared/search.js";

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
 * Return where all rows have a token boundary, and for each row which of its tokens all rows have.
 * @param {{tokenEnds: number[]}[]} rows
 * @param {number} size bytes of the text
 * @returns {{common: number[], alike: boolean[][]}}
 */
export function agreement(rows, size) {
  const votes = new Uint8Array(size + 1);
  for (const { tokenEnds } of rows) tokenEnds.forEach((end, i) => end !== tokenEnds[i - 1] && votes[end]++);
  votes[0] = votes[size] = rows.length;
  const inside = new Uint32Array(size + 1); // places up to here where any row has a boundary
  for (let at = 1; at <= size; at++) inside[at] = inside[at - 1] + Number(votes[at] > 0);
  const common = [];
  for (let at = 1; at <= size; at++) if (votes[at] === rows.length) common.push(at);
  const isCommon = (at) => votes[at] === rows.length;
  const alike = rows.map(({ tokenEnds }) =>
    tokenEnds.map((end, i) => {
      const start = i ? tokenEnds[i - 1] : 0;
      return end === start || (isCommon(start) && isCommon(end) && inside[end - 1] === inside[start]);
    }),
  );
  return { common, alike };
}

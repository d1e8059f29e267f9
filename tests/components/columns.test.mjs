// The token under a byte in the columns of Compare, and how many tokens overlap it elsewhere.

import assert from "node:assert/strict";
import { test } from "node:test";

import { read } from "./fixtures.mjs";

const { countOverlapping, tokenAt } = await import("../../bpeviz/components/columns/columns.js");

test("the token at a byte, and the tokens that overlap a span, are those of Python", () => {
  const { payload, spans, cases } = read("columns");
  payload.columns.forEach(({ tokenEnds }, i) => {
    cases[i].tokenAt.forEach((token, byte) => assert.equal(tokenAt(tokenEnds, byte), token));
    cases[i].overlaps.forEach((count, k) => assert.equal(countOverlapping(tokenEnds, spans[k], spans[k + 1]), count));
  });
});

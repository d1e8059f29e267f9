// Where the grid of Inspect breaks into lines, and how wide its columns are.

import assert from "node:assert/strict";
import { test } from "node:test";

import { breakLines, byteText, columnWidths } from "../../bpeviz/components/grid/layout.js";
import { read } from "./fixtures.mjs";

const payload = read("grid");

test("the columns below a token have room for its id", () => {
  const widths = columnWidths(payload);
  assert.equal(widths.length, payload.columnCount);
  for (const { start, end, id } of payload.tokens) {
    const width = widths.slice(start, end).reduce((sum, one) => sum + one, 0);
    assert.ok(width >= String(id).length * 0.49);
  }
});

test("a byte is two hexadecimal digits, or a decimal number", () => {
  assert.deepEqual([10, 255].map((byte) => byteText(byte, false)), ["0A", "FF"]);
  assert.deepEqual([10, 255].map((byte) => byteText(byte, true)), ["10", "255"]);
});

test("lines cover all columns and fit", () => {
  const widths = columnWidths(payload);
  for (const room of [1, 8, 20, 60]) {
    const lines = breakLines(payload, widths, room);
    assert.deepEqual(lines.map(([start]) => start), [0, ...lines.slice(0, -1).map(([, end]) => end)]);
    assert.equal(lines.at(-1)[1], payload.columnCount);
    for (const [start, end] of lines) {
      const width = widths.slice(start, end).reduce((sum, one) => sum + one, 0);
      assert.ok(end - start === 1 || width <= room + 1e-9);
    }
  }
});

test("a line ends after a pre-token, else after a token, else after a character", () => {
  const units = Array(12).fill(1);
  const graphemes = units.map((_, i) => [i, i + 1, "x"]);
  const tokens = (...ends) => ends.map((end, i) => ({ start: ends[i - 1] ?? 0, end }));
  const spans = (...ends) => ends.map((end, i) => [ends[i - 1] ?? 0, end, ""]);
  const ends = (data) => breakLines({ columnCount: 12, graphemes, ...data }, units, 5).map(([, end]) => end);
  assert.deepEqual(ends({ tokens: tokens(3, 4, 12), preTokens: spans(3, 12) }), [3, 8, 12]);
  // A line that would be less than 60 % full ends after a token instead.
  assert.deepEqual(ends({ tokens: tokens(2, 4, 12), preTokens: spans(2, 12) }), [4, 9, 12]);
  assert.deepEqual(ends({ tokens: tokens(12), preTokens: null }), [5, 10, 12]);
});

test("with enough room a line ends at a token and a character boundary of the payload", () => {
  const tokenEnds = new Set(payload.tokens.map(({ end }) => end));
  const graphemeEnds = new Set(payload.graphemes.map(([, end]) => end));
  const lines = breakLines(payload, columnWidths(payload), 60);
  assert.ok(lines.length > 2);
  for (const [, end] of lines) assert.ok(tokenEnds.has(end) && graphemeEnds.has(end));
});

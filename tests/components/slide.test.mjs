// The part of a frame that differs from the one before it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { changedBox } from "../../bpeviz/components/slide/changes.js";

test("the box holds all pixels that differ, and no other row or column", () => {
  const before = new Uint32Array(6 * 4);
  for (const places of [[[2, 1]], [[0, 0], [5, 3]], [[4, 2], [1, 3]]]) {
    const after = before.slice();
    for (const [x, y] of places) after[6 * y + x] = 7;
    const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
    const [x, y] = [Math.min(...xs), Math.min(...ys)];
    const box = { x, y, width: Math.max(...xs) - x + 1, height: Math.max(...ys) - y + 1 };
    assert.deepEqual(changedBox(before, after, 6), box);
  }
});

test("the first frame is whole, and an equal one is one pixel", () => {
  const pixels = new Uint32Array(6 * 4);
  assert.deepEqual(changedBox(null, pixels, 6), { x: 0, y: 0, width: 6, height: 4 });
  assert.deepEqual(changedBox(pixels, pixels.slice(), 6), { x: 0, y: 0, width: 1, height: 1 });
});

// The size of the text in the stage.

import assert from "node:assert/strict";
import { test } from "node:test";

import { largestFitting, scrollingSize, unbrokenSize } from "../../bpeviz/components/player/fit.js";

test("the largest size that fits is found to half a pixel", () => {
  for (const limit of [18, 18.5, 31.7, 71.5, 72, 500])
    assert.equal(largestFitting(18, 72, (size) => size <= limit), Math.min(72, Math.floor(limit * 2) / 2));
  assert.equal(largestFitting(18, 18, () => true), 18);
  assert.equal(largestFitting(18, 72, (size) => size <= 17), null);
});

test("words fit into a line, but longer runs are broken", () => {
  assert.equal(unbrokenSize("a seashell", 600), 600 / (0.6 * 9));
  assert.equal(unbrokenSize(`seashell ${"字".repeat(80)}`, 600), 600 / (0.6 * 9));
  assert.ok(unbrokenSize("", 600) > 72);
});

test("a text that scrolls has 18 to 22 pixels", () => {
  assert.deepEqual([200, 632, 740, 974, 3000].map(scrollingSize), [18, 18, 20, 22, 22]);
});

// The bars of the race.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Bars, barsAt } from "../../bpeviz/components/player/bars.js";

const data = {
  timelineId: "t",
  heading: "Most frequent pairs",
  measure: "count",
  first: [
    [[[1, 2], 8], [[2, 3], 8], [[4, 4], 2]],
    [[[5, 3], 6]],
  ],
  atRest: { step: 7, rows: [[[6, 1], 3]] },
  styles: {},
};

test("a step has the candidates of its decision, and step 0 those of the first", () => {
  for (const step of [0, 1]) {
    const bars = barsAt(data, step, [1, 2]);
    assert.deepEqual(bars.map(({ key, share }) => [key, share]), [["1,2", 1], ["2,3", 1], ["4,4", 0.25]]);
    assert.deepEqual(bars.map(({ wins }) => wins), [true, false, false]);
    assert.deepEqual(bars.map(({ equals }) => equals), [false, true, false]);
  }
  assert.deepEqual(barsAt(data, 2, [5, 3]).map(({ ids }) => ids), [[5, 3]]);
});

test("a later step has them at rest only", () => {
  assert.equal(barsAt(data, 3, [0, 0]), null);
  assert.deepEqual(barsAt(data, 8, [6, 1]).map(({ wins }) => wins), [true]);
});

test("a cost of zero is no bar", () => {
  const costs = { ...data, first: [[[[9], 0], [[8], 0]]] };
  assert.deepEqual(barsAt(costs, 1, [9]).map(({ share, equals }) => [share, equals]), [[0, false], [0, true]]);
});

test("a step without candidates has no heading", () => {
  const parts = { h2: { replaceChildren: (...words) => (parts.words = words) }, ol: { replaceChildren() {} }, ".waiting": {} };
  const bars = new Bars({ querySelector: (name) => parts[name] });
  bars.update({ ...data, first: [[]] });
  bars.show(1, [], false, [data.heading]);
  assert.deepEqual(parts.words, []);
  bars.show(2, [], false, [data.heading]); // whose candidates may arrive
  assert.deepEqual(parts.words, ["Most frequent pairs"]);
});

// The race: the candidates of a step.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Bars, groupsAt } from "../../bpeviz/components/player/bars.js";

const FIRST = [[8, 2, [[1, 2], [2, 3]]], [2, 1, [[4, 4]]]];
const data = {
  heading: "Most frequent pairs",
  measure: "count",
  first: [FIRST, [[6, 1, [[5, 3]]]]],
  atRest: { step: 7, groups: [[3, 1, [[6, 1]]]] },
  styles: {},
};

test("a step has the candidates of its decision, and step 0 those of the first", () => {
  assert.deepEqual([0, 1].map((step) => groupsAt(data, step)), [FIRST, FIRST]);
  assert.deepEqual(groupsAt(data, 2), [[6, 1, [[5, 3]]]]);
});

test("a later step has them at rest only", () => {
  assert.equal(groupsAt(data, 3), null);
  assert.deepEqual(groupsAt(data, 8), data.atRest.groups);
});

test("a step whose candidates may still arrive keeps those of another with their heading", () => {
  const part = () => ({ replaceChildren(...words) { this.words = words; }, addEventListener() {}, contains: () => false, getRootNode: () => ({}), querySelectorAll: () => [] });
  const parts = { h2: part(), ol: part(), ".note": part() };
  const bars = new Bars({ querySelector: (name) => parts[name] }, () => {});
  bars.update({ ...data, first: [[]] });
  const headingOf = (tied) => ["the heading", tied];
  bars.show(1, [], headingOf);
  assert.deepEqual(parts.h2.words, []);
  parts.h2.words = ["of step 1"];
  assert.ok(!bars.show(2, [], headingOf));
  assert.deepEqual(parts.h2.words, ["of step 1"]);
  bars.update({ ...data, isUnwatched: true });
  assert.ok(bars.show(3, [], headingOf));
  assert.deepEqual(parts.h2.words, ["of step 1"]);
  bars.update({ ...data, note: "Shown for the first 2 merges." });
  bars.show(3, [], headingOf);
  assert.deepEqual([parts.h2.words, parts[".note"].textContent], [[], "Shown for the first 2 merges."]);
});

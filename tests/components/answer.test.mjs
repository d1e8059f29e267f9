// The arithmetic of answers.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  boundaryKind,
  clampNumber,
  drawnPath,
  handleNear,
  moved,
  nearestBox,
  nearestPair,
  placeOf,
  scaled,
  shuffled,
  standIn,
  ticks,
  toggled,
  unscaled,
} from "../../bpeviz/components/answer/logic.js";

test("a click chooses the pair on its side of the token, or the only one", () => {
  const pairs = [0, 1, 3]; // tokens 2 and 3 are in different pre-tokens
  assert.deepEqual([nearestPair(pairs, 1, true), nearestPair(pairs, 1, false)], [1, 0]);
  assert.deepEqual([nearestPair(pairs, 0, false), nearestPair(pairs, 2, true)], [0, 1]);
  assert.equal(nearestPair([], 0, true), -1);
});

test("a boundary is set and removed, and boundaries stay sorted", () => {
  assert.deepEqual(toggled([2, 5], 3), [2, 3, 5]);
  assert.deepEqual(toggled([2, 3, 5], 3), [2, 5]);
});

test("a boundary is right, extra, missing or none, and never missing without an answer", () => {
  const kinds = (given) => [1, 2, 3, 4].map((place) => boundaryKind(given, [1, 2], place));
  assert.deepEqual(kinds([1, 3]), ["right", "missing", "extra", "inside"]);
  assert.deepEqual(kinds(null), ["right", "right", "inside", "inside"]);
});

test("a typed number is rounded into its range, and other text is no answer", () => {
  assert.deepEqual(["7", "-3", "99", "2.6"].map((typed) => clampNumber(typed, 1, 8)), [7, 1, 8, 3]);
  assert.equal(clampNumber("many", 1, 8), null);
});

test("values and places on a curve are the inverse of each other", () => {
  for (const value of [0, 12, 40]) assert.equal(unscaled(scaled(value, 0, 40, 216, 14), 0, 40, 216, 14), value);
  assert.equal(scaled(3, 5, 5, 10, 90), 10);
  assert.deepEqual([placeOf(1, 1, 5), placeOf(5, 1, 5), placeOf(2, 2, 2)], [0, 100, 50]);
});

test("a boundary is dropped at the nearest gap of the line under the pointer", () => {
  const box = (left, top) => ({ left, right: left + 10, top, bottom: top + 40 });
  const gaps = [box(0, 0), box(50, 0), box(0, 50)];
  const at = [[22, 20], [40, 20], [60, 70], [500, -90]].map(([x, y]) => nearestBox(gaps, x, y));
  assert.deepEqual(at, [0, 1, 2, 1]);
});

test("the nearest handle is moved", () => {
  assert.deepEqual([0, 44, 46, 300].map((x) => handleNear([10, 40, 50], x)), [0, 1, 2, 2]);
});

test("a path goes through all points", () => {
  assert.equal(drawnPath([[0, 1], [2.25, 3]]), "M0.0 1.0L2.3 3.0");
});

test("an entry moves to another place, and the others keep their order", () => {
  assert.deepEqual(moved(["a", "b", "c", "d"], 0, 2), ["b", "c", "a", "d"]);
  assert.deepEqual(moved(["a", "b", "c", "d"], 3, 0), ["d", "a", "b", "c"]);
});

test("invisible characters have stand-ins", () => {
  assert.deepEqual([" ", "\n", "\u200d", "é"].map(standIn), ["·", "↵", "⟨200D⟩", "é"]);
});

test("over 100 seeds, each place holds the same entry in 20 to 50 % of cases", () => {
  for (const list of [["right", "b", "c"], ["right", "b", "c", "d"]])
    for (const name of ["Why?", "Which?", "x"]) {
      const counts = list.map(() => 0);
      for (let seed = 0; seed < 100; seed++) counts[shuffled(list, seed, name).indexOf("right")]++;
      assert.ok(counts.every((count) => count >= 20 && count <= 50), String(counts));
    }
  assert.deepEqual(shuffled([1, 2, 3], 7, "a").sort(), [1, 2, 3]);
  const orders = [...Array(40).keys()].map((seed) => shuffled([1, 2, 3, 4], seed, "a").join());
  assert.ok(new Set(orders).size > 12, "not one order alone that is rotated");
});

test("a line has round numbers between its ends", () => {
  assert.deepEqual(ticks(1, 131), [50, 100]);
  assert.deepEqual(ticks(0, 20), [0, 5, 10, 15, 20]);
  assert.deepEqual(ticks(1, 4), [1, 2, 3, 4]);
});

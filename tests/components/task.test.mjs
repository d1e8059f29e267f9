// A task on the stage: answers as bits, and the place that a point means.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bitsOf, nearestPlace } from "../../bpeviz/components/player/task.js";

test("bits of an answer are read up to the largest whole number", () => {
  assert.deepEqual(bitsOf(0), []);
  assert.deepEqual(bitsOf(0b1011), [0, 1, 3]);
  assert.deepEqual(bitsOf(2 ** 44 + 2 ** 31 + 1), [0, 31, 44]);
  assert.equal(bitsOf(Number.MAX_SAFE_INTEGER).length, 53);
});

test("nearest place is on the line of the point, if there is one", () => {
  const places = [
    { x: 10, top: 0, bottom: 20 },
    { x: 50, top: 0, bottom: 20 },
    { x: 12, top: 25, bottom: 45 },
  ];
  assert.equal(nearestPlace(places, 12, 10), 0);
  assert.equal(nearestPlace(places, 45, 15), 1);
  assert.equal(nearestPlace(places, 45, 30), 2);
  assert.equal(nearestPlace([], 0, 0), -1);
});

// The track: the curve of the number of tokens.

import assert from "node:assert/strict";
import { test } from "node:test";

import { halfWay, spread } from "../../bpeviz/components/player/track.js";

test("half of the change is reached at a step, whether the numbers fall or rise", () => {
  for (const [counts, step] of [
    [[168, 151, 138, 129, 120, 111, 56], 5],
    [[8, 4], 1],
    [[100, 95, 80, 70, 60, 58], 3],
    [[40, 41, 46, 60], 3],
    [[10, 12, 9, 8], 2],
  ])
    assert.equal(halfWay(counts), step, `${counts}`);
  for (const counts of [[8], [8, 8], [8, 6, 8]]) assert.equal(halfWay(counts), null, `${counts}`);
});

test("labels at the ends of curves do not cover each other, and stay beside the drawing", () => {
  const near = (edges, expected) => spread(edges, 0.2).forEach((edge, i) => assert.ok(Math.abs(edge - expected[i]) < 1e-9, `${edges}: ${edge}`));
  near([0.1, 0.5], [0.1, 0.5]);
  near([0.3, 0.35, 0.9], [0.3, 0.5, 0.8]);
  near([0.75, 0.76, 0.77], [0.4, 0.6, 0.8]);
  near([-0.1], [0]);
  near([0.9], [0.8]);
});

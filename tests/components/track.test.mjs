// The track: the curve of the number of tokens.

import assert from "node:assert/strict";
import { test } from "node:test";

import { chipSteps, spread } from "../../bpeviz/components/player/track.js";

test("each step has a chip, or as many as fit, the last among them", () => {
  const steps = [1, 2, 4, 7, 8, 9, 12];
  assert.deepEqual(chipSteps(steps, 7), steps);
  assert.deepEqual(chipSteps(steps, 6), [2, 4, 7, 8, 9, 12]);
  assert.deepEqual(chipSteps(steps, 3), [4, 8, 12]);
  assert.deepEqual(chipSteps([], 6), []);
});

test("labels at the ends of curves do not cover each other, and stay beside the drawing", () => {
  const near = (edges, expected) => spread(edges, 0.2).forEach((edge, i) => assert.ok(Math.abs(edge - expected[i]) < 1e-9, `${edges}: ${edge}`));
  near([0.1, 0.5], [0.1, 0.5]);
  near([0.3, 0.35, 0.9], [0.3, 0.5, 0.8]);
  near([0.75, 0.76, 0.77], [0.4, 0.6, 0.8]);
  near([-0.1], [0]);
  near([0.9], [0.8]);
});

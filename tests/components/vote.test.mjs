// The result of a vote in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { resultInWords } from "../../bpeviz/components/room/vote.js";

const vote = (counts, right = null) => ({
  isStaged: false,
  isRevealed: right !== null,
  answered: counts.reduce((sum, count) => sum + count, 0),
  had: null,
  task: { options: ["It reads.", "It counts."].map((words, value) => ({ value, words })), counts, earlier: null, right },
});

test("the answer that most have given is named, and none of several", () => {
  assert.equal(resultInWords(vote([1, 2]), false), "2 of 3 chose “It counts”.");
  assert.equal(resultInWords(vote([1, 1]), false), "Several answers have the most votes.");
  assert.equal(resultInWords(vote([0, 0]), true), "Nobody has answered. Discuss, or reveal the answer.");
});

test("the right answer is named with its count", () => {
  assert.equal(resultInWords(vote([1, 2], [0]), true), "Right: It reads. 1 of 3 chose it.");
  assert.equal(resultInWords(vote([0, 2], [0]), true), "Right: It reads. Nobody chose it.");
});

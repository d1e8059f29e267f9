// The blocks of the merge diagram, from the tokens of a text over all steps.

import assert from "node:assert/strict";
import { test } from "node:test";

import { BlockTree, MOST_LEVELS, tokensOverTime } from "../../bpeviz/components/shared/block_tree.js";
import { INSIDE } from "../../bpeviz/components/shared/cells.js";
import { ChangingTimeline, MergeTimeline } from "../../bpeviz/components/shared/timeline.js";

const isLong = (first, end) => end - first > 1;

const treeOf = (timeline) => new BlockTree(tokensOverTime(timeline), isLong);

const drawn = (tree, step, opened) => tree.placedAt(step, opened).map(({ block, level, hidden }) => [block.first, block.end, level, hidden].join(" ")).sort();

/** Return the blocks after a step by the definition: the merges so far are joined one after the other. */
function expected(mergedAt, step) {
  let tokens = mergedAt.map((_, atom) => ({ first: atom, end: atom + 1, height: 0, parts: [] }));
  for (let k = 0; k < step; k++) {
    const joined = [];
    for (const token of tokens) {
      const before = joined.at(-1);
      if (before && mergedAt[before.end - 1] === k) {
        const parts = before.step === k ? [...before.parts, token] : [before, token];
        joined[joined.length - 1] = { first: before.first, end: token.end, parts, step: k, height: 1 + Math.max(...parts.map(({ height }) => height)) };
      } else joined.push(token);
    }
    tokens = joined;
  }
  const list = [];
  const add = (token) => {
    if (token.height) list.push([token.first, token.end, token.height, 0].join(" "));
    token.parts.forEach(add);
  };
  tokens.forEach(add);
  return list.sort();
}

test("blocks are the tokens after a step and all merges in them", () => {
  for (let seed = 1; seed < 200; seed++) {
    let state = seed;
    const random = (most) => (state = (state * 48271) % 2147483647) % most;
    const size = 1 + random(9);
    const mergedAt = Array.from({ length: size }, (_, atom) => (atom === size - 1 || random(4) === 0 ? -1 : random(7)));
    const timeline = new MergeTimeline({ mergedAt, firstMergeId: 256 }, new Uint8Array(size));
    const tree = treeOf(timeline);
    for (let step = 0; step <= 7; step++) assert.deepEqual(drawn(tree, step), expected(mergedAt, step), `${mergedAt} at ${step}`);
  }
});

/** Return a timeline of three atoms from the tokens [atom, id] that begin there after each step. */
function changing(states) {
  const changes = { counts: [], steps: [], ids: [] };
  for (let atom = 0; atom < 3; atom++) {
    states.forEach((state, step) => {
      const id = state[atom] ?? INSIDE;
      if (step && id === (states[step - 1][atom] ?? INSIDE)) return;
      changes.steps.push(step - 1);
      changes.ids.push(id);
    });
    changes.counts.push(changes.steps.length - changes.counts.reduce((sum, count) => sum + count, 0));
  }
  return new ChangingTimeline({ changes });
}

test("a token that is cut at the end stands on what is left of its parts", () => {
  // Atoms 0 to 3 are joined pair by pair, then with the last atom, which is cut off.
  const timeline = new MergeTimeline({ mergedAt: [0, 2, 1, 3, -1], firstMergeId: 256 }, new Uint8Array(5));
  const tree = new BlockTree(tokensOverTime(timeline, 0, 4), isLong);
  assert.deepEqual(drawn(tree, 4), ["0 2 1 0", "0 4 2 0", "2 4 1 0"]);
  assert.equal(tree.tokensAt(4)[0].id, 259);
});

test("a token that is split back leaves, and its parts are on top", () => {
  const tree = treeOf(changing([{ 0: 1, 1: 2, 2: 3 }, { 0: 12, 2: 3 }, { 0: 123 }, { 0: 12, 2: 3 }]));
  assert.deepEqual(drawn(tree, 2), ["0 2 1 0", "0 3 2 0"]);
  assert.deepEqual(drawn(tree, 3), ["0 2 1 0"]);
});

test("pruned pieces stand in one row", () => {
  const tree = treeOf(changing([{ 0: 123 }, { 0: 12, 2: 3 }, { 0: 1, 1: 23 }]));
  for (const [step, blocks] of [["0 3 1 0"], ["0 2 1 0"], ["1 3 1 0"]].entries()) assert.deepEqual(drawn(tree, step), blocks);
});

test("of many levels the upper ones are shown, until the others are opened", () => {
  const mergedAt = [...Array(20).keys(), -1];
  const tree = treeOf(new MergeTimeline({ mergedAt, firstMergeId: 256 }, new Uint8Array(21)));
  const [token] = tree.tokensAt(20);
  const closed = tree.placedAt(20);
  assert.equal(closed.length, MOST_LEVELS + 1);
  assert.deepEqual([closed.at(-1).hidden, closed.at(-1).level, closed[0].level], [12, 1, MOST_LEVELS + 1]);
  assert.equal(tree.levels(0, 21, 20, new Set()), MOST_LEVELS + 1);
  assert.equal(tree.placedAt(20, new Set([token])).length, 20);
  assert.equal(tree.levels(0, 21, 20, new Set([token])), 20);
  tree.mostLevels = 3;
  assert.deepEqual(tree.placedAt(20).map(({ level, hidden }) => [level, hidden]), [[4, 0], [3, 0], [2, 0], [1, 17]]);
  assert.equal(tree.levels(0, 21, 20, new Set()), 4);
  tree.mostLevels = 19; // a block in place of the last level would save none
  assert.deepEqual(tree.placedAt(20).map(({ level }) => level), tree.placedAt(20, new Set([token])).map(({ level }) => level));
});

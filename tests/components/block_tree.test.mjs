// The blocks of the merge diagram, from the tokens of a text over all steps.

import assert from "node:assert/strict";
import { test } from "node:test";

import { BlockTree, FEWEST_LEVELS, MOST_LEVELS, tokensOverTime } from "../../bpeviz/components/shared/block_tree.js";
import { INSIDE, LEFT_OUT_ID } from "../../bpeviz/components/shared/cells.js";
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

test("a token that is cut stands on what is left of its parts", () => {
  // Atoms 0 to 3 are joined pair by pair, then with the last atom, which is cut off.
  const timeline = new MergeTimeline({ mergedAt: [0, 2, 1, 3, -1], firstMergeId: 256 }, new Uint8Array(5));
  const [tree, later] = [0, 1].map((first) => new BlockTree(tokensOverTime(timeline, first, 4), isLong));
  assert.deepEqual(drawn(tree, 4), ["0 2 1 0", "0 4 2 0", "2 4 1 0"]);
  assert.deepEqual([tree.tokensAt(4)[0].id, later.tokensAt(1)[0].id], [259, 256]);
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

test("a space that was left out has no block", () => {
  for (const [id, blocks] of [[LEFT_OUT_ID, []], [12, ["0 2 1 0"]]]) assert.deepEqual(drawn(treeOf(changing([{ 0: id, 2: 3 }])), 0), blocks);
});

test("of more levels than fit the upper ones are drawn, unless a block in their place saves none", () => {
  for (let height = 1; height <= 12; height++) {
    const tree = treeOf(new MergeTimeline({ mergedAt: [...Array(height).keys(), -1], firstMergeId: 256 }, new Uint8Array(height + 1)));
    const [token] = tree.tokensAt(height);
    const downTo = (highest, lowest) => Array.from({ length: highest - lowest + 1 }, (_, i) => [highest - i, 0]);
    for (tree.mostLevels = FEWEST_LEVELS; tree.mostLevels <= MOST_LEVELS; tree.mostLevels++) {
      const { mostLevels } = tree;
      const isFolded = mostLevels === MOST_LEVELS ? height > MOST_LEVELS : height > mostLevels + 1;
      const expected = isFolded ? [...downTo(mostLevels + 1, 2), [1, height - mostLevels]] : downTo(height, 1);
      const levels = (opened) => tree.placedAt(height, opened).map(({ level, hidden }) => [level, hidden]);
      assert.deepEqual(levels(), expected, `${mostLevels} of ${height}`);
      assert.deepEqual(levels(new Set([token])), downTo(height, 1));
      for (const opened of [[], [token]])
        assert.equal(tree.levels(0, height + 1, height, new Set(opened)), levels(new Set(opened))[0][0]);
    }
  }
});

// The merge diagram: its signs as cells, and the tokens that it shows at each step.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cellsOfSigns, stepsOf } from "../../bpeviz/components/merge_diagram/text_diagram.js";
import { BlockTree } from "../../bpeviz/components/shared/block_tree.js";
import { read } from "./fixtures.mjs";

for (const { payload, tokens } of read("diagrams")) {
  const name = payload.sides.map(({ title }) => title).join(" and ");

  test(`${name}: the tokens of a step are those of Python`, () => {
    payload.sides.forEach((side, i) => {
      const tree = new BlockTree(side.tokens, () => true);
      tokens[i].forEach((expected, step) => assert.deepEqual(tree.tokensAt(step).map(({ first, end, id }) => [first, end, id]), expected));
    });
  });

  test(`${name}: each column belongs to one cell`, () => {
    const cells = cellsOfSigns(payload);
    const columns = cells.flatMap(({ firstAtom, size }) => Array.from({ length: size }, (_, i) => firstAtom + i));
    assert.deepEqual(columns, Array.from({ length: payload.columnCount }, (_, column) => column));
    assert.ok(cells.every(({ labels, size }) => labels.length === size));
  });

  test(`${name}: the steps are those that create a token, with 0 and the last`, () => {
    const steps = stepsOf(payload.sides);
    assert.equal(steps[0], 0);
    assert.equal(steps.at(-1), Math.max(...payload.sides.map(({ stepCount }) => stepCount)));
    for (const { tokens: all } of payload.sides) for (const [, , since] of all) assert.ok(steps.includes(since));
  });
}

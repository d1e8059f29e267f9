// The columns of a table of tokens, the order of its rows, and the rows that a search finds.

import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOf, inOrder, lettersOf, rowsWith, wordsOf } from "../../bpeviz/components/token_table/columns.js";

const STYLES = { 0: ["t", -1], 1: ["h", -1], 2: ["th", 3], 3: ["·th", 4], 4: ["·", -1] };
const MERGES = {
  kind: "merge", notes: {}, id: [2, 3], left: [0, 4], right: [1, 2], count: [1200, 7], applied: [1200, 7], ties: [0, 1], score: [], round: [],
};
const names = (steps, unit) => columnsOf(steps, unit).map(({ name }) => name);
const row = (columns, i) => columns.map((column) => wordsOf(column, i, STYLES));

test("columns that say nothing are left out", () => {
  assert.deepEqual(names(MERGES, "merge"), ["merge", "left", "right", "token", "count", "ties", "id"]);
  assert.deepEqual(names({ ...MERGES, applied: [1100, 7] }, "merge"), ["merge", "left", "right", "token", "count", "applied", "ties", "id"]);
  const prunings = { ...MERGES, kind: "pruning", left: [], right: [], applied: [], ties: [], score: [0.5, 2], round: [1, 1], notes: { 1: "rare" } };
  assert.deepEqual(names(prunings, "pruning"), ["pruning", "token", "note", "cost", "uses", "round", "id"]);
});

test("tokens are written as labels, figures in groups, ids without", () => {
  assert.deepEqual(row(columnsOf(MERGES, "merge"), 0), ["1", "t", "h", "th", "1,200", "0", "2"]);
  const at = (values) => ({ name: "score", isToken: false, at: (i) => values[i] });
  assert.deepEqual([0.00132174, 50257, null, "x"].map((_, i, values) => wordsOf(at(values), i, STYLES)), ["0.001322", "50,257", "", "x"]);
  assert.deepEqual([50257, 0, -1].map((id) => wordsOf({ ...at([id]), name: "id" }, 0, STYLES)), ["50257", "0", ""]);
  assert.equal(wordsOf({ name: "segmentation", isToken: true, at: () => [2, 3] }, 0, STYLES), "th ·th");
});

test("a search finds labels with · for a space, and ids, and is not a regular expression", () => {
  const columns = columnsOf(MERGES, "merge");
  const found = (query) => rowsWith(columns, 2, STYLES, query);
  assert.deepEqual([found(""), found("th"), found(" t"), found("·t"), found("3"), found(".*"), found("256")], [[0, 1], [0, 1], [1], [1], [1], [], []]);
});

test("a search finds whole ids only", () => {
  const columns = columnsOf({ ...MERGES, id: [256, 25] }, "merge");
  const found = (query) => rowsWith(columns, 2, { 256: ["th", 1], 25: ["he", 2] }, query);
  assert.deepEqual(["256", "25", "5", "2", "56", "-1"].map(found), [[0], [1], [], [], [], []]);
});

test("a column is as wide as the letters of its longest row, and wide characters count twice", () => {
  const lettersOfWords = (words) => lettersOf({ name: "", isToken: false, at: () => words }, 1, STYLES);
  assert.deepEqual(["low", "newest", "世界", "low世", "a".repeat(99)].map(lettersOfWords), [4, 7, 6, 10, 26]);
  const lettersOfTokens = (...labels) => lettersOf({ name: "", isToken: true, at: () => Object.keys(labels) }, 1, Object.fromEntries(labels.map((label, i) => [i, [label]])));
  assert.deepEqual([lettersOfTokens("low"), lettersOfTokens("世界a"), lettersOfTokens("lo", "w")], [5.25, 10.5, 8]);
});

test("rows are sorted as a slow reference does, equal ones as given, also 50,000", () => {
  const count = 50_000;
  const styles = Object.fromEntries(Array.from({ length: count }, (_, i) => [i, [`·${((i * 7919) % count).toString(36)}`, i % 12]]));
  const columns = [
    { name: "token", isToken: true, at: (i) => i },
    { name: "uses", isToken: false, at: (i) => (i * 31) % 101 },
  ];
  const all = [...Array(count).keys()];
  const orders = columns.flatMap((column) => [true, false].map((up) => inOrder(all, column, up, styles)));
  assert.deepEqual(columns.map((column) => lettersOf(column, count, styles)), [7.75, 6]);
  const [up, down, few, many] = orders;
  assert.deepEqual(up.slice(1).filter((i, k) => styles[up[k]][0] > styles[i][0]), []);
  assert.deepEqual(down.slice(1).filter((i, k) => styles[down[k]][0] < styles[i][0]), []);
  const same = (one, other) => one.length === other.length && one.every((value, i) => value === other[i]);
  for (const [order, sign] of [[few, 1], [many, -1]])
    assert.ok(same(order, all.toSorted((a, b) => sign * (((a * 31) % 101) - ((b * 31) % 101)) || a - b)));
  assert.ok(same(inOrder(all, undefined, true, styles), all));
});

// The order of the rows of a table of texts.

import assert from "node:assert/strict";
import { test } from "node:test";

const { nextOrder, ordered } = await import("../../bpeviz/components/texts_table/order.js");

const row = (name, ...values) => ({ name, cells: values.map((value) => [String(value), 0, "", value]) });
const ROWS = [row("b", 2, 5), row("text 10", 9, null), row("a", 2, 1), row("text 9", 30, 0)];
const names = (...how) => ordered(ROWS, ...how).map(({ name }) => name);

test("rows are sorted by numbers, equal ones as given, and those without a number last", () => {
  assert.deepEqual(names(1, false), ["text 9", "text 10", "b", "a"]);
  assert.deepEqual(names(1, true), ["b", "a", "text 10", "text 9"]);
  assert.deepEqual(names(2, false), ["b", "a", "text 9", "text 10"]);
  assert.deepEqual(names(2, true), ["text 9", "a", "b", "text 10"]);
  assert.deepEqual(names(-1, true), ["b", "text 10", "a", "text 9"]);
});

test("names are sorted with their numbers", () => {
  assert.deepEqual(names(0, true), ["a", "b", "text 9", "text 10"]);
});

test("the third press on a title restores the order as given", () => {
  const first = nextOrder(null, "GPT-2", true);
  assert.deepEqual(first, { column: "GPT-2", isAscending: false });
  const second = nextOrder(first, "GPT-2", true);
  assert.deepEqual(second, { column: "GPT-2", isAscending: true });
  assert.equal(nextOrder(second, "GPT-2", true), null);
  const byName = nextOrder(second, "Text", false);
  assert.deepEqual(byName, { column: "Text", isAscending: true });
  assert.deepEqual(nextOrder(byName, "Text", false), { column: "Text", isAscending: false });
});

const { layout, ticks } = await import("../../bpeviz/components/texts_table/dots.js");

const measure = (words) => 7 * words.length;
const dot = (value, interval = null) => [String(value), 0, "", value, interval];
const DOTS = [
  { name: "en", cells: [dot(1), dot(1)] },
  { name: "de", cells: [dot(2), dot(4, [3, 5])] },
  { name: "hi", cells: [dot(8), dot(2)] },
  { name: "code", cells: [["–", 0, "", null, null], dot(3)] },
];
const PLOT = { leader: 1, axis: "tokens", unit: "×" };

test("the plot is sorted by the tokenizer of the verdict, on a logarithmic axis", () => {
  const { rows, left } = layout(DOTS, ["a", "b"], PLOT, 600, measure);
  assert.deepEqual(rows.map(({ name }) => name), ["de", "code", "hi", "en"]);
  const x = (name, i) => rows.find((row) => row.name === name).marks.find((mark) => mark.i === i).x;
  assert.ok(Math.abs(x("hi", 0) - x("de", 1) - (x("de", 1) - x("hi", 1))) < 1e-9); // 8 / 4 = 4 / 2
  assert.ok(left < x("en", 0) && x("hi", 0) <= 600);
  assert.equal(rows.find(({ name }) => name === "code").marks.length, 1);
  const [low, high] = rows[0].marks[1].interval;
  assert.ok(low < x("de", 1) && x("de", 1) < high);
});

test("names stand above the first row, each on a line of its own", () => {
  const { labels, top } = layout(DOTS, ["a", "b"], PLOT, 600, measure);
  assert.deepEqual(labels.map(({ words }) => words), ["a 2×", "b 4×"]);
  assert.ok(labels[0].y < labels[1].y && labels[1].y < top);
  const narrow = layout([DOTS[1]], ["a", "a tokenizer with a long name"], PLOT, 200, measure);
  const [{ short }] = layout([{ ...DOTS[0], name: "a name that is long" }], ["a", "b"], PLOT, 200, measure).rows;
  assert.equal(short, "a name tha…");
  assert.deepEqual(narrow.labels.map(({ isLeft }) => isLeft), [false, true]);
});

test("no stem crosses a name on its side", () => {
  const rows = [{ name: "en", cells: [dot(900), dot(955), dot(950), dot(10), dot(12)] }];
  const { labels } = layout(rows, ["a", "b", "c", "d", "e"], PLOT, 400, measure);
  assert.deepEqual(labels.map(({ i, isLeft }) => [i, isLeft]), [[3, false], [4, false], [1, true], [2, true], [0, true]]);
  for (const [line, { words, x, isLeft }] of labels.entries()) {
    const above = labels.slice(0, line).filter((label) => label.isLeft === isLeft);
    const [start, end] = isLeft ? [x - 10 - measure(words), x] : [x, x + 10 + measure(words)];
    assert.ok(above.every((label) => label.x <= start || end <= label.x));
  }
});

test("an axis has three ticks or more, and none outside of it", () => {
  assert.deepEqual(ticks(1, 17), [1, 2, 5, 10]);
  assert.deepEqual(ticks(0.9, 1.2), [0.9, 1, 1.2]);
  assert.deepEqual(ticks(3, 3), [3]);
  assert.deepEqual(ticks(8, 3000), [10, 100, 1000]);
  for (const tick of ticks(300, 900)) assert.ok(300 <= tick && tick <= 900);
});

test("numbers of an axis do not touch, and its ends have theirs", () => {
  const rows = [{ name: "en", cells: [dot(148), dot(244)] }];
  const { ticks } = layout(rows, ["a", "b"], PLOT, 250, measure);
  const [{ x: left }, { x: right }] = ticks;
  assert.deepEqual(ticks.slice(0, 2).map(({ words }) => words), ["148×", "244×"]);
  assert.ok(ticks.slice(2).every(({ x }) => left < x && x < right));
  for (const [i, one] of ticks.entries())
    for (const other of ticks.slice(0, i)) assert.ok(Math.abs(one.x - other.x) > measure(one.words) / 2 + measure(other.words) / 2);
});

test("equal values, a single text and rows without values have places", () => {
  for (const rows of [[DOTS[0]], [DOTS[3], { name: "none", cells: [["–", 0, "", null, null], ["–", 0, "", null, null]] }]]) {
    const { rows: drawn, height } = layout(rows, ["a", "b"], PLOT, 400, measure);
    assert.equal(drawn.length, rows.length);
    assert.ok(height > 0 && drawn.every(({ marks }) => marks.every(({ x }) => Number.isFinite(x))));
  }
});

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

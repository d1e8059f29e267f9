// The step at which the player shows new data, and what it says to a screen reader.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ANNOUNCE_EVERY, Announcer } from "../../bpeviz/components/player/announcer.js";
import { withTexts } from "../../bpeviz/components/host/received.js";
import { shownStep, storeStep, storedSteps } from "../../bpeviz/components/player/position.js";
import { withParameters } from "../../bpeviz/components/shared/address.js";

const timeline = (text, last, more = {}) => ({
  key: `${text} timeline`, views: [{ text }], last, initialStep: 0, ...more,
});
const NONE = new Map();

test("a player opens at the initial step", () => {
  assert.equal(shownStep(undefined, 0, timeline("a", 12), NONE), 0);
  assert.equal(shownStep(undefined, 0, timeline("a", 12, { initialStep: 7 }), NONE), 7);
});

test("another size moves the step only if it lies beyond the end", () => {
  const before = timeline("a", 100);
  assert.equal(shownStep(before, 60, timeline("a", 150), NONE), 60);
  assert.equal(shownStep(before, 60, timeline("a", 61), NONE), 60);
  assert.equal(shownStep(before, 60, timeline("a", 40), NONE), 40);
  assert.equal(shownStep(before, 100, timeline("a", 150), NONE), 100);
});

test("a timeline remembers its step", () => {
  const known = new Map([["b timeline", 9]]);
  assert.equal(shownStep(timeline("a", 100), 60, timeline("b", 20), known), 9);
  assert.equal(shownStep(timeline("a", 100), 60, timeline("b", 5), known), 5);
});

test("a task about pairs begins at the last step", () => {
  const known = new Map([["b timeline", 1]]);
  const asked = timeline("b", 3, { task: { act: "pair" } });
  assert.equal(shownStep(undefined, 0, asked, known), 3);
  assert.equal(shownStep(asked, 1, asked, known), 1);
  assert.equal(shownStep(undefined, 0, { ...asked, task: { act: null } }, known), 1);
});

test("another text begins at the start, or at the end if the player was at the end", () => {
  assert.equal(shownStep(timeline("a", 100), 60, timeline("b", 20), NONE), 0);
  assert.equal(shownStep(timeline("a", 100), 100, timeline("b", 20), NONE), 20);
  assert.equal(shownStep(timeline("", 0), 0, timeline("b", 20), NONE), 0);
});

test("another training of the same text keeps the step", () => {
  const other = timeline("a", 20, { key: "another" });
  assert.equal(shownStep(timeline("a", 100), 12, other, NONE), 12);
  assert.equal(shownStep(timeline("a", 100), 60, other, NONE), 20);
  assert.equal(shownStep(timeline("a", 0), 0, { ...other, initialStep: 20 }, NONE), 20);
});

test("the end is the last step that changes the text", () => {
  const other = (last) => timeline("b", last, { changingSteps: [3, 8, 15], initialStep: last });
  assert.deepEqual([20, 10, 2].map((last) => shownStep(undefined, 0, other(last), NONE)), [15, 8, 0]);
  assert.equal(shownStep(timeline("a", 100), 100, other(20), NONE), 15);
  for (const step of [15, 17]) assert.equal(shownStep(other(20), step, timeline("c", 9), NONE), 9);
  assert.equal(shownStep(other(20), 8, timeline("c", 9), NONE), 0);
});

test("another part of a text keeps the step, and another text with as many tokens does not", () => {
  const part = (key, of, tokenCounts = [9, 7, 6]) => timeline(key, 2, { views: [{ text: key, tokenCounts, part: of }] });
  const first = part("a", [0, 4, 9]);
  assert.equal(shownStep(first, 1, part("b", [4, 9, 9]), NONE), 1);
  assert.equal(shownStep(first, 1, part("b", [4, 8, 8]), NONE), 0);
  assert.equal(shownStep(first, 1, part("b", [4, 9, 9], [9, 8, 6]), NONE), 0);
});

test("texts are sent once, and again if the browser does not have them", () => {
  const whole = timeline("a", 20);
  const known = (data) => withTexts({ ...data, views: [] });
  assert.equal(known(whole), undefined);
  withTexts(whole);
  assert.deepEqual(known({ ...whole, last: 9 }), { ...whole, last: 9, views: [{ text: "a", last: 9 }] });
  for (const text of ["b", "c", "d", "e"]) withTexts(timeline(text, 1));
  assert.equal(known(whole), undefined);
});

test("several rows begin at their initial step", () => {
  const several = (id) => timeline(id, 100, { views: [{ text: "a" }, { text: "a" }], initialStep: 40 });
  assert.equal(shownStep(several("x"), 100, several("y"), NONE), 40);
});

test("a reload keeps the step, and a link begins at its own", (context) => {
  const values = new Map();
  globalThis.sessionStorage = { getItem: (name) => values.get(name) ?? null, setItem: (name, value) => values.set(name, value) };
  for (let step = 0; step <= 30; step++) storeStep({ key: step < 25 ? `old ${step}` : "t", step: step % 25 });
  storeStep({ key: "of another page", step: 2 });
  const both = [["t", 5], ["of another page", 2]];
  for (const [type, steps] of [["reload", both], ["back_forward", both], ["navigate", []]]) {
    context.mock.method(performance, "getEntriesByType", () => [{ type }]);
    assert.deepEqual([storedSteps().size, ...[...storedSteps()].slice(-2)], [steps.length && 20, ...steps], type);
  }
  context.mock.method(performance, "getEntriesByType", () => [{ type: "reload" }]);
  for (const damaged of ["", "{", "null", '{"key": "t", "step": 5}', '[["t", "5"]]', '[["t", -1]]', "[5]"]) {
    values.set("bpeviz-step", damaged);
    assert.equal(storedSteps().size, 0, damaged);
  }
});

test("an address that people read has no plus sign for a space", () => {
  assert.equal(withParameters("http://a/", (all) => all.set("s", "e N a")).search, "?s=e%20N%20a");
});

test("at most one announcement a second, and the last step is always announced", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const said = [];
  const announcer = new Announcer((words) => said.push([Date.now(), words]));
  for (let step = 1; step <= 30; step++) {
    announcer.say(`merge ${step}`);
    context.mock.timers.tick(100);
  }
  context.mock.timers.tick(5000);
  assert.equal(said.at(-1)[1], "merge 30");
  assert.ok(said.length >= 3 && said.length <= 5, `${said.length}`);
  said.slice(1).forEach(([at], i) => assert.ok(at - said[i][0] >= ANNOUNCE_EVERY));
  announcer.say("late");
  announcer.stop();
  context.mock.timers.tick(5000);
  assert.equal(said.at(-1)[1], "merge 30");
});

// The text of a box, as the browser and the server agree on it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { TextState, characterCount, firstCharacters, isNewText } from "../../bpeviz/components/text_box/text_state.js";

const sent = (changes = {}) => ({
  session: "first",
  version: 1,
  answered: 0,
  sample: "english",
  text: "The river",
  file: null,
  ...changes,
});

function mounted() {
  const state = new TextState();
  assert.equal(state.receive(sent(), false), null);
  return state;
}

test("the first data is shown", () => {
  const { sample, text } = mounted();
  assert.deepEqual([sample, text], ["english", "The river"]);
});

test("a change that was answered stays until the server has a newer version", () => {
  const state = mounted();
  const { number } = state.change("own", "mine");
  assert.equal(state.receive(sent({ answered: number }), true), null);
  assert.equal(state.text, "mine");
  state.receive(sent({ answered: number, version: 2, sample: "own", text: "from a file" }), true);
  assert.equal(state.text, "from a file");
});

test("a version made before the last change does not overwrite it", () => {
  const state = mounted();
  const first = state.change("spanish", "The river");
  state.change("own", "typed meanwhile");
  state.receive(sent({ answered: first.number, version: 2, sample: "spanish", text: "El río" }), true);
  assert.deepEqual([state.sample, state.text], ["own", "typed meanwhile"]);
});

test("a change without an answer is sent again when the box is drawn anew", () => {
  const state = mounted();
  const change = state.change("own", "mine");
  assert.deepEqual(state.receive(sent({ version: 2 }), false), change);
  assert.deepEqual(state.receive(sent({ version: 2, sample: "own", text: null }), false), change);
  assert.equal(state.text, "mine");
});

test("numbers of changes grow", () => {
  const state = mounted();
  const numbers = Array.from({ length: 50 }, (_, i) => state.change("own", `${i}`).number);
  assert.deepEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b));
});

test("another session gets the text, without the file that the server has lost", () => {
  const state = mounted();
  state.change("own", "mine");
  state.receive(sent({ answered: state.number, file: "long.txt: 9 characters" }), true);
  const again = state.receive(sent({ session: "second" }), true);
  assert.deepEqual([again.sample, again.text], ["own", "mine"]);
  assert.deepEqual([state.text, state.file], ["mine", null]);
});

test("another session that already has the text gets no change", () => {
  const state = mounted();
  state.change("own", "mine");
  assert.equal(state.receive(sent({ session: "second", sample: "own", text: "mine" }), true), null);
});

test("a text that the browser has is not sent back", () => {
  const state = mounted();
  const { number } = state.change("own", "mine");
  assert.equal(state.receive(sent({ answered: number, sample: "own", text: null }), true), null);
  // The server had changed its text meanwhile, but used this change after that.
  const later = sent({ answered: number, version: 2, sample: "own", text: null });
  assert.equal(state.receive(later, true), null);
  assert.equal(state.receive(later, false), null);
  assert.deepEqual([state.sample, state.text, state.version], ["own", "mine", 2]);
});

test("a browser without the text asks for it", () => {
  const state = new TextState();
  const asked = state.receive(sent({ answered: 5, version: 2, sample: "own", text: null }), false);
  assert.equal(asked.text, null);
  const answer = sent({ answered: asked.number, version: 3, sample: "own", text: "mine" });
  assert.equal(state.receive(answer, true), null);
  assert.deepEqual([state.sample, state.text], ["own", "mine"]);
});

test("characters are code points", () => {
  for (const text of ["", "abc", "👍👍", "a👍b", "\ud800"]) {
    assert.equal(characterCount(text), [...text].length);
    assert.equal(firstCharacters(text, 2), [...text].slice(0, 2).join(""));
  }
});

test("a text is new if less than half of the one before is left, or most of it was pasted", () => {
  const isNew = [["", "a"], ["hello world", "Anna"], ["hello", "hey there"], ["ab", "ab, and more", true]];
  for (const [before, text, isPasted] of isNew) assert.ok(isNewText(before, text, isPasted), text);
  const edits = [["hello", "hello"], ["hello", "hello world"], ["hello", "hell"], ["aaaa", "aa"], ["a long text", "a lo, ng text", true], ["", ""]];
  for (const [before, text, isPasted] of edits) assert.ok(!isNewText(before, text, isPasted), text);
});

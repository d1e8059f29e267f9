// Tokens in words, and the list of tokens for screen readers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { TokenizedText } from "../../bpeviz/components/player/tokenized_text.js";
import { spoken, spokenBytes, spokenLabel } from "../../bpeviz/components/shared/spoken.js";
import { LISTED_AT_ONCE, LIST_AFTER, TokenList } from "../../bpeviz/components/shared/token_list.js";
import { read } from "./fixtures.mjs";

test("white space, punctuation and invisible signs have names", () => {
  const cases = {
    "the": "the", " the": "space the", "\n\n": "2 line breaks", "don't": "don apostrophe t", "\t": "tab",
    "\u200d": "U+200D", "\u200b\u200b": "2 × U+200B", "...": "3 periods", "·": "middle dot", "世界": "世界", "": "",
  };
  for (const [text, words] of Object.entries(cases)) assert.equal(spoken(text), words);
});

test("bytes that are not whole characters are in hexadecimal", () => {
  assert.equal(spokenBytes(new TextEncoder().encode(" é")), "space é");
  assert.equal(spokenBytes(Uint8Array.of(0xf0, 0x9f)), "bytes F0 9F");
  assert.equal(spokenBytes(Uint8Array.of(0x80)), "byte 80");
  assert.equal(spokenBytes(Uint8Array.of(0xef, 0xbb, 0xbf)), "U+FEFF");
});

for (const { name, payload, ends, steps } of read("timelines"))
  test(`${name}: tokens in words are their text and id`, () => {
    const text = new TokenizedText(payload);
    const bytes = new TextEncoder().encode(payload.text);
    const { step, tokens } = steps.at(-1);
    text.step = step;
    const words = Array.from(text.tokens(), (token) => text.tokenInWords(token));
    assert.equal(words.length, tokens.length);
    tokens.forEach(([start, end, id], i) => {
      const own = bytes.subarray(start ? ends[start - 1] : 0, ends[end - 1]);
      const status = id === -1 ? "not in the vocabulary" : id === -2 ? "dropped" : `id ${id}`;
      const expected = `${own.length ? spokenBytes(own) : payload.tokenStyles[id][0]}, ${status}`;
      assert.equal(words[i].replace(/, new$/, ""), expected);
    });
    assert.ok(!words.some((one) => one.includes("undefined")));
  });

test("the tokens that the current step creates are new", () => {
  const { payload } = read("timelines").find(({ name }) => name === "bytes");
  const text = new TokenizedText(payload);
  text.step = 1;
  const created = Array.from(text.tokens(), (token) => text.tokenInWords(token)).filter((one) => one.endsWith(", new"));
  assert.ok(created.length > 0);
  for (const one of created) assert.match(one, new RegExp(`, id ${payload.steps.id[0]}, new$`));
});

test("a long list has parts, and is drawn only at rest", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const list = new TokenList("Tokens");
  let drawn = 0;
  const show = (count) => list.show(() => (drawn++, { count, words: (i) => `token ${i}` }));
  for (let step = 0; step < 20; step++) show(5_000);
  assert.equal(drawn, 0);
  context.mock.timers.tick(LIST_AFTER);
  assert.equal(drawn, 1);
  assert.deepEqual([list.box.hidden, list.list.children.length], [false, LISTED_AT_ONCE]);
  assert.equal(list.list.ariaLabel, "Tokens: 1 to 200 of 5,000");
  assert.deepEqual([list.earlier.hidden, list.later.hidden], [true, false]);
  list.later.click();
  assert.deepEqual([list.list.children[0].textContent, list.list.ariaLabel], ["token 200", "Tokens: 201 to 400 of 5,000"]);
  assert.equal(list.earlier.hidden, false);
  show(LISTED_AT_ONCE); // another text
  context.mock.timers.tick(LIST_AFTER);
  assert.deepEqual([list.list.children.length, list.list.children[0].textContent], [LISTED_AT_ONCE, "token 0"]);
  assert.equal(list.list.ariaLabel, "Tokens: 200");
  assert.ok(list.earlier.hidden && list.later.hidden);
  show(5);
  list.hide();
  context.mock.timers.tick(LIST_AFTER);
  assert.equal(list.box.hidden, true);
  assert.equal(list.list.children.length, LISTED_AT_ONCE);
});

test("a token is read in words", () => {
  assert.deepEqual(["o", "·", "a.", "··e"].map(spokenLabel), ["o", "space", "a period", "2 spaces e"]);
});

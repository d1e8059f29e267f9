// The tokens under a span in each row of a score, where rows agree, and a span in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { read } from "./fixtures.mjs";

const { agreement, joinedPlaces, overlapping, tokenAt } = await import("../../bpeviz/components/player/agreement.js");
const { example, saving } = await import("../../bpeviz/components/player/told.js");
const { spanInWords } = await import("../../bpeviz/components/player/compared_row.js");

test("the token at a byte, and the tokens that overlap a span, are those of Python", () => {
  const { payload, spans, cases } = read("score");
  payload.rows.forEach(({ tokenEnds }, i) => {
    cases[i].tokenAt.forEach((token, byte) => assert.equal(tokenAt(tokenEnds, byte), token));
    cases[i].overlaps.forEach((count, k) => {
      const [from, to] = overlapping(tokenEnds, spans[k], spans[k + 1]);
      assert.equal(to - from, count);
    });
  });
});

test("rows agree on the tokens that all have, and on the boundaries that all have", () => {
  const { payload, common } = read("score");
  const found = agreement(payload.rows, new Uint8Array(new TextEncoder().encode(payload.text).length)); // without line feeds
  assert.deepEqual(found.common, common);
  const spans = payload.rows.map(({ tokenEnds }) => tokenEnds.map((end, i) => `${i ? tokenEnds[i - 1] : 0}-${end}`));
  const isEmpty = (span) => /^(\d+)-\1$/.test(span);
  const expected = spans.map((all) => all.map((span) => isEmpty(span) || spans.every((others) => others.includes(span))));
  assert.deepEqual(found.alike, expected);
});

test("a span is told with the tokens of each row, or once where all have the same", () => {
  const bytes = new TextEncoder().encode("a banana");
  const distinct = [[64, "a", "61", -1, []], [300, "·ban", "20 62 61 6E", 3, []], [-1, "ana", "not in the vocabulary", -1, []]];
  const first = { title: "GPT-2 (50,256)", tokenEnds: [1, 5, 8], tokens: [0, 1, 2], distinct };
  const second = { title: "o200k (199,998)", tokenEnds: [1, 8], tokens: [0, 1], distinct: [distinct[0], [301, "·banana", "", 4, []]] };
  const words = (rows, start, end) => spanInWords({ rows }, bytes, start, end);
  assert.equal(words([first, second], 1, 8), "GPT-2: space ban; ana, not in the vocabulary. o200k: space banana");
  assert.equal(words([first, second], 0, 1), "a: token in all");
  assert.equal(words([first], 1, 5), "space ban, id 300");
  const letters = { ...first, distinct: distinct.map(([, label]) => [null, label, "letters", 1, "alternative 1"]) };
  assert.equal(words([letters], 1, 5), "space ban, letters");
});

/** Return rows of a text, each from its tokens. */
const rowsOf = (...rows) => rows.map((tokens) => ({ tokenEnds: tokens.map((_, i) => tokens.slice(0, i + 1).join("").length), tokens: tokens.map((_, i) => i), distinct: tokens.map((_, i) => [i]) }));
const told = (...rows) => {
  const bytes = new TextEncoder().encode(rows[0].join(""));
  const all = rowsOf(...rows);
  const agreed = agreement(all, bytes);
  return { agreed, saved: saving(all, bytes), words: example(all, ["A", "B", "C"].slice(0, rows.length), agreed, bytes).join("") };
};

test("a place where rows part is told by its word, and the others by their number", () => {
  const { agreed, words } = told(["old", " lighthouse", "!"], ["old", " l", "ighthouse", "!"], ["old", " lighthouse", "!"]);
  assert.deepEqual(agreed.places, [[3, 14]]);
  assert.equal(words, "lighthouse is 1 token in A and C, 2 in B. Both other tokens are equal.");
  const two = told(["ab", " cd", "ef", "."], ["a", "b", " cdef", "."]);
  assert.equal(two.words, "ab is 1 token in A, 2 in B. They part at 1 other place. The other token is equal.");
  assert.deepEqual(joinedPlaces(two.agreed.places), [[0, 7]]);
  assert.equal(told(["ab", "c"], ["a", "bc"]).words, "abc is 2 tokens in A and B, divided differently.");
  assert.equal(told(["é", "éé"], ["éé", "é"]).words, "They part at 1 place."); // in whose pieces are parts of characters
});

test("rows without a difference, or with one beside a line feed alone, have no place", () => {
  assert.equal(told(["a", " b"], ["a", " b"]).words, "Every token is the same in all rows.");
  assert.equal(told(["a:", "\n", "b"], ["a", ":\n", "b"]).words, "a: is 1 token in A, 2 in B.");
  const breaks = told(["a", ":", "\n", "b"], ["a", ":\n", "b"]);
  assert.deepEqual(breaks.agreed.places, []);
  assert.ok(breaks.agreed.alike.flat().every(Boolean));
  assert.equal(breaks.words, "They differ beside line breaks only.");
});

test("saved white space is told where it is much of what is saved", () => {
  assert.equal(told([" ", " ", " ", "a", "b"], ["   ", "ab"]).saved, "2 of the 3 tokens saved are white space.");
  assert.equal(told(["a", "b", "c", " ", " "], ["abc", " ", " "]).saved, "");
  assert.equal(told([" ", " ", " ", "ab"], ["   ", "a", "b"]).saved, "White space alone saves 2 tokens.");
});

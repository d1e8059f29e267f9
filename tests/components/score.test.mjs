// The tokens under a span in each row of a score, where rows agree, and a span in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { read } from "./fixtures.mjs";

const { agreement, overlapping, tokenAt } = await import("../../bpeviz/components/score/agreement.js");
const { spanInWords } = await import("../../bpeviz/components/score/score.js");

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
  const size = new TextEncoder().encode(payload.text).length;
  const found = agreement(payload.rows, size);
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

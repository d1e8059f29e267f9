// The tokens that the player shows at a step are those of Python's boundaries.

import assert from "node:assert/strict";
import { test } from "node:test";

import { JUST_MERGED, LEFT_OUT_ID, NEW, NEW_END, NEW_START, TOKEN_END } from "../../bpeviz/components/shared/cells.js";
import { KEY_ACTIONS, clampStep, isSingleCharacter, rankOf, stepAfter, stepOfRank, stepOfSize } from "../../bpeviz/components/player/controls.js";
import { ordinal } from "../../bpeviz/components/shared/format.js";
import { TokenizedText } from "../../bpeviz/components/player/tokenized_text.js";
import { upto } from "../../bpeviz/components/room/upto.js";
import { read } from "./fixtures.mjs";

const spans = (text) => Array.from(text.tokens(), ({ start, end, id }) => [start, end, id]);
/** Return the bytes after which a token ends; a mark before the text has none. */
const byteBoundaries = (text) => [...new Set(Array.from(text.tokens(), ({ end }) => text.byteEnds[end - 1]))].filter(Boolean);
const indices = (flags, flag) => Array.from(flags.keys()).filter((i) => flags[i] & flag);

for (const { name, payload, ends, steps } of read("timelines")) {
  const text = new TokenizedText(payload);

  test(`${name}: tokens at a step are those of Python`, () => {
    assert.ok(steps.length > 3);
    for (const { step, tokens } of steps) {
      text.step = step;
      assert.deepEqual(spans(text), tokens);
      assert.equal(tokens.filter(([, , id]) => id !== LEFT_OUT_ID).length, payload.tokenCounts[step]);
    }
  });

  test(`${name}: a follower's timeline has no decision after the leader's step`, () => {
    for (const { step, tokens } of steps) {
      const player = { views: [payload], last: payload.last, changingSteps: payload.changingSteps };
      const [view] = upto({ number: 1, player, races: null }, step).player.views;
      const shorter = new TokenizedText(view);
      shorter.step = payload.last;
      assert.deepEqual(spans(shorter), tokens);
      assert.deepEqual([view.last, view.steps.id.length, view.tokenCounts.length], [step, step, step + 1]);
      assert.ok((view.changingSteps ?? []).every((at) => at <= step));
    }
  });

  test(`${name}: the token around any of its atoms is the same`, () => {
    for (const { step, tokens } of steps) {
      text.step = step;
      for (const [start, end, id] of tokens)
        for (let atom = start; atom < end; atom++) {
          const token = text.token(atom);
          assert.deepEqual([token.start, token.end, token.id], [start, end, id]);
        }
    }
  });

  test(`${name}: atoms end, and tokens too, at the bytes that Python says`, () => {
    assert.deepEqual([...text.byteEnds], ends);
    for (const { step, byteBoundaries: expected } of steps) {
      text.step = step;
      assert.deepEqual(byteBoundaries(text), expected);
    }
  });

  test(`${name}: places of a step are inside its new tokens`, () => {
    for (const { step, tokens, before, merged } of steps) {
      if (!step) continue;
      const old = new Set(before.map(String));
      const created = tokens.filter((token) => !old.has(String(token)));
      const places = text.timeline.placesAt(step - 1);
      if (payload.mergedAt) assert.deepEqual(places, merged);
      for (const place of places) assert.ok(created.some(([start, end]) => start <= place && place < end));
      for (const [start, end] of created) assert.ok(places.some((place) => start <= place && place < end));
    }
  });

  test(`${name}: flags mark boundaries, merged boundaries and new tokens`, () => {
    for (const { step, tokens, before, merged } of steps) {
      text.step = step;
      const flags = new Uint16Array(ends.length);
      const colors = new Int8Array(ends.length);
      for (const hasChanged of [true, false])
        for (const token of text.tokens()) assert.equal(text.writeFlags(token, colors, flags), hasChanged);
      assert.deepEqual(indices(flags, TOKEN_END), tokens.map(([, end]) => end - 1));
      assert.deepEqual(indices(flags, JUST_MERGED), merged);
      const old = new Set(before.map(String));
      const created = tokens.filter((token) => !old.has(String(token)) && token[2] !== LEFT_OUT_ID);
      assert.deepEqual(indices(flags, NEW_START), created.map(([start]) => start));
      assert.deepEqual(indices(flags, NEW_END), created.map(([, end]) => end - 1));
      assert.equal(indices(flags, NEW).length, created.reduce((sum, [start, end]) => sum + end - start, 0));
      for (const [start, end, id] of tokens)
        assert.deepEqual(new Set(colors.slice(start, end)), new Set([text.style(id).color]));
    }
  });

  test(`${name}: inspecting a token counts its occurrences`, () => {
    const { step, tokens } = steps.at(-1);
    text.step = step;
    for (const [start, , id] of tokens)
      assert.equal(text.inspect(start).count, tokens.filter(([, , other]) => other === id).length);
  });
}

test("lock-step: rows have the boundaries of Python's at each size", () => {
  const { payload, cases } = read("lock_step");
  const texts = payload.views.map((view) => new TokenizedText(view));
  for (const { index, boundaries } of cases) {
    for (const text of texts) text.step = text.data.ownSteps[index];
    assert.deepEqual(texts.map(byteBoundaries), boundaries);
  }
});

test("a typed vocabulary size leads to the step that Python finds", () => {
  const { payload, typed } = read("lock_step");
  for (const [size, step] of typed) assert.equal(stepOfSize(payload.vocabSizes, size), step, `size ${size}`);
});

test("the merges on a token are the merge tree of Python", () => {
  const { payload, cases } = read("trees");
  const text = new TokenizedText(payload);
  for (const { start, end, nodes } of cases) {
    const spans = text.mergesOn(start, end).spans.map(([first, last, since, , id]) => ({ first, last, since, id }));
    const byPlace = (one, other) => one.first - other.first || one.last - other.last;
    assert.deepEqual(spans.sort(byPlace), nodes.sort(byPlace));
  }
  assert.ok(cases.some(({ nodes }) => nodes.length > 6));
});

test("controls stay within the timeline", () => {
  assert.deepEqual(["first", "back", "forward", "last"].map((action) => stepAfter(action, 3, 10)), [0, 2, 4, 10]);
  assert.equal(stepAfter("back", 0, 10), 0);
  assert.equal(stepAfter("forward", 10, 10), 10);
  // Back and forward pass over steps that change nothing, of which any can be reached.
  const [changing, all] = [[2, 3, 7], [...Array(11).keys()]];
  assert.deepEqual(all.map((step) => stepAfter("back", step, 10, changing)), [0, 0, 0, 2, 3, 3, 3, 3, 7, 7, 7]);
  assert.deepEqual(all.map((step) => stepAfter("forward", step, 10, changing)), [2, 2, 3, 7, 7, 7, 7, 7, 8, 9, 10]);
  assert.deepEqual([0, 2, 3, 4, 9].map((step) => stepAfter("forward", step, 6, changing)), [2, 3, 3, 4, 9]);
  assert.deepEqual(["first", "last"].map((action) => stepAfter(action, 3, 10, changing)), [0, 10]);
  assert.deepEqual([0, 1, 2, 3].map((rank) => stepOfRank(changing, rank)), [0, ...changing]);
  assert.deepEqual([0, 2, 6, 10].map((step) => rankOf(changing, step)), [0, 1, 2, 3]);
  assert.deepEqual([1, 2, 3, 4, 11, 22, 112, 1003].map(ordinal), ["1st", "2nd", "3rd", "4th", "11th", "22nd", "112th", "1,003rd"]);
  assert.deepEqual([-5, 2.6, 99].map((step) => clampStep(step, 10)), [0, 3, 10]);
  assert.equal(KEY_ACTIONS.ArrowRight, "forward");
  assert.equal(KEY_ACTIONS[" "], "play");
});

test("only letters and signs count as single-letter shortcuts", () => {
  const letters = Object.keys(KEY_ACTIONS).filter(isSingleCharacter);
  assert.deepEqual(letters.sort(), [",", ".", "?", "p"]);
});

test("a sentence names the ties first, then all that is known, and the tokens", () => {
  const [{ payload }] = read("timelines");
  const steps = { ...payload.steps, kind: "merge", notes: {}, count: [9], applied: [9], ties: [2], score: [] };
  const facts = ({ steps: more, ...rest }) =>
    new TokenizedText({ ...payload, tokenCounts: [12, 3], steps: { ...steps, ...more }, ...rest }).facts(0);
  const tieRule = "the smallest ids win";
  assert.equal(facts({ tieRule }), "9 times, like 2 other pairs; the smallest ids win. 12 → 3 tokens");
  assert.equal(facts({ tieRule, steps: { ties: [0] } }), "9 times. 12 → 3 tokens");
  const scored = { score: [0.5], applied: [7], notes: { 0: "9 times together; the parts 9 and 18 times in all: 9 ÷ (9 × 18)" } };
  const decided = "9 times together; the parts 9 and 18 times in all: 9 ÷ (9 × 18) = 0.5, like 2 other pairs · 7 replaced (the others overlap)";
  const leftOut = "spaces left out";
  assert.equal(facts({ steps: scored, leftOut }), `${decided}. 12 → 3 tokens, spaces left out`);
  assert.equal(facts({ steps: scored, leftOut, title: "WordPiece" }), decided); // its head has the tokens
  assert.equal(facts({ weighted: true }), "weighted count 9, like 2 other pairs. 12 → 3 tokens");
  const pruning = { kind: "pruning", ties: [], score: [0.25], round: [4] };
  const pruned = "used 9 times; without it the text is less likely by 0.25 nats";
  assert.equal(facts({ steps: pruning }), `${pruned} · round 4. 12 → 3 tokens`);
  const free = { ...pruning, score: [0], count: [0] };
  assert.equal(facts({ steps: free, title: "Unigram" }), "not used; without it the text is as likely · round 4");
  assert.equal(facts({ steps: pruning, title: "Unigram" }), `${pruned} · round 4`);
  const other = { trainedOn: "a corpus", tokenCounts: [12, 12], changingSteps: [2] };
  assert.equal(
    facts({ ...other, tieRule }),
    "9 times in the training text, like 2 other pairs; the smallest ids win. Your text does not change: 12 tokens",
  );
});

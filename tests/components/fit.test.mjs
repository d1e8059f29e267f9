// The size of the text in the stage.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fitScore, largestFitting, roomOfNames, scrollingSize, sizesOfRows, unbrokenSize, wholeLinesSize, wordySize } from "../../bpeviz/components/player/fit.js";

test("the largest size that fits is found to half a pixel", () => {
  for (const limit of [18, 18.5, 31.7, 71.5, 72, 500])
    for (const likely of [undefined, null, 10, 18, 18.25, 31, 31.5, 71, 72, 80])
      assert.equal(largestFitting(18, 72, (size) => size <= limit, likely), Math.min(72, Math.floor(limit * 2) / 2));
  assert.equal(largestFitting(18, 18, () => true), 18);
  assert.equal(largestFitting(18, 72, (size) => size <= 17), null);
  const tried = [];
  largestFitting(18, 72, (size) => tried.push(size) && size <= 31.7, 31.5);
  assert.deepEqual(tried, [32, 31.5]);
});

test("words fit into a line, but longer runs are broken", () => {
  assert.equal(unbrokenSize("a seashell", 600), 600 / (0.6 * 9));
  assert.equal(unbrokenSize(`seashell ${"字".repeat(80)}`, 600), 600 / (0.6 * 9));
  assert.equal(unbrokenSize("王小明", 600), 600 / (0.6 * 6.1)); // as wide as 5.1 letters
  assert.ok(unbrokenSize("", 600) > 72);
});

test("a text that scrolls has 18 to 22 pixels", () => {
  assert.deepEqual([200, 632, 740, 974, 3000].map(scrollingSize), [18, 18, 20, 22, 22]);
});

test("several rows have 16 to 48 pixels, 14 if they are many", () => {
  const sizes = (rows) => {
    const { smallest, largest, scrolling } = sizesOfRows(rows);
    return [smallest, largest, ...[200, 974, 1100, 3000].map(scrolling)];
  };
  assert.deepEqual(sizes(6), [16, 48, 16, 18, 20, 26]);
  assert.deepEqual(sizes(7).slice(0, 2), [14, 48]);
});

test("lines of at most 80 characters are whole", () => {
  const lines = (...signs) => signs.map((count) => "x".repeat(count)).join("\n");
  assert.equal(wholeLinesSize(lines(78, 12), 800), 800 / (0.6 * 80));
  assert.equal(wholeLinesSize(lines(300, 8), 800), 800 / (0.6 * 10)); // the first one is prose
  assert.equal(wholeLinesSize("हिंदी", 800), wholeLinesSize("ab", 800)); // its marks need no room
  assert.equal(wholeLinesSize("👩‍👩‍👧‍👦🏳️‍🌈👍🏿🇫🇷🇩🇪", 800), wholeLinesSize("x".repeat(10), 800)); // emoji are two letters wide
});

test("names of rows have the room of the longest, less on a narrow screen", () => {
  const names = (...all) => all.map((name) => ({ name }));
  assert.equal(roomOfNames(names("BPE", "SentencePiece BPE"), 974), 7 * 17 + 44);
  assert.deepEqual([names("BPE"), names("")].map((rows) => roomOfNames(rows, 974)), [96, 0]);
  assert.equal(roomOfNames(names("SentencePiece BPE"), 350), 92);
});

test("lines have four words, unless their paragraph has fewer", () => {
  const wordsOf = (text, size, width) => {
    const lines = [[]];
    for (const word of text.match(/\s*\S+/g)) {
      if ([...lines.at(-1), word].join("").length > Math.floor(width / (0.6 * size))) lines.push([]);
      lines.at(-1).push(word);
    }
    return lines.map(({ length }) => length);
  };
  const sentence = "She sells sea shells by the sea shore, and the shells she sells are.";
  assert.deepEqual(wordsOf(sentence, wordySize(sentence, 1266, 60), 1266), [7, 7]);
  const size = wordySize(sentence, 366, 60);
  assert.ok(size >= 18 && Math.min(...wordsOf(sentence, size, 366)) >= 4);
  assert.ok(Math.min(...wordsOf(sentence, size + 0.5, 366)) < 4);
  assert.equal(wordySize("hello\nthree short words", 1266, 60), 60);
});

test("25 lines of 56 letters are whole at 1366 × 768", () => {
  globalThis.getComputedStyle = () => /** @type {any} */ ({ paddingTop: "8px", paddingLeft: "4px" });
  const text = Array(25).fill("x".repeat(56)).join("\n");
  const cells = [...text].map((sign) => ({ text: sign }));
  const host = { clientWidth: 1302, clientHeight: 361, closest: () => null, classList: { remove() {} } }; // as in a browser
  let size = 0;
  const score = /** @type {any} */ ({ host, text, cells, rows: [{}], isList: false, hasFreeLines: false, fitted: {} });
  score.measure = () => {
    const columns = score.isInColumns ? Math.floor((1294 + 1.5 * size) / (0.6 * 57 * size + 1.5 * size)) : 1;
    const height = 1.64 * size; // of a line
    return { lines: Array.from(Array(25), (_, i) => ({ first: 57 * i, bottom: 8 + height * ((i % Math.ceil(25 / columns)) + 1) })) };
  };
  score.fitting = ({ lines }) => [...lines.keys()].find((i) => lines[i].bottom > 361 - 8) ?? 25;
  assert.ok(fitScore(score, (pixels) => (size = pixels), { smallest: 18, largest: 60, scrolling: scrollingSize }));
  assert.ok(score.isInColumns && size >= 14, `${size} pixels`);
});

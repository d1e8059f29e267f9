// How a text is split into cells, and what is drawn on them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CellText, EXTRA, LEFT_OUT, TOKEN_END, classNames, splitIntoCells } from "../../bpeviz/components/shared/cells.js";
import { TokenizedText } from "../../bpeviz/components/player/tokenized_text.js";
import { createElement, read } from "./fixtures.mjs";

const shown = (cells) => cells.map(({ text }) => text.replace("\u00A0", " "));

test("a cell is a grapheme, or a code point where a grapheme has an invisible part", () => {
  const text = "e\u0301 👍🏽 👩‍👧\u200B\r\n\tश्री🇫🇷";
  const cells = splitIntoCells(text, "bytes");
  assert.deepEqual(shown(cells), [
    "e\u0301", " ", "👍🏽", " ", "👩", "⟨200D⟩", "👧", "⟨200B⟩", "␍", "↵", "\t", "श्री", "🇫🇷",
  ]);
  assert.deepEqual(cells.map(({ size }) => size), [3, 1, 8, 1, 4, 3, 4, 3, 1, 1, 1, 18 - 6, 8]);
  assert.deepEqual(cells.map(({ line }) => line), [...Array(10).fill(0), 1, 1, 1]);
});

test("a line breaks before a space and not after it", () => {
  const drawn = (text) => splitIntoCells(text, "bytes").map(({ text, baseClass }) => [text, / w\b/.test(baseClass)]);
  const space = ["\u00A0", false];
  assert.deepEqual(drawn("a  b c"), [["a", true], space, space, ["b", true], space, ["c", false]]);
  assert.deepEqual(drawn(" a"), [space, ["a", false]]); // nothing stands before it
  assert.deepEqual(drawn("a\n b"), [["a", false], ["↵", false], space, ["b", false]]);
  // Numbers in a text from right to left keep their order.
  assert.deepEqual(drawn("ص 1 2").filter(([sign]) => /\s/.test(sign)), [[" ", false], [" ", false]]);
});

test("labels are bytes, or code points of characters", () => {
  const [bytes] = splitIntoCells("世", "bytes");
  assert.deepEqual(bytes.labels, ["E4", "B8", "96"]);
  const [thumb] = splitIntoCells("👍🏽", "characters");
  assert.deepEqual(thumb.labels, ["1F44D", "1F3FD"]);
  // A character outside the vocabulary is drawn by its bytes.
  const [known, unknown] = splitIntoCells("a世", "characters", { atomBytes: [1, 1, 1, 1] });
  assert.deepEqual([known.labels, unknown.labels], [["0061"], ["E4", "B8", "96"]]);
});

test("an end-of-word mark is attached to its last letter, also inside a grapheme", () => {
  const cells = splitIntoCells("ab e\u0301", "characters", { marks: [1, 3] });
  assert.deepEqual(shown(cells), ["a", "b", " ", "e", "\u0301"]);
  assert.deepEqual(cells.map(({ endOfWord }) => endOfWord), [false, true, false, true, false]);
});

test("a mark of no bytes is a cell without text", () => {
  const cells = splitIntoCells("ab", "characters", { atomBytes: [0, 1, 1, 0], markLabel: (atom) => `<${atom}>` });
  assert.deepEqual(cells.map(({ text, start, end, firstAtom }) => [text, start, end, firstAtom]), [
    ["<0>", 0, 0, 0], ["a", 0, 1, 1], ["b", 1, 2, 2], ["<3>", 2, 2, 3],
  ]);
});

test("signs take the direction of the letters before them", () => {
  const cells = splitIntoCells("a! صب! 1\n!", "bytes");
  const reversed = cells.filter(({ baseClass }) => baseClass.includes("rtl")).map(({ text }) => text);
  assert.deepEqual(reversed, ["ص", "ب", "!", " "]);
});

test("class names are those of a token's first and last atom", () => {
  const colors = [3, 3, -1];
  assert.equal(classNames(colors, [0, 0, 0], 0, 1), " t color3");
  assert.equal(classNames(colors, [0, TOKEN_END | EXTRA, 0], 0, 1).trim(), "t color3 b extra");
  assert.equal(classNames(colors, [TOKEN_END, 0, 0], 0, 1), " t color3"); // a boundary inside
  assert.equal(classNames(colors, [0, 0, TOKEN_END | LEFT_OUT], 2, 2), " b left-out");
});

test("lines are drawn in blocks of 500 cells or more", () => {
  const host = createElement();
  new CellText(host, `${"\n".repeat(600)}${"a".repeat(700)}\n${"a b\n".repeat(130)}`, "bytes");
  const sizes = host.children.map(({ children }) => children.map((line) => line.children.length));
  assert.deepEqual(sizes.map((lines) => lines.length), [500, 101, 125, 5]);
  assert.deepEqual(sizes.map((lines) => lines.at(-1)), [1, 701, 4, 4]);
  assert.deepEqual(host.children.map(({ style }) => style["--lines"]), [500, 101, 125, 5]);
});

for (const { name, payload, steps } of read("timelines")) {
  const options = { atomBytes: payload.atomBytes, marks: payload.endMarks, markLabel: () => "mark" };
  const host = createElement();
  const drawn = new CellText(host, payload.text, payload.atomKind, options);

  test(`${name}: cells cover the text and its atoms in order`, () => {
    let atom = 0;
    let offset = 0;
    for (const cell of drawn.cells) {
      assert.deepEqual([cell.firstAtom, cell.start], [atom, offset]);
      atom += cell.size;
      offset = cell.end;
    }
    assert.equal(atom, steps[0].tokens.at(-1)[1]);
    assert.equal(offset, payload.text.length);
    const lines = host.children.flatMap(({ children }) => children);
    assert.equal(lines.length, payload.text.trimEnd().split("\n").length);
  });

  test(`${name}: boundaries are drawn where Python says, and the atom under a cell is in its token`, () => {
    const text = new TokenizedText(payload);
    for (const { step, tokens } of steps) {
      text.step = step;
      for (const token of text.tokens()) {
        text.writeFlags(token, drawn.colors, drawn.flags);
        drawn.paint(token.start, token.end);
      }
      const isBoundary = (element) => element.className.split(" ").includes("b");
      const ends = [];
      for (const cell of drawn.cells) {
        const isSplit = cell.element.className.includes(" split");
        if (isSplit) cell.rows.forEach((row, i) => isBoundary(row) && ends.push(cell.firstAtom + i + 1));
        else if (isBoundary(cell.element)) ends.push(cell.firstAtom + cell.size);
        const token = text.token(drawn.atomAt(cell.element));
        assert.ok(token.start <= cell.firstAtom && cell.firstAtom < token.end);
        cell.rows.forEach((row, i) => assert.equal(drawn.atomAt(row), cell.firstAtom + i));
      }
      assert.deepEqual(ends, tokens.map(([, end]) => end));
    }
  });

  test(`${name}: toggling a class on a token reaches all of its cells and nothing else`, () => {
    const [start, end] = steps.at(-1).tokens.reduce((a, b) => (b[1] - b[0] > a[1] - a[0] ? b : a));
    const lit = () =>
      drawn.cells.flatMap((cell) =>
        [cell.element, ...cell.rows].some((one) => one.className.split(" ").includes("lit")) ? [cell] : [],
      );
    drawn.toggle(start, end, "lit", true);
    assert.deepEqual(lit().map(({ firstAtom }) => firstAtom), [...new Set(drawn.cellOf.slice(start, end))].map((i) => drawn.cells[i].firstAtom));
    drawn.toggle(start, end, "lit", false);
    assert.deepEqual(lit(), []);
  });
}

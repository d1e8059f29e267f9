// How a text is split into cells, and the pieces in which its tokens are drawn.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LEFT_OUT, LIT, TICK, TOKEN_END, classNames, idInWords, idOf, intoBytes, labelInBytes, piecesOf, splitIntoCells, splitIntoRows } from "../../bpeviz/components/shared/cells.js";
import { MergeBlocks } from "../../bpeviz/components/shared/merge_blocks.js";
import { TokenizedText } from "../../bpeviz/components/player/tokenized_text.js";
import { read } from "./fixtures.mjs";

const shown = (cells) => cells.map(({ text }) => text.replace("\u00A0", " "));

test("a cell is a grapheme, or a code point where a grapheme has an invisible part that shapes nothing", () => {
  const text = "e\u0301 👍🏽 👩‍👧a\u200D\u200B😀\u{E0049}\r\n\tश्री🇫🇷";
  const cells = splitIntoCells(text, "bytes");
  assert.deepEqual(shown(cells), [
    "e\u0301", " ", "👍🏽", " ", "👩‍👧", "a", "⟨200D⟩", "⟨200B⟩", "😀", "⟨E0049⟩", "␍", "↵", "\t", "श्री", "🇫🇷",
  ]);
  assert.deepEqual(cells.map(({ size }) => size), [3, 1, 8, 1, 11, 1, 3, 3, 4, 4, 1, 1, 1, 12, 8]);
  assert.deepEqual(cells.map(({ line }) => line), [...Array(12).fill(0), 1, 1, 1]);
});

test("a number that is not in the vocabulary is never an id", () => {
  assert.deepEqual([0, 256, -1, -2, -3, -4, -7, null, undefined].map(idOf), [0, 256, ...Array(7).fill(null)]);
  assert.deepEqual([0, -1, -2, -7].map(idInWords), ["id 0", "not in the vocabulary", "dropped", "special token"]);
});

test("a line end between rows of a table breaks the line and has no sign", () => {
  const cells = splitIntoCells("a\nb\nc", "bytes", { rowEnds: [3] });
  assert.deepEqual(shown(cells), ["a", "↵", "b", "\u200B", "c"]);
  assert.deepEqual(cells.map(({ line }) => line), [0, 0, 1, 1, 2]);
});

test("a line breaks before a space and not after it", () => {
  const drawn = (text) => splitIntoCells(text, "bytes").map(({ text, wraps }) => [text, wraps]);
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

test("rows have the same signs, and leave room for marks of others", () => {
  const text = "lo é e\u0301";
  const [bytes, marked, special] = splitIntoRows(text, [
    { atomKind: "bytes" },
    { atomKind: "characters", marks: [1, 5] },
    { atomKind: "characters", atomBytes: [0, 1, 1, 1, 2, 1, 1, 2], markLabel: () => "▁" },
  ]);
  const signs = ["▁", "l", "o", " ", "é", " ", "e", "\u0301"];
  for (const cells of [bytes, marked, special]) assert.deepEqual(shown(cells), signs);
  assert.deepEqual(bytes.map(({ size }) => size), [0, 1, 1, 1, 2, 1, 1, 2]);
  assert.deepEqual(special.map(({ size }) => size), Array(8).fill(1));
  assert.deepEqual(marked.map(({ endOfWord }) => endOfWord), [false, false, true, false, false, false, true, false]);
  assert.deepEqual(bytes.map(({ leavesRoom }) => Boolean(leavesRoom)), marked.map(({ endOfWord }) => endOfWord));
  const [first, second] = splitIntoRows(text, [{ atomKind: "bytes" }, { atomKind: "bytes" }]);
  assert.equal(first, second); // split once
});

test("signs take the direction of the letters before them", () => {
  const cells = splitIntoCells("a! صب! 1\n!", "bytes");
  const reversed = cells.filter(({ baseClass }) => baseClass.includes("rtl")).map(({ text }) => text);
  assert.deepEqual(reversed, ["ص", "ب", "!", " "]);
});

test("class names are those of a token's first and last atom", () => {
  const colors = [3, 3, -1];
  assert.equal(classNames(colors, [0, 0, 0], 0, 1), " t color3");
  assert.equal(classNames(colors, [0, TOKEN_END | TICK, 0], 0, 1).trim(), "t color3 b tick");
  assert.equal(classNames(colors, [TOKEN_END, 0, 0], 0, 1), " t color3"); // a boundary inside
  assert.equal(classNames(colors, [0, 0, TOKEN_END | LEFT_OUT], 2, 2), " b left-out");
});

for (const { name, payload, steps } of read("timelines")) {
  const options = { atomBytes: payload.atomBytes, marks: payload.endMarks, markLabel: () => "mark" };
  const cells = splitIntoCells(payload.text, payload.atomKind, options);
  const atoms = steps[0].tokens.at(-1)[1];
  const [colors, flags] = [new Int8Array(atoms), new Uint16Array(atoms)];
  const pieces = () => piecesOf(cells, 0, cells.length, colors, flags);
  const has = ({ className }, looks) => className.split(" ").includes(looks);
  const lastAtom = (cell) => cell.firstAtom + cell.size - 1;

  test(`${name}: cells cover the text and its atoms in order`, () => {
    let atom = 0;
    let offset = 0;
    for (const cell of cells) {
      assert.deepEqual([cell.firstAtom, cell.start], [atom, offset]);
      atom += cell.size;
      offset = cell.end;
    }
    assert.equal(atom, atoms);
    assert.equal(offset, payload.text.length);
    assert.equal(cells.at(-1).line + 1, payload.text.trimEnd().split("\n").length);
  });

  test(`${name}: pieces cover the cells, and boundaries are where Python says`, () => {
    const text = new TokenizedText(payload);
    for (const { step, tokens } of steps) {
      text.step = step;
      for (const token of text.tokens()) text.writeFlags(token, colors, flags);
      const ends = [];
      let at = 0;
      for (const piece of pieces()) {
        assert.equal(piece.from, at);
        at = piece.to;
        // Boundaries inside a sign are on the ruler only.
        const isSplit = has(piece, "split");
        const last = cells[at - 1];
        for (let a = cells[piece.from].firstAtom; a < lastAtom(last); a++) if (flags[a] & TOKEN_END) ends.push(a + 1);
        assert.equal(isSplit, ends.some((end) => end > last.firstAtom && end <= lastAtom(last)));
        if (has(piece, "b")) {
          ends.push(lastAtom(last) + 1);
          const { start, end } = text.token(lastAtom(last));
          assert.equal(has(piece, "tick"), end - start === 1 && !has(piece, "unknown"), "a tick ends a token of one atom");
        }
        if (!isSplit) assert.equal(text.token(cells[piece.from].firstAtom).end, text.token(lastAtom(last)).end);
      }
      assert.equal(at, cells.length);
      assert.deepEqual(ends, tokens.map(([, end]) => end));
    }
  });

  test(`${name}: a flag on a token reaches all of its cells and nothing else`, () => {
    const [start, end] = steps.at(-1).tokens.reduce((a, b) => (b[1] - b[0] > a[1] - a[0] ? b : a));
    for (let a = start; a < end; a++) flags[a] |= LIT;
    const lit = pieces().filter((piece) => has(piece, "lit"));
    const reached = cells.filter((cell) => cell.firstAtom < end && lastAtom(cell) >= start);
    for (const { from, to } of lit) assert.ok(cells.slice(from, to).every((cell) => reached.includes(cell)));
    const isWhole = reached.every((cell) => cell.firstAtom >= start && lastAtom(cell) < end);
    if (isWhole) assert.equal(lit.reduce((sum, { from, to }) => sum + to - from, 0), reached.length);
  });
}

test("only an id of the vocabulary is an id in words, of blocks and for screen readers", () => {
  const append = function (...parts) { this.textContent += parts.map((part) => part.textContent ?? part).join(""); };
  globalThis.document = { createElement: () => ({ textContent: "", append }) };
  const text = new TokenizedText(read("unknown"));
  const payload = { style: (id) => text.style(id), stepInWords: String };
  const kinds = new Set();
  for (text.step of [0, text.data.steps.id.length])
    for (const token of text.tokens()) {
      const block = MergeBlocks.prototype.describe.call({ payload }, { ...token, since: 0, parts: [] });
      kinds.add(Math.sign(token.id));
      for (const words of [block.textContent, text.tokenInWords(token)])
        assert.equal(/\bid .\d*/.exec(words)?.[0], token.id < 0 ? undefined : `id ${token.id}`);
    }
  assert.equal(kinds.has(-1) && kinds.has(1), true);
});

test("a token's label in bytes has those of all its signs", () => {
  const labels = { "⟨E0⟩⟨A4⟩": "E0 A4", "·न": "20 E0 A4 A8", "◌ी": "E0 A5 80", "⟨200D⟩": "E2 80 8D", "↵→": "0A 09", "ab…⟨D8⟩": "61 62 … D8" };
  for (const [label, bytes] of Object.entries(labels)) assert.equal(labelInBytes(label), bytes);
});

test("each byte of a sign is a cell of the stage of bytes, in the order of its letters", () => {
  const cells = splitIntoCells("نé", "bytes");
  const bytes = intoBytes(cells);
  assert.deepEqual(bytes.map(({ text }) => text.trim().slice(0, 2)), ["D9", "86", "C3", "A9"]);
  assert.deepEqual(bytes.map(({ firstAtom, size }) => [firstAtom, size]), [[0, 1], [1, 1], [2, 1], [3, 1]]);
  assert.deepEqual(bytes.map(({ start, end }) => [start, end]), [[0, 1], [0, 1], [1, 2], [1, 2]]);
  assert.deepEqual(bytes.map(({ text }) => text.endsWith("\u200F")), [true, true, false, false]); // they run with the letters
});

// The SVG drawing of a picture, and the part of a frame that differs from the one before it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { changedBox } from "../../bpeviz/components/picture/changes.js";
import { svg } from "../../bpeviz/components/shared/svg.js";

test("the box holds all pixels that differ, and no other row or column", () => {
  const before = new Uint32Array(6 * 4);
  for (const places of [[[2, 1]], [[0, 0], [5, 3]], [[4, 2], [1, 3]]]) {
    const after = before.slice();
    for (const [x, y] of places) after[6 * y + x] = 7;
    const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
    const [x, y] = [Math.min(...xs), Math.min(...ys)];
    const box = { x, y, width: Math.max(...xs) - x + 1, height: Math.max(...ys) - y + 1 };
    assert.deepEqual(changedBox(before, after, 6), box);
  }
});

test("the first frame is whole, and an equal one is one pixel", () => {
  const pixels = new Uint32Array(6 * 4);
  assert.deepEqual(changedBox(null, pixels, 6), { x: 0, y: 0, width: 6, height: 4 });
  assert.deepEqual(changedBox(pixels, pixels.slice(), 6), { x: 0, y: 0, width: 1, height: 1 });
});

const COLORS = { text: "#111111", background: "#ffffff", fill3: "#00ff00" };
const word = (words, more) => ({ kind: "text", color: "text", x: 1, y: 2, width: 30, words, font: "400 15px monospace", ...more });
const picture = (...marks) => ({ width: 40, height: 20, title: "A title", marks });

test("marks have the colors of their roles, and neighbors of one look share a path", () => {
  const box = { kind: "rect", color: "fill3", x: 0, y: 0, width: 4, height: 5 };
  const line = { kind: "line", color: "#abcdef", x: 1, y: 1, width: 0, height: 9, thick: 2, dash: "2 3" };
  const drawing = svg(picture(box, { ...box, x: 9.004 }, line, { ...word("a"), opacity: 0.5 }), COLORS);
  assert.match(drawing, /<path fill="#ffffff" d="M0 0h40v20h-40z"\/>\n<path fill="#00ff00" d="M0 0h4v5h-4zM9 0h4v5h-4z"\/>/);
  assert.match(drawing, /<path fill="none" stroke="#abcdef" stroke-width="2" stroke-dasharray="2 3" d="M1 1l0 9"\/>/);
  assert.match(drawing, /fill="#111111" opacity="0.5">a<\/text>/);
  assert.doesNotMatch(svg(picture(), COLORS, false), /<path/);
});

test("a text keeps its width in another font, and its direction", () => {
  const drawing = svg(picture(word("שלום", { isRtl: true }), word("a")), COLORS);
  assert.match(drawing, /textLength="30" lengthAdjust="spacingAndGlyphs" direction="rtl">שלום</);
  assert.match(drawing, /fill="#111111">a</);
});

test("no text, title, font or link is markup", () => {
  const hostile = ["</text><script>evil()</script>", "]]>", "<!--", '"><a href="x">', "&lt;", "\0\x1b\ufffe\ud800", "<svg onload=evil()>", "'"];
  for (const words of hostile) {
    const marks = [word(words, { font: words, color: words, link: `https://host.example/${words}` }), word("a", { link: `javascript:${words}` })];
    const drawing = svg({ ...picture(...marks), title: words }, COLORS);
    assert.ok(drawing.isWellFormed());
    assert.doesNotMatch(drawing, /[\0\x1b\ufffe]|javascript/);
    const tags = drawing.match(/<[^>]*>/g);
    assert.equal(tags.length, 11); // two of each of svg, title, a; four of text; and a path
    for (const tag of tags) assert.match(tag, /^<(\/?(svg|title|text|a)|path)( [\w:-]+="[^"<>]*")*\/?>$/);
  }
});

// PNG files with a palette: read again, they have the same pixels.

import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, inflateSync } from "node:zlib";

import { indexedPng, roundEdges } from "../../bpeviz/components/picture/indexed_png.js";

/** Return the chunks of a file by their types. */
function chunksOf(file) {
  const view = new DataView(file.buffer, file.byteOffset);
  const chunks = {};
  for (let at = 8; at < file.length; ) {
    const size = view.getUint32(at);
    const content = file.subarray(at + 8, at + 8 + size);
    const type = String.fromCharCode(...file.subarray(at + 4, at + 8));
    if (crc32) assert.equal(view.getUint32(at + 8 + size), crc32(file.subarray(at + 4, at + 8 + size)), type);
    chunks[type] = content;
    at += 12 + size;
  }
  return chunks;
}

test("a file with a palette has the pixels of the canvas", async () => {
  const [width, height] = [7, 5];
  const data = new Uint8ClampedArray(4 * width * height).map((_, i) => (i % 4 === 3 ? 255 : (i * 37) % 256));
  const file = await indexedPng(data, width);
  assert.deepEqual([...file.subarray(0, 8)], [137, 80, 78, 71, 13, 10, 26, 10]);
  const { IHDR, PLTE, IDAT, IEND } = chunksOf(file);
  assert.deepEqual([...IHDR], [0, 0, 0, width, 0, 0, 0, height, 8, 3, 0, 0, 0]);
  assert.equal(IEND.length, 0);
  const lines = inflateSync(IDAT);
  for (let y = 0; y < height; y++) {
    assert.equal(lines[y * (width + 1)], 0);
    for (let x = 0; x < width; x++) {
      const color = lines[y * (width + 1) + 1 + x];
      assert.deepEqual([...PLTE.subarray(3 * color, 3 * color + 3)], [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3)]);
    }
  }
});

test("edges are rounded until there are at most 256 colors, and areas keep theirs", () => {
  const data = new Uint8ClampedArray(4 * 3000);
  for (let i = 0; i < 3000; i++) data.set(i % 3 ? [26, 26, 23, 255] : [i % 251, (i * 7) % 253, (i * 13) % 241, 255], 4 * i);
  assert.ok(roundEdges(data));
  assert.ok(new Set(new Uint32Array(data.buffer)).size <= 256);
  for (let i = 0; i < 3000; i++) if (i % 3) assert.deepEqual([...data.subarray(4 * i, 4 * i + 3)], [26, 26, 23]);
  const areas = new Uint8ClampedArray(4 * 2000);
  for (let i = 0; i < 2000; i++) areas.set([(i >> 1) % 256, i >> 9, 0, 255], 4 * i);
  assert.ok(!roundEdges(areas), "more areas than colors");
});

// PNG files with a palette: read again, they have the same pixels.

import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, inflateSync } from "node:zlib";

import { indexedPng, limitColors } from "../../bpeviz/components/picture/indexed_png.js";

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

test("rare colors are rounded until there are at most 256, and areas keep theirs", () => {
  const area = [26, 26, 23];
  const rare = (i) => [(i * 31) % 256, (i * 57) % 256, (i * 91) % 256];
  for (const count of [200, 9000]) {
    const data = new Uint8ClampedArray(8 * count);
    for (let i = 0; i < 2 * count; i++) data.set([...(i % 2 ? area : rare(i)), 255], 4 * i);
    limitColors(data);
    assert.ok(new Set(new Uint32Array(data.buffer)).size <= 256);
    const farthest = count > 200 ? 26 : 0; // half of the largest step
    for (let i = 0; i < 2 * count; i++) {
      const [color, wanted] = [[...data.subarray(4 * i, 4 * i + 3)], i % 2 ? area : rare(i)];
      if (i % 2) assert.deepEqual(color, wanted);
      assert.ok(color.every((value, channel) => Math.abs(value - wanted[channel]) <= farthest));
    }
  }
});

// PNG files with a palette: half as large as those of a browser, which writes the color of each pixel.

const MOST_COLORS = 256;
const LEVELS = [64, 32, 16, 8, 6]; // of a channel of rare colors; the last leave room for some areas
const REMAINDERS = Int32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

/** Return a chunk of a file, with its checksum. */
function chunk(type, data) {
  const bytes = new Uint8Array(12 + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(data, 8);
  let remainder = -1;
  for (const byte of bytes.subarray(4, 8 + data.length)) remainder = REMAINDERS[(remainder ^ byte) & 255] ^ (remainder >>> 8);
  view.setInt32(8 + data.length, ~remainder);
  return bytes;
}

/**
 * Round rare colors, as at edges of letters and in emoji, until there are few.
 * @param {Uint8ClampedArray} data red, green, blue and opacity of each pixel
 */
export function limitColors(data) {
  const pixels = new Uint32Array(data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const colors = [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one));
  let of = new Map(colors.map((color) => [color, color]));
  for (const levels of LEVELS) {
    if (new Set(of.values()).size <= MOST_COLORS) break;
    const step = 255 / (levels - 1);
    const rounded = (color) => [0, 8, 16].reduce((sum, at) => sum | (Math.round(Math.round(((color >>> at) & 255) / step) * step) << at), color & 0xff000000) >>> 0;
    of = new Map(colors.map((color, i) => [color, i < MOST_COLORS - LEVELS.at(-1) ** 3 ? color : rounded(color)]));
  }
  pixels.forEach((pixel, i) => (pixels[i] = of.get(pixel)));
}

/**
 * Return the bytes of a file of opaque pixels that have at most 256 colors.
 * @param {Uint8ClampedArray} data red, green, blue and opacity of each pixel
 * @param {number} width
 */
export async function indexedPng(data, width) {
  const pixels = new Uint32Array(data.buffer);
  const colors = [...new Set(pixels)];
  const indexOf = new Map(colors.map((color, i) => [color, i]));
  const rows = pixels.length / width;
  const lines = new Uint8Array(rows * (width + 1)); // each begins with 0: it is not filtered
  pixels.forEach((pixel, i) => (lines[i + 1 + Math.floor(i / width)] = indexOf.get(pixel)));
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, rows);
  header.setUint16(8, 0x0803); // eight bits, with a palette
  const packed = await new Response(new Blob([lines]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer();
  const palette = colors.flatMap((color) => [...new Uint8Array(Uint32Array.of(color).buffer, 0, 3)]);
  const chunks = [["IHDR", new Uint8Array(header.buffer)], ["PLTE", Uint8Array.from(palette)], ["IDAT", new Uint8Array(packed)], ["IEND", new Uint8Array(0)]];
  return new Uint8Array(await new Blob([Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10), ...chunks.map(([type, content]) => chunk(type, content))]).arrayBuffer());
}

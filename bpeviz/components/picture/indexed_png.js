// PNG files with a palette: half as large as those of a browser, which writes the color of each pixel.

const MOST_COLORS = 256;
const EDGE_LEVELS = { most: 64, fewest: 4 }; // of a channel, at edges of letters
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
 * Round the colors of pixels that differ from both neighbors in their row, as at edges of letters, until
 * there are few colors; return whether there are.
 * @param {Uint8ClampedArray} data red, green, blue and opacity of each pixel
 */
export function roundEdges(data) {
  const pixels = new Uint32Array(data.buffer);
  const isEdge = Uint8Array.from(pixels, (pixel, i) => Number(pixel !== pixels[i - 1] && pixel !== pixels[i + 1]));
  for (let levels = EDGE_LEVELS.most; new Set(pixels).size > MOST_COLORS; levels /= 2) {
    if (levels < EDGE_LEVELS.fewest) return false;
    const step = 255 / (levels - 1);
    data.forEach((value, i) => isEdge[i >> 2] && (data[i] = Math.round(Math.round(value / step) * step)));
  }
  return true;
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

// Which part of a picture differs from another one.

/**
 * Return the smallest box with all pixels that differ; of two equal pictures, one pixel.
 * @param {Uint32Array | null} before the pixels row by row, or null if all differ
 * @param {Uint32Array} after
 * @param {number} width of a row
 */
export function changedBox(before, after, width) {
  const height = after.length / width;
  if (!before) return { x: 0, y: 0, width, height };
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) {
      if (before[i] === after[i]) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      bottom = y;
    }
  if (bottom < 0) return { x: 0, y: 0, width: 1, height: 1 };
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

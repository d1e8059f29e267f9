/**
 * Return the first index below `count` for which `test` holds, or `count`. Once `test` holds, it
 * holds for all later indices.
 * @param {number} count
 * @param {(index: number) => boolean} test
 */
export function firstIndex(count, test) {
  let low = 0;
  for (let high = count; low < high; ) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

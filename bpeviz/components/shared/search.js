/**
 * Return the first index below `count` for which `test` is true, or `count`. Once `test` is true, it
 * is true for all later indices.
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

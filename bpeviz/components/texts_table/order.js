// The order of the rows of a table: by name, by the values of a column, or as given.

/** @typedef {[text: string, shade: number, mark: string, value: number | null]} Cell */
/** @typedef {{name: string, cells: Cell[]}} Row */
/** @typedef {{column: string, isAscending: boolean} | null} Sorted the key of a column, or its title */

const byName = new Intl.Collator("en", { numeric: true }).compare;

/**
 * Return the rows in order. Rows without a value are last, and equal ones stay as given.
 * @param {Row[]} rows
 * @param {number} index of the column: 0 for names, -1 for the order as given
 * @param {boolean} isAscending
 */
export function ordered(rows, index, isAscending) {
  if (index < 0) return rows;
  const sign = isAscending ? 1 : -1;
  if (!index) return rows.toSorted((a, b) => sign * byName(a.name, b.name));
  const value = (/** @type {Row} */ row) => row.cells[index - 1][3];
  return rows.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * (left - right);
  });
}

/**
 * Return the order after a press on a head. Numbers begin with the largest, names with the first,
 * and the third press restores the order as given.
 * @param {Sorted} sorted
 * @param {string} column
 * @param {boolean} hasNumbers
 * @returns {Sorted}
 */
export function nextOrder(sorted, column, hasNumbers) {
  if (sorted?.column !== column) return { column, isAscending: !hasNumbers };
  return sorted.isAscending === hasNumbers ? null : { column, isAscending: hasNumbers };
}

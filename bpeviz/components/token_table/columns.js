// The columns of a table of tokens: those of steps, or of any rows; their order, and which rows a search finds.

import { idOf } from "../shared/cells.js";
import { WIDE_CHARACTER, formatCount } from "../shared/format.js";

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {boolean} isToken whether its values are ids or lists of ids, drawn as tokens
 * @property {(row: number) => any} at
 */

const ADDS = 2; // letters beside a title: the sign of its order
const MOST_LETTERS = 26; // of a column; longer texts are cut off
const MEASURED = 2000; // rows
const ids = new Set(["id", "base id"]); // not quantities

/**
 * Return the columns of a timeline's steps, in their order.
 * @param {import("../player/tokenized_text.js").TextPayload["steps"]} steps
 * @param {string} unit
 * @returns {Column[]}
 */
export function columnsOf(steps, unit) {
  const isPruning = steps.kind === "pruning";
  const columns = [
    { name: unit, values: { length: steps.id.length }, at: (i) => i + 1 },
    { name: "left", values: steps.left, isToken: true },
    { name: "right", values: steps.right, isToken: true },
    { name: "token", values: steps.id, isToken: true },
    { name: "note", values: { length: Object.keys(steps.notes).length }, at: (i) => steps.notes[i] ?? "" },
    { name: isPruning ? "cost" : "score", values: steps.score },
    { name: isPruning ? "uses" : "count", values: steps.count },
    { name: "applied", values: steps.applied.some((count, i) => count !== steps.count[i]) ? steps.applied : [] },
    { name: "ties", values: steps.ties },
    { name: "round", values: steps.round },
    { name: "id", values: steps.id },
  ];
  return columns
    .filter(({ values }) => values.length)
    .map(({ name, values, isToken = false, at = (i) => values[i] }) => ({ name, isToken, at }));
}

/**
 * Return the value of a cell as it is written, and for a token its label.
 * @param {Column} column
 * @param {number} row
 * @param {Object<string, [string, number]>} styles label and color index of each id
 */
export function wordsOf({ name, isToken, at }, row, styles) {
  const value = at(row);
  if (value === null || value === undefined) return "";
  if (isToken) return [value].flat().map((id) => styles[id]?.[0] ?? "").join(" ");
  if (typeof value !== "number") return String(value);
  if (ids.has(name)) return String(idOf(value) ?? "");
  return Number.isInteger(value) ? formatCount(value) : value.toPrecision(4);
}

/**
 * Return the rows of which a text contains a query, with · for a space, or whose id it is.
 * @param {Column[]} columns
 * @param {number} count of all rows
 * @param {Object<string, [string, number]>} styles
 * @param {string} query
 */
export function rowsWith(columns, count, styles, query) {
  const rows = [...Array(count).keys()];
  if (!query) return rows;
  const wanted = query.replaceAll(" ", "·");
  const texts = columns.find(({ name }) => name === "token") ?? columns.find(({ isToken }) => isToken) ?? columns[0];
  const id = columns.find(({ name }) => name === "id");
  return rows.filter((row) => {
    const words = wordsOf(texts, row, styles);
    return words.includes(wanted) || words.includes(query) || (id && wordsOf(id, row, styles) === query);
  });
}

/**
 * Return rows in the order of a column: numbers by size, tokens and texts by their characters. Equal ones stay as given.
 * @param {number[]} rows
 * @param {Column | undefined} column
 * @param {boolean} isAscending
 * @param {Object<string, [string, number]>} styles
 */
export function inOrder(rows, column, isAscending, styles) {
  if (!column) return rows;
  const keys = rows.map(isNumber(column) ? column.at : (row) => wordsOf(column, row, styles));
  const sign = isAscending ? 1 : -1;
  const places = rows.map((_, place) => place).sort((one, other) => (keys[one] < keys[other] ? -sign : keys[one] > keys[other] ? sign : 0));
  return places.map((place) => rows[place]);
}

/** @param {Column} column */
export const isNumber = ({ isToken, at }) => !isToken && typeof at(0) === "number";

/**
 * Return the width of a column in letters, from some of its rows.
 * @param {Column} column
 * @param {number} count of rows
 * @param {Object<string, [string, number]>} styles
 */
export function lettersOf(column, count, styles) {
  let most = column.name.length + ADDS;
  const every = Math.ceil(count / MEASURED);
  for (let row = count - 1; row >= 0 && most < MOST_LETTERS; row -= every) {
    const words = wordsOf(column, row, styles);
    const tokens = column.isToken ? [column.at(row)].flat().length : 0;
    const wide = tokens ? words.split("⟨").length - 1 : 0; // their signs come from another font
    const letters = tokens ? 1.25 * words.length + 1.5 * tokens + wide : words.length + 1;
    most = Math.max(most, WIDE_CHARACTER.test(words) ? 2 * letters : letters);
  }
  return Math.min(most, MOST_LETTERS);
}

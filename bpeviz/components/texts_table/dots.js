// The dot plot of a figure of texts under tokenizers: its layout, which never touches the document.

import { ordered } from "./order.js";

/** @typedef {{leader: number, axis: string, unit: string, note: string}} Plot the index of the tokenizer of the verdict, the axis, and a legend */

const [ROW, LABEL, MARGIN, GAP] = [19, 18, 12, 4]; // pixels
const NUMBER = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/**
 * Return ticks of a logarithmic axis: the sparsest series with at least three.
 * @param {number} low
 * @param {number} high
 */
export function ticks(low, high) {
  const powers = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) powers.push(power);
  const series = [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]].map((digits) =>
    powers.flatMap((power) => digits.map((digit) => digit * power)).filter((tick) => low <= tick && tick <= high),
  );
  return series.find((places) => places.length > 2) ?? [...new Set([low, ...series[2], high])];
}

function shortened(name, width, measure) {
  let most = name.length;
  const words = () => (most < name.length ? `${name.slice(0, most)}…` : name);
  while (most > 1 && measure(words()) > width + 1) most -= 1;
  return words();
}

/**
 * Return the places of everything in the plot.
 * @param {import("./order.js").Row[]} rows
 * @param {string[]} names of the tokenizers
 * @param {Plot} plot
 * @param {number} width
 * @param {(words: string) => number} measure returns the width of words
 */
export function layout(rows, names, { leader, unit }, width, measure) {
  const sorted = ordered(rows, leader + 1, false);
  const known = rows.flatMap(({ cells }) => cells.flatMap(([, , , value, interval]) => (value ? [value, ...(interval ?? [])] : [])));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const left = Math.min(Math.max(...rows.map(({ name }) => measure(name))), 0.4 * width) + MARGIN;
  const scale = (width - left - 2 * MARGIN) / (Math.log(high / low) || 1);
  const x = (/** @type {number} */ value) => left + MARGIN + scale * Math.log(value / low);
  const first = sorted[0].cells.flatMap(([text, , , value], i) => (value ? [{ i, text: text.split(" (")[0], x: x(value) }] : []));
  // Each name has a line of its own above the first row, and a stem down to its mark. Names on the right of their
  // marks stand from left to right, the others from right to left, so that no stem crosses a name on its side.
  const labels = first
    .map(({ i, text, x: at }) => {
      const words = `${names[i]} ${text}${unit}`;
      return { i, words, x: at, isLeft: at + 10 + measure(words) > width };
    })
    .sort((a, b) => Number(a.isLeft) - Number(b.isLeft) || (a.isLeft ? b.x - a.x : a.x - b.x))
    .map((label, line) => ({ ...label, y: LABEL * (line + 0.7) }));
  const top = LABEL * (labels.length + 1) + ROW / 2; // the ticks are above the rows and below
  const drawn = sorted.map(({ name, cells }, row) => ({
    name,
    short: shortened(name, left - MARGIN, measure),
    y: top + ROW * row,
    marks: cells.flatMap(([text, , , value, interval], i) => (value ? [{ i, x: x(value), text: `${text}${unit}`, interval: interval?.map(x) }] : [])),
  }));
  const bottom = top + ROW * (drawn.length - 0.5);
  const shown = [];
  const values = ticks(low, high);
  for (const value of new Set([values[0], values.at(-1), ...values])) {
    const tick = { x: x(value), words: `${NUMBER.format(value)}${unit}` };
    const touches = (other) => Math.abs(other.x - tick.x) < (measure(other.words) + measure(tick.words)) / 2 + GAP;
    if (!shown.some(touches)) shown.push(tick);
  }
  return { left, top, bottom, height: bottom + 2 * LABEL, labels, rows: drawn, ticks: shown };
}

// The size of a text: the largest at which the whole text fits.

import { WIDE_CHARACTER } from "../shared/format.js";
import { firstIndex } from "../shared/search.js";

export const SMALLEST = 18; // pixels
export const LARGEST = 72;
export const LARGEST_OF_LINES = 60; // of a text in lines
export const SMALLEST_BLOCKED = 20; // of a text with its merges on it
const SCROLLING = 22; // of a text that does not fit; less where the stage is narrow …
const SCROLLING_ROWS = 26; // … and of one of rows, on a wide screen
const LISTED = 14; // of a list of rows on a phone: two columns instead of one
const BETWEEN = 0.8; // space between lines of several rows, relative to the size
const BRIEF = { cells: 3000, lines: 200 }; // a text of more never fits, and measuring it takes time
const WHOLE_LINE = 80; // letters' widths of a line that is not broken
const NAME_LETTER = 7; // pixels, of a name
export const NARROW = 540; // pixels
const NARROW_NAMES = 92;
const COUNTS = 38; // pixels of the number of tokens in a line of a column without names
const OVERVIEW = 0.04; // width of the overview beside rows, relative to the stage, at most
const LETTER = 0.6; // width of a letter of the code font, relative to its size
const EMOJI = /\p{RI}{2}|\p{Extended_Pictographic}\p{EMod}?(\u200D\p{Extended_Pictographic}\p{EMod}?)*/gu;
const WIDE = new RegExp(WIDE_CHARACTER, "gu");
const WIDER = 0.7; // letters' widths of a wide character beyond one
const LONGEST_WORD = 24; // letters of a word that is not broken; longer runs are not words

/**
 * Return the largest size of a text at which no word is broken.
 * @param {string | string[]} text or the words
 * @param {number} width pixels of a line
 */
export function unbrokenSize(text, width) {
  const words = typeof text === "string" ? (text.match(/[^\s]+/g) ?? []).filter(({ length }) => length <= LONGEST_WORD) : text;
  const lengths = words.map((word) => word.replace(EMOJI, "xx").length + WIDER * [...word.matchAll(WIDE)].length);
  return width / (LETTER * (Math.max(1, ...lengths) + 1));
}

const FEWEST_WORDS = 4;
const SMALLEST_COLUMNS = 14; // pixels, of a text in columns that does not fit otherwise
const FEWEST_LINES = 8; // of a text that stands in columns if it does not fit otherwise

/**
 * Return the largest size at which no line has fewer than four words, unless its paragraph has fewer.
 * @param {string} text
 * @param {number} width pixels of a line
 * @param {number} largest
 */
export function wordySize(text, width, largest) {
  const paragraphs = text.trimEnd().split("\n").map((line) => line.match(/\s*\S+/g) ?? []).filter(({ length }) => length >= FEWEST_WORDS);
  const lengths = paragraphs.map((words) => words.map((word) => (word.length > LONGEST_WORD ? Infinity : word.length)));
  const holds = (letters) =>
    lengths.every((words) => {
      let [count, room] = [0, letters];
      for (const length of words) {
        if (length === Infinity) return true; // no word
        if (length > room) {
          if (count < FEWEST_WORDS) return false;
          [count, room] = [0, letters];
        }
        count++;
        room -= length;
      }
      return lengths.length > 1 || count >= FEWEST_WORDS; // the last line of a sentence, too
    });
  for (let size = Math.floor(largest); size > SMALLEST; size -= 0.5) if (holds(Math.floor(width / (LETTER * size)))) return size;
  return SMALLEST;
}

/**
 * Return the largest size, in half pixels, that fits, or null if `low` does not.
 * @param {number} low
 * @param {number} high
 * @param {(size: number) => boolean} fits
 * @param {number | null} [likely] tried first; each try lays out the whole text
 */
export function largestFitting(low, high, fits, likely = null) {
  const larger = 2 * Math.max(0, Math.floor(high) - low);
  const likelyLarger = 2 * ((likely ?? -Infinity) - low);
  if (Number.isInteger(likelyLarger) && likelyLarger >= 0 && likelyLarger <= larger)
    if ((likelyLarger === larger || !fits(likely + 0.5)) && fits(likely)) return likely;
  if (!fits(low)) return null;
  return low + firstIndex(larger, (i) => !fits(low + (i + 1) / 2)) / 2;
}

/**
 * Return the size of a text that scrolls.
 * @param {number} width pixels of a line
 */
export const scrollingSize = (width) => Math.min(SCROLLING, Math.max(SMALLEST, Math.floor(width / 36)));

/**
 * Return the smallest and the largest size of a text of rows, of which a screen has room for fewer lines, and
 * the size of one that scrolls.
 * @param {number} rows
 */
export const sizesOfRows = (rows) => ({
  smallest: rows > 6 ? 14 : 16,
  largest: 48,
  scrolling: (width) => Math.min(SCROLLING_ROWS, Math.max(16, Math.floor(width / 54))),
});

/**
 * Return the largest size at which no line of code is broken: one of at most 80 characters.
 * @param {string} text
 * @param {number} width pixels of a line
 */
export function wholeLinesSize(text, width) {
  const letters = text.replace(/\p{M}/gu, "").replace(EMOJI, "xx"); // marks lie over letters
  const lengths = letters.split("\n").map(({ length }) => length).filter((length) => length <= WHOLE_LINE);
  return width / (LETTER * (Math.max(0, ...lengths) + 2));
}

/**
 * Return the pixels at the left of the lines for the names of rows.
 * @param {{name?: string}[]} rows
 * @param {number} width pixels of all
 */
export function roomOfNames(rows, width) {
  const longest = Math.max(...rows.map(({ name }) => name?.length ?? 0));
  if (!longest) return 0;
  return width < NARROW ? NARROW_NAMES : Math.min(190, Math.max(96, NAME_LETTER * longest + 44));
}

/**
 * Set the size of a score to the largest at which all of it fits into its element, which has its largest
 * height. Return whether it does; else it scrolls. A list stands in columns, and so do short lines of
 * several rows where this makes letters larger.
 * @param {import("../shared/score.js").Score} score
 * @param {(size: number) => void} set
 * @param {object} sizes in pixels
 * @param {number} sizes.smallest
 * @param {number} sizes.largest
 * @param {(width: number) => number} [sizes.scrolling] from the width of a line
 * @param {object} [how]
 * @param {number} [how.scale] of names
 * @param {number} [how.below] pixels for labels
 * @param {boolean} [how.keepsLines] whether lines of code are not broken where this is possible
 * @param {boolean} [how.fills] whether a text that does not fit is as large as the lines that fit at the smallest size
 */
export function fitScore(score, set, sizes, { scale = 1, ...how } = {}) {
  const { host, rows } = score;
  const padding = getComputedStyle(host);
  const names = Math.round(scale * roomOfNames(rows, host.clientWidth / scale));
  const measureHeight = () => (score.pageHeight = Math.floor(host.clientHeight - 2 * parseFloat(padding.paddingTop)));
  const section = host.closest(".player") ?? host;
  section.classList.remove("names-above");
  measureHeight();
  const width = host.clientWidth - 2 * parseFloat(padding.paddingLeft) - names;
  if (width <= 0) return true; // not on the page
  const ofList = score.isList && names && width < NARROW ? { ...sizes, scrolling: () => LISTED } : sizes;
  const counts = Math.round(scale * (names && COUNTS));
  const fitIn = (isInColumns) => fitLines(score, set, ofList, { ...how, names, counts, width, isInColumns });
  let fit = fitIn(score.isList);
  if (!names && !fit.fits && !score.isList && score.text.split("\n").length > FEWEST_LINES) {
    const all = ofList.smallest;
    ofList.smallest = Math.min(all, SMALLEST_COLUMNS);
    const inColumns = fitIn(true);
    ofList.smallest = all;
    if (inColumns.fits) fit = inColumns;
  }
  if (names && !score.isList && score.hasFreeLines) {
    const inColumns = fitIn(true);
    if (inColumns.fits && (!fit.fits || inColumns.size > fit.size)) fit = inColumns;
  }
  if (names && !fit.fits && !score.isList && width >= NARROW && score.text.trim().split("\n").length >= FEWEST_LINES) {
    // Code in columns has its names once above; pages that do not fit are turned.
    section.classList.add("names-above");
    measureHeight();
    const ofCode = { ...sizes, smallest: SMALLEST_COLUMNS, scrolling: () => SMALLEST_COLUMNS };
    const inColumns = fitLines(score, set, ofCode, { ...how, fills: false, names: counts, counts, width: width + names - counts, isInColumns: true });
    inColumns.apply();
    score.bars += inColumns.fits ? 0 : OVERVIEW * width;
    const { count } = score.measure().columns;
    score.bars = 0;
    if (count > 1) return inColumns.fits;
    section.classList.remove("names-above");
    measureHeight();
  }
  fit.apply();
  return fit.fits;
}

function fitLines(score, set, { smallest, largest, scrolling = () => smallest }, { names, counts, width, isInColumns, below = 0, keepsLines = true, fills = false }) {
  const { text, cells } = score;
  const whole = keepsLines ? wholeLinesSize(text, width) : largest;
  const high = Math.min(largest, Math.max(smallest, unbrokenSize(text, width)), whole < smallest ? largest : whole);
  const apply = (size) => {
    set(size);
    Object.assign(score, { isInColumns, room: { names, counts, below, between: names ? Math.round(BETWEEN * size) : 0 } });
  };
  const fittingCells = (size) => {
    apply(size);
    const measured = score.measure(); // anew each time until the fonts are loaded
    return measured.lines[score.fitting(measured)]?.first ?? cells.length;
  };
  const largestWith = (shown) => (score.fitted[isInColumns] = largestFitting(smallest, high, (size) => fittingCells(size) >= shown, score.fitted[isInColumns]));
  const isBrief = cells.length <= BRIEF.cells && !(cells.at(-1)?.line >= BRIEF.lines);
  const fitting = isBrief ? largestWith(cells.length) : null;
  const size = fitting ?? Math.max(fills && isBrief ? largestWith(fittingCells(smallest)) : 0, Math.min(high, scrolling(width)));
  return { size, fits: fitting !== null, apply: () => apply(size) };
}

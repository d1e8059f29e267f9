// The size of the text in the stage: the largest at which the whole text fits.

import { firstIndex } from "../shared/search.js";

export const SMALLEST = 18; // pixels
export const SMALLEST_BESIDE = 13; // of texts side by side, which have less room
export const LARGEST = 72;
const SCROLLING = 22; // of a text that does not fit; 18 where the stage is narrow
export const BRIEF = { cells: 3000, lines: 200 }; // a text of more never fits, and measuring it takes time
export const LETTER = 0.6; // width of a letter of the code font, relative to its size
const LONGEST_WORD = 24; // letters of a word that is not broken; longer runs are not words

/**
 * Return the largest size of a text at which no word is broken.
 * @param {string} text
 * @param {number} width pixels of a line
 */
export function unbrokenSize(text, width) {
  const lengths = (text.match(/[^\s]+/g) ?? []).map((word) => word.length).filter((length) => length <= LONGEST_WORD);
  return width / (LETTER * (Math.max(1, ...lengths) + 1));
}

/**
 * Return the largest size, in half pixels, that fits, or null if `low` does not.
 * @param {number} low
 * @param {number} high
 * @param {(size: number) => boolean} fits
 */
export function largestFitting(low, high, fits) {
  if (!fits(low)) return null;
  const larger = 2 * Math.max(0, Math.floor(high) - low);
  return low + firstIndex(larger, (i) => !fits(low + (i + 1) / 2)) / 2;
}

/**
 * Return the size of a text that scrolls.
 * @param {number} width pixels of a line
 */
export const scrollingSize = (width) => Math.min(SCROLLING, Math.max(SMALLEST, Math.floor(width / 36)));

// The arithmetic of answers, without access to the document.

/**
 * Return the place of the pair next to a token: on the given side, else on the other, else -1.
 * @param {number[]} pairs the left token of each pair, increasing
 * @param {number} token
 * @param {boolean} after
 */
export function nearestPair(pairs, token, after) {
  const [near, far] = after ? [token, token - 1] : [token - 1, token];
  const place = pairs.indexOf(near);
  return place >= 0 ? place : pairs.indexOf(far);
}

/** Return the characters of a text. */
export const atomsOf = (text) => Array.from(text);

const SIGNS = { " ": "·", "\t": "→", "\n": "↵", "\r": "␍" };

/** Return a character, or its stand-in if it is invisible. */
export const standIn = (character) =>
  SIGNS[character] ??
  (/[\p{C}\p{Z}]/u.test(character)
    ? `⟨${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`
    : character);

/**
 * Return sorted numbers with one added, or removed if it was there.
 * @param {number[]} numbers
 * @param {number} number
 */
export const toggled = (numbers, number) =>
  numbers.includes(number) ? numbers.filter((one) => one !== number) : [...numbers, number].sort((a, b) => a - b);

/**
 * Return whether a place is a boundary in the answer, in the result, or in both.
 * @param {number[] | null} given null if there was no answer
 * @param {number[]} right
 * @param {number} place
 */
export function boundaryKind(given, right, place) {
  if (right.includes(place)) return given && !given.includes(place) ? "missing" : "right";
  return given?.includes(place) ? "extra" : "inside";
}

/** Return the nearest whole number in a range, or null if the text is not a number. */
export function clampNumber(typed, low, high) {
  const number = Math.round(Number(typed));
  return Number.isFinite(number) ? Math.max(low, Math.min(high, number)) : null;
}

/** Return where a number is between two others, in percent. */
export const placeOf = (number, low, high) => (high > low ? (100 * (number - low)) / (high - low) : 50);

/** Return some five round numbers from `low` to `high`, to write on a line. */
export function ticks(low, high) {
  const rough = Math.max(1, (high - low) / 5);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough);
  const first = Math.ceil(low / step) * step;
  return Array.from({ length: Math.floor((high - first) / step) + 1 }, (_, i) => first + i * step);
}

/**
 * Return a list in an order that follows from a seed. As many seeds in a row as the list has entries
 * rotate one order, so each entry is at each place equally often.
 * @template T
 * @param {T[]} list
 * @param {number} seed
 * @param {string} name another name gives another order
 * @returns {T[]}
 */
export function shuffled(list, seed, name) {
  const turn = seed % list.length;
  let state = 2166136261;
  for (const sign of `${(seed - turn) / list.length} ${name}`) state = Math.imul(state ^ sign.codePointAt(0), 16777619);
  const random = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const mixed = [...list];
  for (let i = mixed.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1));
    [mixed[i], mixed[other]] = [mixed[other], mixed[i]];
  }
  return [...mixed.slice(turn), ...mixed.slice(0, turn)];
}

/** Map a value linearly from one range to another. */
export const scaled = (value, from, to, start, end) =>
  to === from ? start : start + ((value - from) / (to - from)) * (end - start);

/** Undo `scaled`. */
export const unscaled = (place, from, to, start, end) => from + ((place - start) / (end - start)) * (to - from);

/** Return the index of the handle nearest to a position. */
export const handleNear = (positions, at) =>
  positions.reduce((best, x, i) => (Math.abs(x - at) < Math.abs(positions[best] - at) ? i : best), 0);

/** Return the index of the box whose middle is nearest to a point; the line of text counts first. */
export function nearestBox(boxes, x, y) {
  const away = ({ left, right, top, bottom }) =>
    1e4 * Math.max(0, top - y, y - bottom) + Math.abs((left + right) / 2 - x);
  return boxes.reduce((best, box, i) => (away(box) < away(boxes[best]) ? i : best), 0);
}

/** Return the path of an SVG through points. */
export const drawnPath = (points) =>
  points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/** Return a list with one entry moved to another place. */
export function moved(list, from, to) {
  const rest = list.filter((_, i) => i !== from);
  return [...rest.slice(0, to), list[from], ...rest.slice(to)];
}

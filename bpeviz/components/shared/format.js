// Numbers and nouns in on-screen text.

const COUNT = new Intl.NumberFormat("en"); // made once: for each line of a list it would take a second

/** @param {number} number */
export const formatCount = (number) => COUNT.format(number);

/** @param {number} number with three digits, but none below a millionth: the cost of a piece may be 1e-8 */
export const formatFigure = (number) =>
  Number.isInteger(number) ? formatCount(number) : number.toLocaleString("en", FIGURE);

const FIGURE = /** @type {any} */ ({ maximumSignificantDigits: 3, maximumFractionDigits: 6, roundingPriority: "lessPrecision" });

/**
 * @param {number} number
 * @param {string} noun
 */
export const plural = (number, noun) => `${noun}${number === 1 ? "" : "s"}`;

/**
 * Return "1 token", "1,200 tokens".
 * @param {number} number
 * @param {string} noun
 */
export const counted = (number, noun) => `${formatCount(number)} ${plural(number, noun)}`;

/**
 * Return "1st", "2nd", "11th".
 * @param {number} number
 */
export const ordinal = (number) =>
  formatCount(number) + { one: "st", two: "nd", few: "rd", other: "th" }[new Intl.PluralRules("en", { type: "ordinal" }).select(number)];

/**
 * @param {number} number
 * @param {number} digits
 */
export const toHex = (number, digits) => number.toString(16).toUpperCase().padStart(digits, "0");

/** @param {Iterable<number>} bytes each in two hex digits */
export const hexOf = (bytes) => Array.from(bytes, (byte) => toHex(byte, 2));

// Characters drawn about twice as wide as a Latin letter.
export const WIDE_CHARACTER =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u;

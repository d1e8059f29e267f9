// Texts and tokens in words, for screen readers, which skip spaces and most punctuation.

import { counted, hexOf, toHex } from "./format.js";

const NAMES = {
  " ": "space", "\n": "line break", "\t": "tab", "\r": "carriage return", "\u00a0": "no-break space",
  ".": "period", ",": "comma", ";": "semicolon", ":": "colon", "!": "exclamation mark", "?": "question mark",
  "'": "apostrophe", "’": "curly apostrophe", '"': "quotation mark", "“": "left quotation mark",
  "”": "right quotation mark", "(": "left parenthesis", ")": "right parenthesis", "[": "left bracket",
  "]": "right bracket", "{": "left brace", "}": "right brace", "-": "hyphen", "–": "en dash", "—": "em dash",
  "_": "underscore", "/": "slash", "\\": "backslash", "|": "vertical bar", "@": "at sign", "#": "number sign",
  "$": "dollar sign", "%": "percent", "^": "caret", "&": "ampersand", "*": "asterisk", "+": "plus", "=": "equals",
  "<": "less than", ">": "greater than", "~": "tilde", "`": "backtick", "·": "middle dot", "…": "ellipsis",
};
// Signs with names, and invisible ones.
const SIGNS = `${Object.keys(NAMES).join("").replace(/[\]\\^-]/g, "\\$&")}\\p{C}\\p{Z}`;
const RUNS = new RegExp(`([${SIGNS}])\\1*|[^${SIGNS}]+`, "gu");
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Return a text in words: "space the", "2 line breaks", "U+200D".
 * @param {string} text
 */
export const spoken = (text) =>
  Array.from(text.matchAll(RUNS), ([run, sign]) => {
    if (!sign) return run;
    const name = NAMES[sign] ?? `U+${toHex(sign.codePointAt(0), 4)}`;
    const repeated = run.length / sign.length;
    return repeated === 1 ? name : NAMES[sign] ? counted(repeated, name) : `${repeated} × ${name}`;
  }).join(" ");

/**
 * Return bytes in words: as text, or in hex where they are not whole characters.
 * @param {Uint8Array} bytes
 */
export function spokenBytes(bytes) {
  try {
    return spoken(strict.decode(bytes));
  } catch {
    return `${bytes.length === 1 ? "byte" : "bytes"} ${hexOf(bytes).join(" ")}`;
  }
}

/**
 * Return the label of a token in words, for screen readers: a dot in it is a space.
 * @param {string} label
 */
export const spokenLabel = (label) => spoken(label.replaceAll("·", " "));

// Texts and tokens in words, for screen readers, which skip spaces and most punctuation.

import { counted, toHex } from "./format.js";

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
const INVISIBLE_SIGN = /[\p{C}\p{Z}]/u;
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Return a text in words: "space the", "2 line breaks", "U+200D".
 * @param {string} text
 */
export function spoken(text) {
  const words = [];
  let run = "";
  let repeated = 0;
  const endRun = () => {
    if (!repeated) return;
    const name = NAMES[run] ?? `U+${toHex(run.codePointAt(0), 4)}`;
    words.push(repeated === 1 ? name : NAMES[run] ? counted(repeated, name) : `${repeated} × ${name}`);
    repeated = 0;
  };
  let letters = "";
  const endLetters = () => {
    if (letters) words.push(letters);
    letters = "";
  };
  for (const sign of text) {
    if (NAMES[sign] === undefined && !INVISIBLE_SIGN.test(sign)) {
      endRun();
      letters += sign;
      continue;
    }
    endLetters();
    if (sign !== run) endRun();
    run = sign;
    repeated++;
  }
  endRun();
  endLetters();
  return words.join(" ");
}

/**
 * Return bytes in words: as text, or in hex where they are not whole characters.
 * @param {Uint8Array} bytes
 */
export function spokenBytes(bytes) {
  try {
    return spoken(strict.decode(bytes));
  } catch {
    return `${bytes.length === 1 ? "byte" : "bytes"} ${Array.from(bytes, (byte) => toHex(byte, 2)).join(" ")}`;
  }
}

/**
 * Return the label of a token in words, for screen readers: a dot in it is a space.
 * @param {string} label
 */
export const spokenLabel = (label) => spoken(label.replaceAll("·", " "));

// What the rows of a comparison show, in a sentence, without access to the document.

import { counted, formatCount } from "../shared/format.js";
import { tokensIn } from "./agreement.js";

const LONGEST = 40; // characters of an example
const FEW_SAVED = 0.25; // of the saved tokens, from which on it is said that they are white space

const READABLE = /^(?!.*\uFFFD)( +|.*[\p{L}\p{N}\p{P}\p{S}].*)$/su; // no part of a character, and visible

const decode = (bytes, [start, end]) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start, end));

/** Return words with commas, and “and” before the last one. */
const joined = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

/** Return a piece of text as the subject of a sentence, with its verb. */
function subject(text) {
  const piece = text.trim();
  if (piece) return [piece.length > LONGEST ? `${piece.slice(0, LONGEST)}…` : piece, "is"];
  return /^ +$/.test(text) ? [counted(text.length, "space"), text.length > 1 ? "are" : "is"] : ["White space", "is"];
}

/**
 * Return where rows part, by the example of the first place with a word and unequal numbers: what is in it, and the rest.
 * @param {import("./score.js").Row[]} rows those that are compared, at least two
 * @param {string[]} names
 * @param {import("./agreement.js").Agreement} agreed
 * @param {Uint8Array} bytes of the text
 * @returns {[string, string]}
 */
export function example(rows, names, { places, alike, breaksDiffer }, bytes) {
  if (!places.length) return ["", breaksDiffer ? "They differ beside line breaks only." : "Every token is the same in all rows."];
  const readable = places.filter((of) => READABLE.test(decode(bytes, of)));
  const withWords = readable.filter((of) => /[\p{L}\p{N}]{2}/u.test(decode(bytes, of)));
  const isUneven = (of) => rows.some((row) => tokensIn(row, ...of) !== tokensIn(rows[0], ...of));
  const place = withWords.find(isUneven) ?? readable.find(isUneven) ?? withWords[0] ?? readable[0];
  if (!place) return ["", `They part at ${counted(places.length, "place")}.`];
  const counts = new Map(); // names by their number of tokens
  rows.forEach((row, i) => {
    const count = tokensIn(row, ...place);
    counts.set(count, [...(counts.get(count) ?? []), names[i]]);
  });
  const [piece, verb] = subject(decode(bytes, place));
  const said = [...counts].sort(([one], [other]) => one - other).map(([count, who], i) => `${i ? formatCount(count) : counted(count, "token")} in ${joined(who)}`);
  const same = counts.size < 2 ? ", divided differently" : "";
  const more = places.length > 1 ? ` They part at ${counted(places.length - 1, "other place")}.` : "";
  const numbers = new Set(alike.map((of) => of.filter(Boolean).length));
  const [equal] = numbers;
  const others = numbers.size > 1 ? "" : (["", " The other token is equal.", " Both other tokens are equal."][equal] ?? ` All other ${formatCount(equal)} tokens are equal.`);
  return [piece, ` ${verb} ${said.join(", ")}${same}.${more}${others}`];
}

/**
 * Return which of the tokens that the best row saves are white space, if these are many.
 * @param {import("./score.js").Row[]} rows those that are compared, at least two, with the whole text
 * @param {Uint8Array} bytes of the text
 */
export function saving(rows, bytes) {
  const sorted = [...rows].sort((one, other) => one.tokenEnds.length - other.tokenEnds.length);
  const [least, most] = [sorted[0], sorted.at(-1)];
  const isBlank = (start, end) => !decode(bytes, [start, end]).trim();
  const blanks = ({ tokenEnds }) => tokenEnds.filter((end, i) => isBlank(tokenEnds[i - 1] ?? 0, end)).length;
  const [saved, blank] = [most.tokenEnds.length - least.tokenEnds.length, blanks(most) - blanks(least)];
  if (blank <= FEW_SAVED * saved) return "";
  if (blank >= saved) return `White space alone saves ${counted(blank, "token")}.`; // words need as many, or more
  return `${formatCount(blank)} of the ${counted(saved, "token")} saved ${blank === 1 ? "is" : "are"} white space.`;
}

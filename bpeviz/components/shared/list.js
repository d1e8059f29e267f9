// Which texts stand in columns, without access to the document: lists, whose lines are entries of their
// own. The lines of code and tables belong below each other, those of verse follow each other.

const FEWEST = 12; // lines of a list
const SHORT = 20; // characters of half of its lines
const FEW_WORDS = 2; // words of half of its lines; verse has more
const MOST_BLANK = 0.1; // share of blank lines; verse has stanzas
const ALIKE = 0.8; // share of the lines of a list that end in the same mark or in none, and of those of a table with as many fields
const CODED = 0.1; // share of lines with the signs of code
const ALIGNED = 0.5; // share of lines of a table with a gap, or a number after a name
const END = /[\p{Pd}\p{Po}]+$/u;
const CODE = /\w\(|[={}[\]<>]/;
const SEPARATORS = ["\t", ",", ";", "|"];
const GAP = /\S {2,}\S|\S\s[-+]?[\d.,]*\d%?$/;

/** Return a value that half of some values do not exceed. */
const median = (values) => values.sort((one, other) => one - other)[Math.ceil(values.length / 2) - 1];

/** Return the most frequent of some values, and its share. */
function mostFrequent(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [value, count] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), [null, 0]);
  return { value, share: count / values.length };
}

/** Return the lines of a text that are not blank, without white space at their ends, and the share of blank ones. */
function linesOf(text) {
  const all = text.trimEnd().split("\n");
  const lines = all.map((line) => line.trimEnd()).filter(Boolean);
  return { lines, blank: (all.length - lines.length) / all.length };
}

/**
 * Return whether lines of a text may stand beside others: they are not indented, and it is neither code nor a table.
 * @param {string} text
 */
export function hasFreeLines(text) {
  const lines = linesOf(text).lines.map((line) => line.replace(END, ""));
  const share = (pattern) => lines.filter((line) => pattern.test(line)).length / lines.length;
  const isTable = SEPARATORS.some((separator) => {
    const fields = mostFrequent(lines.map((line) => line.split(separator).length));
    return fields.value > 1 && fields.share >= ALIKE;
  });
  return lines.length > 1 && !isTable && !lines.some((line) => /^\s/.test(line)) && share(CODE) <= CODED && share(GAP) < ALIGNED;
}

/**
 * Return whether a text is a list: of at least twelve lines, most of them short, each an entry of its own.
 * @param {string} text
 */
export function isList(text) {
  const { lines, blank } = linesOf(text);
  return (
    lines.length >= FEWEST &&
    median(lines.map((line) => [...line].length)) <= SHORT &&
    median(lines.map((line) => line.split(/\s+/).length)) <= FEW_WORDS &&
    blank < MOST_BLANK &&
    mostFrequent(lines.map((line) => line.match(END)?.[0])).share >= ALIKE &&
    hasFreeLines(text)
  );
}

// The rows of the table of steps: which there are, and which of them a search finds.

/**
 * Return the columns of a timeline's steps, in their order.
 * @param {import("../player/tokenized_text.js").TextPayload["steps"]} steps
 * @param {string} unit
 */
export function columnsOf(steps, unit) {
  const isPruning = steps.kind === "pruning";
  const columns = [
    { name: unit, at: (i) => i + 1 },
    { name: "left", token: (i) => steps.left[i] },
    { name: "right", token: (i) => steps.right[i] },
    { name: "token", token: (i) => steps.id[i] },
    { name: "id", at: (i) => steps.id[i] },
    { name: isPruning ? "cost" : "score", at: (i) => steps.score[i] },
    { name: isPruning ? "uses" : "count", at: (i) => steps.count[i] },
    { name: "ties", at: (i) => steps.ties[i] },
    { name: "round", at: (i) => steps.round[i] },
    { name: "note", at: (i) => steps.notes[i] ?? "" },
  ];
  const absent = ["left", "right", "score", "ties", "round"].filter((name) => !steps[name].length);
  if (isPruning && absent.includes("score")) absent.push("cost");
  if (!Object.keys(steps.notes).length) absent.push("note");
  return columns.filter(({ name }) => !absent.includes(name));
}

/**
 * Return the steps whose token contains a text, or whose id it is.
 * @param {number[]} ids the token of each step
 * @param {Object<string, [string, number]>} styles label and color index of each id
 * @param {string} query
 */
export function stepsWith(ids, styles, query) {
  const wanted = query.replaceAll(" ", "·");
  return [...ids.keys()].filter((i) => !query || styles[ids[i]]?.[0].includes(wanted) || String(ids[i]) === query);
}

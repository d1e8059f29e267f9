// A run sheet in words, on the leader's page and in the window with its notes.

/**
 * Return a part of a run sheet in words.
 * @param {{kind: string, words: string, link: string, step: number}} part
 * @param {Map<string, string>} names those of the questions of Learn
 */
export function inWords({ kind, words, link, step }, names) {
  if (kind === "ask") return words;
  if (kind === "learn") return `ask ${names.get(words) ?? "a question of Learn"}`;
  if (kind === "show") return `show ${link.slice(1).split("?")[0] || "Train"}`;
  return kind === "vote" ? `vote at step ${step}` : `go to step ${step}`;
}

/**
 * Return what “Next” does: first it ends the vote. At the end it is "".
 * @param {any} state of the room
 * @param {any[]} parts
 * @param {Map<string, string>} names
 */
export function following({ vote, part }, parts, names) {
  if (vote && !vote.task.result) return vote.task.counts ? "reveal the answer" : "show the answers";
  const next = parts[part + 1];
  return next ? inWords(next, names) : "";
}

/**
 * Return the time of a part in words, each an entry.
 * @param {any[]} parts
 * @param {number} part
 * @param {number} began milliseconds
 */
export function timeInWords(parts, part, began) {
  const until = parts.slice(0, part + 1).reduce((sum, { minutes }) => sum + minutes, 0);
  const minute = Math.floor((Date.now() - began) / 60_000) + 1;
  return [`Part ${part + 1} of ${parts.length}`, `minute ${minute}`, `planned until minute ${until}`];
}

/** Return the names of questions of Learn by their keys. */
export const namesOf = (chapters) => new Map(chapters.flatMap(({ questions }) => Object.entries(questions)));

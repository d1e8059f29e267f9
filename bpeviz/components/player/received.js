// The texts that the browser has: the server sends those of a key once.

const MOST_RECEIVED = 4; // payloads
const received = new Map(); // key → texts; survives a change of page

/**
 * Return a payload with its texts, or null if they are not here.
 * @param {import("./player.js").PlayerPayload} data
 * @returns {import("./player.js").PlayerPayload | null}
 */
export function withTexts(data) {
  const { key, last } = data;
  const known = received.get(key)?.map((view) => ({ ...view, last: view.ownSteps ? view.last : last }));
  const views = data.views.length ? data.views : known;
  if (!views) return null;
  received.delete(key); // the last one is the newest
  received.set(key, views);
  if (received.size > MOST_RECEIVED) received.delete(received.keys().next().value);
  return { ...data, views };
}

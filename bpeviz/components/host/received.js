// The texts that the browser has: the server sends those of a key once.

const MOST_RECEIVED = 4; // payloads
const received = new Map(); // key → texts; survives a change of page

/**
 * Return the payload of a player with its texts, or undefined if they are not here; any other one as it is.
 * @param {any} data
 */
export function withTexts(data) {
  if (!data?.views) return data;
  const { key, last } = data;
  const known = received.get(key)?.map((view) => ({ ...view, last: view.ownSteps ? view.last : last }));
  const views = data.views.length ? data.views : known;
  if (!views) return undefined;
  received.delete(key); // the last one is the newest
  received.set(key, views);
  if (received.size > MOST_RECEIVED) received.delete(received.keys().next().value);
  return { ...data, views };
}

// Values in the browser's storage. A browser may refuse it: they then last as long as the page.

/** @type {Map<string, string>} */
const refused = new Map();

/**
 * @param {string} name
 * @param {"localStorage" | "sessionStorage"} [where] for all tabs, or for this tab until it is closed
 * @returns {string | null}
 */
export function stored(name, where = "localStorage") {
  try {
    return refused.get(where + name) ?? globalThis[where].getItem(name);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string} value
 * @param {"localStorage" | "sessionStorage"} [where]
 */
export function store(name, value, where = "localStorage") {
  try {
    globalThis[where].setItem(name, value);
    refused.delete(where + name);
  } catch {
    refused.set(where + name, value);
  }
}

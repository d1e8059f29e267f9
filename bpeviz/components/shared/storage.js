// Values in the browser's storage. A browser may refuse it.

/**
 * @param {string} name
 * @param {"localStorage" | "sessionStorage"} [where] for all tabs, or for this tab until it is closed
 * @returns {string | null}
 */
export function stored(name, where = "localStorage") {
  try {
    return globalThis[where].getItem(name);
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
  } catch {
    // The value lasts as long as the page.
  }
}

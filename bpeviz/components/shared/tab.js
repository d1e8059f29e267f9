// The state of this tab in the browser's database, so that it survives a reload and a restart of the
// server. Each loaded page has a name of its own, which the tab's session storage contains.

import { store, stored } from "./storage.js";

const DATABASE = "bpeviz";
const RECORDS = "tabs"; // by `${name of the page}/${name of the value}`
const TAB = "bpeviz-tab";
const UNSAVED = "bpeviz-unsaved"; // values that the database did not have when the tab was left
const LEFT = "bpeviz-left-"; // begins the names of the times at which pages were left
const CLEAN_EVERY = 60_000; // milliseconds
const CLEAN_AFTER = 600_000; // milliseconds; a reload takes less, also if the server is restarted
const WEEK = 7 * 24 * 3600_000; // milliseconds; a browser that crashed leaves its records

const records = (name) => IDBKeyRange.bound(`${name}/`, `${name}0`); // "0" follows "/"

/** @returns {Promise<IDBDatabase>} */
function opened() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(RECORDS);
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error);
  });
}

/**
 * Run a transaction; return what `work` leaves in the given Map. Throws where the browser refuses storage.
 * @param {(store: IDBObjectStore, found: Map<string, any>) => void} work
 */
async function transaction(work) {
  const found = new Map();
  const database = await opened();
  await new Promise((resolve, reject) => {
    const running = database.transaction(RECORDS, "readwrite");
    running.oncomplete = resolve;
    running.onerror = running.onabort = () => reject(running.error);
    work(running.objectStore(RECORDS), found);
  });
  database.close();
  return found;
}

/**
 * Return this page, which all components share: its name, and the values that the database does not have.
 * @returns {{name: string, unsaved: Map<string, any>, isLeft: boolean}}
 */
function thisPage() {
  const shared = /** @type {any} */ (globalThis);
  if (!shared.bpevizPage) {
    const name = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    const page = (shared.bpevizPage = { name, unsaved: new Map(), isLeft: false });
    addEventListener("pagehide", ({ persisted }) => {
      page.isLeft = true;
      keepUnsaved(page);
      if (!persisted) store(LEFT + name, String(Date.now()));
    });
    setTimeout(removeClosed, 5000);
    setInterval(removeClosed, CLEAN_EVERY);
  }
  return shared.bpevizPage;
}

/** Keep what the database does not have, which stores nothing more once a page is left. */
function keepUnsaved({ name, unsaved }) {
  const tab = stored(TAB, "sessionStorage") ?? name;
  store(TAB, tab, "sessionStorage");
  store(UNSAVED, JSON.stringify({ tab, values: [...unsaved] }), "sessionStorage");
}

/**
 * Store a value of this page.
 * @param {string} name
 * @param {any} value
 */
export async function remember(name, value) {
  const page = thisPage();
  page.unsaved.set(name, value);
  if (page.isLeft) keepUnsaved(page);
  try {
    await transaction((all) => all.put(value, `${page.name}/${name}`));
  } catch {
    return; // the value lasts as long as the page, or until a reload
  }
  if (page.unsaved.get(name) === value) page.unsaved.delete(name);
  store(TAB, page.name, "sessionStorage"); // until then, another reload finds the earlier page
}

/**
 * Return the values that this tab had before it was reloaded, by their names. They become values of
 * this page: a duplicated tab has the same session storage, and keeps its own values.
 * @returns {Promise<Map<string, any>>}
 */
export async function valuesBeforeReload() {
  const before = stored(TAB, "sessionStorage");
  if (!before) return new Map();
  const { name } = thisPage();
  const isLeft = stored(LEFT + before) !== null;
  const values = await transaction((all, found) => {
    all.openCursor(records(before)).onsuccess = ({ target }) => {
      const cursor = /** @type {any} */ (target).result;
      if (!cursor) return;
      const own = cursor.key.slice(before.length + 1);
      found.set(own, cursor.value);
      all.put(cursor.value, `${name}/${own}`);
      if (isLeft) cursor.delete();
      cursor.continue();
    };
  }).catch(() => new Map());
  const kept = JSON.parse(stored(UNSAVED, "sessionStorage") ?? "{}");
  for (const [own, value] of kept.tab === before ? kept.values : []) {
    values.set(own, value);
    await remember(own, value);
  }
  if (values.size) store(TAB, name, "sessionStorage");
  return values;
}

/** Delete the values of pages that are closed. */
function removeClosed() {
  const now = Date.now();
  transaction((all) => {
    all.getAllKeys().onsuccess = ({ target }) => {
      const keys = /** @type {any} */ (target).result;
      for (const name of new Set(keys.map((key) => key.split("/")[0]))) {
        const left = stored(LEFT + name);
        const age = left === null ? now - parseInt(name, 36) - WEEK : now - Number(left) - CLEAN_AFTER;
        if (name !== thisPage().name && age > 0) all.delete(records(name));
      }
      for (const mark of Object.keys(localStorage).filter((key) => key.startsWith(LEFT))) {
        if (now - Number(stored(mark)) > CLEAN_AFTER) localStorage.removeItem(mark);
      }
    };
  }).catch(() => {});
}

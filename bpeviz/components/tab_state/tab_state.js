// Stores the settings of the pages in the browser, and returns settings and texts after a reload
// (`bpeviz/ui/tab_state.py`). It draws nothing. The text boxes store their texts themselves.

import { withParameters } from "../shared/address.js";
import { sendUntil } from "../shared/events.js";
import { remember, valuesBeforeReload } from "../shared/tab.js";

const RETRY_AFTER = 3000; // milliseconds

let askedAt = ""; // the address to which the state was sent last

/**
 * @typedef {object} TabStatePayload
 * @property {string} [address] where to send the state from before the reload
 * @property {string} [mark] the parameter of the URL that asks for it
 * @property {Record<string, any>} [values] otherwise, small values to store
 * @property {Record<string, string>} [long] long values to store, as far as they have changed
 * @property {string[]} [outdated] names in the address that describe the page no longer
 */

/** Send the state of this tab from before the reload; return whether there is any. */
async function send(address) {
  const values = await valuesBeforeReload();
  if (!values.size) return false;
  const body = JSON.stringify(Object.fromEntries(values));
  return (await fetch(address, { method: "PUT", body })).ok;
}

/** Remove parameters from the address, without a new entry in the history. */
function removeFromAddress(names) {
  const url = withParameters(location.href, (given) => names.forEach((name) => given.delete(name)));
  history.replaceState(history.state, "", url);
}

async function answer({ address, mark }, on) {
  const number = Number(address.split("/").at(-1));
  const isSent = await send(address).catch(() => false);
  removeFromAddress([mark]);
  let attempt = 0; // another object, or Streamlit would take it for the same value
  if (askedAt !== address) return;
  sendUntil(() => on("restored", { number, isSent, attempt: attempt++ }), () => askedAt !== address, RETRY_AFTER);
}

/**
 * @param {any} root
 * @param {TabStatePayload} data
 * @param {(name: string, value: any) => void} on
 */
export function mount(root, data, on) {
  if (data.address) {
    if (askedAt !== data.address) answer(data, on);
    askedAt = data.address;
    return;
  }
  askedAt = "";
  remember("values", data.values);
  if (data.outdated?.length) removeFromAddress(data.outdated);
  for (const [name, value] of Object.entries(data.long ?? {})) remember(`long/${name}`, value);
}

// Mounts the other components on Streamlit's pages (`bpeviz/ui/components.py`).

import { sayUnavailable } from "../shared/unavailable.js";
import { ask, reportOn } from "./leaving.js";
import { withTexts } from "./received.js";

const hosts = new WeakMap(); // the last call of each place
const filled = new WeakSet();
const reports = new WeakMap(); // the last report of each place, until it is sent
const removals = new WeakMap(); // removes what each place shows
let drawn = null; // settles when all components before are drawn

const unpacked = (data) =>
  new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"))).json();

/**
 * Draw a component when its module is there.
 *
 * Components are drawn in the order of the page, as their events require (`events.js`), also where a
 * later one is loaded first. One that is removed meanwhile, or has newer data, is not drawn.
 * @param {{data: Uint8Array, parentElement: any, setStateValue: Function, setTriggerValue: Function}} host
 *   Streamlit's interface
 * @param {Promise<{mount: Function, default: string}>} loading the module
 * @param {string[]} once the names of values that the session forgets after a run
 */
export async function mount(host, loading, once) {
  const { data, parentElement: root } = host;
  hosts.set(root, host);
  // Streamlit calls it also where newer data has come while a component was drawn, and then it stays.
  const remove = () => root.isConnected || removals.get(root)?.();
  const ready = Promise.allSettled([loading, unpacked(data), drawn]);
  drawn = ready.then(() => {});
  const [{ value: module }, { value: sent }] = await ready;
  if (hosts.get(root) !== host || !root.isConnected) return remove;
  if (!module) return sayUnavailable(root);
  root.querySelector(".unavailable")?.remove();
  if (!filled.has(root)) root.append(document.createRange().createContextualFragment(module.default));
  filled.add(root);
  const { pathname } = location;
  const on = (name, value) => {
    if (once.includes(name)) return ask(() => host.setTriggerValue(name, value));
    if (name !== "report") return host.setStateValue(name, value);
    const waits = reports.has(root);
    reports.set(root, value);
    if (waits) return;
    reportOn(pathname, () => {
      host.setStateValue(name, reports.get(root));
      reports.delete(root);
    });
  };
  const payload = withTexts(sent);
  if (payload === undefined) on("report", null); // the texts are then sent
  else removals.set(root, module.mount(root, payload, on));
  return remove;
}

// Mounts the other components on Streamlit's pages (`bpeviz/ui/components.py`).

import { sayUnavailable } from "../shared/unavailable.js";
import { ask, reportOn } from "./leaving.js";
import { withTexts } from "./received.js";

const hosts = new WeakMap(); // the last call of each place
const filled = new WeakSet();
const reports = new WeakMap(); // the last report of each place, until it is sent
const removals = new WeakMap(); // removes what each place shows

const unpacked = (data) =>
  new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"))).json();

/**
 * Draw a component when its module is there, unless it is removed meanwhile, or has newer data.
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
  const [{ value: module }, { value: sent }] = await Promise.allSettled([loading, unpacked(data)]);
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

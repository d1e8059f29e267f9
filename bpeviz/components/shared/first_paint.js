// The text of the page Train before its first run, in the letters that its stage then has.

const LONGEST = 2000; // UTF-16 units of a text in an address
const DRAWN = ".st-key-player[data-drawn], .stAlert, .stDialog";

/** Return the payload of a player for a text without steps, whose rule is the title of the page. */
function withoutSteps(text, rule) {
  const { length } = new TextEncoder().encode(text);
  const steps = { kind: "merge", notes: {}, id: [], left: [], right: [], count: [], applied: [], ties: [], score: [], round: [] };
  const both = { key: "first", timelineId: "first", last: 0, unit: "merge", changingSteps: null };
  const view = { ...both, text, rule, steps, atomKind: "bytes", mergedAt: Array(length).fill(-1), firstMergeId: 256, tokenStyles: {}, tokenCounts: [length], emptyMessage: "" };
  return { ...both, initialStep: 0, races: [], views: [view] };
}

/**
 * Draw the title and the text of the page until this does, unless its address or its tab has other settings.
 * @param {{title: string, text: string}} first what the page shows without settings
 * @param {Promise<{mount: Function, default: string}>} loading the module of the player
 */
export async function paintFirst({ title, text }, loading) {
  const query = new URLSearchParams(location.search);
  const typed = query.get("text");
  if (query.size > Number(typed !== null) || sessionStorage.getItem("bpeviz-tab")) return;
  const { mount, default: content } = await loading;
  while (!document.body) await new Promise(requestAnimationFrame);
  if (document.querySelector(DRAWN)) return;
  const [box, heading, stage] = ["div", "h1", "div"].map((tag) => document.createElement(tag));
  Object.assign(box, { className: "first-paint", ariaHidden: "true", inert: true });
  heading.textContent = title;
  box.append(heading, stage);
  document.body.append(box);
  const root = stage.attachShadow({ mode: "open" });
  root.append(document.createRange().createContextualFragment(content));
  const unmount = mount(root, withoutSteps((typed ?? text).slice(0, LONGEST), title), () => {});
  root.querySelector("section").removeAttribute("aria-label"); // nobody looks for it
  const remove = () => {
    observer.disconnect();
    unmount();
    box.remove();
  };
  const path = location.pathname;
  const observer = new MutationObserver(() => (location.pathname !== path || document.querySelector(DRAWN)) && remove());
  setTimeout(remove, 20_000);
  observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ["data-drawn"] });
}

// Reports to a page that the user may be leaving.
//
// After a click on a link to another page, this page must not report: if Streamlit is asked for a
// fragment that the next page lacks, it clears that page. The address changes only when the next page
// starts, and the link may also open another tab.

const LEAVING = 3000; // milliseconds

let lastLeft = { path: "", at: 0 };
let isReporting = false;

/**
 * Report on the page of an address, unless the user leaves it.
 * @param {string} path
 * @param {() => void} send
 */
export function reportOn(path, send) {
  if (location.pathname !== path) return;
  if (lastLeft.path === path && performance.now() - lastLeft.at <= LEAVING) return void setTimeout(reportOn, LEAVING, path, send);
  // Streamlit sends it in the next task; a click on a link before that waits for it.
  isReporting = true;
  send();
  setTimeout(() => (isReporting = false));
}

function onClick(event) {
  const link = event.target.closest?.("a");
  if (!link) return;
  if (isReporting && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    event.stopImmediatePropagation();
    setTimeout(() => link.click());
    return;
  }
  lastLeft = { path: location.pathname, at: performance.now() };
}
document.addEventListener("click", onClick, true);

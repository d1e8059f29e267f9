// Reports to a page that runs, or that the user may be leaving.
//
// With each report, Streamlit sends the values of all inputs. Before it has drawn those that a run has
// set, it sends the former ones, which the server would take; and the former address, by which Learn would
// go back. So reports wait for the end of a run, also of one that a press of a button asks for.
//
// After a click on a link to another page, this page must not report: if Streamlit is asked for a
// fragment that the next page lacks, it clears that page. The address changes only when the next page
// starts, and the link may also open another tab.

const LEAVING = 3000; // milliseconds
const DRAWN = 200; // milliseconds after a run until its values are drawn

let lastLeft = { path: "", at: 0 };
let isReporting = false;
let begins = 0; // when the run that was asked for has begun at the latest

/**
 * Ask for a run.
 * @param {() => void} send
 */
export function ask(send) {
  begins = performance.now() + LEAVING;
  send();
}

/**
 * Report on the page of an address, unless the user leaves it.
 * @param {string} path
 * @param {() => void} send
 */
export function reportOn(path, send) {
  if (location.pathname !== path) return;
  if (lastLeft.path === path && performance.now() - lastLeft.at <= LEAVING) return void setTimeout(reportOn, LEAVING, path, send);
  const isRunning = document.querySelector("[data-test-script-state=running]");
  if (isRunning) begins = performance.now() + DRAWN;
  if (isRunning || performance.now() < begins) return void setTimeout(reportOn, 50, path, send);
  // Streamlit sends it in the next task; a click on a link before that waits for it.
  isReporting = true;
  send();
  setTimeout(() => (isReporting = false));
}

function onClick(event) {
  const link = event.target.closest?.("a");
  if (event.target.closest?.("button:not([aria-expanded])")) begins = performance.now() + LEAVING;
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

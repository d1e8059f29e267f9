// The height of a page in a frame of another page, which may make the frame as high.

/**
 * Tell the page around this one the height of an element whenever it changes.
 * @param {Element} page
 * @returns {ResizeObserver}
 */
export function announceHeight(page) {
  let isFixed = false;
  const announce = () => {
    if (!innerHeight) return; // hidden
    // Else parts that fit the screen would grow with the frame.
    if (!isFixed) document.documentElement.style.setProperty("--frame-height", `${innerHeight}px`);
    isFixed = true;
    parent.postMessage({ bpevizHeight: Math.ceil(page.getBoundingClientRect().height) }, "*");
  };
  const observer = new ResizeObserver(announce);
  observer.observe(page);
  return observer;
}

// Elements, token labels, tooltips, files to save, and the life cycle of a component.

/**
 * Create an element.
 * @param {string} tag
 * @param {string | object} [look] its class names, or its properties
 * @param {...(string | Node | false | null | undefined)} content strings are set as text, never as markup, since they
 *   may come from a user; what is empty is left out
 * @returns {any}
 */
export function element(tag, look = "", ...content) {
  const created = document.createElement(tag);
  if (look) Object.assign(created, typeof look === "string" ? { className: look } : look);
  if (content.length) created.append(...content.filter(Boolean));
  return created;
}

/**
 * Give an element each class whose value is true, and take the others away.
 * @param {Element} box
 * @param {Object<string, any>} states
 */
export function setClasses(box, states) {
  for (const name in states) box.classList.toggle(name, Boolean(states[name]));
}

/**
 * Create an SVG element, and append it to a parent if there is one; its text is set as text.
 * @param {any} parent
 * @param {string} tag
 * @param {object} [attributes]
 * @param {string} [text]
 * @returns {any}
 */
export function draw(parent, tag, attributes = {}, text) {
  const created = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  parent?.append(created);
  if (text !== undefined) created.textContent = text;
  return created;
}

/**
 * Create a button.
 * @param {string} className
 * @param {string} text
 * @param {(event: MouseEvent) => void} pressed
 * @param {string} [name] the accessible name, where it is not the text
 */
export function newButton(className, text, pressed, name) {
  return element("button", { className, onclick: pressed, ...(name && { ariaLabel: name }) }, text);
}

const TURNS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

/**
 * Let keys move the focus in a row of elements, of which one is a tab stop.
 * @param {KeyboardEvent} event
 * @param {any[]} boxes
 * @param {Object<string, number>} [turns] by how many elements each key moves it
 */
export function moveFocus(event, boxes, turns = TURNS) {
  const [by, at] = [turns[event.key], boxes.indexOf(event.target)];
  if (!by || at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation(); // the player has such keys, too
  const next = boxes[Math.max(0, Math.min(boxes.length - 1, at + by))];
  [boxes[at].tabIndex, next.tabIndex] = [-1, 0];
  next.focus();
}

/**
 * Let an element fill the screen, or no longer; a frame may forbid it.
 * @param {Element} shown
 */
export function toggleFullscreen(shown) {
  if (document.fullscreenElement) document.exitFullscreen();
  else shown.requestFullscreen?.().catch(() => {});
}

/**
 * Create an element whose text has no line break inside a name such as GPT-2, or an option such as --port.
 * @param {string} tag
 * @param {string} className
 * @param {string} text
 */
export function unbroken(tag, className, text) {
  const parts = text.split(/([A-Z]{2,}-\d\w?|--\S+)/); // every second part is one
  return element(tag, className, ...parts.map((part, i) => (i % 2 ? element("span", "unbroken", part) : part)));
}

/**
 * Draw a token on its own, as it looks in the text.
 * @param {string} label
 * @param {number} color color index, -1 for none
 */
export function tokenLabel(label, color) {
  const look = color >= 0 ? `piece t color${color}` : ATOM.test(label) ? "piece tick" : "piece";
  return element("bdi", look, ...label.split(BYTE).map((part, i) => (i % 2 ? element("span", "byte", part) : part)));
}

const ATOM = /^(##)?(◌?.|⟨[\dA-F]+⟩)$/u; // a label of one atom
const BYTE = /(⟨[0-9A-F]{2}⟩)/; // a byte in a label, of a sign of which the token has only a part

/** Return whether the token of a label has only some bytes of a sign. */
export const isPartOfSign = (label) => BYTE.test(label);

/**
 * Save a file on the user's computer.
 * @param {Blob} content
 * @param {string} name
 */
export function saveFile(content, name) {
  const link = element("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * Call `resized` when the size of an element has changed.
 * @param {() => void} resized
 * @param {AbortSignal} signal
 * @param {...Element} boxes
 */
export function observeSize(resized, signal, ...boxes) {
  const observer = new ResizeObserver(resized);
  for (const box of boxes) observer.observe(box);
  signal.addEventListener("abort", () => observer.disconnect());
}

/**
 * Call `resized` when the width of an element, the window, the full screen or the fonts have changed.
 * @param {Element} box
 * @param {() => void} resized
 * @param {AbortSignal} signal
 */
export function followSize(box, resized, signal) {
  let width = 0;
  const compareWidth = () => {
    if (box.clientWidth !== width) resized();
    width = box.clientWidth;
  };
  observeSize(compareWidth, signal, box);
  for (const [target, name] of [[globalThis, "resize"], [document, "fullscreenchange"], [document.fonts, "loadingdone"]])
    target.addEventListener(name, resized, { signal });
}

/** A tooltip near an element, kept inside a frame. */
export class Tooltip {
  /**
   * @param {any} card
   * @param {any} frame
   */
  constructor(card, frame) {
    this.card = card;
    this.frame = frame;
  }

  /**
   * @param {Element[]} content
   * @param {{getBoundingClientRect(): any}} target
   */
  show(content, target) {
    this.card.replaceChildren(...content);
    this.card.hidden = false;
    const frame = this.frame.getBoundingClientRect();
    const box = target.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.card;
    const left = Math.min(Math.max(0, box.left - frame.left), Math.max(0, frame.width - width));
    const [above, below] = [box.top - frame.top - height - 6, box.bottom - frame.top + 6];
    const [least, most] = [-frame.top, innerHeight - frame.top - height]; // in the window
    const isBelow = below <= Math.min(most, frame.height - height);
    const top = isBelow ? below : above >= Math.max(0, least) ? above : Math.max(least, Math.min(below, most));
    this.card.style.left = `${left}px`;
    this.card.style.top = `${top}px`;
  }

  hide() {
    this.card.hidden = true;
  }
}

/**
 * Return the function `mount` of a component, which keeps one view for each root element.
 *
 * A host (Streamlit, or an HTML file) calls it with the root element that holds the component's
 * markup, its data, and `on(name, value)`, which receives the user's changes. It calls it again for
 * other data, and the result to remove the component; that has the view as `view`. It may then mount
 * the same elements again, so a view registers its listeners with `signal`.
 * @param {new (root: any, signal: AbortSignal) => {update(data: any, on: Function): void}} View
 */
export function component(View) {
  const mounted = new WeakMap();
  return (root, data, on) => {
    if (!mounted.has(root)) {
      const controller = new AbortController();
      mounted.set(root, { controller, view: new View(root, controller.signal) });
    }
    const { view } = mounted.get(root);
    view.update(data, on);
    const remove = () => {
      mounted.get(root)?.controller.abort();
      mounted.delete(root);
    };
    return Object.assign(remove, { view });
  };
}

// The frame of a page, as far as Streamlit cannot draw it: landmarks, the current page in the menu, and
// the target of the skip link. It also corrects what is typed into Streamlit's own boxes.
// `bpeviz/ui/page.py` draws the containers, and `bpeviz/ui/runtime/style.css` their layout.

import { component, element } from "../shared/dom.js";
import { WAY_CHOSEN, subscribe } from "../shared/events.js";
import { announceHeight } from "../shared/frame_height.js";
import { firstCharacters } from "../text_box/text_state.js";

/**
 * @typedef {object} FramePayload
 * @property {string} title the title of the page in the menu
 * @property {number} longest the most characters of a box
 */

const AWAY =
  "The server does not answer. Your texts and settings are not lost: this page waits, and goes on once the server is back.";

/** Replace Streamlit's message about a lost connection, which is for its developers. */
function explainConnection() {
  for (const heading of document.querySelectorAll("section[role=dialog] > h2[slot=title]")) {
    const message = heading.nextElementSibling;
    if (heading.textContent !== "Connection error" || !(message instanceof HTMLElement)) continue;
    heading.textContent = "Waiting for the server";
    message.hidden = true;
    message.after(element("div", message.className, AWAY));
  }
}

/** Find a container by the key that Python gives it. */
const container = (key) => document.querySelector(`.st-key-${key}`);

/** Find Play, where the player is what the page is for. */
function playButton() {
  for (const part of document.querySelectorAll(":is(.st-key-player, .st-key-lock_step) *"))
    if (part.shadowRoot) return part.shadowRoot.querySelector("[data-act=play]");
  return null;
}

const LANDMARKS = [["menu", "navigation", "Pages"], ["inputs", "region", "Text and settings"]];
const MENU_CLOSES = 150; // milliseconds
let menuClosedAt = -MENU_CLOSES;

/**
 * Close an open menu before a link to another page is followed. Streamlit 1.67 would say that it is closed
 * after it has asked for the other page, whose elements it then clears: the page would stay empty.
 * @param {Event} event a pointer that is pressed, or the click of a pointer or a key
 */
function closeMenus(event) {
  const link = event.target instanceof Element && event.target.closest("a[data-testid^=stPageLink]");
  if (!(link instanceof HTMLElement) || (event instanceof MouseEvent && (event.ctrlKey || event.metaKey || event.shiftKey))) return;
  for (const button of document.querySelectorAll("[data-testid=stPopover] button[aria-expanded=true]")) {
    if (button instanceof HTMLElement) button.click();
    menuClosedAt = event.timeStamp;
  }
  if (event.type !== "click" || event.timeStamp - menuClosedAt >= MENU_CLOSES) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  setTimeout(() => link.click(), MENU_CLOSES + 10);
}

/** Let Tab lead from an open menu's button into the menu, which Streamlit draws at the end of the page. */
function enterMenu(event) {
  const { key, shiftKey, target } = event;
  if (key !== "Tab" || shiftKey || !target.matches?.("[data-testid=stPopoverButton][aria-expanded=true]")) return;
  const controls = document.querySelectorAll("[data-testid=stPopoverBody] :is(button, input, select, textarea)");
  const first = [...controls].find((control) => control.checkVisibility() && control.tabIndex >= 0);
  if (first) event.preventDefault();
  first?.focus();
}

class Frame {
  constructor(root, signal) {
    this.title = "";
    this.longest = Infinity;
    document.addEventListener("click", (event) => this.skip(event), { signal, capture: true });
    for (const type of ["pointerdown", "click"]) document.addEventListener(type, closeMenus, { signal, capture: true });
    document.addEventListener("input", (event) => this.correct(event), { signal, capture: true });
    document.addEventListener("keydown", (event) => enterMenu(event), { signal, capture: true });
    subscribe(WAY_CHOSEN, (way) => this.open(way), signal);
    // Streamlit may replace elements at any time, and the attributes go with them.
    // While a page loads, it does so many times.
    let isDue = false;
    const describe = () => {
      isDue = false;
      if (!signal.aborted) this.describe();
    };
    const observer = new MutationObserver(() => {
      if (!isDue) setTimeout(describe, 50);
      isDue = true;
    });
    observer.observe(document.body, { childList: true, subtree: true });
    signal.addEventListener("abort", () => {
      observer.disconnect();
      this.height?.disconnect();
    });
  }

  /** @param {FramePayload} data */
  update(data) {
    this.title = data.title;
    this.longest = data.longest;
    this.describe();
  }

  /** Open a page by its title. */
  open(way) {
    const links = [...(container("menu")?.querySelectorAll("a") ?? [])];
    links.find((link) => link.textContent.trim() === way)?.click();
    this.describe();
  }

  /** In a frame of another page, tell it the height of the picture. */
  announce() {
    const page = document.querySelector("[data-testid=stMainBlockContainer]");
    if (!("embedded" in document.documentElement.dataset) || page === this.page) return;
    this.page = page;
    this.height?.disconnect();
    this.height = announceHeight(page);
  }

  describe() {
    this.announce();
    explainConnection();
    for (const [key, role, ariaLabel] of LANDMARKS) {
      const place = container(key);
      if (place && place.role !== role) Object.assign(place, { role, ariaLabel });
    }
    for (const code of document.querySelectorAll(".stCode pre:not([tabindex])")) code.tabIndex = 0; // it scrolls
    // Beside a text, an icon is decoration; its name would be read out.
    for (const icon of document.querySelectorAll('.stMarkdown [role=img][aria-label$=" icon"]:not([aria-hidden])'))
      icon.ariaHidden = "true";
    // Streamlit gives this place a name, which a role without meaning must not have.
    for (const zone of document.querySelectorAll(".stFileUploader section[role=presentation]")) zone.role = "group";
    // In a new tab, Streamlit's links to the first page would open this one.
    for (const link of document.querySelectorAll('a[href=""], a[href^="?"]')) link.setAttribute("href", `./${link.getAttribute("href")}`);
    const skip = document.querySelector('a[href="#stMain"]');
    // Not by its button, which may come later, unseen from here.
    const words = container("player") ?? container("lock_step") ? "Skip to the player" : "Skip to main content";
    if (skip && skip.textContent !== words) skip.textContent = words;
    for (const link of container("menu")?.querySelectorAll("a") ?? []) {
      if (link.textContent.trim() !== this.title) link.removeAttribute("aria-current");
      else if (link.ariaCurrent !== "page") link.ariaCurrent = "page";
    }
  }

  // A lone surrogate cannot be sent: the browser would try it again and again. A text above the
  // limit loses its end, but for one character, by which the page knows.
  correct({ target }) {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return;
    const text = firstCharacters(target.value, this.longest + 1).toWellFormed();
    if (text === target.value) return;
    // React notices only values that were not set through the element's own property.
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(target), "value").set.call(target, text);
  }

  /** Let Streamlit's link “Skip to main content” skip the menu and the inputs, too, and lead to Play. */
  skip(event) {
    const content = container("content");
    if (!content || !event.target.closest?.('a[href="#stMain"]')) return;
    event.preventDefault();
    event.stopPropagation();
    content.tabIndex = -1;
    (playButton() ?? content).focus();
  }
}

export const mount = component(Frame);

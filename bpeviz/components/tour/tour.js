// A guided tour: a box with some sentences about a part of the page, the mark, and a ring around it.
// Both are popovers, above everything but dialogs, and follow the mark, which a page may draw again at any time.

import { component, element, newButton } from "../shared/dom.js";
import { WAY_CHOSEN, emit, sendUntil } from "../shared/events.js";

const LOOK_EVERY = 200; // milliseconds
const MISSING_AFTER = 6000; // milliseconds until a mark counts as missing
const SEND_AGAIN = 2000;
const [GAP, EDGE, TOP] = [12, 8, 56];
const BELOW_TEXT = 370; // pixels: over the inputs, the box leaves the text free
const TOUCHES = ["keydown", "pointerdown", "wheel", "touchmove"];
const DIALOGS = "[data-testid=stDialog], [role=dialog][aria-modal=true]";
const TAGS = { "`": "code", "*": "b", G: "span", h: "a" };
const FOCUSABLE = 'a[href], button:enabled, input:enabled, select, textarea, summary, [tabindex]:not([tabindex="-1"])';

/**
 * @typedef {object} TourPayload
 * @property {string} tour the key of the tour
 * @property {string} title
 * @property {number} step from 1
 * @property {number} steps
 * @property {string} heading
 * @property {string[]} options the answers to the guess before the first step, or none
 * @property {string[]} words paragraphs, with `code` and **strong** words
 * @property {string[]} mark selectors: of an element of the page, then of one in its shadow root
 */

const isSeen = (part) => part.getClientRects().length > 0;

/** Find the first visible element of selectors, of which each later one is within shadow roots. */
function find(root, [first, ...rest]) {
  for (const part of root.querySelectorAll(first)) {
    const inner = rest.length ? hosts(part).map((host) => find(host.shadowRoot, rest)).find(Boolean) : part;
    if (inner && isSeen(inner)) return inner;
  }
  return null;
}

const hosts = (part) => [part, ...part.querySelectorAll("*")].filter((each) => each.shadowRoot);

function firstFocusable(part) {
  if (part.matches(FOCUSABLE)) return part;
  const inner = [...part.querySelectorAll(FOCUSABLE)].find(isSeen);
  return inner ?? hosts(part).map((host) => find(host.shadowRoot, [FOCUSABLE])).find(Boolean);
}

/** Return a paragraph with `code`, **strong** words, links, and names such as GPT-2 without a line break. */
function paragraph(words) {
  const parts = words.split(/(`[^`]+`|\*\*[^*]+\*\*|GPT-\w+|https:\/\/[^\s,]*\w)/); // every second part is one
  const written = parts.map((part, i) => (i % 2 ? element(TAGS[part[0]], "unbroken", part.replace(/^[`*]+|[`*]+$/g, "")) : part));
  for (const link of written.filter((part) => part.localName === "a")) [link.href, link.target] = [link.textContent, "_blank"];
  return element("p", words.startsWith("Sources: ") ? "sources" : "", ...written);
}

class Tour {
  constructor(root, signal) {
    this.find = (selector) => root.querySelector(selector);
    this.box = this.find(".box");
    this.ring = this.find(".ring");
    this.box.addEventListener("click", ({ target }) => this.press(target.closest("button")?.dataset.act), { signal });
    document.addEventListener("keydown", (event) => this.comeBack(event), { signal });
    for (const name of TOUCHES) document.addEventListener(name, () => (this.isFresh = false), { signal, capture: true, passive: true });
    for (const name of ["scroll", "resize"]) addEventListener(name, () => this.follow(), { signal, capture: true, passive: true });
    const timer = setInterval(() => this.follow(), LOOK_EVERY);
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  /** @param {TourPayload} data */
  update(data, on) {
    this.on = on;
    const { tour, title, step, steps, heading, words, options } = data;
    const key = JSON.stringify(data);
    if (this.key === key) return;
    const isNew = this.data?.tour !== tour || this.data.step !== step || this.data.options.length !== options.length;
    [this.key, this.data] = [key, data];
    this.find(".place").textContent = `${title} · Step ${step} of ${steps}`;
    this.find("h2").textContent = heading;
    const guesses = options.map((option, i) => newButton("option", option.replaceAll("`", ""), () => this.send({ guess: i })));
    this.find(".words").replaceChildren(...words.map(paragraph), ...guesses);
    this.find("[data-act=back]").hidden = step === 1;
    this.find("[data-act=next]").textContent = options.length ? "Show me" : step === steps ? "Back to Learn" : "Next";
    this.box.ariaBusy = "false";
    if (!isNew) return;
    // Until the user does something, the page may for a while move the mark or take the focus.
    [this.since, this.isFresh, this.mark, this.box.dataset.mark] = [Date.now(), true, null, ""];
    this.box.scrollTop = 0;
    this.follow();
    this.box.focus({ preventScroll: true });
  }

  press(act) {
    if (act === "mark") return this.go();
    const { step, steps, options } = this.data;
    if (act === "next" && options.length) return this.send({ guess: null });
    if (act === "next" && step === steps) return emit(WAY_CHOSEN, "Learn");
    const next = { back: step - 1, next: step + 1, end: 0 }[act];
    if (next !== undefined) this.send(next);
  }

  send(step) {
    const { key } = this;
    const sent = (this.sent = {}); // until another is
    this.box.ariaBusy = "true";
    sendUntil(() => this.on("step", step), () => !this.box.isConnected || this.key !== key || this.sent !== sent, SEND_AGAIN);
  }

  /** Give the focus to the mark, from which Escape comes back. */
  go() {
    this.isGoing = !this.mark; // until its section is open
    if (this.isGoing) return;
    this.reveal();
    const part = firstFocusable(this.mark) ?? this.mark;
    if (!part.matches(FOCUSABLE)) part.tabIndex = -1;
    part.focus({ preventScroll: true });
  }

  comeBack(event) {
    const isInside = event.composedPath().includes(this.box);
    if (event.key !== "Escape" || event.defaultPrevented || isInside || document.querySelector(DIALOGS)) return;
    this.box.focus({ preventScroll: true });
  }

  /** Look for the mark, and move the box and the ring to it. */
  follow() {
    if (!this.data || !this.box.isConnected) return; // a tour that ends is removed before its signal
    const isHidden = Boolean(document.querySelector(DIALOGS) || document.fullscreenElement);
    if (!this.mark?.isConnected || !isSeen(this.mark)) this.mark = find(document, this.data.mark);
    if (!this.mark && (this.isFresh || this.isGoing)) this.open();
    this.#tell(this.mark ? "found" : Date.now() - this.since > MISSING_AFTER ? "missing" : "waiting");
    for (const part of [this.ring, this.box]) part.togglePopover(!isHidden); // the later one is above
    this.ring.hidden = !this.mark;
    if (isHidden) return;
    if (this.isFresh && Date.now() - this.since <= MISSING_AFTER) {
      if (this.mark) this.reveal();
      if (!this.box.matches(":focus-within")) this.box.focus({ preventScroll: true });
    }
    if (this.isGoing && this.mark) this.go();
    this.place(this.mark?.getBoundingClientRect());
  }

  #tell(state) {
    if (this.box.dataset.mark === state) return;
    this.box.dataset.mark = state;
    this.find(".note").textContent = state === "missing" ? "The page does not show this part now. You can go on." : "";
  }

  /** Open the section around the mark, with which its selector begins, if it is closed. */
  open() {
    const closed = document.querySelector(`${this.data.mark[0].split(" ")[0]} details:not([open]) > summary`);
    if (!closed || Date.now() - (this.openedAt ?? 0) < SEND_AGAIN) return;
    this.openedAt = Date.now();
    closed.click();
  }

  /** Scroll to the mark where it is not in view. */
  reveal() {
    const rect = this.mark.getBoundingClientRect();
    const room = innerHeight - TOP - EDGE - (innerWidth < 640 ? this.box.offsetHeight + GAP : 0);
    const isIn = rect.top >= TOP - 1 && rect.bottom <= TOP + room + 1;
    const wanted = TOP + Math.max(0, (room - rect.height) / 3);
    if (!isIn && Math.abs(rect.top - wanted) > 2) document.querySelector("[data-testid=stMain]")?.scrollBy(0, rect.top - wanted);
  }

  /** Put the ring around the mark, and the box where it fits beside it. */
  place(mark) {
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const within = (value, most) => Math.max(EDGE, Math.min(value, most - EDGE));
    const fits = ([x, y]) => x >= EDGE && y >= EDGE && x + width <= innerWidth - EDGE && y + height <= innerHeight - EDGE;
    let spot = [innerWidth - width - EDGE, innerHeight - height - EDGE];
    if (mark) {
      const [left, top] = [within(mark.left, innerWidth - width), within(mark.top, innerHeight - height)];
      const atLeft = [mark.left - GAP - width, within(Math.max(mark.top, BELOW_TEXT), innerHeight - height)];
      const beside = [[mark.right + GAP, top], atLeft, [left, mark.bottom + GAP], [left, mark.top - GAP - height]];
      spot = beside.find(fits) ?? spot;
      this.#put(this.ring, [mark.left - 4, mark.top - 4]);
      Object.assign(this.ring.style, { width: `${mark.width + 8}px`, height: `${mark.height + 8}px` });
    }
    this.#put(this.box, spot);
  }

  #put(popover, [left, top]) {
    Object.assign(popover.style, { left: `${left}px`, top: `${top}px` });
  }
}

export const mount = component(Tour);

// A list of tokens for screen readers, beside a drawn text. It is not visible, and has no tab stops:
// screen readers reach it by their own commands.

import { element, newButton } from "./dom.js";
import { formatCount } from "./format.js";

export const LISTED_AT_ONCE = 200; // more elements would cost time at each step
export const LIST_AFTER = 300; // milliseconds at rest

export class TokenList {
  /**
   * @param {string} title "Tokens", or the tokens of what
   */
  constructor(title) {
    this.title = title;
    this.list = element("ol", { role: "list" }); // Safari does not expose a list without markers
    this.earlier = this.#button("Previous", -1);
    this.later = this.#button("Next", 1);
    this.box = element("div", { className: "token-list", hidden: true }, this.list, this.earlier, this.later);
    this.first = 0;
  }

  #button(name, direction) {
    const button = newButton("", `${name} ${LISTED_AT_ONCE} tokens`, (event) => {
      event.stopPropagation();
      this.first += direction * LISTED_AT_ONCE;
      this.#draw();
      this.list.firstElementChild?.focus({ preventScroll: true }); // to read on from there
    });
    button.tabIndex = -1;
    return button;
  }

  /**
   * List tokens a moment later, unless `hide` is called before.
   * @param {() => {count: number, words: (index: number) => string}} tokens
   */
  show(tokens) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      Object.assign(this, tokens());
      if (this.first >= this.count) this.first = 0;
      this.#draw();
      this.box.hidden = !this.count;
    }, LIST_AFTER);
  }

  /** Hide the list, which would be out of date. */
  hide() {
    clearTimeout(this.timer);
    this.box.hidden = true;
  }

  #draw() {
    const end = Math.min(this.count, this.first + LISTED_AT_ONCE);
    const whole = end - this.first === this.count;
    const place = whole ? `${formatCount(end)}` : `${formatCount(this.first + 1)} to ${formatCount(end)} of ${formatCount(this.count)}`;
    this.list.ariaLabel = `${this.title}: ${place}`;
    const items = [];
    for (let i = this.first; i < end; i++) items.push(element("li", "", this.words(i)));
    if (items.length) items[0].tabIndex = -1;
    this.list.replaceChildren(...items);
    this.earlier.hidden = !this.first;
    this.later.hidden = end >= this.count;
  }
}

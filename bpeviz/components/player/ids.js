// Ids in a row: the user takes one away by pressing it, and each change is sent.

import { element, moveFocus, newButton, tokenLabel } from "../shared/dom.js";
import { spokenLabel } from "../shared/spoken.js";

export class Ids {
  /**
   * @param {any} host
   * @param {(ids: number[]) => void} send
   * @param {AbortSignal} signal
   */
  constructor(host, send, signal) {
    this.host = host;
    this.send = send;
    this.parts = [];
    this.sent = ""; // ids that the server has not drawn yet
    host.addEventListener("keydown", (event) => moveFocus(event, [...host.children]), { signal });
  }

  /** Let the next ids of the server replace those that the user changed. */
  forget() {
    this.sent = "";
  }

  /** @param {import("../shared/message.js").MessagePart[] | null} parts the ids with their tokens, null without a task */
  update(parts) {
    this.host.hidden = !parts;
    if (!parts) return;
    const ids = JSON.stringify(parts.map(({ id }) => id));
    if (this.sent && ids !== this.sent) return; // the user has changed them since
    this.sent = "";
    if (ids === this.drawn) return;
    this.drawn = ids;
    this.parts = parts;
    this.#draw();
  }

  #draw() {
    const { host } = this;
    const at = [...host.children].indexOf(host.getRootNode().activeElement);
    host.replaceChildren(...this.parts.map((part, i) => this.#button(part, i, Math.max(at, 0))));
    if (at >= 0) host.children[Math.min(at, this.parts.length - 1)]?.focus({ preventScroll: true });
  }

  #button({ label, color, id }, i, at) {
    const button = newButton("over-id", "", () => this.#take(i), `Take away ${spokenLabel(label)}, id ${id}`);
    button.tabIndex = i === Math.min(at, this.parts.length - 1) ? 0 : -1;
    button.append(tokenLabel(label, color), element("span", "", String(id)));
    return button;
  }

  #take(at) {
    this.parts = this.parts.toSpliced(at, 1);
    this.#draw();
    const ids = this.parts.map(({ id }) => id);
    this.drawn = this.sent = JSON.stringify(ids);
    this.send(ids);
  }
}

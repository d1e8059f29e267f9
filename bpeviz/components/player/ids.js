// Ids in a row: the user takes one away, or moves it, and each change is sent.

import { element, newButton, tokenLabel } from "../shared/dom.js";
import { spokenLabel } from "../shared/spoken.js";

const MOVES = { ArrowLeft: -1, ArrowRight: 1 };
const DRAGGED = "text/plain"; // the kind of data that every browser lets one drag

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
    this.at = 0; // the index of the one that buttons and keys change
    this.sent = ""; // ids that the server has not drawn yet
    this.list = element("div", { className: "ids", role: "listbox", ariaLabel: "Ids", ariaOrientation: "horizontal" });
    this.list.addEventListener("keydown", (event) => this.#key(event), { signal });
    this.buttons = [
      newButton("", "← Move", () => this.#move(this.at, this.at - 1)),
      newButton("", "Take away", () => this.#take()),
      newButton("", "Move →", () => this.#move(this.at, this.at + 1)),
    ];
    host.append(this.list, ...this.buttons);
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

  #draw(takesFocus = this.list.contains(this.list.getRootNode().activeElement)) {
    this.at = Math.max(0, Math.min(this.at, this.parts.length - 1));
    this.list.replaceChildren(...this.parts.map((part, i) => this.#option(part, i)));
    this.buttons[0].disabled = this.at === 0;
    this.buttons[1].disabled = !this.parts.length;
    this.buttons[2].disabled = this.at >= this.parts.length - 1;
    if (takesFocus) this.list.children[this.at]?.focus({ preventScroll: true });
  }

  #option(part, i) {
    const properties = {
      className: "over-id",
      role: "option",
      tabIndex: i === this.at ? 0 : -1,
      ariaSelected: String(i === this.at),
      ariaLabel: `${spokenLabel(part.label)}, id ${part.id}`,
      draggable: true,
      onclick: () => this.#choose(i),
      ondragstart: ({ dataTransfer }) => dataTransfer.setData(DRAGGED, String(i)),
      ondragover: (event) => event.preventDefault(),
      ondrop: (event) => {
        event.preventDefault();
        const from = Number(event.dataTransfer.getData(DRAGGED));
        if (this.parts[from]) this.#move(from, i);
      },
    };
    return element("span", properties, tokenLabel(part.label, part.color), element("span", "", String(part.id)));
  }

  #choose(i) {
    this.at = i;
    this.#draw(true);
  }

  #key(event) {
    const to = this.at + (MOVES[event.key] ?? NaN);
    if (event.key === "Delete" || event.key === "Backspace") this.#take();
    else if (Number.isNaN(to)) return;
    else if (event.shiftKey) this.#move(this.at, to);
    else if (this.parts[to]) this.#choose(to);
    event.preventDefault();
    event.stopPropagation(); // arrows would move the player
  }

  #take() {
    this.#change(this.parts.filter((_, i) => i !== this.at));
  }

  #move(from, to) {
    if (!this.parts[to] || from === to) return;
    const parts = this.parts.toSpliced(from, 1).toSpliced(to, 0, this.parts[from]);
    this.at = to;
    this.#change(parts);
  }

  #change(parts) {
    if (!this.parts.length) return;
    this.parts = parts;
    this.#draw();
    const ids = parts.map(({ id }) => id);
    this.drawn = this.sent = JSON.stringify(ids);
    this.send(ids);
  }
}

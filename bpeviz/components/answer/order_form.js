// Put merges into their order.

import { element, newButton, tokenLabel } from "../shared/dom.js";
import { spokenLabel } from "../shared/spoken.js";
import { moved } from "./logic.js";

export class OrderForm {
  /**
   * @param {any} host
   * @param {{items: {label: string, color: number}[][], hints: string[]}} data the tokens of each item,
   *   and remarks beside them, or none
   * @param {number[] | null} given the indices of the items, first to last
   * @param {{order: number[], notes: string[]} | null} marks
   * @param {() => void} changed
   */
  constructor(host, { items, hints }, given, marks, changed) {
    Object.assign(this, { items, hints, changed, value: given });
    this.order = given ?? items.map((_, i) => i);
    if (marks) {
      const list = element("ol", "order");
      marks.order.forEach((item, i) => {
        const row = element("li");
        row.append(...this.#label(item), element("span", "note", marks.notes[item]));
        if (given) {
          const yours = given.indexOf(item);
          row.append(element("span", yours === i ? "yours same" : "yours other", yours === i ? "same as yours" : `you: ${yours + 1}`));
        }
        list.append(row);
      });
      host.append(list);
      return;
    }
    this.list = element("ol", "order");
    host.append(element("p", "chosen", "Move each row with its arrows, or drag it. The first is at the top."), this.list);
    host.append(newButton("none", "This order is my answer", () => this.#set(this.order)));
    this.#draw();
  }

  #label(item) {
    const parts = this.items[item].map(({ label, color }) => tokenLabel(label, color));
    return parts.flatMap((part, i) => (i ? [" + ", part] : [part]));
  }

  #set(order) {
    this.order = order;
    this.value = [...order];
    this.changed();
  }

  #move(from, to, focus) {
    if (to < 0 || to >= this.order.length) return;
    this.#set(moved(this.order, from, to));
    this.#draw();
    const row = this.list.children[to];
    (row.querySelector(`.${focus}:not(:disabled)`) ?? row.querySelector("button:not(:disabled)"))?.focus();
  }

  #draw() {
    const rows = this.order.map((item, i) => {
      const row = element("li", "movable");
      row.append(...this.#label(item), element("span", "note", this.hints[item] ?? ""));
      const name = this.items[item].map(({ label }) => spokenLabel(label)).join(" and ");
      const button = (focus, sign, words, to) => {
        const full = `Move ${name} ${words}, now ${i + 1} of ${this.order.length}`;
        const created = newButton(`step ${focus}`, sign, () => this.#move(i, to, focus), full);
        created.disabled = to < 0 || to >= this.order.length;
        return created;
      };
      const buttons = element("span", "moves");
      buttons.append(button("up", "↑", "up", i - 1), button("down", "↓", "down", i + 1));
      row.append(buttons);
      row.addEventListener("pointerdown", (event) => this.#drag(event, i));
      return row;
    });
    this.list.replaceChildren(...rows);
  }

  #drag(event, from) {
    if (event.target.closest("button")) return;
    event.preventDefault();
    const row = event.currentTarget;
    row.setPointerCapture(event.pointerId);
    row.classList.add("dragged");
    const drop = ({ clientY }) => {
      const middles = [...this.list.children].map((one) => {
        const box = one.getBoundingClientRect();
        return (box.top + box.bottom) / 2;
      });
      const above = middles.filter((middle, i) => i !== from && middle < clientY).length;
      row.classList.remove("dragged");
      if (above !== from) this.#move(from, above, "up");
    };
    row.addEventListener("pointerup", drop, { once: true });
    row.addEventListener("pointercancel", () => row.classList.remove("dragged"), { once: true });
  }
}

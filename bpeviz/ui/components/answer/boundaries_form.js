// Set the boundaries between the tokens of a short text.

import { element } from "../shared/dom.js";
import { atomsOf, boundaryKind, standIn, toggled } from "./logic.js";

export class BoundariesForm {
  /**
   * @param {any} host
   * @param {{text: string}} data
   * @param {number[] | null} given boundaries, as numbers of the characters before them
   * @param {{right: number[], colors: number[]} | null} marks the boundaries, and the color of each token
   * @param {() => void} changed
   */
  constructor(host, { text }, given, marks, changed) {
    this.value = marks ? given : null;
    const row = element("div", "word text");
    const atoms = atomsOf(text);
    let token = 0;
    atoms.forEach((atom, i) => {
      const color = marks ? marks.colors[token] : -1;
      const sign = element("span", color < 0 ? "c sign" : `c sign t color${color}`, standIn(atom));
      row.append(sign);
      if (i + 1 === atoms.length) return;
      const names = `between ${standIn(atom)} and ${standIn(atoms[i + 1])}`;
      if (marks) {
        const kind = boundaryKind(given, marks.right, i + 1);
        const line = element("span", `gap ${kind}`);
        const words = { right: "right", extra: "extra", missing: "missing" }[kind];
        if (words) {
          line.setAttribute("role", "img");
          line.ariaLabel = `Boundary ${names}: ${words}`;
        }
        row.append(line);
        if (marks.right.includes(i + 1)) token++;
        return;
      }
      const button = element("button", "gap");
      button.type = "button";
      button.ariaLabel = `Boundary ${names}`;
      button.ariaPressed = "false";
      button.addEventListener("click", () => {
        this.value = toggled(this.value ?? [], i + 1);
        button.ariaPressed = String(this.value.includes(i + 1));
        changed();
      });
      row.append(button);
    });
    row.addEventListener("keydown", (event) => this.#move(event, row));
    host.append(row);
    if (!marks) {
      const none = element("button", "none", "It stays one token");
      none.type = "button";
      none.addEventListener("click", () => {
        this.value = [];
        for (const button of row.querySelectorAll("button")) button.ariaPressed = "false";
        changed();
      });
      host.append(element("p", "chosen", "Press between two letters to set or remove a boundary."), none);
      return;
    }
    const legend = element("p", "legend");
    legend.append(element("span", "swatch solid"), "boundary");
    if (given) {
      legend.append(element("span", "swatch thick"), "yours, not a boundary");
      legend.append(element("span", "swatch dotted"), "missing in yours");
    }
    host.append(legend);
  }

  #move(event, row) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const buttons = [...row.querySelectorAll("button")];
    const at = buttons.indexOf(event.composedPath()[0]);
    if (!by || at < 0) return;
    event.preventDefault();
    buttons[at + by]?.focus();
  }
}

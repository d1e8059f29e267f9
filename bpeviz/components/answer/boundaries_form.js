// Set the boundaries between the tokens of a short text.

import { element, newButton } from "../shared/dom.js";
import { legend } from "./legend.js";
import { spoken } from "../shared/spoken.js";
import { atomsOf, boundaryKind, nearestBox, standIn, toggled } from "./logic.js";

export class BoundariesForm {
  /**
   * @param {any} host
   * @param {{text: string, fixed?: number[]}} data the text, and the places without a choice
   * @param {number[] | null} given boundaries, as numbers of the characters before them
   * @param {{right: number[], colors: number[]} | null} marks the boundaries, and the color of each token
   * @param {() => void} changed
   */
  constructor(host, { text, fixed = [] }, given, marks, changed) {
    this.value = marks ? given : null;
    const row = element("div", "word text");
    const atoms = atomsOf(text);
    let token = 0;
    let chunk; // a line breaks between the parts around fixed places, if these are short
    atoms.forEach((atom, i) => {
      if (!i || fixed.includes(i)) row.append((chunk = element("span", "chunk")));
      const color = marks ? marks.colors[token] : -1;
      const sign = element("span", color < 0 ? "c sign" : `c sign t color${color}`, standIn(atom));
      chunk.append(sign);
      if (i + 1 === atoms.length) return;
      if (fixed.includes(i + 1)) {
        chunk.append(element("span", "gap fixed"));
        return;
      }
      const names = `between ${spoken(atom)} and ${spoken(atoms[i + 1])}`;
      if (marks) {
        const kind = boundaryKind(given, marks.right, i + 1);
        const line = element("span", `gap ${kind}`);
        const words = { right: "right", extra: "extra", missing: "missing" }[kind];
        if (words) {
          line.setAttribute("role", "img");
          line.ariaLabel = `Boundary ${names}: ${words}`;
        }
        chunk.append(line);
        if (marks.right.includes(i + 1)) token++;
        return;
      }
      const press = ({ detail }) => {
        if (this.dragged && detail) return; // the browser clicks where a drag began
        this.#set([[this.gaps.indexOf(button), !this.value?.includes(i + 1)]]);
      };
      const button = newButton("gap", "", press, `Boundary ${names}`);
      button.ariaPressed = "false";
      chunk.append(button);
    });
    this.places = atoms.map((_, i) => i + 1).filter((place) => !fixed.includes(place));
    this.gaps = [...row.querySelectorAll("button")];
    this.changed = changed;
    row.addEventListener("keydown", (event) => this.#move(event));
    row.addEventListener("pointerdown", (event) => this.#drag(event));
    host.append(row);
    if (!marks) {
      const none = newButton("none", fixed.length ? "It cuts nowhere else" : "It stays one token", () => {
        this.value = [];
        this.#set(this.gaps.map((_, i) => [i, false]));
      });
      const hint = "Press between two letters to set or remove a boundary, or drag one.";
      host.append(element("p", "chosen", hint), none);
      return;
    }
    const kinds = [...row.querySelectorAll(".gap")].map(({ classList }) => classList[1]);
    host.append(
      legend([
        ["solid", "boundary"],
        ...(kinds.includes("extra") ? [["thick", "your boundary, which is wrong"]] : []),
        ...(kinds.includes("missing") ? [["dotted", "boundary that you missed"]] : []),
      ]),
    );
  }

  /** Set or remove boundaries: [index of the gap, whether it is a boundary]. */
  #set(gaps) {
    for (const [i, isSet] of gaps) {
      const value = this.value ?? [];
      const place = this.places[i];
      if (value.includes(place) !== isSet) this.value = toggled(value, place);
      this.gaps[i].ariaPressed = String(isSet);
    }
    this.changed();
  }

  /** Drag a boundary from one gap to another. */
  #drag(event) {
    const from = this.gaps.indexOf(event.target.closest("button"));
    this.dragged = false;
    if (from < 0) return;
    const start = this.gaps[from];
    start.setPointerCapture(event.pointerId);
    let to = from;
    const show = (i) => {
      this.gaps[to].classList.remove("target");
      to = i;
      this.gaps[to].classList.toggle("target", to !== from);
    };
    const end = new AbortController();
    const on = (name, listener) => start.addEventListener(name, listener, { signal: end.signal });
    on("pointermove", ({ clientX, clientY }) => {
      show(nearestBox(this.gaps.map((gap) => gap.getBoundingClientRect()), clientX, clientY));
    });
    on("pointerup", () => {
      end.abort();
      const drop = to;
      show(from);
      if (drop === from) return;
      this.dragged = true;
      this.#set([[from, false], [drop, true]]);
      this.gaps[drop].focus();
    });
    on("pointercancel", () => {
      end.abort();
      show(from);
    });
  }

  #move(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const buttons = this.gaps;
    const at = buttons.indexOf(event.composedPath()[0]);
    if (!by || at < 0) return;
    event.preventDefault();
    buttons[at + by]?.focus();
  }
}

// Choose a number.

import { element, newButton } from "../shared/dom.js";
import { clampNumber, placeOf, ticks } from "./logic.js";

export class NumberForm {
  /**
   * @param {any} host
   * @param {{low: number, high: number, unit: string}} data
   * @param {number | null} given
   * @param {{right: number} | null} marks
   * @param {() => void} changed
   */
  constructor(host, { low, high, unit }, given, marks, changed) {
    this.value = given;
    if (marks) {
      const line = element("div", "number-line");
      const place = (number, name, label) => {
        const mark = element("span", `place ${name}`, `${label}: ${number.toLocaleString("en")}`);
        mark.style.insetInlineStart = `${placeOf(number, low, high)}%`;
        line.append(mark);
      };
      // The answer stands above the line, the user's number below it: they never cover each other.
      line.append(element("span", "axis"));
      for (const number of ticks(low, high)) {
        const isNear = given !== null && Math.abs(placeOf(number, low, high) - placeOf(given, low, high)) < 6;
        const tick = element("span", isNear ? "at covered" : "at", number.toLocaleString("en"));
        tick.style.insetInlineStart = `${placeOf(number, low, high)}%`;
        line.append(tick);
      }
      if (given !== null && given !== marks.right) place(given, "given", "You");
      place(marks.right, "right", given === marks.right ? "You: right" : "Answer");
      host.append(line);
      return;
    }
    const row = element("div", "row");
    const field = element("input", "number");
    Object.assign(field, { type: "number", inputMode: "numeric", min: low, max: high, placeholder: "?" });
    field.ariaLabel = `Number of ${unit}, from ${low} to ${high}`;
    const set = (number) => {
      this.value = number;
      changed();
    };
    field.addEventListener("input", () => set(field.value === "" ? null : clampNumber(field.value, low, high)));
    field.addEventListener("change", () => {
      if (this.value !== null) field.value = this.value;
    });
    const step = (label, name, by) => {
      const change = () => {
        set(clampNumber((this.value ?? (by > 0 ? low - 1 : high + 1)) + by, low, high));
        field.value = this.value;
      };
      return newButton("step", label, change, name);
    };
    row.append(step("−", "One less", -1), field, step("+", "One more", 1), element("span", "unit", unit));
    host.append(row);
  }
}

// The whole text as a thin strip of bars, one for each token of a row: pale where all rows have the token,
// else in the accent color.

import { draw } from "../shared/dom.js";

const NARROWEST_BAR = 4; // pixels, on average, of bars with a line between them

export class BarCode {
  /**
   * @param {{tokenEnds: number[]}} row
   * @param {{start: number, end: number, alike: boolean}[]} runs see `agreement`
   * @param {number} size bytes of the text
   * @param {(byte: number) => void} pressed
   */
  constructor({ tokenEnds }, runs, size, pressed) {
    this.ends = tokenEnds;
    const viewBox = `0 0 ${Math.max(1, size)} 1`;
    this.box = draw(null, "svg", { class: "bar-code", viewBox, preserveAspectRatio: "none", "aria-hidden": "true" });
    draw(this.box, "title", {}, "Pale: tokens that all rows have. Click to go to that place.");
    const bars = (alike) =>
      runs.map((run) => (run.alike === alike ? `M${run.start} 0H${run.end}V1H${run.start}z` : "")).join("");
    for (const [name, path] of [["alike", bars(true)], ["differs", bars(false)], ["gaps", ""]]) draw(this.box, "path", { class: name, d: path });
    this.box.addEventListener("click", ({ clientX }) => {
      const { left, width } = this.box.getBoundingClientRect();
      pressed(Math.min(size - 1, Math.max(0, Math.floor((size * (clientX - left)) / width))));
    });
  }

  /** Draw lines between tokens, where there is room for them. */
  draw() {
    const hasRoom = this.box.clientWidth / this.ends.length >= NARROWEST_BAR;
    this.box.lastChild.setAttribute("d", hasRoom ? this.ends.map((end) => `M${end} 0V1`).join("") : "");
  }
}

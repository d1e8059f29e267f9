// The merge diagram with one step field, and a button that saves it.

import { component, element } from "../shared/dom.js";
import { formatCount } from "../shared/format.js";
import { savesPicture } from "../shared/picture.js";
import { firstIndex } from "../shared/search.js";
import { TextDiagram } from "./text_diagram.js";

class DiagramView extends TextDiagram {
  constructor(root, signal) {
    super(root, signal);
    [this.readout, this.field, this.track, this.number] = [".readout", ".field", ".track", ".step"].map((selector) => root.querySelector(selector));
    savesPicture(root.querySelector(".save"), () => root.querySelector(".merge-diagram"));
    this.track.addEventListener("input", () => this.showStep(this.steps[Number(this.track.value)]), { signal });
    this.number.addEventListener("change", () => this.showStep(Number(this.number.value) || 0), { signal });
  }

  /** @param {import("./text_diagram.js").DiagramPayload} data */
  update(data) {
    if (this.data?.key === data.key) return;
    this.load(data);
    this.field.querySelector("output").textContent = formatCount(this.steps.at(-1));
    this.track.max = this.steps.length - 1;
    this.number.max = this.steps.at(-1);
    this.showStep(this.steps.at(-1));
  }

  showStep(step) {
    this.step = Math.max(0, Math.min(this.steps.at(-1), Math.round(step)));
    const sides = super.showStep(this.step);
    this.readout.replaceChildren(...sides.map(({ words }) => element("p", "", words)));
    this.number.value = this.step;
    this.track.value = firstIndex(this.steps.length, (i) => this.steps[i] > this.step) - 1;
    this.track.setAttribute("aria-valuetext", sides.map(({ words }) => words).join("; "));
    return sides;
  }
}

export const mount = component(DiagramView);

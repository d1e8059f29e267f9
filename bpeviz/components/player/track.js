// The track of the player: a slider on the curve of the number of tokens after each step, with a line for
// each text.

import { element } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";

const POINTS = 600; // of a curve
const [TOP, BOTTOM] = [0.1, 0.86]; // of the largest and of the smallest number, relative to the height
const ROW = 15; // pixels of a label at an end
const HEIGHT = 56;

/**
 * Return the first step that reaches half of the change of a series, or null if it does not change.
 * @param {number[]} counts
 */
export function halfWay(counts) {
  const change = (count) => Math.sign(counts.at(-1) - counts[0]) * (count - counts[0]);
  const half = counts.findIndex((count) => 2 * change(count) >= change(counts.at(-1)));
  return change(counts.at(-1)) ? half : null;
}

/**
 * Return the upper edges of labels, from 0 to 1, so that none covers another.
 * @param {number[]} edges in rising order
 * @param {number} height of a label
 */
export function spread(edges, height) {
  const apart = [];
  for (const edge of edges) apart.push(Math.max(edge, (apart.at(-1) ?? -height) + height));
  return apart.map((edge, i) => Math.min(edge, 1 - height * (apart.length - i)));
}

const percent = (share) => `${Math.round(share * 1e4) / 100}%`;

export class Track {
  /** @param {any} root */
  constructor(root) {
    const find = (name) => root.querySelector(name);
    [this.box, this.input, this.starts, this.ends] = [".course", ".track", ".starts", ".ends"].map(find);
    [this.area, this.lines, this.half] = [".area", ".drawing", ".half"].map(find);
  }

  /**
   * Draw the numbers of tokens of all steps.
   * @param {import("./player.js").PlayerPayload} data
   */
  draw({ views, last, unit, changingSteps }) {
    this.input.max = last;
    this.input.disabled = !last;
    this.counts = views.map(({ tokenCounts, ownSteps }) => Array.from({ length: last + 1 }, (_, step) => tokenCounts[ownSteps?.[step] ?? step]));
    this.box.style.setProperty("--digits", `${Math.max(3.5, formatCount(this.counts[0][0]).length)}ch`); // nothing moves
    const limits = (choose) => choose(...this.counts.map((counts) => counts.reduce((one, other) => choose(one, other))));
    const [low, high] = [limits(Math.min), limits(Math.max)];
    this.level = (count) => (low === high ? (TOP + BOTTOM) / 2 : TOP + ((BOTTOM - TOP) * (high - count)) / (high - low));
    const stride = Math.max(1, last / POINTS);
    const steps = Array.from({ length: Math.floor(last / stride) + 1 }, (_, i) => Math.round(i * stride));
    const at = (step) => step / (last || 1);
    const places = this.counts.map((counts) => steps.map((step) => [at(step), this.level(counts[step])]));
    const [first] = places;
    const isSingle = views.length === 1;
    this.area.style.clipPath = isSingle ? `polygon(${[[0, 1], ...first, [first.at(-1)[0], 1]].map(([x, y]) => `${percent(x)} ${percent(y)}`)})` : "";
    this.area.hidden = !isSingle;
    const [changes, ...paths] = this.lines.children;
    paths.forEach((path) => path.remove());
    const marks = (changingSteps ?? []).filter((step) => step <= last).map((step) => Math.round(at(step) * 1000) / 1000);
    changes.setAttribute("d", [...new Set(marks)].map((x) => `M${x} 1v-.14`).join(""));
    for (const line of places.toReversed()) {
      const path = this.lines.appendChild(changes.cloneNode());
      path.setAttribute("class", line === first ? "line first" : "line");
      path.setAttribute("d", `M${line.map(([x, y]) => `${x.toFixed(4)} ${y.toFixed(4)}`).join("L")}${last ? "" : "H1"}`);
    }
    this.#label(this.starts, isSingle ? [[this.level(this.counts[0][0]), formatCount(this.counts[0][0])]] : [[TOP, counted(high, "token")], [BOTTOM, formatCount(low)]]);
    this.#label(this.ends, views.map(({ title }, i) => [this.level(this.counts[i][last]), isSingle ? formatCount(this.counts[i][last]) : (title ?? "")]));
    this.#markHalf(isSingle ? halfWay(this.counts[0]) : null, last, unit);
  }

  // Labels stand beside the curve, none on another one.
  #label(box, labels) {
    const sorted = labels.toSorted(([one], [other]) => one - other);
    const height = Math.max(HEIGHT, ROW * labels.length);
    if (box === this.ends) this.box.style.setProperty("--height", `${height}px`);
    const share = ROW / height;
    const tops = spread(sorted.map(([level]) => level - share / 2), share);
    box.style.width = `${Math.max(...labels.map(([, words]) => words.length)) + 1}ch`;
    box.replaceChildren(
      ...sorted.map(([, words], i) => {
        const label = element("span", "", words);
        label.style.top = percent(tops[i]);
        return label;
      }),
    );
  }

  #markHalf(step, last, unit) {
    this.half.hidden = step === null || last < 3 || step === last;
    this.half.textContent = ""; // it describes the slider
    if (this.half.hidden) return;
    const [counts] = this.counts;
    const falls = counts[last] < counts[0];
    const [x, y] = [step / last, this.level(counts[step])];
    this.half.textContent = `half of the ${falls ? "saving" : "rise"} after ${formatCount(step)} of ${counted(last, unit)}`;
    this.half.className = `half ${x > 0.5 ? "before" : "after"} ${falls === x > 0.5 ? "below" : "above"}`;
    this.half.style.setProperty("--x", percent(x));
    this.half.style.setProperty("--y", percent(y));
  }

  /**
   * @param {number} step
   * @param {string} words
   */
  show(step, words) {
    this.input.value = step;
    this.input.setAttribute("aria-valuetext", words);
    this.box.style.setProperty("--at", percent(step / (Number(this.input.max) || 1)));
    this.box.style.setProperty("--level", percent(this.level(this.counts[0][step])));
  }
}

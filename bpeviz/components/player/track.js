// The track of the player: a slider on the curve of the number of tokens after each step, with a line for
// each text. In a task of Learn, the curves of a training text and of a new one in percent of their bytes.

import { directionOf, labelInBytes } from "../shared/cells.js";
import { draw, element, newButton } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";

const POINTS = 600; // of a curve
const [TOP, BOTTOM] = [0.1, 0.86]; // of the largest and of the smallest number, relative to the height
const ROW = 15; // pixels of a label at an end
const HEIGHT = 56;
const CHIP = 38; // pixels
const STROKES = 5; // looks of curves beside the first one
const HEIGHT_OF_CURVES = 96; // there is room for the words of marks

/**
 * Return the steps that have a chip: all, or as many as fit at equal distances, the last one among them.
 * @param {number[]} steps
 * @param {number} most
 */
export function chipSteps(steps, most) {
  const count = Math.min(steps.length, most);
  return Array.from({ length: count }, (_, i) => steps[Math.ceil(((i + 1) * steps.length) / count) - 1]);
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

/**
 * @typedef {object} CurvesPayload the payload from Python (`bpeviz.ui.learn.chapters.stop`)
 * @property {{title: string, values: number[]}[]} lines percentages after each step, those of the player's text first
 * @property {[number, string][]} marks steps that are marked by words
 * @property {number | null} rows the entries of the vocabulary before the first merge: its bytes
 */

const percent = (share) => `${Math.round(share * 1e4) / 100}%`;

const strokeOf = (i) => (i ? `stroke${1 + ((i - 1) % STROKES)}` : "first");

/** Return the name of a curve, after a piece of it where there are several. */
function nameOfCurve(words, stroke) {
  const name = element("span");
  if (stroke) draw(draw(name, "svg", { class: "sample", viewBox: "0 0 22 8" }), "path", { class: stroke, d: "M0 4h22" });
  name.append(words);
  return name;
}

export class Track {
  /** @param {any} root */
  constructor(root) {
    const find = (name) => root.querySelector(name);
    [this.box, this.input, this.area, this.ends] = [".course", ".track", ".area", ".ends"].map(find);
    [this.start, this.marks, this.table] = [".start", ".marks", ".table"].map(find);
    this.chips = find(".chips");
    this.others = root.querySelector(".others");
    this.paths = root.querySelectorAll(".drawing path"); // of the steps that change the text, and of the first text
  }

  /**
   * Draw the numbers of tokens of all steps.
   * @param {import("./player.js").PlayerPayload} data
   * @param {boolean} [isBytes] whether chips are bytes
   */
  draw({ views, last, unit, changingSteps, curves }, isBytes) {
    this.isBytes = isBytes;
    Object.assign(this.input, { max: last, disabled: !last });
    this.height = curves ? HEIGHT_OF_CURVES : HEIGHT;
    this.counts = curves?.lines.map(({ values }) => values) ?? views.map(({ tokenCounts, ownSteps }) => Array.from({ length: last + 1 }, (_, step) => tokenCounts[ownSteps?.[step] ?? step]));
    const [low, high] = [Math.min, Math.max].map((choose) => this.counts.flat().reduce((one, other) => choose(one, other)));
    this.level = (count) => TOP + ((BOTTOM - TOP) * (high - count)) / (high - low || 1);
    const at = (step) => step / (last || 1);
    const stride = Math.ceil(last / POINTS) || 1;
    const [first, ...others] = this.counts.map((counts) =>
      counts.flatMap((count, step) => (step % stride && step !== last ? [] : [[at(step), this.level(count)]])),
    );
    if (!last) for (const curve of [first, ...others]) curve.push([1, curve[0][1]]); // a level line
    const lineOf = (curve) => `M${curve.map((place) => place.map((share) => share.toFixed(4))).join("L")}`;
    const marks = new Set((changingSteps ?? []).filter((step) => step <= last).map((step) => `M${at(step).toFixed(3)} 1v-.14`));
    [[...marks], [lineOf(first)]].forEach((lines, i) => this.paths[i].setAttribute("d", lines.join("")));
    this.others.replaceChildren();
    others.forEach((curve, i) => draw(this.others, "path", { class: strokeOf(i + 1), d: lineOf(curve) }));
    const corners = [[0, 1], ...first, [1, 1]].map(([x, y]) => `${percent(x)} ${percent(y)}`);
    this.area.style.clipPath = others.length ? "inset(50%)" : `polygon(${corners})`;
    this.start.textContent = curves ? percent(high / 100) : others.length ? counted(high, "token") : formatCount(high);
    this.box.style.setProperty("--digits", `${Math.max(3.5, formatCount(high).length)}ch`); // nothing moves
    const nameOf = (count, i) => (curves ? `${curves.lines[i].title} ${percent(Math.round(count) / 100)}` : others.length ? views[i].title : formatCount(count));
    this.#nameEnds(this.counts.map((counts, i) => [counts[last], nameOf(counts[last], i)]));
    this.#mark(curves ?? { marks: [], rows: null }, at);
    this.steps = views.length > 1 || curves ? [] : (changingSteps ?? Array.from({ length: last }, (_, i) => i + 1)).filter((step) => step <= last);
    const { steps, tokenStyles } = views[0];
    const styleOf = (step) => tokenStyles[steps.id[step - 1]] ?? ["?", -1];
    this.direction = isBytes ? directionOf(views[0].text) : "auto";
    this.labelOf = (step) => this.isBytes ? labelInBytes(styleOf(step)[0], this.direction) : styleOf(step)[0].replaceAll("⟩⟨", " ").replace(/[⟨⟩]/g, "");
    this.colorOf = (step) => styleOf(step)[1];
    this.unit = unit;
    this.layOut();
  }

  /** Draw a chip for each step with its token, or for as many as fit. Each ends at its step. */
  layOut() {
    const most = Math.max(6, Math.floor(this.chips.clientWidth / CHIP));
    this.chips.hidden = !this.steps?.length;
    if (this.chips.hidden || (this.drawn === this.steps && this.most === most)) return;
    [this.drawn, this.most] = [this.steps, most];
    const steps = chipSteps(this.steps, most);
    this.chips.replaceChildren(
      ...steps.map((end, i) => {
        const chip = newButton("chip", "", () => this.chosen(chip.step));
        return Object.assign(chip, { end, tabIndex: -1, dir: this.direction, style: `flex-grow: ${end - (steps[i - 1] ?? 0)}` });
      }),
    );
    this.#fillChips(this.at ?? 0);
  }

  // The present step always has a chip: in place of the one that covers it.
  #fillChips(at) {
    let before = 0;
    for (const chip of this.chips.children) {
      const step = at > before && at < chip.end && this.steps.includes(at) ? at : chip.end;
      before = chip.end;
      if (chip.step !== step) {
        chip.step = step;
        chip.textContent = this.labelOf(step);
        chip.title = chip.ariaLabel = `${this.unit} ${formatCount(step)}: ${chip.textContent}`;
      }
      chip.className = `chip color${this.colorOf(step)}${step <= at ? " done" : ""}${step === at ? " now" : ""}`;
    }
  }

  #nameEnds(names) {
    const height = Math.max(this.height, ROW * names.length);
    this.box.style.setProperty("--height", `${height}px`);
    names.forEach((name, i) => name.push(names.length > 1 ? strokeOf(i) : ""));
    names.sort(([one], [other]) => other - one);
    const edges = spread(names.map(([count]) => this.level(count) - ROW / height / 2), ROW / height);
    this.ends.replaceChildren(...names.map(([, words, stroke]) => nameOfCurve(words, stroke)));
    edges.forEach((edge, i) => (this.ends.children[i].style.top = `${edge * height}px`));
  }

  #mark({ marks, rows }, at) {
    this.rows = rows;
    this.table.hidden = rows === null;
    this.box.classList.toggle("marked", marks.length > 0);
    this.marks.replaceChildren(
      ...marks.map(([step, words]) => {
        const isLate = at(step) > 0.5;
        const [name, more = ""] = words.split(/(?=,)/);
        const style = `inset: 0 ${percent(isLate ? 1 - at(step) : 0)} 0 ${percent(isLate ? 0 : at(step))}`; // words wrap in the plot
        // A phone has no place for more beside the curve.
        return element("span", { className: isLate ? "mark late" : "mark", style }, name, element("span", "more", more));
      }),
    );
  }

  /**
   * Move the slider.
   * @param {number} step
   * @param {string} words
   */
  show(step, words) {
    this.input.value = step;
    this.input.setAttribute("aria-valuetext", words);
  }

  /** Draw the marker on the curve. */
  mark(step) {
    this.at = step;
    this.#fillChips(step);
    if (this.rows) {
      this.table.textContent = `Entries of the vocabulary: ${formatCount(this.rows)} bytes + ${counted(step, "merge")} = ${formatCount(this.rows + step)}`;
      const shares = [this.rows, this.rows + step].map((rows) => percent(rows / (this.rows + Number(this.input.max))));
      this.table.style.backgroundSize = `${shares[0]} 4px, ${shares[1]} 4px`;
    }
    this.box.style.setProperty("--at", percent(step / (Number(this.input.max) || 1)));
    this.box.style.setProperty("--level", percent(this.level(this.counts[0][step])));
  }
}

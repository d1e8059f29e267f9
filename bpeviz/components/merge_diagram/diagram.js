// The merge diagram: all steps of a short text in one drawing. Steps run away from the text on a
// logarithmic scale: up, and down for a second tokenizer. A marker line shows the current step.

import { LEFT_OUT_ID, SPECIAL_ID, UNKNOWN_ID } from "../shared/cells.js";
import { draw, element, tokenLabel } from "../shared/dom.js";
import { JUMP, STEP_CHANGED, currentStep, emit, subscribe } from "../shared/events.js";
import { WIDE_CHARACTER, counted, formatCount } from "../shared/format.js";
import { CAN_SAVE, newSheet, saveSheet } from "../shared/picture.js";
import {
  END_HEIGHT,
  Geometry,
  MARGIN,
  MARGIN_LEFT,
  MARGIN_RIGHT,
  changingSteps,
  existsAt,
  stepAfterKey,
} from "./geometry.js";

const MAX_FONT = 15;
const MIN_FONT = 7; // a token without room for this has no label
const LABEL_GAP = 11; // pixels between labels of the scale
const CHARACTER_WIDTH = 0.61; // em, of the monospace font

export class MergeDiagram {
  constructor(root, signal) {
    const find = (selector) => root.querySelector(selector);
    this.frame = find(".scroll");
    this.svg = find(".drawing");
    this.readout = find(".readout");
    find(".save").hidden = !CAN_SAVE;
    find(".save").addEventListener("click", () => this.#save(), { signal });
    this.frame.addEventListener("scroll", () => this.#placeHandles(), { signal });
    const observer = new ResizeObserver(() => this.#fit());
    observer.observe(this.frame);
    signal.addEventListener("abort", () => observer.disconnect());
    // A player that shows the same timeline reports its step.
    const follow = ({ step, timelineId }) => {
      if (this.slider && this.data.timelineId === timelineId && step !== this.step) this.show(step);
    };
    subscribe(STEP_CHANGED, follow, signal);
  }

  /** @param {import("./geometry.js").DiagramPayload} data */
  update(data) {
    if (this.data?.key === data.key && this.data.timelineId === data.timelineId) return;
    this.data = data;
    this.steps = changingSteps(data);
    this.step = (data.timelineId ? currentStep() : null) ?? this.steps.at(-1);
    this.width = 0;
    this.#fit();
  }

  #save() {
    this.#placeHandles(Infinity);
    const copy = this.svg.cloneNode(true);
    this.#placeHandles();
    const { sides, words } = this.data;
    const title = `Merge diagram of ${sides.map((side) => side.title).join(" and ")}`;
    saveSheet(newSheet(this.frame, { title, ...words }, copy), title, "bpeviz-merge-diagram.svg");
  }

  /** Move the marker line by hand, and the player with it. */
  go(step) {
    const before = this.step;
    this.show(step);
    if (!this.data.timelineId || this.step === before) return;
    emit(JUMP, this.step);
    this.slider.focus({ preventScroll: true }); // the player takes the focus on a jump
  }

  #fit() {
    if (!this.data) return;
    const width = this.frame.clientWidth;
    if (!width || Math.abs(width - this.width) < 4) return;
    this.width = width;
    this.#draw();
  }

  #draw() {
    const { data, svg } = this;
    this.geometry = new Geometry(data, this.width);
    const { width, height, directions } = this.geometry;
    svg.replaceChildren();
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height }))
      svg.setAttribute(name, value);
    const titles = data.sides.map(({ title }) => title).join(" above, below ");
    draw(svg, "title", {}, `Merge diagram: the tokens of a text at every step. ${titles}`);
    draw(svg, "rect", { class: "paper", width, height });
    directions.forEach((direction) => this.#drawScale(direction));
    this.tokens = data.sides.map((side, i) => this.#drawSide(side, directions[i]));
    this.#drawText();
    this.markers = directions.map((direction) => this.#drawMarker(direction));
    this.#placeHandles();
    this.show(this.step);
  }

  // A wide drawing scrolls under its handle.
  #placeHandles(visible = this.frame.scrollLeft + this.frame.clientWidth) {
    for (const { knob } of this.markers ?? []) knob.setAttribute("cx", this.geometry.handleX(visible));
  }

  #drawScale(direction) {
    const { geometry, svg } = this;
    let labeled = -Infinity;
    for (const step of geometry.ticks()) {
      const distance = geometry.distance(step);
      const y = geometry.y(distance, direction);
      draw(svg, "line", { class: "grid-line", x1: MARGIN_LEFT, x2: geometry.width - MARGIN_RIGHT, y1: y, y2: y });
      if (distance - labeled < LABEL_GAP) continue;
      labeled = distance;
      const place = { x: MARGIN_LEFT - 6, y: y + 3.5, "font-size": 10.5, "text-anchor": "end" };
      draw(svg, "text", { class: "words faint", ...place }, formatCount(step));
    }
  }

  // Draw the tokens of a side; return them with their elements.
  #drawSide(side, direction) {
    const { geometry, svg } = this;
    const { title, unit, stepCount } = side;
    const y = direction < 0 ? MARGIN - 12 : geometry.bottom + geometry.sideHeight + 20;
    const heading = `${title}: number of ${unit}s, up to ${formatCount(stepCount)} (log scale)`;
    draw(svg, "text", { class: "words", x: MARGIN_LEFT, y, "font-size": 12.5 }, heading);
    const group = draw(svg, "g");
    return side.tokens.map((token) => {
      const [, , since, until, id] = token;
      const fallback = { [LEFT_OUT_ID]: "dropped", [UNKNOWN_ID]: "unknown" }[id] ?? "…";
      const [label, color] = side.tokenStyles[id] ?? [fallback, -1];
      const box = geometry.box(token, stepCount, direction);
      const parent = draw(group, "g");
      const colorClass = color >= 0 ? ` tinted color${color}` : id < 0 && id > SPECIAL_ID ? " unknown" : "";
      const rect = draw(parent, "rect", { class: `token${colorClass}`, ...box });
      const steps = `${unit} ${formatCount(since)} to ${until < 0 ? "the end" : formatCount(until)}`;
      draw(rect, "title", {}, `${label}${id < 0 ? "" : ` id ${id}`}, from ${steps}`);
      // A label as large as fits.
      let ems = 0;
      for (const sign of label) ems += WIDE_CHARACTER.test(sign) ? 1 : CHARACTER_WIDTH;
      const size = Math.min(MAX_FONT, (box.width - 4) / ems, box.height - 2);
      if (size >= MIN_FONT) {
        const place = { x: box.x + box.width / 2, y: box.y + box.height / 2 + size * 0.35 };
        const font = { "font-size": size.toFixed(1), "text-anchor": "middle", "pointer-events": "none" };
        draw(parent, "text", { ...place, ...font }, label);
      }
      return { token, element: parent, label, color };
    });
  }

  // Draw the text, and the bytes below signs of several bytes.
  #drawText() {
    const { geometry, svg, data } = this;
    const { top, columnWidth } = geometry;
    const axis = (x1, x2, y) => draw(svg, "line", { class: "axis", x1, x2, y1: y, y2: y });
    const text = (x, y, size, attributes, content) =>
      draw(svg, "text", { x, y, "font-size": size.toFixed(1), "text-anchor": "middle", ...attributes }, content);
    for (const direction of geometry.directions)
      axis(MARGIN_LEFT, geometry.x(data.columnCount), geometry.y(0, direction));
    for (const [from, to, sign, bytes] of data.signs) {
      const isStandIn = sign.length > 3 && sign.startsWith("⟨");
      const ems = isStandIn ? sign.length * CHARACTER_WIDTH : WIDE_CHARACTER.test(sign) ? 1.1 : CHARACTER_WIDTH;
      const size = Math.min(20, Math.max(8, ((to - from) * columnWidth - 2) / ems));
      text(geometry.x((from + to) / 2), top + 22, size, {}, sign);
      if (bytes.length < 2) continue;
      const small = Math.min(10, (columnWidth - 2) / (2 * CHARACTER_WIDTH));
      for (const [column, hex] of bytes) text(geometry.x(column + 0.5), top + 38, small, { class: "faint" }, hex);
      axis(geometry.x(from) + 2, geometry.x(to) - 2, top + 28);
    }
  }

  // Draw a marker line with its handle. The upper one is the slider for keyboards.
  #drawMarker(direction) {
    const { geometry, svg } = this;
    const { width } = geometry;
    const handle = draw(svg, "g", { class: "handle" });
    draw(handle, "line", { class: "marker", x1: MARGIN_LEFT, x2: width - MARGIN_RIGHT + 8, y1: 0, y2: 0 });
    draw(handle, "rect", { class: "grip", x: MARGIN_LEFT, y: -9, width: width - MARGIN_LEFT, height: 18 });
    const knob = draw(handle, "circle", { class: "knob", cy: 0, r: 8 });
    if (direction < 0) {
      const slider = { role: "slider", "aria-orientation": "vertical", "aria-label": "Step of the merge diagram" };
      for (const [name, value] of Object.entries({ tabindex: 0, ...slider })) handle.setAttribute(name, value);
      handle.addEventListener("keydown", (event) => this.#key(event));
      this.slider = handle;
    }
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      this.slider.focus({ preventScroll: true });
      event.preventDefault();
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const y = event.clientY - svg.getBoundingClientRect().top;
      this.go(geometry.stepAt(geometry.distanceAt(y, direction)));
    });
    return { handle, knob, direction };
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = stepAfterKey(event.key, this.step, this.steps);
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(step);
  }

  /**
   * Show the tokens after `step` steps.
   * @param {number} step
   * @param {number[]} [own] the step of each side, where they differ
   */
  show(step, own) {
    const { data, slider, geometry } = this;
    this.step = Math.max(0, Math.min(geometry.last, Math.round(step)));
    this.markers.forEach(({ handle, direction }, i) => {
      const at = own?.[i] ?? this.step;
      const distance = geometry.distance(at) + (at === geometry.last ? END_HEIGHT / 2 : 0);
      handle.setAttribute("transform", `translate(0 ${geometry.y(distance, direction)})`);
    });
    const summaries = data.sides.map(({ title, unit, stepCount, note }, i) => {
      const current = Math.min(own?.[i] ?? this.step, stepCount);
      const existing = this.tokens[i].filter(({ token, element: parent }) => {
        const exists = existsAt(token, current);
        parent.setAttribute("class", exists ? "current" : token[2] > current ? "later" : "");
        return exists;
      });
      // The outline of a current token is drawn over its neighbors.
      for (const { element: parent } of existing) parent.parentNode.append(parent);
      const tokens = existing.filter(({ token: [, , , , id] }) => id !== LEFT_OUT_ID);
      tokens.sort((a, b) => a.token[0] - b.token[0]);
      const words = `${counted(tokens.length, "token")} after ${counted(current, unit)}${note}`;
      return { title, words, tokens };
    });
    const values = { min: 0, max: geometry.last, now: this.step };
    for (const [name, value] of Object.entries(values)) slider.setAttribute(`aria-value${name}`, value);
    slider.setAttribute("aria-valuetext", summaries.map(({ title, words }) => `${title}: ${words}`).join("; "));
    this.readout.replaceChildren(
      ...summaries.map(({ title, words, tokens }) => {
        const box = element("div");
        const line = box.appendChild(element("p"));
        line.append(element("b", "", `${title}: `), words);
        if (summaries.length > 1) return box;
        const pieces = box.appendChild(element("div", "pieces"));
        pieces.setAttribute("role", "list");
        pieces.append(...tokens.map(({ label, color }) => tokenLabel(label, color)));
        for (const piece of pieces.children) piece.setAttribute("role", "listitem");
        return box;
      }),
    );
  }
}

// Draw a curve, and see the true one over it.

import { element } from "../shared/dom.js";
import { formatCount } from "../shared/format.js";
import { drawnPath, handleNear, scaled, unscaled } from "./logic.js";

// The size of the picture, and the space around the curve. On a phone, text and dots have the same
// size on the screen, and the curve is high enough to draw it with a finger.
const WIDE = { width: 640, height: 235, left: 76, right: 40, top: 38, bottom: 58, radius: 9 };
const NARROW = { width: 360, height: 270, left: 52, right: 22, top: 36, bottom: 58, radius: 13 };

const svg = (tag, attributes, text) => {
  const created = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  if (text !== undefined) created.textContent = text;
  return created;
};

export class CurveForm {
  /**
   * @param {any} host
   * @param {{handles: number[], first: number, high: number, xTitle: string, yTitle: string}} data
   *   positions of the handles, the first one included, whose value is known
   * @param {number[] | null} given a value for each handle
   * @param {{points: number[][]} | null} marks the true curve
   * @param {() => void} changed
   */
  constructor(host, data, given, marks, changed) {
    Object.assign(this, { data, changed, value: given });
    this.values = given ?? data.handles.map(() => data.first);
    this.size = matchMedia("(max-width: 640px)").matches ? NARROW : WIDE;
    const { width, height } = this.size;
    this.picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve" });
    this.picture.classList.toggle("drawable", !marks);
    this.picture.classList.toggle("narrow", this.size === NARROW);
    this.#axes();
    this.yours = this.picture.appendChild(svg("path", { class: "yours" }));
    this.circles = [];
    if (!marks) {
      this.#handles();
      this.picture.setAttribute("role", "group");
      this.picture.setAttribute("aria-label", `Your curve: ${data.yTitle} by ${data.xTitle}`);
    }
    if (marks) {
      const points = marks.points.map(([x, y]) => [this.#x(x), this.#y(y)]);
      this.picture.append(svg("path", { class: "truth", d: drawnPath(points) }));
      this.picture.setAttribute("role", "img");
      const listed = data.handles.map((at, i) => `${formatCount(at)}: ${formatCount(this.values[i])}`).join(", ");
      this.picture.setAttribute("aria-label", given ? `Your curve: ${listed}` : "The true curve");
    }
    host.append(this.picture);
    if (given !== null || !marks) this.#draw();
    if (marks) this.#name([["true curve", marks.points.at(-1)[1]], ...(given ? [["your curve", this.values.at(-1)]] : [])]);
    else host.append(element("p", "chosen", "Draw the curve, or move each dot with the arrow keys. The first dot is given."));
  }

  // Names stand at the ends of the curves: that of the upper curve above it, another one below its own.
  #name(ends) {
    const { width, height, right, bottom } = this.size;
    const lines = ends.map(([words, value]) => [words, this.#y(value)]).sort(([, one], [, other]) => one - other);
    lines.forEach(([words, end], i) => {
      const isLow = end + 22 > height - bottom;
      const y = !i ? end - 8 : isLow ? lines[0][1] - 28 : end + 22;
      this.picture.append(svg("text", { class: `tick name ${words.split(" ")[0]}`, x: width - right, y, "text-anchor": "end" }, words));
    });
  }

  #x(value) {
    const { data: { handles }, size: { left, right, width } } = this;
    return scaled(value, handles[0], handles.at(-1), left, width - right);
  }

  #y(value) {
    const { bottom, height, top } = this.size;
    return scaled(value, 0, this.data.high, height - bottom, top);
  }

  #axes() {
    const { handles, high, xTitle, yTitle } = this.data;
    const { left, right, width, height, bottom } = this.size;
    const add = (...given) => this.picture.append(svg(...given));
    for (const share of [0, 0.5, 1]) {
      const value = Math.round(high * share);
      add("line", { class: "grid", x1: left, x2: width - right, y1: this.#y(value), y2: this.#y(value) });
      add("text", { class: "tick", x: left - 6, y: this.#y(value) + 6, "text-anchor": "end" }, formatCount(value));
    }
    for (const at of handles)
      add("text", { class: "tick", x: this.#x(at), y: height - bottom + 22, "text-anchor": "middle" }, formatCount(at));
    add("text", { class: "tick", x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, xTitle);
    add("text", { class: "tick", x: 4, y: 22 }, yTitle);
  }

  #handles() {
    const { handles, high, xTitle, yTitle } = this.data;
    handles.forEach((at, i) => {
      const circle = svg("circle", { r: i ? this.size.radius : 5, class: i ? "handle" : "given", cx: this.#x(at) });
      this.circles.push(circle);
      if (i) {
        for (const [name, value] of [["role", "slider"], ["tabindex", 0], ["aria-valuemin", 0], ["aria-valuemax", high], ["aria-orientation", "vertical"]])
          circle.setAttribute(name, value);
        circle.setAttribute("aria-label", `${yTitle} at ${formatCount(at)} ${xTitle}`);
        circle.addEventListener("keydown", (event) => this.#key(event, i));
      }
      this.picture.append(circle);
    });
    const move = (event) => {
      const box = this.picture.getBoundingClientRect();
      const { width, height, bottom, top } = this.size;
      const x = ((event.clientX - box.left) / box.width) * width;
      const y = ((event.clientY - box.top) / box.height) * height;
      const near = handleNear(handles.map((at) => this.#x(at)), x);
      if (near) this.#set(near, unscaled(y, 0, high, height - bottom, top));
    };
    this.picture.addEventListener("pointerdown", (event) => {
      this.picture.setPointerCapture(event.pointerId);
      this.drawing = true;
      move(event);
    });
    this.picture.addEventListener("pointermove", (event) => this.drawing && move(event));
    for (const name of ["pointerup", "pointercancel"])
      this.picture.addEventListener(name, () => (this.drawing = false));
  }

  #key(event, i) {
    const { high } = this.data;
    const step = Math.max(1, Math.round(high / 50));
    const by = { ArrowUp: step, ArrowRight: step, ArrowDown: -step, ArrowLeft: -step, PageUp: 5 * step, PageDown: -5 * step }[event.key];
    const to = { Home: 0, End: high }[event.key] ?? (by === undefined ? null : this.values[i] + by);
    if (to === null) return;
    event.preventDefault();
    this.#set(i, to);
  }

  #set(i, value) {
    this.values[i] = Math.max(0, Math.min(this.data.high, Math.round(value)));
    this.value = [...this.values];
    this.#draw();
    this.changed();
  }

  #draw() {
    const { handles } = this.data;
    const points = handles.map((at, i) => [this.#x(at), this.#y(this.values[i])]);
    this.yours.setAttribute("d", drawnPath(points));
    this.circles.forEach((circle, i) => {
      circle.setAttribute("cy", points[i][1]);
      circle.setAttribute("aria-valuenow", this.values[i]);
    });
  }
}

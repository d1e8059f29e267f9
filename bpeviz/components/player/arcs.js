// Arcs from the equation of a step to its places in the text.

import { draw } from "../shared/dom.js";

const MOST = 6; // places that get an arc …
const LINES = 2; // … in so many lines, the lowest that have one …
const REACH = 4; // … of so many visible lines, or they would cross the text

export class Arcs {
  /** @param {any} root */
  constructor(root) {
    this.svg = root.querySelector(".arcs");
    this.made = () => root.querySelector(".sentence .created");
  }

  clear() {
    this.svg.replaceChildren();
  }

  /** @param {import("./timeline_view.js").TimelineView} view */
  show(view) {
    const { cells, timeline, step } = view;
    const { score } = cells;
    const made = this.made()?.getBoundingClientRect();
    if (!made || !step || !score.lines.length || score.drawn?.columns.count > 1) return;
    const { left, top } = this.svg.getBoundingClientRect();
    const [first, end] = score.wholeLines();
    const places = timeline.placesAt(step - 1).map((atom) => view.token(atom));
    const lineOf = ({ end }) => cells.lineOf(end - 1);
    const lines = [...new Set(places.map(lineOf))].filter((line) => line >= Math.max(first, end - REACH) && line < end).slice(-LINES);
    const [x, y] = [made.left + made.width / 2 - left, made.top - top];
    for (const { start, end } of places.filter((place) => lines.includes(lineOf(place))).slice(-MOST)) {
      const [from, to] = [start, end - 1].map((atom) => cells.boxOf(cells.cellOf[atom]));
      const isOnLine = Math.abs(from.top - to.top) < 4;
      const edges = isOnLine ? [from.left, from.right, to.left, to.right] : [to.left, to.right];
      const [toX, toY] = [(Math.min(...edges) + Math.max(...edges)) / 2 - left, cells.elementAt(end - 1).getBoundingClientRect().bottom - top];
      const bend = Math.max((y - toY) / 2, 40);
      draw(this.svg, "path", { d: `M${x} ${y}C${x} ${y - bend},${toX} ${toY + bend},${toX} ${toY}` });
    }
  }
}

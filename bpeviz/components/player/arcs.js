// Arcs from the equation of a step to its places in the text.

import { draw } from "../shared/dom.js";

const MOST = 12; // places that get an arc

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
    this.clear();
    const made = this.made()?.getBoundingClientRect();
    if (!made || document.fullscreenElement || !view.step || !view.cells.score.lines.length) return;
    const { left, top } = this.svg.getBoundingClientRect();
    const { cells, timeline } = view;
    const seen = cells.score.host.getBoundingClientRect();
    const boxes = [];
    for (const atom of timeline.placesAt(view.step - 1)) {
      const { start, end } = view.token(atom);
      const [first, last] = [cells.boxOf(cells.cellOf[start]), cells.boxOf(cells.cellOf[end - 1])];
      const isOnLine = Math.abs(first.top - last.top) < 4;
      if (first.bottom > seen.bottom + 2 || first.top < seen.top - 2) continue;
      boxes.push({ x: (first.left + (isOnLine ? last.right : first.right)) / 2 - left, y: cells.elementAt(start).getBoundingClientRect().bottom - top });
      if (boxes.length === MOST) break;
    }
    const [x, y] = [made.left + made.width / 2 - left, made.top - top];
    for (const box of boxes) {
      const half = (y - box.y) / 2;
      draw(this.svg, "path", { d: `M${x} ${y}C${x} ${y - Math.max(half, 40)},${box.x} ${box.y + Math.max(half, 40)},${box.x} ${box.y}` });
    }
  }
}

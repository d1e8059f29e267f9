// Draws the dot plot: one row for each text, one mark for each tokenizer, which opens the text.

import { draw } from "../shared/dom.js";
import { layout } from "./dots.js";

// The signs of the tokenizers beside that of the verdict.
const SIGNS = [
  (at) => [["circle", { r: 5, class: "sign" }], ["circle", { r: 3.4, class: "hollow" }]].map(([tag, more]) => draw(at, tag, more)),
  (at) => draw(at, "rect", { x: -4, y: -4, width: 8, height: 8, class: "sign" }),
  (at) => draw(at, "rect", { x: -1.5, y: -6, width: 3, height: 12, class: "sign" }),
  (at) => draw(at, "rect", { x: -3.5, y: -3.5, width: 7, height: 7, class: "hollow sign-line" }),
  (at) => draw(at, "rect", { x: -6, y: -1.5, width: 12, height: 3, class: "sign" }),
  (at) => draw(at, "circle", { r: 3, class: "sign" }),
  (at) => [[-6, -1, 12, 2], [-1, -6, 2, 12]].map(([x, y, width, height]) => draw(at, "rect", { x, y, width, height, class: "sign" })),
];

function drawSign(parent, i, leader) {
  if (i === leader) draw(parent, "circle", { r: 5.5, class: "sign" });
  else SIGNS[(i - Number(i > leader)) % SIGNS.length](parent);
}

export class DotPlot {
  /** @param {any} svg */
  constructor(svg) {
    this.svg = svg;
  }

  /**
   * @param {import("./texts_table.js").TextsTablePayload} data
   * @param {number} width
   */
  draw({ rows, header, plot, label }, width) {
    const { svg } = this;
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.font = `600 13px ${getComputedStyle(svg).fontFamily}`;
    const measure = (words) => canvas.measureText(words).width;
    const { left, top, bottom, height, labels, rows: drawn, ticks } = layout(rows, header.slice(1), plot, width, measure);
    svg.replaceChildren();
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) svg.setAttribute(name, value);
    svg.setAttribute("aria-label", `${label}, sorted by ${header[plot.leader + 1]}: ${plot.axis}`);
    for (const { x, words } of ticks) {
      draw(svg, "line", { x1: x, x2: x, y1: top - 8, y2: bottom, class: "grid" });
      for (const y of [top - 13, bottom + 15]) draw(svg, "text", { x, y, class: "middle quiet" }, words);
    }
    draw(svg, "text", { x: left, y: bottom + 33, class: "quiet" }, plot.axis);
    for (const { i, words, x, y, isLeft } of labels) {
      draw(svg, "line", { x1: x, x2: x, y1: y, y2: top, class: "lead" });
      const name = draw(svg, "g", { class: i === plot.leader ? "best" : "", transform: `translate(${x} ${y})` });
      drawSign(name, i, plot.leader);
      draw(name, "text", { x: isLeft ? -10 : 10, y: 4, class: isLeft ? "end" : "" }, words);
    }
    this.marks = drawn.map(({ name, short, y, marks }) => {
      const row = draw(svg, "g", { class: "row" });
      draw(row, "text", { x: left - 4, y: y + 4, class: "end name" }, short);
      const places = marks.map(({ x }) => x);
      if (marks.length) draw(row, "line", { x1: Math.min(...places), x2: Math.max(...places), y1: y, y2: y, class: "span" });
      // The mark of the verdict lies on top.
      const ordered = [...marks].sort((a, b) => Number(a.i === plot.leader) - Number(b.i === plot.leader));
      return ordered.map(({ i, x, text, interval }) => {
        if (interval) draw(row, "line", { x1: interval[0], x2: interval[1], y1: y, y2: y, class: "interval" });
        const mark = draw(row, "g", { class: `mark${i === plot.leader ? " best" : ""}`, transform: `translate(${x} ${y})`, role: "button", tabindex: -1 });
        const words = `${name}, ${header[i + 1]}: ${text}`;
        draw(mark, "title", {}, words);
        draw(mark, "circle", { r: 9, class: "target" });
        drawSign(mark, i, plot.leader);
        return Object.assign(mark, { text: name, column: i, x });
      });
    });
    this.marks[0]?.at(-1)?.setAttribute("tabindex", "0");
  }

  /** Return the mark that a key leads to, or none. */
  neighbor(mark, key) {
    const row = this.marks.findIndex((marks) => marks.includes(mark));
    const inOrder = this.marks[row].toSorted((a, b) => a.x - b.x);
    if (key === "ArrowLeft" || key === "ArrowRight") return inOrder[inOrder.indexOf(mark) + (key === "ArrowLeft" ? -1 : 1)];
    const other = { ArrowUp: row - 1, ArrowDown: row + 1, Home: 0, End: this.marks.length - 1 }[key];
    return this.marks[other]?.find(({ column }) => column === mark.column);
  }
}

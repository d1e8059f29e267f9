// The whole text in miniature at the edge of the stage: its lines, every place of the step, and the
// visible part. A click or a drag goes to a line.

import { draw, element } from "../shared/dom.js";

const HIGHEST_LINE = 8; // pixels, of a line in miniature
const [WIDEST, PLACE] = [100, 5]; // units, of the widest line and of a place
const SHORTEST = 24; // signs of the widest line, at least

export class Overview {
  /** @param {import("../shared/score.js").Score} score */
  constructor(score) {
    this.score = score;
    this.box = element("div", { className: "overview", ariaHidden: "true" }); // the text itself scrolls by keyboard
    this.drawing = draw(this.box, "svg", { preserveAspectRatio: "none" });
    [this.lines, this.places, this.window] = ["lines", "places", "window"].map((name) => draw(this.drawing, "path", { class: name }));
    score.host.addEventListener("scroll", () => this.follow(), { passive: true });
    score.host.addEventListener("scrollend", () => this.#snap());
    this.drawing.addEventListener("pointerdown", (event) => {
      this.drawing.setPointerCapture(event.pointerId);
      this.#go(event.clientY);
    });
    this.drawing.addEventListener("pointermove", ({ buttons, clientY }) => buttons & 1 && this.#go(clientY));
  }

  /** Draw the lines, after they or the height have changed. */
  draw() {
    const { lines } = this.score;
    this.isDrawn = this.box.clientHeight > 0;
    if (!this.isDrawn) return;
    this.unit = WIDEST / Math.max(SHORTEST, ...lines.map(({ first, end }) => end - first));
    const height = Math.min(this.box.clientHeight, lines.length * HIGHEST_LINE);
    this.least = (3 * lines.length) / height; // three pixels
    this.drawing.style.height = `${height}px`;
    this.drawing.setAttribute("viewBox", `0 0 ${WIDEST} ${lines.length}`);
    this.lines.setAttribute("d", lines.map(({ first, end }, i) => this.#bar(i, 0, (end - first) * this.unit)).join(""));
    this.places.style.strokeWidth = String(Math.max(0.9, this.least));
    this.mark(this.marked ?? []);
    this.follow();
  }

  /** Return the path of a bar on a line. */
  #bar(line, from, width) {
    const x = this.score.lines[line].dir === "rtl" ? WIDEST - from - width : from;
    return `M${x.toFixed(1)} ${line + 0.5}h${width.toFixed(1)}`;
  }

  /** Mark cells, in rising order. */
  mark(cells) {
    this.marked = cells;
    if (!this.isDrawn) return;
    const { lines } = this.score;
    let line = 0;
    const bars = cells.map((cell) => {
      while (lines[line].end <= cell) line++;
      return this.#bar(line, Math.min(WIDEST - PLACE, (cell - lines[line].first) * this.unit), PLACE);
    });
    this.places.setAttribute("d", bars.join(""));
  }

  /** Frame the visible lines, and cover those that are only partly visible. */
  follow() {
    if (!this.isDrawn) return;
    const { lines, scrollTop, drawn } = this.score;
    const [from, to] = this.score.wholeLines();
    this.window.setAttribute("d", `M0 ${from}h${WIDEST}v${Math.max(to - from, this.least)}h${-WIDEST}z`);
    const pixels = (line) => drawn.padding / 2 + (lines[line]?.top ?? lines.at(-1).bottom) - scrollTop;
    const { style } = this.box; // not around the text, all of whose tokens would inherit these
    const [above, visible] = drawn.columns.count > 1 ? ["0px", "100%"] : [from, to].map((line) => `${pixels(line)}px`); // pages are whole
    style.setProperty("--hidden-above", above);
    style.setProperty("--visible", visible);
  }

  /** End a scroll at a whole line, unless at the end of the text. */
  #snap() {
    const { lines, host } = this.score;
    const line = lines[this.score.wholeLines()[0]];
    const isEnd = host.scrollTop + host.clientHeight >= host.scrollHeight - 1;
    if (this.isDrawn && !isEnd && this.score.drawn.columns.count < 2 && line.top - host.scrollTop > 1) host.scrollTo({ top: line.top, behavior: "smooth" });
  }

  #go(y) {
    const { lines, host } = this.score;
    const { top, height } = this.drawing.getBoundingClientRect();
    const [from, to] = this.score.wholeLines();
    const line = Math.floor((lines.length * (y - top)) / height - (to - from) / 2);
    host.scrollTop = lines[Math.min(lines.length - 1, Math.max(0, line))].top;
  }
}

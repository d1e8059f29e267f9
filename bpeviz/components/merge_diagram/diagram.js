// The merge diagram of a short text, or of a token: its letters once, the merges of a tokenizer as blocks on
// them, and those of a second one below.

import { unbrokenSize } from "../player/fit.js";
import { TICK, TOKEN_END } from "../shared/cells.js";
import { element } from "../shared/dom.js";
import { MergeBlocks } from "../shared/merge_blocks.js";
import { Score } from "../shared/score.js";

const LETTERS = [20, 44]; // pixels, the smallest and the largest
const BETWEEN_LINES = 14; // pixels
const PADDING = 24; // pixels at both sides

/** The letters of a short text, with the merges of one tokenizer or of two on them. */
export class MergeDiagram {
  /**
   * @param {any} box contains the place of the letters (`.signs`) and of a pressed block in words (`.said`)
   * @param {AbortSignal} signal
   */
  constructor(box, signal) {
    [this.place, this.said] = [".signs", ".said"].map((selector) => box.querySelector(selector));
    const observer = new ResizeObserver(() => this.fit());
    this.scale = 1; // of letters and blocks
    observer.observe(this.place);
    signal.addEventListener("abort", () => observer.disconnect());
  }

  /**
   * Draw letters and blocks, at their last step.
   * @param {import("../shared/cells.js").Cell[]} cells
   * @param {{blocks: import("../shared/merge_blocks.js").BlocksPayload, last: number}[]} sides
   */
  draw(cells, sides) {
    const host = element("div", "text");
    this.width = 0;
    this.score = new Score(host, cells.map(({ text }) => text).join(""), [{ atomKind: "bytes", cells }]);
    this.score.room.between = BETWEEN_LINES;
    const said = (words, box) => {
      this.said.replaceChildren(words);
      box.focus({ preventScroll: true });
    };
    this.score.blocks = sides.map(
      ({ blocks, last }, i) => new MergeBlocks(this.score.rows[0], blocks, last, { isBelow: i > 0, hasIds: sides.length === 1, said }),
    );
    this.place.replaceChildren(host);
    this.fit();
    this.show(sides.map(({ last }) => last));
  }

  /** Set the size of the letters: in one line if they have room. */
  fit() {
    const { score, scale } = this;
    const width = this.place.clientWidth - PADDING;
    if (!score || width <= 0 || Math.abs(width - this.width) < 4) return;
    this.width = width;
    const { words } = score.blocks[0];
    const [smallest, largest] = LETTERS.map((size) => size * scale);
    const inOneLine = unbrokenSize([words.join("")], width);
    const wanted = inOneLine >= smallest ? Math.min(inOneLine, largest) : smallest;
    const size = Math.min(unbrokenSize(words, width), wanted);
    for (const blocks of score.blocks) blocks.scale = scale;
    score.host.style.fontSize = `${Math.floor(2 * size) / 2}px`;
    score.layOut();
  }

  /**
   * Show the tokens of each side after its steps.
   * @param {number[]} steps
   */
  show(steps) {
    const { blocks, rows: [row] } = this.score;
    this.said.textContent = ""; // its block may be absent now
    blocks.forEach((side, i) => side.show(steps[i]));
    for (const { first, end, id } of blocks[0].tree.tokensAt(steps[0])) {
      row.colors.fill(blocks[0].payload.style(id).color, first, end);
      row.flags.fill(0, first, end);
      row.flags[end - 1] = TOKEN_END | (end - first === 1 ? TICK : 0);
    }
    row.paint(0, row.flags.length);
  }
}

// The merge diagram of one token: its letters, and its merges as blocks on them.

import { TICK, TOKEN_END } from "../shared/cells.js";
import { element, observeSize } from "../shared/dom.js";
import { MergeBlocks } from "../shared/merge_blocks.js";
import { Score } from "../shared/score.js";
import { unbrokenSize } from "./fit.js";

const LETTERS = [20, 44]; // pixels, the smallest and the largest
const BETWEEN_LINES = 14; // pixels
const PADDING = 24; // pixels at both sides

export class TokenDiagram {
  /**
   * @param {any} box contains the place of the letters (`.signs`) and of a pressed block in words (`.said`)
   * @param {AbortSignal} signal
   */
  constructor(box, signal) {
    [this.place, this.said] = [".signs", ".said"].map((selector) => box.querySelector(selector));
    this.scale = 1; // of letters and blocks
    observeSize(() => this.fit(), signal, this.place);
  }

  /**
   * Draw letters and blocks after a step.
   * @param {import("../shared/cells.js").Cell[]} cells
   * @param {import("../shared/merge_blocks.js").BlocksPayload} payload
   * @param {number} step
   */
  draw(cells, payload, step) {
    const host = element("div", "text");
    this.width = 0;
    this.score = new Score(host, cells.map(({ text }) => text).join(""), [{ atomKind: "bytes", cells }]);
    this.score.room.between = BETWEEN_LINES;
    const said = (words, box) => {
      this.said.replaceChildren(words);
      box.focus({ preventScroll: true });
    };
    const [row] = this.score.rows;
    const blocks = new MergeBlocks(row, payload, step, { said });
    this.score.blocks = [blocks];
    this.said.textContent = "";
    this.place.replaceChildren(host);
    this.fit();
    for (const { first, end, id } of blocks.tree.tokensAt(step)) {
      row.colors.fill(payload.style(id).color, first, end);
      row.flags[end - 1] = TOKEN_END | (end - first === 1 ? TICK : 0);
    }
    row.paint(0, row.flags.length);
  }

  /** Set the size of the letters: in one line if they have room. */
  fit() {
    const { score, scale } = this;
    const width = this.place.clientWidth - PADDING;
    if (!score || width <= 0 || Math.abs(width - this.width) < 4) return;
    this.width = width;
    const [blocks] = score.blocks;
    const [smallest, largest] = LETTERS.map((size) => size * scale);
    const inOneLine = unbrokenSize([blocks.words.join("")], width);
    const wanted = inOneLine >= smallest ? Math.min(inOneLine, largest) : smallest;
    blocks.scale = scale;
    score.host.style.fontSize = `${Math.floor(2 * Math.min(unbrokenSize(blocks.words, width), wanted)) / 2}px`;
    score.layOut();
  }
}

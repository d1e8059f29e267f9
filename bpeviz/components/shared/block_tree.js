// The tokens of a short text over all steps, as blocks: each lies on the tokens that it was merged from.

import { LEFT_OUT_ID } from "./cells.js";

export const MOST_LEVELS = 8; // of blocks on one another; those further below are a block that opens
export const FEWEST_LEVELS = 2; // … where there is no room for more

/**
 * @typedef {[number, number, number, number, number]} TokenSpan first atom, the atom after the last, the
 *   step from which the token exists, the step that ends it (-1: none), id
 *
 * @typedef {object} Block
 * @property {number} first
 * @property {number} end
 * @property {number} since
 * @property {number} until
 * @property {number} id
 * @property {Block[]} parts the tokens that it replaced, if they are exactly its atoms
 * @property {number} height of the blocks in it; 0 for a token that has none
 *
 * @typedef {object} Placed
 * @property {Block} block
 * @property {number} level from 1, upwards
 * @property {Placed | null} parent
 * @property {number} hidden the number of merges below, for which it stands
 */

/**
 * Return the tokens of atoms [start, end) over all steps, counted from `start`; one that is partly outside is cut.
 * @param {import("./timeline.js").MergeTimeline | import("./timeline.js").ChangingTimeline} timeline
 * @param {number} [start]
 * @param {number} [end]
 * @returns {TokenSpan[]}
 */
export function tokensOverTime(timeline, start = 0, end = timeline.atoms) {
  const spans = [];
  const existing = new Map();
  const steps = new Set([0, ...timeline.stepsIn(start, end)]);
  for (const step of [...steps].sort((one, other) => one - other)) {
    const now = new Map();
    for (let atom = start; atom < end; ) {
      const token = timeline.token(atom, step);
      const [from, to] = [atom - start, Math.min(token.end, end) - start];
      now.set(`${from} ${to} ${token.id}`, [from, to, step, -1, token.id]);
      atom = token.end;
    }
    for (const [key, span] of existing) {
      if (now.has(key)) continue;
      span[3] = step;
      existing.delete(key);
    }
    for (const [key, span] of now) {
      if (existing.has(key)) continue;
      existing.set(key, span);
      spans.push(span);
    }
  }
  return spans;
}

export class BlockTree {
  /**
   * @param {TokenSpan[]} spans
   * @param {(first: number, end: number) => boolean} isDrawn whether a token of these atoms has a block
   */
  constructor(spans, isDrawn) {
    this.mostLevels = MOST_LEVELS;
    const ended = new Map(); // step → the tokens that it ends
    /** @type {Block[]} */
    this.blocks = spans.map(([first, end, since, until, id]) => ({ first, end, since, until, id, parts: [], height: 0 }));
    this.blocks.sort((one, other) => one.since - other.since || one.first - other.first);
    for (const block of this.blocks) if (block.until >= 0) ended.set(block.until, [...(ended.get(block.until) ?? []), block]);
    for (const block of this.blocks) {
      const { first, end, since, id } = block;
      const inside = (ended.get(since) ?? []).filter((part) => part.first >= first && part.end <= end);
      const size = inside.reduce((sum, part) => sum + part.end - part.first, 0);
      if (inside.length && size === end - first) block.parts = inside.sort((one, other) => one.first - other.first);
      if (block.parts.length === 1) block.parts = block.parts[0].parts; // the same atoms, as of a token that is cut
      if (id !== LEFT_OUT_ID && isDrawn(first, end)) block.height = 1 + Math.max(0, ...block.parts.map(({ height }) => height));
    }
  }

  /** Return the tokens after `step` steps, in the order of the text. */
  tokensAt(step) {
    const tokens = this.blocks.filter(({ since, until }) => since <= step && (until < 0 || until > step));
    return tokens.sort((one, other) => one.first - other.first);
  }

  /**
   * Return the blocks after `step` steps: that of each token, and those in it.
   * @param {number} step
   * @param {Set<Block>} [opened] tokens with all of their levels
   * @returns {Placed[]}
   */
  placedAt(step, opened = new Set()) {
    return this.tokensAt(step).flatMap((token) => {
      // Where levels are left out for room, a block in place of one level would save none.
      const folds = token.height > this.mostLevels + Number(this.mostLevels < MOST_LEVELS) && !opened.has(token);
      const low = folds ? token.height - this.mostLevels : 0;
      const placed = [];
      let hidden = 0;
      const place = (block, parent) => {
        if (!block.height) return;
        if (block.height <= low) hidden++;
        const at = { block, level: block.height - low + Number(low > 0), parent, hidden: 0 };
        if (block.height > low) placed.push(at);
        for (const part of block.parts) place(part, at);
      };
      place(token, null);
      if (hidden) placed.push({ block: token, level: 1, parent: placed[0], hidden });
      return placed;
    });
  }

  /** Return the most levels that tokens of atoms [start, end) have up to a step. */
  levels(start, end, step, opened) {
    const heights = this.blocks
      .filter(({ first, end: last, since }) => first < end && last > start && since <= step)
      .map((block) => (opened.has(block) ? block.height : Math.min(block.height, this.mostLevels + 1)));
    return Math.max(0, ...heights);
  }
}

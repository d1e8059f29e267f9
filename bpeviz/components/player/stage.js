// The stage of the player: the score of its texts, the overview of a long one, and the size of its letters.
// Rows without steps have a comparison.

import { FEWEST_LEVELS, MOST_LEVELS } from "../shared/block_tree.js";
import { element, followSize, setClasses } from "../shared/dom.js";
import { BLOCK_LETTERS, MergeBlocks } from "../shared/merge_blocks.js";
import { Comparison } from "./comparison.js";
import { LARGEST, LARGEST_OF_LINES, NARROW, SMALLEST, SMALLEST_BLOCKED, fitScore, scrollingSize, sizesOfRows, unbrokenSize, wordySize } from "./fit.js";
import { Overview } from "./overview.js";
import { TimelineScore } from "./timeline_view.js";

const LONGEST_BLOCKED = 40; // characters of a text with its merges on it
const LINE_BLOCKED = 28; // pixels of letters that stand in one line
const LARGE_BLOCKED = 36; // … and of those under which blocks are of full height
const HEX = { smallest: 12, scrolling: 13, largest: 32 }; // pixels of bytes that are the stage
const EVENT = { height: 34, letters: 160, paragraphs: 2 }; // pixels under a row, and the longest text that has them
const PROJECTOR = { width: 900, height: 500 }; // pixels for which the controls are made

export class Stage {
  /**
   * @param {any} root
   * @param {{isPlaying: boolean}} playback while playing, only the visible part of the text is drawn
   * @param {AbortSignal} signal
   */
  constructor(root, playback, signal) {
    this.section = root.querySelector(".player");
    this.frame = root.querySelector(".frame");
    this.playback = playback;
    /** @type {TimelineScore} */
    this.score = null;
    /** @type {Comparison | null} */
    this.comparison = null;
    this.scale = 1; // of the projector view
    /** @type {string[] | null} */
    this.words = null; // of a short text, between which its line may break
    this.below = 0; // pixels below each line, for numbers
    this.said = (words, box) => {}; // called for a block that is pressed
    this.laidOut = () => {}; // called after the lines have changed
    this.scored = (score) => {}; // called for a new score
    this.names = element("p", "row-names");
    this.frame.before(this.names);
    followSize(root.querySelector(".stage"), () => this.fit(), signal); // and that of the text follows
  }

  /** @returns {MergeBlocks | undefined} */
  get blocks() {
    return this.score?.blocks[0];
  }

  get views() {
    return this.score?.views ?? [];
  }

  /** @param {import("./player.js").PlayerPayload} data */
  draw({ views, ways, isDiagram, mirrored }) {
    const hasEnd = Boolean(ways?.length);
    const score = new TimelineScore(views.map((view) => ({ ...view, hasEnd, isDiagram })), mirrored);
    this.score = score;
    this.overview = new Overview(score);
    score.laidOut = () => {
      score.drawLetters();
      this.overview.draw();
      this.laidOut();
      if (!score.text) score.host.replaceChildren(element("p", "empty", views[0].noText ?? "There is no text yet. Type one, or choose a sample."));
    };
    this.frame.replaceChildren(score.host, this.overview.box, ...score.views.map(({ list }) => list.box));
    this.several = Boolean(views[0].title);
    this.names.replaceChildren("Rows, from above: ", ...views.flatMap(({ title }, i) => [i ? " · " : "", element("b", "", title)]));
    setClasses(this.section, { several: this.several, bytes: score.isBytes, drawn: true });
    this.scored(score);
  }

  /**
   * Draw rows without steps.
   * @param {import("./comparison.js").ScorePayload} data
   */
  compare(data) {
    this.several = true; // other rows have the same characters
    this.comparison = new Comparison(this, data);
    this.section.classList.add("compared", "drawn");
    this.fit();
  }

  /**
   * Put the merges of a short text on its letters.
   * @param {import("./player.js").PlayerPayload} data
   * @param {boolean} isAllowed whether its merges may be seen
   * @returns {boolean} whether the text needs another place
   */
  block({ key, isDiagram }, isAllowed) {
    const [view] = this.views;
    const { last, steps, text } = view.data;
    const isLine = !this.score.isBytes && !this.several && !text.includes("\n") && view.cells.cells.filter((cell) => cell.text && cell.size).length <= LONGEST_BLOCKED;
    const isShort = isAllowed && (isDiagram || isLine);
    const drawn = isShort ? `${key} ${last} ${steps.id.length}` : "";
    if (drawn === this.drawnBlocks) return false;
    this.drawnBlocks = drawn;
    this.score.blocks = [];
    this.words = null;
    setClasses(this.section, { blocked: false, short: isShort });
    if (!isShort) return true;
    const said = (words, box) => this.said(words, box);
    const { below } = this.score;
    const blocks = [new MergeBlocks(view.cells, view.mergesOn(), last, { hasIds: !below, said })];
    if (below) blocks.push(new MergeBlocks(below.cells, below.mergesOn(), below.data.last, { isBelow: true, hasIds: false, said }));
    this.words = blocks[0].words;
    if (blocks.every(({ isEmpty }) => isEmpty)) return true;
    this.score.blocks = blocks;
    this.section.classList.add("blocked");
    return true;
  }

  /**
   * Show a step of all texts.
   * @param {number} step
   * @param {object} how
   * @param {boolean} how.follows whether they scroll to a place of the step, if none is visible
   * @param {boolean} how.calmly whether they scroll calmly
   * @param {number} how.beat milliseconds, in which their rings and colors change in order, or 0
   */
  show(step, { follows, calmly, beat }) {
    for (const view of this.views) view.step = view.data.ownSteps?.[step] ?? step;
    // Before the tokens change: nothing moves, and the browser has laid out the text.
    if (follows) this.score.follow(calmly);
    this.paint(beat);
  }

  paint(beat = 0) {
    this.score.refresh(this.playback.isPlaying);
    this.blocks?.show(this.views[0].step);
    // Not for the whole text, or each of its tokens would be styled anew.
    if (beat) for (const piece of this.score.host.querySelectorAll(".new, .merged")) piece.style.setProperty("--beat", `${beat}ms`);
    this.overview.mark(this.score.places);
  }

  /** Set the size of the text to the largest at which all of it fits into the stage. */
  fit() {
    const { section, score, several } = this;
    const projector = section.matches(":fullscreen");
    const scale = this.scale = projector ? Math.max(1, Math.min(innerWidth / PROJECTOR.width, innerHeight / PROJECTOR.height)) : 1;
    section.style.setProperty("--scale", String(scale));
    section.style.setProperty("--remark", "0px");
    if (!score?.host.clientWidth) return;
    section.classList.add("fitting"); // the text is as high as the stage may be
    if (this.comparison) {
      this.comparison.fit(scale, projector);
      section.classList.remove("fitting");
      return this.score.layOut();
    }
    const { rows, host } = score;
    const sizes = several ? sizesOfRows(rows.length) : { smallest: SMALLEST, largest: LARGEST, scrolling: scrollingSize };
    const { largest, scrolling } = sizes;
    if (!this.words && !projector) sizes.largest = LARGEST_OF_LINES;
    if (projector) sizes.largest = this.blocks ? host.clientHeight : Math.max(largest, host.clientHeight / 10);
    if (this.words) {
      const { words } = this;
      const width = host.clientWidth - 24;
      const inOneLine = unbrokenSize([words.join("")], width);
      sizes.largest = Math.min(sizes.largest, inOneLine < LINE_BLOCKED * scale ? unbrokenSize(words, width) : inOneLine);
      sizes.smallest = Math.min(SMALLEST_BLOCKED * scale, sizes.largest);
    }
    if (score.isBytes) Object.assign(sizes, { smallest: scale * HEX.smallest, largest: scale * HEX.largest });
    else if (!several && !this.words && score.text.length < 3000) sizes.largest = Math.max(sizes.smallest, wordySize(score.text, host.clientWidth - 24, sizes.largest));
    score.under = scale * this.below;
    for (const blocks of score.blocks) blocks.scale = scale;
    sizes.scrolling = (width) => (this.words ? sizes.smallest : (several ? Math.max(1, 0.75 * scale) : scale) * scrolling(width));
    if (score.isBytes) sizes.scrolling = () => scale * HEX.scrolling;
    const setEvents = (isAtRows) => {
      score.underRows = isAtRows ? EVENT.height : 0;
      section.classList.toggle("at-rows", isAtRows);
    };
    setEvents(several && !projector && section.clientWidth >= NARROW && score.text.length <= EVENT.letters && score.text.trim().split("\n").length <= EVENT.paragraphs);
    const fit = () => fitScore(score, (size) => section.style.setProperty("--size", `${size}px`), sizes, { scale, keepsLines: several, fills: several });
    section.classList.toggle("compact", score.isBytes);
    if (this.blocks) this.fitBlocks(fit, Math.min(LARGE_BLOCKED * scale, sizes.largest));
    let fits = this.blocks || fit();
    if (!fits && score.underRows) {
      setEvents(false);
      fits = fit();
    }
    if (!fits && !several && !projector) {
      section.classList.add("compact"); // the equation and the race are one line
      fits = fit();
    }
    setClasses(section, { scrolls: !fits, fitting: false });
    score.layOut();
  }

  // As high blocks, and as many levels, as leave the controls on the screen; a line with its merges is seen
  // whole in any case.
  fitBlocks(fit, large) {
    const { score: { blocks }, section } = this;
    const set = (letters, mostLevels) => {
      for (const side of blocks) [side.letters, side.tree.mostLevels] = [letters, mostLevels];
    };
    for (const letters of BLOCK_LETTERS) {
      set(letters, MOST_LEVELS);
      if (fit() && parseFloat(section.style.getPropertyValue("--size")) >= large) return;
    }
    for (let levels = MOST_LEVELS - 1; !fit() && levels >= FEWEST_LEVELS; levels--) set(blocks[0].letters, levels);
  }
}

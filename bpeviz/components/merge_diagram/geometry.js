// The geometry of the merge diagram: how high a step is drawn, and which tokens exist at it.

export const MARGIN_LEFT = 58; // room for the scale
export const MARGIN_RIGHT = 26; // … and for the handle of the marker line
export const MARGIN = 30; // above and below: a title
export const END_HEIGHT = 24; // above the last step, so that the final tokens always have room
export const TEXT_HEIGHT = 46; // the text between the sides: signs, and bytes below them
const SIDE_HEIGHT = { one: 300, two: 210 };
const MIN_WIDTH = 420; // of the drawing, so that its title fits
const MIN_COLUMN = 15;
const MAX_COLUMN = 46;

/**
 * @typedef {[number, number, number, number, number]} DiagramToken first column, column after the
 *   last, steps when it is created, steps when it ends (-1: never), id
 */

/**
 * @typedef {object} Side
 * @property {string} title
 * @property {string} unit name of a step
 * @property {number} stepCount number of steps
 * @property {string} note words after the number of tokens
 * @property {DiagramToken[]} tokens
 * @property {Object<string, [string, number]>} tokenStyles label and color index of each id
 */

/**
 * @typedef {object} DiagramPayload the payload from Python (`bpeviz.views.merge_diagram.payload`)
 * @property {string} key
 * @property {number} columnCount one for each byte, and for each mark that is not text
 * @property {[number, number, string, [number, string][]][]} signs first column, column after the
 *   last, sign, its bytes in hex with their columns
 * @property {{notes: string[], credit: any}} words those of a saved drawing, below it
 * @property {Side[]} sides one, or a second mirrored below the text
 * @property {string} [timelineId] the timeline of the player that shares the step
 * @property {[number, number]} [characters] on a slide, the first character of the text, and the one after the last
 */

/** @param {Side[]} sides */
const lastStep = (sides) => Math.max(1, ...sides.map(({ stepCount }) => stepCount));

export class Geometry {
  /**
   * @param {DiagramPayload} data
   * @param {number} width of the frame in pixels
   */
  constructor({ columnCount, sides }, width) {
    this.last = lastStep(sides);
    this.directions = sides.length > 1 ? [-1, 1] : [-1]; // -1: steps run up, 1: they run down
    this.sideHeight = sides.length > 1 ? SIDE_HEIGHT.two : SIDE_HEIGHT.one;
    const count = Math.max(1, columnCount);
    const fitting = (width - MARGIN_LEFT - MARGIN_RIGHT - 2) / count;
    this.columnWidth = Math.max(MIN_COLUMN, Math.min(MAX_COLUMN, fitting));
    this.width = Math.round(Math.max(MIN_WIDTH, MARGIN_LEFT + count * this.columnWidth + MARGIN_RIGHT));
    this.top = MARGIN + this.sideHeight; // of the text
    this.bottom = this.top + TEXT_HEIGHT;
    this.height = this.bottom + (sides.length > 1 ? this.sideHeight + MARGIN : 4);
  }

  /** Return the distance of a step from the text in pixels, on a logarithmic scale. */
  distance(step) {
    return (Math.log1p(step) / Math.log1p(this.last)) * (this.sideHeight - END_HEIGHT);
  }

  /** Return the step at a distance from the text; not rounded. */
  stepAt(distance) {
    const share = Math.max(0, Math.min(1, distance / (this.sideHeight - END_HEIGHT)));
    return Math.expm1(share * Math.log1p(this.last));
  }

  x(column) {
    return MARGIN_LEFT + column * this.columnWidth;
  }

  y(distance, direction) {
    return direction < 0 ? this.top - distance : this.bottom + distance;
  }

  /**
   * Return where the handle of the marker line is: beside the drawing, or inside the visible part.
   * @param {number} visible right edge of the visible part of the drawing in pixels
   */
  handleX(visible = Infinity) {
    return Math.min(this.width - MARGIN_RIGHT + 12, visible - 14);
  }

  /** Return the distance from the text of a vertical position. */
  distanceAt(y, direction) {
    return direction < 0 ? this.top - y : y - this.bottom;
  }

  /** Return the box of a token of a side with `stepCount` steps. */
  box([from, to, since, until], stepCount, direction) {
    const low = this.distance(since);
    const high = until < 0 ? this.distance(stepCount) + END_HEIGHT : this.distance(until);
    const y = this.y(direction < 0 ? high : low, direction);
    return { x: this.x(from), y, width: (to - from) * this.columnWidth, height: Math.max(0, high - low) };
  }

  /** Return the steps of the scale: 0, the powers of ten, and the last. */
  ticks() {
    const ticks = [0];
    for (let step = 1; step < this.last; step *= 10)
      if (this.distance(this.last) - this.distance(step) >= 12) ticks.push(step);
    return [...ticks, this.last];
  }
}

/**
 * Return the steps at which a side changes, with 0 and the last, in order.
 * @param {DiagramPayload} data
 */
export function changingSteps({ sides }) {
  const steps = sides.flatMap(({ tokens }) => tokens.map(([, , since]) => since));
  return [...new Set([0, lastStep(sides), ...steps])].sort((a, b) => a - b);
}

/**
 * Return the step to which a key moves the marker line, or undefined for any other key.
 * @param {string} key
 * @param {number} step
 * @param {number[]} steps those of `changingSteps`
 */
export function stepAfterKey(key, step, steps) {
  switch (key) {
    case "ArrowUp":
    case "ArrowRight":
      return steps.find((other) => other > step) ?? step;
    case "ArrowDown":
    case "ArrowLeft":
      return steps.findLast((other) => other < step) ?? step;
    case "PageUp":
      return step * 2 + 1;
    case "PageDown":
      return Math.floor(step / 2);
    case "Home":
      return 0;
    case "End":
      return steps.at(-1);
  }
}

/**
 * Return whether a token exists after `step` steps.
 * @param {DiagramToken} token
 * @param {number} step
 */
export const existsAt = ([, , since, until], step) => since <= step && (until < 0 || step < until);

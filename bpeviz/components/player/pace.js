// The pace of playback. Early merges change most of the text and are shown one by one; later ones
// follow faster, several at a time, with a rest after each change.

const FIRST_MERGE = 1.5; // seconds at speed 1×
export const LONGEST = 20; // seconds of a whole training at speed 1×
export const REST = 1 / 3; // seconds at least between two changes: at most three a second (WCAG 2.3.1)
const LEAD_IN = 0.5; // seconds before the first change of a replay
export const MAX_JUMPS = 40; // of a whole training with reduced motion
const INTERRUPTION = 5; // seconds without a frame, as while a computer sleeps

const ORDERED = 0.4; // seconds of a step at least that is told in order
const BEATS = 12; // of one event (`film.js`), and then a rest

/**
 * Return the seconds of a beat of a step, or 0 where everything changes at once.
 * @param {number} rest seconds of the step
 */
export const beatOf = (rest) => (rest < ORDERED ? 0 : rest / BEATS);

/**
 * Return the seconds of playback between two frames. It follows the clock, also on a busy machine,
 * where frames are far apart, but does not skip the time of an interruption.
 * @param {number} before milliseconds
 * @param {number} now
 */
export function secondsBetween(before, now) {
  const seconds = Math.max(0, now - before) / 1000;
  return seconds < INTERRUPTION ? seconds : 0;
}

/**
 * Return how long a whole training plays at speed 1×, in seconds.
 * @param {number} last its number of steps
 */
export const duration = (last) => Math.min(LONGEST, FIRST_MERGE * last);

// The time of step s is FIRST_MERGE · s^exponent, so that step 1 and the last one have theirs.
const exponent = (last) => (last < 2 ? 1 : Math.log(duration(last) / FIRST_MERGE) / Math.log(last));

/**
 * Return when the step after `step` appears at speed 1×, in seconds.
 * @param {number} step
 * @param {number} last
 */
export const endOf = (step, last) => FIRST_MERGE * step ** exponent(last);

/**
 * Return the step that is shown at a time, at speed 1×. The first one is shown at once.
 * @param {number} time seconds
 * @param {number} last
 */
export const stepAt = (time, last) =>
  Math.min(last, Math.floor((time / FIRST_MERGE) ** (1 / exponent(last)) + 1e-9) + 1);

const SLOW_MERGES = 3; // of the opening …
const SLOW = 2.5; // … seconds each
const OTHERS = 12; // seconds of all others together

/** The opening of a first visit: the first merges slowly, so that each can be read. */
export class Opening {
  /** @param {number} last */
  constructor(last) {
    this.step = 0;
    this.last = last;
    this.time = 0;
    this.slow = Math.min(last, SLOW_MERGES) * SLOW;
    this.others = Math.max(0, last - SLOW_MERGES);
    this.changes = Math.min(this.others, Math.floor(OTHERS / REST));
  }

  /**
   * Let time pass; return the step to show.
   * @param {number} seconds
   */
  advance(seconds) {
    this.time += seconds;
    const change = Math.floor(((this.time - this.slow) * this.changes) / OTHERS) + 1;
    if (this.isOver) this.step = this.last;
    else if (this.time < this.slow) this.step = Math.floor(this.time / SLOW) + 1;
    else this.step = SLOW_MERGES + Math.ceil((change * this.others) / this.changes);
    return this.step;
  }

  /** Return how long the step is shown, in seconds. */
  restOf() {
    return this.step <= SLOW_MERGES ? SLOW : OTHERS / this.changes;
  }

  get isOver() {
    return this.time >= this.slow + (this.others ? OTHERS : 0);
  }
}

/** Playback that the leader of a room leads, step by step. */
export const LED = { restOf: () => REST };

/** Playback from a step to the end. Its time is that of speed 1×. */
export class Playback {
  /**
   * @param {number} step
   * @param {number} last
   * @param {object} [options]
   * @param {boolean} [options.reducedMotion] whether to make few jumps
   * @param {boolean} [options.replay] whether to show `step` for a moment first
   */
  constructor(step, last, { reducedMotion = false, replay = false } = {}) {
    this.step = step;
    this.last = last;
    this.time = endOf(step, last);
    this.nextChange = this.time + (replay ? LEAD_IN : 0);
    // One jump more at the end.
    this.minimumRest = reducedMotion ? duration(last) / (MAX_JUMPS - 1) : 0;
  }

  /**
   * Let time pass; return the step to show.
   * @param {number} seconds
   * @param {number} speed
   */
  advance(seconds, speed) {
    this.time += seconds * speed;
    const target = stepAt(this.time, this.last);
    if (this.isOver) this.step = this.last;
    else if (this.time >= this.nextChange && target > this.step) {
      this.step = target;
      this.nextChange = this.time + Math.max(this.minimumRest, REST * speed);
    }
    return this.step;
  }

  /** Return how long the step is shown at a speed, in seconds. */
  restOf(speed) {
    const shown = endOf(this.step, this.last) - endOf(Math.max(0, this.step - 1), this.last);
    return Math.max(REST, shown / speed);
  }

  get isOver() {
    return this.time >= duration(this.last);
  }
}

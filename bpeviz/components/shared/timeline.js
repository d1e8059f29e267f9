// Timelines: which tokens a text has at each step. They answer for any step without replaying the
// steps before it. Python builds their data (`bpeviz/views/stage.py`).

import { INSIDE, LEFT_OUT_ID } from "./cells.js";

const NEVER = 0x7fffffff;

/**
 * @typedef {object} Token
 * @property {number} start first atom
 * @property {number} end the atom after the last
 * @property {number} id
 * @property {number} [step] the merge that created it, -1 for an atom
 */

/**
 * Return a function that returns the values at all indices with the same step.
 * @param {Int32Array} steps the step of each index, below 0 or `NEVER` for none
 * @param {(index: number) => number} valueAt
 * @returns {(step: number) => number[]}
 */
function groupBy(steps, valueAt) {
  const groups = new Map();
  steps.forEach((step, i) => {
    if (step < 0 || step === NEVER) return;
    if (!groups.has(step)) groups.set(step, []);
    groups.get(step).push(valueAt(i));
  });
  return (step) => groups.get(step) ?? [];
}

/** A timeline of merges only: each boundary is merged once, and the last merge gives the id. */
export class MergeTimeline {
  /**
   * @param {object} data
   * @param {number[]} data.mergedAt for each atom the merge that removes the boundary after it, or -1
   * @param {number} data.firstMergeId the id that merge 0 creates
   * @param {ArrayLike<number>} atomIds
   */
  constructor({ mergedAt, firstMergeId }, atomIds) {
    this.mergedAt = Int32Array.from(mergedAt, (step) => (step < 0 ? NEVER : step));
    this.firstMergeId = firstMergeId;
    this.atomIds = atomIds;
    this.atoms = mergedAt.length;
  }

  /** Return the atoms after which merge `step` removes the boundary, in rising order. */
  placesAt(step) {
    this.places ??= groupBy(this.mergedAt, (atom) => atom);
    return this.places(step);
  }

  /**
   * Return the token around an atom after `step` merges.
   * @param {number} atom
   * @param {number} step
   * @returns {Token}
   */
  token(atom, step) {
    const { mergedAt } = this;
    let start = atom;
    let end = atom;
    let last = -1;
    while (start > 0 && mergedAt[start - 1] < step) last = Math.max(last, mergedAt[--start]);
    while (end < this.atoms - 1 && mergedAt[end] < step) last = Math.max(last, mergedAt[end++]);
    return { start, end: end + 1, id: last < 0 ? this.atomIds[start] : this.firstMergeId + last, step: last };
  }

  /** Return after how many steps tokens of atoms [start, end) change, in any order. */
  stepsIn(start, end) {
    return [...this.mergedAt.subarray(Math.max(0, start - 1), end)].filter((step) => step < NEVER).map((step) => step + 1);
  }

  /** Return whether merge `step` created this token. */
  isNew(token, step) {
    return token.step >= 0 && token.step === step;
  }

  /** Return whether merge `step` removed the boundary after an atom. */
  isMergedAt(atom, step) {
    return this.mergedAt[atom] === step;
  }
}

/** A timeline whose boundaries may return: for each atom, the ids that start there and from when. */
export class ChangingTimeline {
  /**
   * @param {object} data
   * @param {{counts: number[], steps: number[], ids: number[]}} data.changes the next counts[i] changes
   *   are those of atom i: from after step steps[k] on (-1: from the beginning), the token ids[k] starts
   *   at the atom, or none does (`INSIDE`)
   */
  constructor({ changes }) {
    this.atoms = changes.counts.length;
    this.offsets = new Int32Array(this.atoms + 1);
    changes.counts.forEach((count, i) => (this.offsets[i + 1] = this.offsets[i] + count));
    this.steps = Int32Array.from(changes.steps);
    this.ids = Int32Array.from(changes.ids);
  }

  /** Return the atoms at which tokens begin that exist from `step` on, in rising order. */
  placesAt(step) {
    if (!this.places) {
      const atomOf = new Int32Array(this.steps.length);
      for (let a = 0; a < this.atoms; a++) atomOf.fill(a, this.offsets[a], this.offsets[a + 1]);
      const begins = this.steps.map((at, k) => (this.ids[k] === INSIDE ? NEVER : at));
      this.places = groupBy(begins, (k) => atomOf[k]);
    }
    return this.places(step);
  }

  /** See `MergeTimeline.stepsIn`. */
  stepsIn(start, end) {
    return [...this.steps.subarray(this.offsets[start], this.offsets[end])].map((step) => step + 1);
  }

  // The id that starts at an atom after `step` steps, or INSIDE.
  #startAt(atom, step) {
    let id = INSIDE;
    for (let k = this.offsets[atom]; k < this.offsets[atom + 1] && this.steps[k] < step; k++) id = this.ids[k];
    return id;
  }

  // The change of an atom at exactly this step, or null.
  #changeAt(atom, step) {
    for (let k = this.offsets[atom]; k < this.offsets[atom + 1] && this.steps[k] <= step; k++)
      if (this.steps[k] === step) return this.ids[k];
    return null;
  }

  /**
   * Return the token around an atom after `step` steps.
   * @param {number} atom
   * @param {number} step
   * @returns {Token}
   */
  token(atom, step) {
    let start = atom;
    let id = this.#startAt(start, step);
    while (start > 0 && id === INSIDE) id = this.#startAt(--start, step);
    let end = atom + 1;
    while (end < this.atoms && this.#startAt(end, step) === INSIDE) end++;
    return { start, end, id };
  }

  isNew({ start, end, id }, step) {
    if (step < 0 || id === LEFT_OUT_ID) return false;
    for (let a = start; a < end; a++) if (this.#changeAt(a, step) !== null) return true;
    return false;
  }

  isMergedAt(atom, step) {
    return step >= 0 && atom + 1 < this.atoms && this.#changeAt(atom + 1, step) === INSIDE;
  }
}

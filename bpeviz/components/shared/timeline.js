// Timelines: which tokens a text has at each step. They answer for any step without replaying the
// steps before it. Python builds their data (`bpeviz/views/player.py`).

import { LEFT_OUT_ID } from "./cells.js";

export const INSIDE = -3; // no token starts at this atom; of the first atom: it starts before the part
const NEVER = 0x7fffffff;

/**
 * @typedef {object} Token
 * @property {number} start first atom
 * @property {number} end the atom after the last
 * @property {number} id
 * @property {number} [step] the merge that created it, -1 for an atom
 */

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
   * @param {{offsets: number[], steps: number[], ids: number[]}} data.changes the changes of atom i are
   *   those from offsets[i] to offsets[i + 1]: from after step steps[k] on (-1: from the beginning), the
   *   token ids[k] starts at the atom, or none does (`INSIDE`)
   */
  constructor({ changes }) {
    this.offsets = Int32Array.from(changes.offsets);
    this.steps = Int32Array.from(changes.steps);
    this.ids = Int32Array.from(changes.ids);
    this.atoms = this.offsets.length - 1;
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

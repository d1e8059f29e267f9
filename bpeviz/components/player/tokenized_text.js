// One text under one trainer, and its tokens at the current step, without access to the document.

import {
  JUST_MERGED,
  LEFT_OUT,
  LEFT_OUT_ID,
  NEW,
  NEW_END,
  NEW_START,
  TICK,
  TOKEN_END,
  UNKNOWN,
  UNKNOWN_ID,
  idInWords,
} from "../shared/cells.js";
import { tokensOverTime } from "../shared/block_tree.js";
import { counted, formatCount, formatFigure, hexOf } from "../shared/format.js";
import { rankOf } from "./controls.js";
import { spokenBytes } from "../shared/spoken.js";
import { ChangingTimeline, MergeTimeline } from "../shared/timeline.js";

const MAX_BYTES = 32; // of a token in its tooltip

/** How much the best segmentation of the text loses: its negative log likelihood rises by so many nats. */
const lessLikely = (nats) => (nats > 0 ? `less likely by ${formatFigure(nats)} nats` : "as likely");

const times = (count) => (count === 1 ? "once" : counted(count, "time"));

/**
 * @typedef {object} TextPayload the payload from Python for one text (`bpeviz.views.stage.Row`)
 * @property {string} key changes with anything that is drawn
 * @property {string} text
 * @property {"bytes" | "characters"} atomKind
 * @property {number[] | null} atomBytes bytes of each atom where `atomKind` does not imply them
 * @property {number[]} endMarks atoms with an attached end-of-word mark
 * @property {number[] | null} atomIds null where an atom's id is its byte
 * @property {number[] | null} mergedAt see `MergeTimeline`
 * @property {number | null} firstMergeId see `MergeTimeline`
 * @property {{counts: number[], steps: number[], ids: number[]} | null} changes see `ChangingTimeline`
 * @property {Object<string, [string, number]>} tokenStyles label and color index of each id
 * @property {string | null} unknownLabel label of atoms outside the vocabulary
 * @property {StepsPayload} steps
 * @property {string} unit name of a step: "merge" or "pruning"
 * @property {number} last
 * @property {string} [algorithm] the full name of the algorithm
 * @property {string} [rule] what its training does, as half a sentence
 * @property {string} initialMessage the sentence at step 0
 * @property {string} emptyMessage the sentence of a timeline without steps
 * @property {number[]} tokenCounts number of tokens after each step
 * @property {number[] | null} changingSteps its steps that change a token of the whole text; null if all do
 * @property {number[]} [rowEnds] atoms that are line ends between rows of a table, in no token
 * @property {string} [noText] the sentence in place of an empty text
 * @property {boolean} [weighted] whether counts are weighted
 * @property {number[] | null} part null where the whole text is shown
 * @property {string | null} [tieRule] which of equal pairs wins, as half a sentence
 * @property {string} [leftOut] what of the text gets no token, as in "spaces left out"
 * @property {string | null} [trainedOn] the name of the training text where it is another one
 * @property {string} [title] given where several texts are shown
 * @property {number[]} [ownSteps] the text's own step at each of the player's steps
 * @property {number[]} [vocabSizes] vocabulary size after each step
 */

/**
 * @typedef {object} StepsPayload the decision of each step; lists are empty where they do not apply
 * @property {"merge" | "pruning"} kind
 * @property {Object<string, string>} notes
 * @property {number[]} id
 * @property {number[]} left
 * @property {number[]} right
 * @property {number[]} count
 * @property {number[]} applied
 * @property {number[]} ties
 * @property {number[]} score
 * @property {number[]} round
 */

/** @param {Uint8Array} bytes */
export function formatBytes(bytes) {
  const hex = hexOf(bytes.subarray(0, MAX_BYTES)).join(" ");
  return !hex ? "no bytes" : bytes.length > MAX_BYTES ? `${hex} … (${bytes.length} bytes)` : hex;
}

export class TokenizedText {
  /** @param {TextPayload & {hasEnd?: boolean}} data `hasEnd`: whether the sentence of the last step sums up */
  constructor(data) {
    this.data = data;
    this.step = 0;
    /** @type {Object<string, [string, number]> | undefined} */
    this.more = undefined; // looks of tokens that are not in the text
    this.raw = data.atomKind === "bytes" ? new TextEncoder().encode(data.text) : null;
    this.atomIds = data.atomIds ?? this.raw;
    this.extend(data);
  }

  /** Take the steps of a payload that has further ones of the same text. */
  extend({ steps, tokenStyles, tokenCounts, mergedAt, changes, firstMergeId }) {
    Object.assign(this.data, { steps, tokenStyles, tokenCounts });
    this.timeline = changes
      ? new ChangingTimeline({ changes })
      : new MergeTimeline({ mergedAt, firstMergeId }, this.atomIds);
    this.stepOf = new Map(steps.id.map((id, i) => [id, i])); // the step that decides on an id
  }

  token(atom) {
    return this.timeline.token(atom, this.step);
  }

  /** Yield the tokens from the one around atom `start` to the one around atom `end - 1`. */
  *tokens(start = 0, end = this.timeline.atoms) {
    for (let atom = start; atom < end; ) {
      const token = this.token(atom);
      yield token;
      atom = token.end;
    }
  }

  /** Where each atom ends, in UTF-8 bytes: the positions that all trainers share. */
  get byteEnds() {
    if (!this.ends) {
      const utf8 = new TextEncoder();
      const sizes = this.raw
        ? new Uint8Array(this.raw.length).fill(1)
        : (this.data.atomBytes ?? Array.from(this.data.text, (character) => utf8.encode(character).length));
      let end = 0;
      this.ends = Int32Array.from(sizes, (size) => (end += size));
    }
    return this.ends;
  }

  /** Return the bytes of a token. */
  bytesOf({ start, end }) {
    this.utf8 ??= this.raw ?? new TextEncoder().encode(this.data.text);
    return this.utf8.subarray(start ? this.byteEnds[start - 1] : 0, this.byteEnds[end - 1]);
  }

  /** Return a token in words, for screen readers. */
  tokenInWords({ start, end, id, step }) {
    const bytes = this.bytesOf({ start, end });
    const words = [bytes.length ? spokenBytes(bytes) : this.style(id).label, idInWords(id)];
    if (this.timeline.isNew({ start, end, id, step }, this.step - 1)) words.push("new");
    return words.join(", ");
  }

  /**
   * Write the color index and the flags of each atom of a token; return whether one has changed.
   * @param {import("../shared/timeline.js").Token} token
   * @param {Int8Array} colors
   * @param {Uint16Array} flags
   */
  writeFlags(token, colors, flags) {
    const { timeline } = this;
    const current = this.step - 1;
    const { color } = this.style(token.id);
    const isNew = timeline.isNew(token, current);
    const common = (token.id === LEFT_OUT_ID ? LEFT_OUT : token.id === UNKNOWN_ID ? UNKNOWN : 0) | (isNew ? NEW : 0);
    const isAtom = token.end - token.start === 1 && (token.id >= 0 || token.id === LEFT_OUT_ID);
    let hasChanged = false;
    for (let a = token.start; a < token.end; a++) {
      const isEnd = a === token.end - 1;
      let value = common;
      if (isEnd) value |= TOKEN_END | (isAtom ? TICK : 0);
      if (timeline.isMergedAt(a, current)) value |= JUST_MERGED;
      if (isNew && a === token.start) value |= NEW_START;
      if (isNew && isEnd) value |= NEW_END;
      hasChanged ||= colors[a] !== color || flags[a] !== value;
      colors[a] = color;
      flags[a] = value;
    }
    return hasChanged;
  }

  /** Return the label and the color index of an id. */
  style(id) {
    if (id === LEFT_OUT_ID) return { label: "dropped", color: -1 };
    const [label, color] = this.data.tokenStyles[id] ?? this.more?.[id] ?? [this.data.unknownLabel ?? "?", -1];
    return { label, color };
  }

  /**
   * Return the merges on atoms [start, end).
   * @returns {import("../shared/merge_blocks.js").BlocksPayload}
   */
  mergesOn(start = 0, end = this.timeline.atoms) {
    const { last, steps, unit } = this.data;
    return {
      spans: tokensOverTime(this.timeline, start, end),
      style: (id) => this.style(id),
      stepInWords: (step) => /^\w+ [\d,]+ of [\d,]+/.exec(steps.notes[step - 1])?.[0] ?? `${unit} ${formatCount(step)} of ${formatCount(last)}`,
    };
  }

  /** Return the ids that a token was merged from, or null if no merge of two tokens made it. */
  parents(id) {
    const { left, right } = this.data.steps;
    const i = this.stepOf.get(id);
    return i === undefined || !left.length || left[i] < 0 ? null : [left[i], right[i]];
  }

  /** Return the token around an atom and how many times it occurs in the shown text. */
  inspect(atom) {
    const token = this.token(atom);
    let count = 0;
    for (const { id } of this.tokens()) count += Number(id === token.id);
    return { ...token, count };
  }

  /** Return how often the piece that step `i` prunes is used, in words. */
  usage(i) {
    const { steps, weighted, trainedOn } = this.data;
    const count = steps.count[i];
    const often = weighted ? `weighted count ${formatCount(count)}` : count === 2 ? "twice" : times(count);
    return (count ? `used ${often}` : "not used") + (trainedOn ? " in the training text" : "");
  }

  /** Return the details of step `i`: what decided it, with its ties, and for one text alone the tokens. */
  facts(i) {
    const { steps, weighted, tokenCounts, tieRule, trainedOn, title, leftOut } = this.data;
    const { count, applied, ties, score, round, notes } = steps;
    const isPruning = steps.kind === "pruning";
    const isScored = Boolean(score.length) && !isPruning; // its note says what the score is of
    const often = weighted ? `weighted count ${formatCount(count[i])}` : times(count[i]);
    const where = trainedOn ? " in the training text" : "";
    const tie = ties[i] ? `like ${counted(ties[i], "other pair")}` : "";
    const facts = isPruning
      ? [`${this.usage(i)}; without it the text is ${lessLikely(score[i])}`, `round ${round[i]}`]
      : [isScored ? `${notes[i]} = ${formatFigure(score[i])}${where}` : often + where];
    if (tie) facts[0] += `, ${tie}${tieRule ? `; ${tieRule}` : ""}`;
    if (!isPruning && applied[i] !== count[i]) facts.push(`${formatCount(applied[i])} replaced (the others overlap)`);
    if (notes[i] && !isScored && !(title && isPruning)) facts.push(notes[i]); // EM has no room there
    if (title) return facts.join(" · "); // the number of tokens is beside the title
    const tokens = counted(tokenCounts[i + 1], "token") + (leftOut ? `, ${leftOut}` : "");
    const [before, rank] = [i, i + 1].map((step) => rankOf(this.data.changingSteps, step));
    const change = rank > before ? `${formatCount(tokenCounts[i])} → ${tokens}` : `Your text does not change: ${tokens}`;
    return `${facts.join(" · ")}. ${change}`;
  }

  /** Describe the origin of a token without parents. */
  origin({ start, end, id }) {
    const { data } = this;
    const i = this.stepOf.get(id);
    if (data.steps.kind === "pruning")
      return i === undefined
        ? "a single byte or character: never pruned"
        : `${formatCount(end - start)} ${this.atomsName}, pruned at ${data.unit} ${formatCount(i + 1)}`;
    if (end - start > 1) return i === undefined ? "from the initial vocabulary" : "not made by merges";
    return data.atomKind === "bytes" ? "a single byte" : "a single character";
  }

  get atomsName() {
    if (this.data.atomKind === "bytes") return "bytes";
    return this.data.atomBytes?.includes(0) ? "characters and marks" : "characters";
  }
}

// The texts of the player: their tokens in a score, the sentence of their step, and the tooltip of a token.

import { INSIDE, LEFT_OUT_ID, OUTLINED, OUTLINED_END, OUTLINED_START, UNKNOWN_ID, directionOf, idInWords, intoBytes, labelInBytes, splitIntoCells, splitIntoRows } from "../shared/cells.js";
import { element, isPartOfSign, tokenLabel } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";
import { ABOVE_BYTES, LONGEST_OF_BYTES, Score } from "../shared/score.js";
import { ScoreRow } from "../shared/score_row.js";
import { TokenList } from "../shared/token_list.js";
import { rankOf } from "./controls.js";
import { TokenizedText, formatBytes } from "./tokenized_text.js";

/** Names of bytes that look like nothing. */
const BYTE_NAMES = { 0x09: "tab, ", 0x0a: "line feed, ", 0x0d: "carriage return, ", 0x20: "space, " };

/** How a token of a published vocabulary appears that merges of two tokens do not lead to. */
const WHOLE = "is a token of its own: no merges lead to it";

const LONG = 80; // characters of details that get smaller letters
const MOST_BYTES = 6; // of a sign in the sentence

/** A text under one trainer, or under several: a score with a row for each. */
export class TimelineScore extends Score {
  /**
   * @param {import("./tokenized_text.js").TextPayload[]} payloads
   * @param {import("./tokenized_text.js").TextPayload} [mirrored] of the blocks below the letters of the only row
   */
  constructor(payloads, mirrored) {
    const host = element("div", { className: "text", tabIndex: 0, dir: "auto", role: "group", ariaLabel: "The text and its tokens" }); // it scrolls
    const views = payloads.map((data) => new TimelineView(data));
    const below = mirrored && new TimelineView({ ...mirrored, isDiagram: true });
    const rows = views.map((view) => view.row);
    const [cells, cellsBelow] = below ? splitIntoRows(payloads[0].text, [rows[0], below.row]) : [];
    if (below) rows[0].cells = cells;
    super(host, payloads[0].text, rows);
    this.below = below;
    if (below) below.cells = new MirroredRow(this, 0, {}, cellsBelow);
    this.isBytes = views.length === 1 && views[0].isBytes;
    this.hasShares = views.length > 1;
    host.classList.toggle("of-bytes", this.isBytes);
    this.signs = this.isBytes ? views[0].signs : null;
    if (this.isBytes) this.over = (size) => Math.round(ABOVE_BYTES * size);
    this.views = views;
    views.forEach((view, i) => (view.cells = this.rows[i]));
  }

  /** Redraw the tokens that have changed: all, or those near the visible part. */
  refresh(onlyNear = false) {
    const near = onlyNear ? this.nearLines() : null; // once, since the browser then lays out the page
    for (const view of this.views) view.refresh(...(near ? view.cells.atomsOf(near) : [0, view.timeline.atoms]));
    this.showNear();
  }

  /** Return the cells that this step changes, in rising order. */
  get places() {
    return this.views
      .flatMap(({ timeline, step, cells: { cellOf } }) => timeline.placesAt(step - 1).map((atom) => cellOf[atom]))
      .sort((one, other) => one - other);
  }

  /**
   * Scroll to the first place of this step, unless one is visible.
   * @param {boolean} calmly whether to show the way
   */
  follow(calmly) {
    const { places } = this;
    const [from, to] = this.wholeLines();
    if (places.length && !this.lines.slice(from, to).some(({ first, end }) => places.some((cell) => cell >= first && cell < end)))
      this.revealLine(this.lineOfCell(places[0]), calmly);
  }
}

/** The tokens of another tokenizer on the letters of the first row, whose marks have no room there. */
class MirroredRow extends ScoreRow {
  boxOf(cell) {
    const [{ cells }] = this.score.rows;
    if (cells[cell].size) return this.score.rows[0].boxOf(cell);
    const before = cells.findLastIndex(({ size }, i) => size && i < cell);
    const { right } = this.score.rows[0].boxOf(before < 0 ? cells.findIndex(({ size }) => size) : before);
    return { left: right, width: 0 };
  }
}

/** A row of the score: a text under one trainer. */
export class TimelineView extends TokenizedText {
  constructor(data) {
    super(data);
    this.list = new TokenList(data.title ? `Tokens of ${data.title}` : "Tokens");
    /** @type {import("../shared/score_row.js").ScoreRow} */
    this.cells = null;
    this.isBytes = this.#joinsBytes();
    this.dir = directionOf(data.text);
  }

  // Whether its bytes are the stage: a third of the merges or more join bytes inside signs.
  #joinsBytes() {
    const { atomKind, steps, last, changingSteps, text, title, isDiagram } = this.data;
    if (isDiagram || atomKind !== "bytes" || steps.kind !== "merge" || !last || title || text.length > LONGEST_OF_BYTES) return false;
    const changing = (changingSteps ?? steps.id.map((_, i) => i + 1)).filter((step) => step <= steps.id.length);
    return 3 * changing.filter((step) => [steps.left, steps.right, steps.id].some((ids) => isPartOfSign(this.style(ids[step - 1]).label))).length >= changing.length;
  }

  /** @returns {import("../shared/score_row.js").RowOptions} */
  get row() {
    if (this.isBytes) {
      this.signs = splitIntoCells(this.data.text, "bytes");
      return { atomKind: "bytes", cells: intoBytes(this.signs) };
    }
    const { title: name, atomKind, atomBytes, endMarks: marks, rowEnds } = this.data;
    return { name, atomKind, atomBytes, marks, rowEnds, markLabel: (atom) => this.style(this.atomIds[atom]).label };
  }

  /** Redraw the tokens that cover atoms [start, end), as far as they have changed. */
  refresh(start, end) {
    const { cells } = this;
    let [from, to] = [0, 0];
    for (const token of this.tokens(start, end)) {
      if (!this.writeFlags(token, cells.colors, cells.flags)) continue;
      if (!to || cells.lineOf(token.start) > cells.lineOf(to - 1)) {
        cells.draw(from, to);
        from = token.start;
      }
      to = token.end;
    }
    cells.draw(from, to);
  }

  /** Yield the tokens over the characters of a token of another row. */
  tokensOver({ cells }, { start, end }) {
    return this.tokens(...this.cells.atomsOfCells(...cells.cellsOf(start, end)));
  }

  /** List the tokens of this step for screen readers. */
  listTokens() {
    this.list.show(() => {
      const tokens = [...this.tokens()];
      return { count: tokens.length, words: (i) => this.tokenInWords(tokens[i]) };
    });
  }

  #label(id) {
    const { label, color } = this.style(id);
    return tokenLabel(label, color);
  }

  /** Return the tokens of some ids, as bytes where these are the stage. */
  labels(ids) {
    return ids.map((id) => {
      const label = this.#label(id);
      if (this.isBytes) Object.assign(label, { dir: this.dir, textContent: labelInBytes(this.style(id).label, this.dir) });
      for (const byte of label.querySelectorAll(".byte")) byte.textContent = byte.textContent.slice(1, -1); // fields, as on rulers
      return label;
    });
  }

  #term(id, className) {
    const [label] = this.labels([id]);
    if (className) label.classList.add(className);
    label.title = this.style(id).label;
    return element("span", "term", this.isBytes ? element("bdi", "sign", label.title.replace(/⟨[0-9A-F]{2}⟩/g, "")) : "", label);
  }

  /** Return the sentence of the current step, as elements. */
  describeStep() {
    const { data, step } = this;
    if (!step) return [element("span", "start", this.stepInWords())];
    const { kind, id, left, right } = data.steps;
    const words = this.facts(step - 1);
    const [, often, why, change] = /^(once|weighted count [\d,]+|[\d,]+ times)?(.*?)(?:\. ([\d,]+ → .*|Your text .*))?$/su.exec(words);
    const isEnd = data.hasEnd && rankOf(data.changingSteps, step) === rankOf(data.changingSteps, data.last);
    const [first, tokens] = [data.tokenCounts[0], data.tokenCounts[step]].map(formatCount);
    const end = isEnd
      ? element("b", "end", `${first} → ${tokens} tokens in ${counted(step, data.unit)}.`)
      : change && element("span", "change", `${change} · ${idInWords(id[step - 1])}`);
    const look = `facts${words.length > LONG ? " long" : ""}${isEnd ? " at-end" : ""}`;
    const facts = element("span", look, often && element("b", "", often), why, end);
    const operator = (sign) => element("span", "op", sign);
    if (kind === "pruning" && data.title) {
      const size = data.vocabSizes[step]; // which grows: no piece is pruned just now
      facts.replaceChildren(`(${this.usage(step - 1)})`);
      return [element("span", "facts", `${counted(size, "piece")} left. Last removed: `), this.#term(id[step - 1]), facts];
    }
    if (kind === "pruning") return [this.#term(id[step - 1]), operator("is pruned"), facts];
    const terms = [left, right, id].map((ids, i) => this.#term(ids[step - 1], i === 2 ? "created" : ""));
    if (left[step - 1] < 0) return [terms[2], operator(WHOLE), facts];
    const style = `--letters: ${terms.map(({ textContent }) => textContent).join("").length}`; // a long one is smaller
    const signs = [terms[0], operator("+"), terms[1], operator(this.dir === "rtl" ? "←" : "→"), terms[2], this.#signsInPart(id[step - 1])];
    return [element("span", { className: "equation", dir: this.dir, style }, ...signs), facts];
  }

  // The signs at the first place of the step, if its token has only some bytes of one.
  #signsInPart(id) {
    const [place] = this.timeline.placesAt(this.step - 1);
    if (place === undefined || this.isBytes || !isPartOfSign(this.style(id).label)) return null;
    const { start, end } = this.token(place);
    const { cells } = this;
    const [colors, flags] = [cells.colors.slice(), cells.flags.slice()]; // the text may change later
    for (const token of this.tokens(...cells.atomsOfCells(...cells.cellsOf(start, end)))) this.writeFlags(token, colors, flags);
    return cells.enlarged(start, end, MOST_BYTES, colors, flags);
  }

  /** Return the sentence of the current step, as text. */
  stepInWords() {
    const { data, step } = this;
    if (!data.text) return "No text, no tokens.";
    if (!step) return data.last ? data.initialMessage : data.emptyMessage;
    const { kind, id, left, right } = data.steps;
    const [first, second, merged] = [left, right, id].map((ids) => this.style(ids[step - 1]).label);
    const made = left[step - 1] < 0 ? `${merged} ${WHOLE}` : `${first} + ${second} → ${merged}`;
    const decision = kind === "pruning" ? `${merged} is pruned` : made;
    return `${decision}, ${this.facts(step - 1)}`;
  }

  /** Return the lines of a token's tooltip. */
  describeToken(token) {
    if (token.id < 0) {
      const reasons = {
        [LEFT_OUT_ID]: "Dropped: it does not become a token",
        [UNKNOWN_ID]: `Not in the vocabulary: ${this.data.unknownLabel}`,
        [INSIDE]: "Its token starts in the previous part",
      };
      const reason = [reasons[token.id] ?? [this.#label(token.id), " Special token: no merge touches it"]].flat();
      return [element("p", "", ...reason)];
    }
    const bytes = this.bytesOf(token);
    const where = this.data.part ? "in this part" : "in this text";
    const parents = this.parents(token.id);
    const isByte = bytes.length === 1 && !parents;
    const [left, right] = parents ?? [];
    const origin = parents
      ? ["from ", this.#label(left), ` ${left} + `, this.#label(right), ` ${right} by merge ${this.stepOf.get(token.id) + 1}`]
      : [isByte ? `${BYTE_NAMES[bytes[0]] ?? ""}byte 0x${formatBytes(bytes)}, not made by a merge` : this.origin(token)];
    return [
      element("p", "", this.#label(token.id), ` id ${token.id}`),
      this.cells.enlarged(token.start, token.end) ?? element("p", "hex", isByte ? "" : formatBytes(bytes)),
      element("p", "", `${formatCount(token.count)}× ${where} at this step`),
      element("p", "", ...origin),
    ];
  }

  /** Add or remove the ring around a token. */
  outline({ start, end }, on) {
    this.cells.toggle(start, start + 1, OUTLINED_START, on);
    this.cells.toggle(end - 1, end, OUTLINED_END, on);
    this.cells.toggle(start, end, OUTLINED, on);
  }

  elementOf({ start }) {
    return this.cells.elementAt(start);
  }
}

// Draws one tokenized text: its cells, the sentence of its step, and the tooltip of a token.

import { CellText, LEFT_OUT_ID, SPECIAL_ID, UNKNOWN_ID } from "../shared/cells.js";
import { element, tokenLabel } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";
import { firstIndex } from "../shared/search.js";
import { INSIDE } from "../shared/timeline.js";
import { TokenList } from "../shared/token_list.js";
import { rankOf } from "./controls.js";
import { TokenizedText, formatBytes, wordAt } from "./tokenized_text.js";

/** Names of bytes that look like nothing. */
const BYTE_NAMES = { 0x09: "tab, ", 0x0a: "line feed, ", 0x0d: "carriage return, ", 0x20: "space, " };

/** How a token of a published vocabulary appears that merges of two tokens do not lead to. */
const WHOLE = "is a token of its own: no merges lead to it";

const LONG = 80; // characters of details that get smaller letters

export class TimelineView extends TokenizedText {
  constructor(data) {
    super(data);
    this.host = element("div", "text");
    this.host.tabIndex = 0; // it scrolls
    this.host.dir = "auto";
    this.host.setAttribute("role", "group");
    this.host.ariaLabel = data.title ? `Tokens of ${data.title}` : "The text and its tokens";
    this.box = element("div", "view");
    if (data.title) {
      this.note = element("p", "note");
      this.sentence = element("div", "sentence");
      const head = element("div", "head");
      head.append(element("h2", "", data.title), this.note);
      const rule = element("p", "rule", `${data.rule[0].toUpperCase()}${data.rule.slice(1)}.`);
      this.box.append(head, rule, this.sentence);
    }
    this.list = new TokenList(data.title ? `Tokens of ${data.title}` : "Tokens");
    this.above = element("span", "more above");
    this.below = element("span", "more below");
    for (const more of [this.above, this.below]) more.ariaHidden = "true";
    const frame = element("div", "frame");
    frame.append(this.host, this.above, this.below);
    this.box.append(frame, this.list.box);
    this.cells = new CellText(this.host, data.text, data.atomKind, {
      atomBytes: data.atomBytes,
      marks: data.endMarks,
      markLabel: (atom) => this.style(this.atomIds[atom]).label,
    });
    if (!data.text) this.host.append(element("p", "empty", "There is no text yet. Type one, or choose a sample."));
  }

  /** Redraw the tokens that cover atoms [start, end). reference: `boundaries()` of another view. */
  refresh(start, end, reference = null) {
    const { cells } = this;
    const compared = reference && { theirs: reference, ours: this.boundaries() };
    for (const token of this.tokens(start, end)) {
      this.writeFlags(token, cells.colors, cells.flags, compared);
      cells.paint(token.start, token.end);
    }
  }

  /** Return how many places of this step are hidden above and below the visible text, and the places. */
  #hidden() {
    const places = this.timeline.placesAt(this.step - 1);
    const { host, cells } = this;
    if (!places.length || host.scrollHeight <= host.clientHeight + 1) return { places, above: 0, below: 0 };
    const row = parseFloat(getComputedStyle(host).fontSize) * 0.8; // a row of which half is seen
    const [start, end] = cells.visible(-row / host.clientHeight);
    const above = firstIndex(places.length, (i) => places[i] >= start);
    return { places, above, below: places.length - firstIndex(places.length, (i) => places[i] >= end) };
  }

  /** Say how many places of this step are hidden. */
  countHidden({ above, below } = this.#hidden()) {
    const say = (more, words) => more.textContent === words || (more.textContent = words); // a change costs a layout
    say(this.above, above ? `${formatCount(above)} more above` : "");
    say(this.below, below ? `${formatCount(below)} more below` : "");
  }

  /**
   * Scroll to the first place of this step, unless one is visible.
   * @param {boolean} calmly whether to show the way
   */
  follow(calmly) {
    const { host, cells } = this;
    const hidden = this.#hidden();
    const { places, above, below } = hidden;
    const isSeen = !places.length || above + below < places.length;
    if (isSeen) return this.countHidden(hidden);
    const top = () => cells.cells[cells.cellOf[places[0]]].element.getBoundingClientRect().top;
    const target = () => host.scrollTop + top() - host.getBoundingClientRect().top - host.clientHeight / 3;
    if (calmly) host.scrollTo({ top: target(), behavior: "smooth" });
    // Once drawn, lines may be higher than they were estimated.
    else for (let i = 0; i < 2; i++) host.scrollTop = target();
    this.countHidden();
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

  #labelWithId(id, className) {
    const both = element("span", "with-id");
    const label = this.#label(id);
    if (className) label.classList.add(className);
    label.title = label.textContent;
    both.append(label, element("span", "id", `id ${id}`));
    return both;
  }

  /** Return the sentence of the current step, as elements. */
  describeStep() {
    const { data, step } = this;
    if (!step) return [element("span", "start", this.stepInWords())];
    const { kind, id, left, right } = data.steps;
    const words = this.facts(step - 1);
    const facts = element("span", words.length > LONG ? "facts long" : "facts", words);
    if (data.hasEnd && rankOf(data.changingSteps, step) === rankOf(data.changingSteps, data.last)) {
      const [first, tokens] = [data.tokenCounts[0], data.tokenCounts[step]].map(formatCount);
      facts.append(element("b", "end", `${first} → ${tokens} tokens in ${counted(step, data.unit)}.`));
    }
    const operator = (sign) => element("span", "op", sign);
    if (kind === "pruning") return [this.#labelWithId(id[step - 1]), operator("is pruned"), facts];
    const [first, second, merged] = [left, right, id].map((ids, i) =>
      this.#labelWithId(ids[step - 1], i === 2 ? "created" : ""),
    );
    if (left[step - 1] < 0) return [merged, operator(WHOLE), facts];
    return [first, operator("+"), second, operator("→"), merged, facts];
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

  /** Return the word around an atom; see `wordAt`. */
  word(atom) {
    const { start, end } = this.cells.cells[this.cells.cellOf[atom]];
    return wordAt(this.data.text, start, end);
  }

  /** Return the lines of a token's tooltip. */
  describeToken(token) {
    const head = element("p");
    if (token.id < 0) {
      const reasons = {
        [LEFT_OUT_ID]: "Dropped: it does not become a token",
        [UNKNOWN_ID]: `Not in the vocabulary: ${this.data.unknownLabel}`,
        [INSIDE]: "Its token starts in the previous part",
      };
      if (token.id <= SPECIAL_ID) head.append(this.#label(token.id), " Special token: no merge touches it");
      else head.append(reasons[token.id]);
      return [head];
    }
    head.append(this.#label(token.id), ` id ${token.id}`);
    const { raw, cells, data } = this;
    const bytes = raw
      ? raw.subarray(token.start, token.end)
      : new TextEncoder().encode(data.text.slice(cells.offset(token.start), cells.offset(token.end)));
    const where = data.part ? "in this part" : "in this text";
    const origin = element("p");
    const parents = this.parents(token.id);
    if (parents) {
      const [left, right] = parents;
      const merge = this.stepOf.get(token.id) + 1;
      origin.append("from ", this.#label(left), ` ${left} + `, this.#label(right), ` ${right} by merge ${merge}`);
    } else origin.append(this.origin(token));
    const isByte = bytes.length === 1 && !parents;
    if (isByte) origin.textContent = `${BYTE_NAMES[bytes[0]] ?? ""}byte 0x${formatBytes(bytes)}, not made by a merge`;
    return [
      head,
      ...(isByte ? [] : [element("p", "hex", formatBytes(bytes))]),
      element("p", "", `${formatCount(token.count)}× ${where} at this step`),
      origin,
    ];
  }

  /** Add or remove the ring around a token. */
  outline({ start, end }, on) {
    this.cells.toggle(start, end, "outlined", on);
    this.cells.toggle(start, start + 1, "outlined-first", on);
    this.cells.toggle(end - 1, end, "outlined-last", on);
  }

  elementOf({ start }) {
    return this.cells.cells[this.cells.cellOf[start]].element;
  }
}

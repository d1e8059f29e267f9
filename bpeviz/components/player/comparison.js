// Rows of a stage without steps: a text under several tokenizers, or in pre-tokens, with the name and the
// figures of each.
//
// Up to three lines stand in large letters with their names, and brackets over the places where rows part.
// More lines have names above them; then color is the row's, and each line of the text has its bars.

import { LEFT_OUT, LEFT_OUT_ID, TICK, TOKEN_END, UNKNOWN, UNKNOWN_ID, idOf, intoBytes, splitIntoCells } from "../shared/cells.js";
import { element, newButton, setClasses, unbroken } from "../shared/dom.js";
import { formatCount, plural } from "../shared/format.js";
import { ABOVE_BYTES, LONGEST_OF_BYTES, Score } from "../shared/score.js";
import { TokenList } from "../shared/token_list.js";
import { agreement, joinedPlaces, tokenAt } from "./agreement.js";
import { ComparedRow, spanInWords } from "./compared_row.js";
import { NARROW, fitScore, sizesOfRows, wordySize } from "./fit.js";
import { Overview } from "./overview.js";
import { example, saving } from "./told.js";

const ID_HEIGHT = 15; // pixels
const FEW = 3; // lines
const LONGEST_FEW = 600; // UTF-16 units of a text of which the lines are counted
const BYTE_LINES = 5;
const STRENGTHS = [0, 6]; // color indices of the two strengths of a row's color
const STROKE = 14; // pixels at the left of lines whose names are above
const BRACKET = 14; // pixels above a line …
const NAMED_BRACKET = 34; // … where the bracket has words
const APART = 22; // pixels above the user's own row
const PROJECTED = 96; // pixels, the largest letters on the whole screen
const ONLY = "the only place where they part";

/** Return the name of a title, and the vocabulary or its size in parentheses. */
const partsOf = (title) => title.match(/^(.*?)( \([^()]*[\d,]+\))$/)?.slice(1) ?? [title, ""];

/** Return whether a third or more of the tokens of a row begin or end inside a character. */
function cutsCharacters(rows, bytes) {
  const isInside = (at) => (bytes[at] & 0xc0) === 0x80;
  return rows.some(({ tokenEnds: ends }) => 3 * ends.filter((end, i) => isInside(end) || isInside(ends[i - 1] ?? 0)).length >= ends.length);
}

let revealed = null; // a change of the page does not scroll again

/**
 * @typedef {object} ScorePayload the payload from Python (`bpeviz.views.stage.Stage.score`, `bpeviz.views.pretokenization.payload`)
 * @property {string} key
 * @property {string} text
 * @property {number[]} [rowEnds] places of line ends between rows of a table, in bytes
 * @property {import("./compared_row.js").Row[]} rows
 * @property {boolean} [showIds] whether to show the id of each token
 * @property {string} [unit] "token" unless given
 * @property {string} [ariaLabel] the accessible name of the stage
 * @property {string} [verdict] the result of the comparison, for the projector; the page shows it, too. Only a
 *   stage of a page has one, which may be empty: it has buttons
 * @property {number | null} [reveal] another number than before scrolls to the stage
 */

export class Comparison {
  /**
   * @param {import("./stage.js").Stage} stage
   * @param {ScorePayload} data
   */
  constructor(stage, data) {
    this.stage = stage;
    this.data = data;
    const { rows, unit = "token", text } = data;
    this.names = rows.map(({ title }) => partsOf(title)[0].replace("Your tokenizer", "Yours"));
    this.bytes = new TextEncoder().encode(text);
    this.compared = rows.filter(({ isInSample }) => !isInSample);
    this.agreed = agreement(this.compared, this.bytes);
    this.alike = [...this.agreed.alike, ...rows.slice(this.compared.length).map(({ tokens }) => tokens.map(() => true))]; // the other row is the last
    const isEqual = this.alike.flat().every(Boolean);
    /** Whether only tokens that differ have color: color is news. */
    this.showsDifferences = this.compared.length > 1 && !(data.unit && isEqual);
    this.areTokenizers = rows.length > 1 && !data.unit;
    this.box = stage.frame.parentElement;
    [this.heads, this.summary] = [".heads", ".summary"].map((name) => this.box.querySelector(name));
    this.heads.replaceChildren(...rows.map((row, i) => this.#head(row, i, unit)));
    this.summary.replaceChildren();
    this.box.querySelector(".verdict").textContent = data.verdict ?? "";
    this.list = new TokenList(`${unit[0].toUpperCase()}${unit.slice(1)}s${rows.length > 1 ? " of each row" : ""}`);
    this.unfolded = new Set(); // lines that begin a fold that is open
    this.#build("");
    if (this.areTokenizers) this.#summarize();
    const { common } = this.agreed;
    this.list.show(() => ({ count: common.length, words: (i) => this.inWords({ start: i ? common[i - 1] : 0, end: common[i] }) }));
  }

  /** Return a token, or bytes in all rows, in words. */
  inWords({ start, end }) {
    return spanInWords(this.data, this.bytes, start, end);
  }

  /** Scroll the page to the stage, if its payload asks for it. */
  reveal({ reveal }) {
    if (reveal && reveal !== revealed) {
      const { section } = this.stage;
      // The title and the choices of the page are above the stage.
      (section.getRootNode().host?.closest(".st-key-shown_text") ?? section).scrollIntoView({ block: "start" });
      section.focus({ preventScroll: true });
    }
    revealed = reveal ?? revealed;
  }

  #head({ title, tokenCount, notes, isBest, isInSample }, i, unit) {
    const heading = unbroken("h2", isInSample ? "pale" : `row${i}`, this.names[i]);
    heading.append(element("small", "", partsOf(title)[1]));
    const count = [element("b", "", formatCount(tokenCount)), element("span", "", ` ${plural(tokenCount, unit)}`)];
    const about = element("p", "about", ...notes.filter(Boolean).map((note) => unbroken("span", "note", note)));
    about.title = about.textContent; // it may be shortened
    return element("div", "row-head", heading, element("p", isBest ? "count best" : "count", ...count), about);
  }

  #summarize() {
    const { compared, data, names, agreed, bytes } = this;
    const isWhole = compared.every(({ tokenEnds, tokenCount }) => tokenEnds.length === tokenCount);
    const isOf = names.filter((_, i) => compared.includes(data.rows[i]));
    const words = compared.length < 2 ? ["", ""] : example(compared, isOf, agreed, bytes);
    this.words = [element("b", "", words[0]), words[1]];
    this.notes = data.rows.flatMap(({ notes }, i) => (notes.length ? [` ${names[i]}: ${notes.join("; ")}.`] : []));
    this.saved = compared.length > 1 && isWhole ? saving(compared, bytes) : "";
    this.summary.append(...this.words, ...this.notes);
  }

  /**
   * Make the score in one of its views, unless it has this one.
   * @param {"" | "few" | "many" | "in-bytes"} view
   */
  #build(view) {
    if (this.score && this.view === view) return;
    const { data, names } = this;
    const { rowEnds, rows, unit = "token", text } = data;
    this.view = view;
    this.box.className = ["stage comparison", view].filter(Boolean).join(" ");
    const className = view === "in-bytes" ? "text of-bytes" : "text";
    const host = element("div", { className, tabIndex: 0, role: "group", ariaLabel: `The text and its ${unit}s` }); // it scrolls
    const signs = view === "in-bytes" ? splitIntoCells(text, "bytes") : null;
    const cells = signs ? intoBytes(signs) : undefined;
    const drawn = view === "many" ? this.compared : rows;
    this.score = this.stage.score = new Score(host, text, drawn.map(({ isOwn }, i) => ({ atomKind: "bytes", rowEnds, cells, name: rows.length > 1 ? names[i] : "", isApart: isOwn })));
    this.score.signs = signs;
    this.score.views = drawn.map((row, i) => new ComparedRow(this, row, this.score.rows[i]));
    const overview = new Overview(this.score);
    this.stage.frame.replaceChildren(host, overview.box, this.list.box);
    this.score.laidOut = () => {
      overview.draw();
      this.box.classList.toggle("in-lines", this.score.lines.length > 1);
      this.#decorate();
    };
    drawn.forEach((row, i) => this.#fill(row, this.score.rows[i], this.alike[i]));
    this.stage.scored(this.score);
  }

  #fill({ tokenEnds, tokens, distinct, tokenCount }, row, alike) {
    const { showsDifferences, view } = this;
    const { showIds, unit } = this.data;
    const counts = new Uint32Array(this.bytes.length + 1); // tokens that begin at each byte
    let start = 0;
    tokenEnds.forEach((end, i) => {
      const [id, , , color] = distinct[tokens[i]];
      const isSame = showsDifferences && alike[i];
      const isShort = showsDifferences ? isSame : color < 0 && (id >= 0 || id === LEFT_OUT_ID); // an atom
      row.colors.fill(isSame ? -1 : view === "many" ? STRENGTHS[i % 2] : color, start, end);
      if (id !== LEFT_OUT_ID) counts[start]++;
      const kind = id === UNKNOWN_ID ? UNKNOWN : id === LEFT_OUT_ID ? LEFT_OUT : 0;
      if (end > start) row.flags[end - 1] |= TOKEN_END | (isShort && !unit ? TICK : 0) | kind;
      start = end;
    });
    row.tokensIn = (from, to) => counts.subarray(from, to < this.bytes.length ? to : undefined).reduce((sum, count) => sum + count, 0);
    row.countIn = view === "few" || view === "in-bytes" ? () => tokenCount : row.tokensIn;
    if (!showIds) return;
    row.labelOf = (byte) => {
      const [id] = distinct[tokens[tokenAt(tokenEnds, byte)]];
      return String(idOf(id) ?? "");
    };
  }

  // ---- size and view

  /**
   * Set the size of the text to the largest at which all of it fits into its element, which has its largest height.
   * @param {number} scale of names
   * @param {boolean} isAlone whether the stage fills the screen
   */
  fit(scale, isAlone) {
    const largest = isAlone ? PROJECTED : 0;
    if (this.areTokenizers) this.#fitTokenizers(scale, largest);
    else this.#fitRows(scale, largest);
  }

  #fitRows(scale, largest) {
    const { score, data, stage: { section } } = this;
    this.box.classList.add("in-rows");
    const sizes = sizesOfRows(score.rows.length);
    if (largest) Object.assign(sizes, { largest });
    this.box.style.removeProperty("--stage");
    const fit = () => fitScore(score, (size) => this.#set(size), sizes, { scale, below: data.showIds ? ID_HEIGHT : 0 });
    const fits = fit();
    section.classList.toggle("scrolls", !fits);
    if (fits) return;
    fit(); // beside the overview, and it may be higher then
    const { lines, padding } = score.measure();
    const last = lines[score.fitting() - 1];
    if (!last) return;
    score.pageHeight = last.bottom; // it ends at a line
    this.box.style.setProperty("--stage", `${last.bottom + padding}px`);
  }

  #set(size) {
    this.stage.section.style.setProperty("--size", `${size}px`);
  }

  #fitTokenizers(scale, largest) {
    const { data, names, bytes, compared } = this;
    const width = this.score.host.clientWidth;
    const isNarrow = width < NARROW;
    const room = Math.round(scale * (isNarrow ? 84 : Math.max(120, 9 * Math.max(...names.map(({ length }) => length)) + 64)));
    if (width <= room) return; // the page has no room for it yet
    const how = { width, isNarrow, room, largest, scale };
    const isBrief = data.text.length <= LONGEST_FEW && data.text.trimEnd().split("\n").length <= FEW;
    const cuts = cutsCharacters(compared, bytes);
    this.brackets = compared.length > 1 && !cuts ? joinedPlaces(this.agreed.places) : [];
    const inBytes = cuts && data.text.length <= LONGEST_OF_BYTES;
    if (!(inBytes && this.#fitBytes(how)) && !(isBrief && this.#fitFew(how))) this.#fitMany(how);
    this.summary.replaceChildren(...(this.view === "many" && this.saved ? [this.saved] : this.words), ...this.notes);
    this.box.style.setProperty("--room", `${room}px`);
  }

  /** Set the size, and the pixels and heights around lines; return the measured lines. */
  #lay(size, room, { lineHeight, between, bars = 0, over = null }) {
    const { score, data } = this;
    this.#set(size);
    Object.assign(score, { isInColumns: false, pageHeight: Infinity, bars, lineHeight, apart: score.rows.some(({ isApart }) => isApart) ? APART : 0 });
    score.room = { names: room, counts: 0, below: data.showIds ? ID_HEIGHT : 0, between: Math.round(between * size) };
    score.over = over;
    return score.measure();
  }

  #isTooHigh({ lines, padding }) {
    return lines.at(-1).bottom > this.score.host.clientHeight - padding;
  }

  /** Show up to three lines, in the largest letters at which the text is one line. */
  #fitFew({ width, isNarrow, room, largest }) {
    this.#build("few");
    const { score, data, agreed } = this;
    this.isOnly = agreed.places.length === 1;
    const over = (_, first, end) => {
      const [start, stop] = score.rows[0].atomsOfCells(first, end);
      const within = this.brackets.filter(([from, to]) => from < stop && to > start);
      return !within.length ? 0 : this.isOnly && within[0][0] >= start ? NAMED_BRACKET : BRACKET;
    };
    const smallest = isNarrow ? 15 : 18;
    const lay = (size) => this.#lay(size, room, { lineHeight: 1.9, between: 0.8, over });
    const inOneLine = Math.floor((2 * (width - room - 2)) / score.widest()) / 2;
    const highest = largest || 48;
    let size = Math.min(highest, inOneLine);
    if (inOneLine < smallest) size = Math.max(smallest, wordySize(data.text, width - room, isNarrow ? 20 : 0.6 * highest));
    while (size > smallest && this.#isTooHigh(lay(size))) size -= 1;
    return lay(size).lines.length <= FEW;
  }

  /** Show the bytes, with the letters above them, if they fit into five lines. */
  #fitBytes({ isNarrow, room, largest }) {
    this.#build("in-bytes");
    const smallest = isNarrow ? 11 : 12;
    for (let size = largest ? largest / 4 : 18; size >= smallest; size -= 1) {
      const measured = this.#lay(size, room, { lineHeight: 1.6, between: 0.8, over: () => Math.round(ABOVE_BYTES * size) });
      if (measured.lines.length <= BYTE_LINES && !this.#isTooHigh(measured)) return true;
    }
    return this.score.measure().lines.length <= BYTE_LINES;
  }

  /** Show many lines: names above, a stroke for each row, and bars beside the lines of the text. */
  #fitMany({ width, isNarrow, largest, scale }) {
    this.#build("many");
    const { score, data, agreed } = this;
    const widest = score.widest();
    const [small, large] = isNarrow ? [13, 16] : largest ? [15, largest / 3] : [15, 18];
    const room = Math.round(scale * STROKE);
    const hasLines = data.text.trimEnd().includes("\n");
    const free = width - room - 1.02 * widest * small;
    const bars = !hasLines ? 0 : isNarrow ? 44 : Math.round(Math.min(0.5 * width, free));
    const hasBars = bars >= (isNarrow ? 44 : 0.2 * width);
    score.kindsOf = this.compared.length > 1 && (hasLines || !agreed.places.length) ? (lines) => this.#kindsOf(lines) : null;
    const size = Math.max(small, Math.min(large, Math.floor((width - room - (hasBars ? bars : 0)) / widest)));
    this.#lay(size, room, { lineHeight: 1.28, between: 0.5, bars: hasBars ? bars : 0 });
  }

  /** Return how lines are drawn that are equal in all rows: "once", or of some lines "fold" with their number, or "gone". */
  #kindsOf(lines) {
    const [row] = this.score.rows;
    const { places } = this.agreed;
    const byte = (cell) => row.cells[cell]?.firstAtom ?? this.bytes.length;
    let place = 0;
    const isEqual = lines.map(({ first, end }) => {
      while (places[place]?.[1] <= byte(first)) place++;
      return !(places[place]?.[0] < byte(end));
    });
    const kinds = lines.map(({ isThin }, i) => (isThin && i ? (lines[i - 1].isThin ? "gone" : "once") : ""));
    for (let i = 0; i < lines.length; i++) {
      if (!isEqual[i] || kinds[i]) continue;
      let end = i + 1;
      while (end < lines.length && (isEqual[end] || kinds[end])) end++;
      const equal = lines.slice(i, end).filter(({ isThin }) => !isThin).length;
      const isFolded = equal > 1 && places.length > 0 && !this.unfolded.has(i);
      for (let k = i; k < end; k++) if (isFolded || !kinds[k]) kinds[k] = isFolded ? "gone" : "once";
      if (isFolded) kinds[i] = `fold ${equal}`;
      i = end - 1;
    }
    return kinds;
  }

  /** Open the fold that contains a line. */
  unfold(i) {
    const { lines } = this.score;
    if (!/fold|gone/.test(lines[i]?.kind ?? "")) return;
    while (i > 0 && lines[i].kind === "gone") i--;
    this.unfolded.add(i);
    this.score.measured = null;
    this.score.layOut();
  }

  // ---- what stands around the lines

  #decorate() {
    const { score, view, data } = this;
    if (!view || this.decorated === score.drawn) return;
    this.decorated = score.drawn;
    if (view === "many") return this.#drawBars();
    for (const { staves } of score.lines)
      staves.forEach(({ box }, i) => setClasses(box, { best: data.rows[i].isBest, pale: data.rows[i].isInSample }));
    if (view === "in-bytes") score.drawLetters();
    else this.#drawBrackets();
  }

  #drawBars() {
    const { score } = this;
    const ofParagraphs = new Map(); // the bytes of each line of the text
    for (const { first, end } of score.lines) {
      const { line } = score.cells[first];
      const [start, stop] = score.rows[0].atomsOfCells(first, end);
      ofParagraphs.set(line, [ofParagraphs.get(line)?.[0] ?? start, stop]);
    }
    const countsOf = (line) => score.rows.map((row) => row.tokensIn(...ofParagraphs.get(line)));
    const most = Math.max(1, ...[...ofParagraphs.keys()].flatMap(countsOf));
    score.lines.forEach(({ first, kind, staves, isThin, element: line }, k) => {
      staves.forEach(({ box }, i) => box.classList.add(`row${i}`));
      if (kind.startsWith("fold")) line.append(newButton("unfold", `${kind.slice(5)} equal lines`, () => this.unfold(k)));
      const { line: paragraph } = score.cells[first];
      if (/fold|gone/.test(kind) || isThin || !score.bars || score.cells[first - 1]?.line === paragraph) return;
      const counts = countsOf(paragraph);
      (kind ? counts.slice(0, 1) : counts).forEach((count, i) => {
        // Equal lines may differ in the tokens of their line break.
        const numbers = kind ? [...new Set(counts)] : [count];
        const words = numbers.map(formatCount).join(" / ") + (numbers.length > 1 ? " ↵" : "");
        const length = element("i", { style: `width: calc((100% - 3.5em) * ${count / most})` });
        staves[i].box.append(element("div", { className: "bar", inert: true }, length, element("b", "", words)));
      });
    });
  }

  #drawBrackets() {
    const { score, brackets } = this;
    const [row] = score.rows;
    for (const { first, end, element: line } of score.lines) {
      const [start, stop] = row.atomsOfCells(first, end);
      const { left, width } = line.getBoundingClientRect();
      for (const [from, to] of brackets) {
        if (from >= stop || to <= start) continue;
        const ends = [Math.max(from, start), Math.min(to, stop) - 1].map((byte) => row.boxOf(row.cellOf[byte]));
        const [x, until] = [Math.min(...ends.map((at) => at.left)) - left, Math.max(...ends.map((at) => at.right)) - left];
        line.append(element("i", { className: "bracket", inert: true, style: `left:${x}px;width:${until - x}px` }));
        if (!this.isOnly || from < start) continue;
        const words = line.appendChild(element("i", { className: "bracket-words", inert: true }, ONLY));
        words.style.left = `${Math.max(0, Math.min(width - words.offsetWidth, (x + until - words.offsetWidth) / 2))}px`;
      }
    }
  }
}

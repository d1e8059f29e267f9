// Lays out a slide of 1920 by 1080 pixels: a step of the texts of the player, of the merge diagram or of
// a table, with its sentence and its figures. The content has the same place at all steps. A poster is the
// merge diagram as a picture of 1200 by 630 pixels, which says what it shows.

import { TextDiagram } from "../merge_diagram/text_diagram.js";
import { fitScore } from "../player/fit.js";
import { TimelineScore } from "../player/timeline_view.js";
import { NO_WIDTH } from "../shared/cells.js";
import { element, tokenLabel } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";
import { pictureOf } from "../shared/picture.js";
import { Comparison } from "../score/comparison.js";
import { columnsOf } from "../token_table/columns.js";

const [SMALLEST_TEXT, SMALLEST_LETTERS, LARGEST_TEXT, LARGEST_TABLE] = [24, 20, 240, 48]; // pixels; of a text, of several rows
const ROW_HEIGHT = 1.35; // of several rows, relative to the size of letters
const FEW_LINES = 5; // which may be broken for larger letters
const MOST_VIEWS = 4;
const NAMES_SCALE = 1.5; // of letters, relative to a page
const MOST_ROWS = 13;
const SCALE = { slide: 1.8, poster: 2.3 }; // of blocks, relative to a page
const HEADINGS = { largest: 46, smallest: 22 }; // pixels, of a poster
const POSTER = "Picture to share";
const INVITATION = "Type your name: what does a model see?";
const UNSEEN = new Set(["id", "applied", "ties", "round", "note"]);

/**
 * @typedef {object} SlidePayload the payload from Python (`bpeviz.views.slides`)
 * @property {string} key of everything but the step
 * @property {"Text" | "Merge diagram" | "Table" | "Picture to share"} content
 * @property {string} title
 * @property {string} settings
 * @property {any} credit
 * @property {string[]} notes
 * @property {string} stepName the unit of a step's number
 * @property {number[]} stepNumbers
 * @property {any[] | null} views the texts of the player, for steps
 * @property {import("../score/score.js").ScorePayload | null} score the score, for a text without steps
 * @property {any | null} diagram
 * @property {{names: string[], rows: string[][]} | null} table
 * @property {[number, number]} characters the first character, from 0, and the number of characters of the text
 */

export class Slide {
  /**
   * @param {any} parent
   * @param {SlidePayload} data
   */
  constructor(parent, data) {
    this.data = data;
    this.sheet = parent.appendChild(element("div", "slide-sheet on-light"));
    this.isPoster = data.content === POSTER;
    this.sheet.classList.toggle("poster", this.isPoster);
    this.sheet.dataset.texts = String(data.views?.length ?? 0);
    this.sheet.inert = true; // nobody can reach it
    const line = (name) => this.sheet.appendChild(element("div", name));
    [this.heading, this.sentence, this.content, this.figures, this.notes] =
      ["heading", "sentence", "content", "figures", "notes"].map(line);
    const last = line("credits");
    if (this.isPoster) last.append(newMark(), element("b", "settings", "bpeviz"), element("span", ""));
    else last.append(element("span", "settings", data.settings), element("span", "", `${data.credit.words} `));
    const linked = this.isPoster ? INVITATION : data.credit.linked;
    if (data.credit.link) last.lastChild.append(Object.assign(element("a", "", linked), { href: data.credit.link }));
    else if (this.isPoster) last.lastChild.append(linked);
    this.remarks = [...data.notes];
    this.heading.textContent = data.title; // it may have two lines
    if (data.content === "Text") this.#texts();
    else if (data.content !== "Table") this.#diagram();
  }

  remove() {
    this.controller?.abort();
    this.sheet.remove();
  }

  /** Return the picture of a step. */
  picture(step) {
    const { data } = this;
    if (this.isPoster) {
      this.#describe(this.#showMerges(step));
      return pictureOf(this.sheet, this.heading.textContent);
    }
    const number = data.stepNumbers[step];
    const of = data.views?.length === 1 ? ` of ${formatCount(data.stepNumbers.at(-1))}` : "";
    this.heading.textContent = data.views ? `${data.title}: ${data.stepName} ${formatCount(number)}${of}` : data.title;
    const views = this.#viewsAt(step);
    if (views.length === 1) {
      const [{ view, at }] = views;
      this.score ??= new TimelineScore([view]);
      this.score.views[0].step = at;
      this.sentence.replaceChildren(...this.score.views[0].describeStep());
      this.figures.textContent = figuresOf(view, at);
    } else this.figures.textContent = views.map(({ view, at }) => `${view.title}: ${counted(view.tokenCounts[at], "token")}`).join(" · ");
    const also = [];
    if (data.content === "Table") also.push(...this.#tables(views));
    else if (this.diagram) this.#showMerges(step);
    else this.#paint(views);
    this.notes.textContent = [...this.remarks, ...also].join(" ");
    return pictureOf(this.sheet, this.heading.textContent);
  }

  #texts() {
    const { data, content } = this;
    content.classList.add("texts");
    if (data.views?.length > MOST_VIEWS) this.remarks.push(`${MOST_VIEWS} of ${data.views.length} tokenizers are shown.`);
    const comparison = data.score && new Comparison({ ...data.score, verdict: "", showIds: false });
    const score = comparison?.score ?? new TimelineScore(data.views.slice(0, MOST_VIEWS));
    content.append(comparison?.box ?? score.host);
    if (score.rows.length > 1) score.lineHeight = ROW_HEIGHT;
    if (!comparison) this.score = score;
    fitScore(
      score,
      (size) => content.style.setProperty("--size", `${size}px`),
      { smallest: score.rows.length > 1 ? SMALLEST_LETTERS : SMALLEST_TEXT, largest: LARGEST_TEXT },
      { scale: NAMES_SCALE, keepsLines: score.text.split("\n").length > FEW_LINES, fills: true },
    );
    score.layOut();
    const { lines, cells, text } = score;
    const cut = lines[score.fitting()];
    const end = cut ? cells[cut.first].start : text.length;
    if (cut) score.crop(end);
    const betweenRows = cells.filter((cell) => cell.start < end && cell.text === NO_WIDTH);
    this.#remark([...text.slice(0, end)].length - betweenRows.length);
  }

  #remark(count) {
    const [first, total] = this.data.characters;
    if (count < total)
      this.remarks.unshift(`Characters ${formatCount(first + 1)} to ${formatCount(first + count)} of ${formatCount(total)} are shown.`);
  }

  #paint(views) {
    this.score?.views.forEach((view, i) => (view.step = views[i].at));
    this.score?.refresh();
  }

  #diagram() {
    const { content, data } = this;
    content.classList.add("merge-diagram");
    content.append(element("div", "signs"), element("div", "said"));
    if (this.isPoster) this.#describe([]); // its lines have their heights
    this.controller = new AbortController();
    this.diagram = new TextDiagram(content, this.controller.signal);
    Object.assign(this.diagram, { height: content.clientHeight, scale: this.isPoster ? SCALE.poster : SCALE.slide });
    if (!this.isPoster) this.diagram.load(data.diagram);
    const [first, end] = data.diagram.characters;
    const total = data.characters[1];
    if (end - first < total)
      this.remarks.push(`${this.isPoster ? "Characters" : "The diagram shows characters"} ${formatCount(first + 1)} to ${formatCount(end)} of ${formatCount(total)}.`);
    if (data.views?.length > 2) this.remarks.push(`2 of ${data.views.length} tokenizers are shown.`);
  }

  #viewsAt(step) {
    return (this.data.views ?? []).map((view) => ({ view, at: view.ownSteps?.[step] ?? step }));
  }

  /** Show the merges of a step; return the tokens of each side. */
  #showMerges(step) {
    const own = this.#viewsAt(step).map(({ at }) => at);
    const last = own.length ? Math.max(...own) : step;
    if (this.isPoster) this.diagram.load(this.data.diagram, last); // without room for later blocks
    return this.diagram.showStep(last, own);
  }

  /** Write the heading of a poster: its text, if there is room, with the number of tokens. */
  #describe(sides) {
    const { heading, sentence, data } = this;
    const { signs } = data.diagram;
    const text = element("bdi", "", signs.map(([, , sign, bytes]) => (bytes.length === 1 && bytes[0][1] === "20" ? " " : sign)).join(""));
    const counts = sides.map(({ title, tokens }, i) => `${i ? formatCount(tokens) : counted(tokens, "token")} with ${title}`).join(", ");
    const bytes = signs.reduce((sum, sign) => sum + sign[3].length, 0);
    const [{ unit, stepCount }] = data.diagram.sides;
    const [at] = sides.length === 1 ? sides : [];
    const isWhole = at?.step === stepCount && unit === "step"; // of the steps of a published tokenizer
    const after = at && !isWhole ? `, after ${counted(at.step, unit)}` : "";
    const also = this.remarks[0] ?? (at ? "A model gets only the numbers below the text." : "");
    sentence.textContent = `${counted(bytes, "byte")}${after}. ${also}`;
    let size = HEADINGS.largest;
    const fits = () => {
      heading.style.fontSize = `${size}px`;
      return heading.scrollWidth <= heading.clientWidth;
    };
    heading.replaceChildren("“", text, sides.length > 1 ? "”: " : "” is ", counts);
    while (!fits() && size > HEADINGS.largest / 1.4) size -= 2;
    if (fits()) return;
    heading.replaceChildren(counts);
    for (size = HEADINGS.largest; !fits() && size > HEADINGS.smallest; ) size -= 2;
  }

  /** Draw the tables of a step; return notes on them. */
  #tables(views) {
    const notes = [];
    const tables = this.data.table ? [this.data.table] : views.slice(0, MOST_VIEWS).map(stepTable);
    if (views.length > MOST_VIEWS) notes.push(`${MOST_VIEWS} of ${views.length} tables are shown.`);
    this.content.replaceChildren(
      ...tables.map(({ title, names, rows, isCurrent, unit }) => {
        const shown = isCurrent ? rows.slice(-MOST_ROWS) : rows.slice(0, MOST_ROWS);
        if (shown.length < rows.length) notes.push(`${shown.length} of ${counted(rows.length, unit ?? "row")} are shown.`);
        const box = element("div", "view");
        if (title) box.append(element("h2", "", title));
        const table = box.appendChild(element("table", ""));
        if (!rows.length) box.append(element("p", "note", `Before the first ${unit}`));
        const isFigure = names.map((_, i) => shown.length > 0 && shown.every((row) => /^([\d+−–-].*)?$/.test(row[i].textContent ?? row[i])));
        for (const [tag, cells] of [["th", names], ...shown.map((row) => ["td", row])]) {
          const row = table.appendChild(element("tr", isCurrent && cells === shown.at(-1) ? "current" : ""));
          cells.forEach((cell, i) => row.appendChild(element(tag, isFigure[i] ? "right" : "")).append(cell));
        }
        return box;
      }),
    );
    this.content.classList.add("tables");
    for (let size = LARGEST_TABLE; size > 12; size -= 2) {
      this.content.style.fontSize = `${size}px`;
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = this.content;
      if (scrollWidth <= clientWidth && scrollHeight <= clientHeight) break;
    }
    return notes;
  }
}

/** Return the mark of bpeviz: two tokens, and the one that they are merged into. */
function newMark() {
  const mark = element("div", "brand");
  for (const color of ["#e0823d", "#2f9e6e", "#2f74e0"]) mark.appendChild(element("i")).style.background = color;
  return mark;
}

/** Return the figures of a text at a step, in words. */
function figuresOf({ tokenCounts, byteCount }, step) {
  const count = tokenCounts[step];
  const before = count === tokenCounts[0] ? "" : ` instead of ${formatCount(tokenCounts[0])}`;
  const ratio = count ? ` · ${(byteCount / count).toFixed(2)} bytes per token` : "";
  return counted(count, "token") + before + ratio;
}

/** Return the table of the steps of a text up to one of them, of which the last ones are shown. */
function stepTable({ view, at }) {
  const { steps, unit, tokenStyles, unknownLabel, title = "" } = view;
  const columns = columnsOf(steps, unit).filter(({ name }) => !UNSEEN.has(name));
  const label = (id) => tokenLabel(...(tokenStyles[id] ?? [unknownLabel ?? "?", -1]));
  const figure = (value) => (Number.isInteger(value) ? formatCount(value) : String(+value.toPrecision(3)));
  const rows = Array.from({ length: at }, (_, i) =>
    i < at - MOST_ROWS ? [] : columns.map(({ at, isToken }) => (isToken ? label(at(i)) : figure(at(i)))),
  );
  return { title, names: columns.map(({ name }) => name), rows, isCurrent: true, unit };
}

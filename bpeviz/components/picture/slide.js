// Lays out a slide of 1920 by 1080 pixels: a step of the texts of the player, of the merge diagram or of
// a table, with its sentence and its figures. The content has the same place at all steps.

import { MergeDiagram } from "../merge_diagram/diagram.js";
import { fitScore } from "../player/fit.js";
import { TimelineScore } from "../player/timeline_view.js";
import { element, tokenLabel } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";
import { pictureOf } from "../shared/picture.js";
import { Comparison } from "../score/comparison.js";
import { columnsOf } from "../step_table/rows.js";

const [SMALLEST_TEXT, SMALLEST_LETTERS, LARGEST_TEXT, LARGEST_TABLE] = [24, 20, 240, 48]; // pixels; of a text, of several rows
const ROW_HEIGHT = 1.35; // of several rows, relative to the size of letters
const FEW_LINES = 5; // which may be broken for larger letters
const MOST_VIEWS = 4;
const NAMES_SCALE = 1.5; // of letters, relative to a page
const MOST_ROWS = 13;
const UNSEEN = new Set(["id", "ties", "round", "note"]);

/**
 * @typedef {object} SlidePayload the payload from Python (`bpeviz.views.slides`)
 * @property {string} key of everything but the step
 * @property {"Text" | "Merge diagram" | "Table"} content
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
    this.sheet.dataset.texts = String(data.views?.length ?? 0);
    this.sheet.inert = true; // nobody can reach it
    const line = (name) => this.sheet.appendChild(element("div", name));
    [this.heading, this.sentence, this.content, this.figures, this.notes] =
      ["heading", "sentence", "content", "figures", "notes"].map(line);
    const last = line("credits");
    last.append(element("span", "settings", data.settings), element("span", "", `${data.credit.words} `));
    if (data.credit.link) last.lastChild.append(Object.assign(element("a", "", data.credit.linked), { href: data.credit.link }));
    this.remarks = [...data.notes];
    this.heading.textContent = data.title; // it may have two lines
    if (data.content === "Text") this.#texts();
    else if (data.content === "Merge diagram") this.#diagram();
  }

  remove() {
    this.controller?.abort();
    this.sheet.remove();
  }

  /** Return the picture of a step. */
  picture(step) {
    const { data } = this;
    const number = data.stepNumbers[step];
    const of = data.views?.length === 1 ? ` of ${formatCount(data.stepNumbers.at(-1))}` : "";
    this.heading.textContent = data.views ? `${data.title}: ${data.stepName} ${formatCount(number)}${of}` : data.title;
    const views = (data.views ?? []).map((view) => ({ view, at: view.ownSteps?.[step] ?? step }));
    if (views.length === 1) {
      const [{ view, at }] = views;
      this.score ??= new TimelineScore([view]);
      this.score.views[0].step = at;
      this.sentence.replaceChildren(...this.score.views[0].describeStep());
      this.figures.textContent = figuresOf(view, at);
    } else this.figures.textContent = views.map(({ view, at }) => `${view.title}: ${counted(view.tokenCounts[at], "token")}`).join(" · ");
    const also = [];
    if (data.content === "Table") also.push(...this.#tables(views));
    else if (this.diagram) this.diagram.show(Math.max(...views.map(({ at }) => at)), views.map(({ at }) => at));
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
    const cut = lines[score.fitting];
    const end = cut ? cells[cut.first].start : text.length;
    if (cut) score.crop(end);
    this.#remark(text.slice(0, end));
  }

  #remark(text) {
    const [first, total] = this.data.characters;
    const count = [...text].length;
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
    content.append(element("div", "frame"), element("div", "readout"), element("div", "save"));
    this.controller = new AbortController();
    this.diagram = new MergeDiagram(content, this.controller.signal);
    this.diagram.height = content.clientHeight;
    this.diagram.update({ ...data.diagram, timelineId: undefined });
    const [first, end] = data.diagram.characters;
    const total = data.characters[1];
    if (end - first < total)
      this.remarks.push(`The diagram shows characters ${formatCount(first + 1)} to ${formatCount(end)} of ${formatCount(total)}.`);
    if (data.views.length > 2) this.remarks.push(`2 of ${data.views.length} tokenizers are shown.`);
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
    i < at - MOST_ROWS ? [] : columns.map(({ at, token }) => (token ? label(token(i)) : figure(at(i)))),
  );
  return { title, names: columns.map(({ name }) => name), rows, isCurrent: true, unit };
}

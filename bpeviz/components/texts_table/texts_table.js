// Texts under tokenizers as a dot plot, and behind it as a table. A press on a mark or a cell opens the
// text, and one on a head sorts the table.
// The host styles it like its other tables.

import { component, draw, element, observeSize, unbroken } from "../shared/dom.js";
import { savesPicture } from "../shared/picture.js";
import { DotPlot } from "./dot_plot.js";
import { nextOrder, ordered } from "./order.js";

/**
 * @typedef {object} TextsTablePayload the payload from Python (`bpeviz.views.text_table.payload`)
 * @property {string} key
 * @property {string} label the accessible name
 * @property {string[]} header the title of the names, and the tokenizers
 * @property {import("./order.js").Row[]} rows
 * @property {import("./dots.js").Plot | null} [plot] what the dot plot shows, if there is one
 * @property {[string, string]} [legends] what the marks of the chart and of the table mean
 * @property {boolean} [startsAsTable] whether the table is in front at first
 * @property {string[]} [opens] the key of each tokenizer, if cells open their text; else its title is
 * @property {{text: string, tokenizer: string} | null} [shown] the cell whose text is open
 */

const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

const LONG = 18; // characters of a name that may wrap anywhere

class TextsTable {
  constructor(root, signal) {
    this.table = element("table", { className: "facts sortable", role: "grid" });
    this.frame = element("div", "facts-frame", this.table);
    const tabs = ["Chart", "Table"].map((name) => element("button", { className: "tab", role: "tab", onclick: () => this.#turnTo(name === "Chart") }, name));
    this.tabs = element("div", { className: "tabs", role: "tablist" }, ...tabs);
    this.chart = element("div", "dots");
    this.plot = new DotPlot(draw(this.chart, "svg", { role: "group" }));
    this.save = element("div", "save-pictures");
    for (const [words, name] of [["Save this picture"], ["Save as SVG", "texts.svg"]])
      savesPicture(this.save.appendChild(element("button", "save-picture", words)), () => (this.isChart ? this.chart : this.frame), name);
    this.legend = element("p", "texts-legend");
    root.replaceChildren(this.tabs, this.chart, this.frame, this.legend, this.save);
    this.tabs.addEventListener("keydown", ({ key }) => ["ArrowLeft", "ArrowRight"].includes(key) && this.#turnTo(!this.isChart, true), { signal });
    this.chart.addEventListener("click", ({ target }) => this.#open(target.closest(".mark")), { signal });
    this.chart.addEventListener("keydown", (event) => this.#onChartKey(event), { signal });
    observeSize(() => this.#fit(), signal, this.frame, this.chart, this.table);
    const on = (name, listener) => this.table.addEventListener(name, listener, { signal });
    on("click", ({ target }) => this.#press(target.closest("th, td")));
    on("keydown", (event) => this.#onKey(event));
    on("focusin", ({ target }) => this.#reach(target.closest("th, td")));
  }

  /**
   * @param {TextsTablePayload} data
   * @param {(name: string, value: any) => void} on
   */
  update(data, on) {
    this.data = data;
    this.on = on;
    this.tabs.hidden = !data.plot;
    this.prefersChart ??= !data.startsAsTable;
    if (this.key !== data.key) {
      this.key = data.key;
      this.width = 0;
      this.#draw();
    }
    this.#turnTo(this.prefersChart);
  }

  #turnTo(prefersChart, focuses = false) {
    this.prefersChart = prefersChart;
    const isChart = (this.isChart = prefersChart && Boolean(this.data.plot));
    [...this.tabs.children].forEach((tab, i) => {
      tab.ariaSelected = String(isChart === !i);
      tab.tabIndex = isChart === !i ? 0 : -1;
      if (focuses && isChart === !i) tab.focus();
    });
    [this.chart.hidden, this.frame.hidden] = [!isChart, isChart];
    this.legend.textContent = this.data.legends?.[isChart ? 0 : 1] ?? "";
    this.legend.hidden = !this.data.legends;
    this.#fit();
    this.#mark();
  }

  #drawPlot() {
    const width = this.chart.clientWidth;
    if (!this.isChart || !width || width === this.width) return;
    this.width = width;
    this.plot.draw(this.data, width);
    this.#mark();
  }

  // Where the table fits, its heads stay in view while the page scrolls; elsewhere it scrolls itself,
  // and ends with a whole row.
  // Intervals stand below their values in all rows or in none.
  #fit() {
    this.#drawPlot();
    const isWide = () => this.table.offsetWidth > this.frame.clientWidth;
    this.frame.classList.remove("stacked");
    this.frame.classList.toggle("stacked", isWide());
    this.frame.classList.toggle("fits", !isWide());
    const [head, row] = [this.table.tHead, this.table.rows[1]].map((part) => part?.offsetHeight);
    const bar = this.frame.offsetHeight - this.frame.clientHeight;
    const limits = isWide() && row && document.documentElement.dataset.embedded === undefined;
    const rows = Math.floor((0.85 * innerHeight - head) / row);
    this.frame.style.maxHeight = limits ? `${head + bar + rows * row}px` : "";
  }

  #draw() {
    const { header, rows, label, opens } = this.data;
    this.table.ariaLabel = label;
    this.table.classList.toggle("opens", Boolean(opens));
    this.heads = header.map((title, i) => element("th", { className: i ? "right" : "", scope: "col" }, unbroken("bdi", "", title)));
    this.rows = new Map(rows.map((row) => [row.name, this.#row(row)]));
    this.body = element("tbody");
    this.table.replaceChildren(element("thead", "", element("tr", "", ...this.heads)), this.body);
    this.#sort();
    for (const cell of this.table.querySelectorAll("th, td")) cell.tabIndex = -1;
    this.#reach(this.heads[0]);
  }

  #row({ name, cells }) {
    const first = element("td", { className: name.length > LONG ? "long" : "", role: "rowheader" }, unbroken("bdi", "", name));
    const others = cells.map(([text, shade, mark]) => {
      const look = { className: `right${shade ? " shaded" : ""}${mark ? " marked" : ""}`, style: shade ? `--shade: ${Math.round(100 * shade)}%` : "" };
      const [value, ...interval] = text.split(/ (?=\()/);
      const more = interval.length && element("small", "", interval.join(" "));
      return element("td", look, element("bdi", "", value), more && " ", more, mark && element("span", "unseen", ` ${mark}`));
    });
    return element("tr", "", first, ...others);
  }

  #sort() {
    const column = this.sorted?.column;
    const index = this.sorted ? this.#keys().indexOf(column) : -1;
    const isAscending = Boolean(this.sorted?.isAscending);
    if (this.data.rows.length > 1)
      this.heads.forEach((head, i) => (head.ariaSort = i !== index ? "none" : isAscending ? "ascending" : "descending"));
    this.order = ordered(this.data.rows, index, isAscending);
    this.body.append(...this.order.map(({ name }) => this.rows.get(name)));
  }

  #keys() {
    const [first, ...titles] = this.data.header;
    return [first, ...(this.data.opens ?? titles)];
  }

  // The cell whose text is open; after the text is closed, the focus returns to its cell.
  #mark() {
    const { shown, opens } = this.data;
    const column = shown ? opens.indexOf(shown.tokenizer) : -1;
    const isOpen = (mark) => mark.text === shown?.text && mark.column === column;
    const cell = (this.isChart ? this.plot.marks?.flat().find(isOpen) : shown && this.rows.get(shown.text).cells[1 + column]) ?? null;
    if (cell === this.open) return;
    this.open?.removeAttribute("aria-selected");
    cell?.setAttribute("aria-selected", "true");
    if (!cell && this.open?.isConnected) this.open.focus();
    this.open = cell;
  }

  // One cell of the table is a tab stop.
  #reach(cell) {
    if (!cell || cell === this.stop) return;
    if (this.stop) this.stop.tabIndex = -1;
    this.stop = cell;
    cell.tabIndex = 0;
  }

  #press(cell) {
    if (!cell) return;
    const column = cell.cellIndex;
    if (cell.tagName === "TH") {
      if (this.data.rows.length < 2) return;
      this.sorted = nextOrder(this.sorted, this.#keys()[column], column > 0);
      this.#sort();
    } else this.#open({ text: this.order[cell.parentElement.sectionRowIndex].name, column: column - 1 });
  }

  #open(place) {
    const { opens } = this.data;
    if (place && opens) this.on("opened", { text: place.text, tokenizer: opens[place.column] ?? null, number: Date.now() });
  }

  #onChartKey(event) {
    const mark = event.target.closest(".mark");
    if (!mark || event.altKey || event.ctrlKey || event.metaKey) return;
    const next = this.plot.neighbor(mark, event.key);
    if (event.key === "Enter" || event.key === " ") this.#open(mark);
    else if (!next) return;
    event.preventDefault();
    if (!next) return;
    [mark.tabIndex, next.tabIndex] = [-1, 0];
    next.focus();
  }

  #onKey(event) {
    const cell = event.target.closest("th, td");
    if (!cell || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") this.#press(cell);
    else {
      const target = this.#neighbor(cell, event);
      if (!target) return;
      target.focus();
    }
    event.preventDefault();
  }

  #neighbor(cell, { key, ctrlKey }) {
    const { rows } = this.table;
    const { rowIndex, cells } = cell.parentElement;
    if (MOVES[key] && !ctrlKey) {
      const [down, right] = MOVES[key];
      return rows[rowIndex + down]?.cells[cell.cellIndex + right];
    }
    if (key === "Home") return (ctrlKey ? rows[0] : cell.parentElement).cells[0];
    if (key === "End") return [...(ctrlKey ? rows[rows.length - 1].cells : cells)].at(-1);
    return null;
  }
}

export const mount = component(TextsTable);

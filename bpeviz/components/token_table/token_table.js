// A table of tokens, of which only the rows in view are in the page. It is one tab stop: arrows go from cell to
// cell, and Enter presses one. A press on a head sorts.

import { component, element, observeSize, tokenLabel } from "../shared/dom.js";
import { counted } from "../shared/format.js";
import { nextOrder } from "../texts_table/order.js";
import { columnsOf, inOrder, isNumber, lettersOf, rowsWith, wordsOf } from "./columns.js";

/**
 * @typedef {object} TokenTablePayload the payload from Python (`bpeviz.views.token_table.payload`)
 * @property {string} key
 * @property {string} label the accessible name
 * @property {{name: string, values: any[], isToken: boolean}[]} columns of equal length
 * @property {Object<string, [string, number]>} tokenStyles label and color index of each id
 * @property {boolean} [searches] whether it has a field of its own to search in
 */

const ROW = 28; // pixels, as in the style
const AROUND = 12; // rows beside those in view, so that scrolling does not show gaps
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

class TokenTable {
  constructor(root, signal) {
    const find = (selector) => root.querySelector(selector);
    [this.box, this.summary, this.field, this.status] = ["details", "summary", "label", "p"].map(find);
    [this.region, this.table, this.widths, this.head, this.body] = [".scroll", "table", "colgroup", "thead", "tbody"].map(find);
    [this.above, this.below] = [0, 1].map(() => element("tr", { ariaHidden: "true" }));
    this.rows = new Map(); // those in the page, by their place in the order
    this.search = find("input");
    const on = (target, name, listener) => target.addEventListener(name, listener, { signal });
    on(this.search, "input", () => this.#find(this.search.value));
    on(this.region, "scroll", () => this.#paint());
    on(this.table, "keydown", (event) => this.#onKey(event));
    on(this.table, "click", ({ target }) => {
      const cell = target.closest("th, td");
      if (!cell || String(getSelection())) return; // text is being selected
      this.at = [cell.tagName === "TH" ? -1 : Number(cell.parentElement.dataset.place), cell.cellIndex];
      this.#press();
    });
    observeSize(() => this.#paint(), signal, this.region);
  }

  /**
   * @param {TokenTablePayload | {view: any, isOpen?: boolean}} data any rows, or the steps of a timeline, below a
   *   title that opens them if they are not open
   */
  update(data) {
    this.summary.hidden = !data.view || data.isOpen;
    this.field.hidden = !data.searches && !data.view;
    if (data.view) return this.#ofSteps(data.view);
    if (data.key === this.view?.key) return;
    const columns = data.columns.map((column) => ({ ...column, at: (i) => column.values[i] }));
    this.#draw({ ...data, styles: data.tokenStyles, columns, unit: "row", count: data.columns[0].values.length });
  }

  #ofSteps(view) {
    const { steps, tokenStyles: styles, unit, last, title = "" } = view;
    const count = Math.min(last, steps.id.length);
    const key = `${view.key} ${count}`;
    if (key === this.view?.key) return;
    const label = `${title ? `${title}: all` : "All"} ${unit}s`;
    if (!this.summary.hidden && !this.view) this.box.open = false;
    this.summary.textContent = label;
    this.#draw({ key, label, styles, unit, count, columns: columnsOf(steps, unit) });
  }

  #draw(view) {
    this.view = view;
    const { columns, styles, count } = view;
    this.table.ariaLabel = view.label;
    this.table.ariaColCount = String(columns.length);
    const letters = columns.map((column) => lettersOf(column, count, styles));
    this.widths.replaceChildren(...letters.map((width) => element("col", { style: `width: calc(${width}ch + 0.8rem)` })));
    this.table.style.width = `calc(${letters.reduce((sum, width) => sum + width, 0)}ch + ${0.8 * columns.length}rem)`;
    this.heads = columns.map((column) => element("th", { className: count && isNumber(column) ? "number" : "", scope: "col" }, column.name));
    this.head.replaceChildren(element("tr", { ariaRowIndex: "1" }, ...this.heads));
    this.at = [-1, 0];
    this.sorted = null;
    this.#find(this.search.value);
  }

  #find(query) {
    const { columns, count, styles, unit } = this.view;
    this.found = rowsWith(columns, count, styles, query);
    const number = this.found.length;
    const contain = number === 1 ? "contains" : "contain";
    this.status.textContent = !query ? "" : number ? `${counted(number, unit)} ${contain} “${query}”.` : `No ${unit} has a token that contains “${query}”.`;
    this.status.hidden = !query;
    this.region.hidden = !number;
    this.#sort();
  }

  #sort() {
    const { columns, styles } = this.view;
    const index = columns.findIndex(({ name }) => name === this.sorted?.column);
    this.heads.forEach((head, i) => (head.ariaSort = i !== index ? "none" : this.sorted.isAscending ? "ascending" : "descending"));
    this.order = inOrder(this.found, columns[index], Boolean(this.sorted?.isAscending), styles);
    this.table.ariaRowCount = String(this.order.length + 1);
    this.rows.clear();
    this.body.replaceChildren(this.above, this.below);
    this.region.scrollTop = 0;
    this.#paint();
  }

  /** Put the rows in view into the page, and take out all others. */
  #paint() {
    if (!this.order) return;
    const { scrollTop, clientHeight } = this.region;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - AROUND);
    const end = Math.min(this.order.length, Math.ceil((scrollTop + clientHeight) / ROW) + AROUND);
    for (const [place, row] of this.rows)
      if (place < first || place >= end) {
        row.remove();
        this.rows.delete(place);
      }
    let before = this.above;
    for (let place = first; place < end; place++) {
      if (!this.rows.has(place)) this.rows.set(place, this.#row(place));
      const row = this.rows.get(place);
      if (before.nextSibling !== row) before.after(row);
      before = row;
    }
    this.above.style.height = `${first * ROW}px`;
    this.below.style.height = `${(this.order.length - end) * ROW}px`;
    this.#mark();
  }

  #row(place) {
    const { columns, styles } = this.view;
    const cells = columns.map((column, i) => {
      const words = wordsOf(column, this.order[place], styles);
      const ids = column.isToken && words ? [column.at(this.order[place])].flat() : [];
      const content = ids.length ? ids.map((id) => tokenLabel(...styles[id])) : [element("bdi", "", words)];
      return element("td", { className: this.heads[i].className, title: words.length > 8 ? words : "" }, ...content);
    });
    const row = element("tr", { ariaRowIndex: String(place + 2) }, ...cells);
    row.dataset.place = String(place);
    return row;
  }

  /** Mark the cell that keys have reached. */
  #mark() {
    this.reached?.classList.remove("at");
    this.reached?.removeAttribute("id");
    const [place, column] = this.at;
    this.reached = place < 0 ? this.heads[column] : this.rows.get(place)?.cells[column];
    if (!this.reached) return this.table.removeAttribute("aria-activedescendant");
    this.reached.classList.add("at");
    this.reached.id = "reached";
    this.table.setAttribute("aria-activedescendant", "reached");
  }

  /** Scroll to a row; the head covers the first one in view. */
  #reveal(place) {
    const { region } = this;
    const [top, room] = [place * ROW, region.clientHeight - ROW];
    if (top >= region.scrollTop && top + ROW <= region.scrollTop + room) return;
    region.scrollTop = top < region.scrollTop ? top : top + ROW - room;
    this.#paint();
  }

  #press() {
    const [place, column] = this.at;
    if (place >= 0) return this.#mark();
    const head = this.view.columns[column];
    this.sorted = nextOrder(this.sorted, head.name, isNumber(head));
    this.#sort();
  }

  #onKey(event) {
    if (event.altKey || event.metaKey || (event.ctrlKey && !["Home", "End"].includes(event.key))) return;
    if (event.key === "Enter") {
      this.#press();
      this.table.focus({ preventScroll: true }); // the player takes it for keys after a click
    } else if (!this.#move(event)) return;
    event.preventDefault(); // keys of the player
  }

  #move({ key, ctrlKey }) {
    const [place, column] = this.at;
    const last = [this.order.length - 1, this.view.columns.length - 1];
    const page = Math.max(1, Math.floor(this.region.clientHeight / ROW) - 2);
    const move = MOVES[key] ?? { PageUp: [-page, 0], PageDown: [page, 0], Home: [ctrlKey ? -Infinity : 0, -Infinity], End: [ctrlKey ? Infinity : 0, Infinity] }[key];
    if (!move) return false;
    this.at = [Math.min(last[0], Math.max(-1, place + move[0])), Math.min(last[1], Math.max(0, column + move[1]))];
    if (this.at[0] >= 0) this.#reveal(this.at[0]);
    this.#mark();
    const { region, reached } = this;
    if (reached.offsetLeft < region.scrollLeft) region.scrollLeft = reached.offsetLeft;
    const right = reached.offsetLeft + reached.offsetWidth - region.clientWidth;
    if (right > region.scrollLeft) region.scrollLeft = right;
    return true;
  }
}

export const mount = component(TokenTable);

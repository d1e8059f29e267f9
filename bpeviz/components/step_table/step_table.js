// The table of a timeline's steps, with search. A press on a step's number sends the player there.

import { component, element, tokenLabel } from "../shared/dom.js";
import { JUMP, STEP_CHANGED, currentStep, emit, subscribe } from "../shared/events.js";
import { counted, formatCount } from "../shared/format.js";
import { columnsOf, stepsWith } from "./rows.js";

const MOST = 2000; // rows: more would take a second to draw

class StepTable {
  constructor(root, signal) {
    const find = (selector) => root.querySelector(selector);
    [this.box, this.summary, this.search] = [find("details"), find("summary"), find("input")];
    [this.status, this.head, this.body, this.region] = [find("p"), find("thead"), find("tbody"), find(".scroll")];
    const on = (target, name, listener) => target.addEventListener(name, listener, { signal });
    on(this.box, "toggle", () => this.#draw());
    on(this.search, "input", () => this.#draw());
    on(this.body, "click", ({ target }) => {
      const row = target.closest("button")?.closest("tr");
      if (row) emit(JUMP, this.#playerStep(Number(row.dataset.step)));
    });
    subscribe(STEP_CHANGED, ({ step }) => this.#mark(step), signal);
  }

  /** @param {{unit: string, view: any}} data a view of the player, and the unit of its steps */
  update({ unit, view }) {
    [this.unit, this.view] = [unit, view];
    this.summary.textContent = `${view.title ? `${view.title}: all` : "All"} ${unit}s`;
    this.region.ariaLabel = this.summary.textContent;
    this.columns = columnsOf(view.steps, unit);
    const head = element("tr");
    head.append(...this.columns.map(({ name, at }) => Object.assign(element("th", at && name !== "note" ? "number" : "", name), { scope: "col" })));
    this.head.replaceChildren(head);
    this.#draw();
  }

  // Of several timelines, the player's step is a vocabulary size.
  #playerStep(step) {
    return this.view.ownSteps ? Math.max(0, this.view.ownSteps.findIndex((own) => own >= step)) : step;
  }

  #draw() {
    if (!this.box.open) return;
    const { steps, tokenStyles } = this.view;
    const found = stepsWith(steps.id, tokenStyles, this.search.value);
    const more = found.length > MOST ? `; the first ${formatCount(MOST)} are listed` : "";
    this.status.textContent = `${counted(found.length, this.unit)}${more}`;
    this.rows = new Map(found.slice(0, MOST).map((i) => [i + 1, this.#row(i)]));
    this.body.replaceChildren(...this.rows.values());
    this.#mark(currentStep() ?? 0);
  }

  #row(index) {
    const row = element("tr");
    row.dataset.step = String(index + 1);
    row.append(...this.columns.map((column, place) => this.#cell(column, index, place)));
    return row;
  }

  #cell(column, index, place) {
    const cell = element("td");
    if (column.token) {
      const style = this.view.tokenStyles[column.token(index)];
      cell.append(tokenLabel(style?.[0] ?? "?", style?.[1] ?? -1));
      return cell;
    }
    const value = column.at(index);
    if (typeof value === "number") cell.className = "number";
    const words = typeof value !== "number" ? value : Number.isInteger(value) ? formatCount(value) : value.toPrecision(4);
    if (place) cell.textContent = words;
    else {
      const button = cell.appendChild(element("button", "", words));
      button.ariaLabel = `Go to ${this.unit} ${words}`;
    }
    return cell;
  }

  #mark(step) {
    if (!this.rows) return;
    const row = this.rows.get(this.view.ownSteps ? this.view.ownSteps[step] : step);
    if (row === this.marked) return;
    this.marked?.classList.remove("now");
    this.marked = row;
    if (!row) return;
    row.classList.add("now");
    const { region } = this;
    if (row.offsetTop < region.scrollTop + 30 || row.offsetTop > region.scrollTop + region.clientHeight - 30)
      region.scrollTop = row.offsetTop - region.clientHeight / 2;
  }
}

export const mount = component(StepTable);

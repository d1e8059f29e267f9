// A token of the player that the user looks at: its ring and tooltip, the tokens over the same characters
// in other rows, and its merges.

import { LIT, idInWords } from "../shared/cells.js";
import { Tooltip, tokenLabel } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";
import { TokenDiagram } from "./token_diagram.js";

const MOST_ATOMS = 120; // atoms of a token whose merges are drawn; of a longer one, those of its beginning

export class TokenSelection {
  /**
   * @param {any} root
   * @param {import("./announcer.js").Announcer} announcer
   * @param {import("./stage.js").Stage} stage
   * @param {AbortSignal} signal
   */
  constructor(root, announcer, stage, signal) {
    this.stage = stage;
    this.section = root.querySelector(".player");
    this.merges = root.querySelector(".token-merges");
    this.diagram = new TokenDiagram(this.merges, signal);
    this.tooltip = new Tooltip(root.querySelector(".card"), root.querySelector(".stage"));
    this.announcer = announcer;
    this.token = null; // with its view
  }

  /** The token that the followers in a room see. */
  get lit() {
    return this.token ?? (this.merges.hidden ? null : this.opened);
  }

  get isEmpty() {
    return !this.token && this.merges.hidden;
  }

  select(view, atom) {
    this.clear();
    const token = view.inspect(atom);
    this.token = { view, ...token };
    this.#light(true);
    this.tooltip.show(view.describeToken(token), view.cells.placeOf(token.start));
  }

  /** Show a paragraph beside an element. */
  say(words, box) {
    this.clear();
    this.tooltip.show([words], box);
    box.addEventListener("blur", () => this.token || this.tooltip.hide(), { once: true });
    box.focus({ preventScroll: true });
  }

  clear() {
    if (!this.token) return;
    this.#light(false);
    this.token = null;
    this.tooltip.hide();
  }

  /** Outline the token; where there are several rows, dim all but the tokens over the same characters. */
  #light(on) {
    const { score, several } = this.stage;
    this.token.view.outline?.(this.token, on);
    score.host.classList.toggle("dims", on && several);
    if (several) for (const [view, tokens] of this.#over) for (const { start, end } of tokens) view.cells.toggle(start, end, LIT, on);
  }

  /** The tokens of each row over the characters of the selected token. */
  get #over() {
    const { view } = this.token;
    return this.stage.views.map((other) => [other, [...other.tokensOver(view, this.token)]]);
  }

  hover(view, atom) {
    const { token } = this;
    if (atom < 0) this.clear();
    else if (token?.view !== view || atom < token.start || atom >= token.end) this.select(view, atom);
  }

  announce() {
    const { comparison, views } = this.stage;
    if (comparison) return this.announcer.say(comparison.inWords(this.token));
    const inWords = ([view, tokens]) => `${view.data.title}: ${tokens.map((token) => view.tokenInWords(token)).join("; ")}`;
    this.announcer.say(views.length > 1 ? this.#over.map(inWords).join(". ") : this.token.view.tokenInWords(this.token));
  }

  /** Select the token after this one (1) or before it (-1); without one, the first of the first row. */
  selectNeighbor(direction) {
    const { view, start, end } = this.token ?? { view: this.stage.views[0], start: 1, end: 0 };
    const atom = direction > 0 ? end : start - 1;
    if (atom < 0 || atom >= view.cells.cellOf.length) return;
    view.elementOf(view.token(atom)).scrollIntoView({ block: "nearest" });
    this.select(view, atom);
    this.token.byKey = true;
    this.announce();
  }

  showMerges(view, token) {
    this.clear();
    const { cells: row } = view;
    const { id, start } = token;
    const end = Math.min(token.end, start + MOST_ATOMS);
    const { label, color } = view.style(id);
    const size = token.end - start;
    const about = this.merges.querySelector(".about");
    const origin = view.parents(id)
      ? `built from ${formatCount(size)} ${view.atomsName} in ${counted(size - 1, "merge")}`
      : `${view.origin(token)}. No merge made it`;
    about.replaceChildren(tokenLabel(label, color), ` ${idInWords(id)}: ${origin}.`);
    if (end < token.end) about.append(` The first ${MOST_ATOMS} are shown.`);
    const [from, to] = row.cellsOf(start, end);
    const atoms = row.atomsOfCells(from, to); // those of whole characters
    const cells = row.cells.slice(from, to).map((cell) => ({ ...cell, firstAtom: cell.firstAtom - atoms[0], line: 0, wraps: false }));
    this.merges.hidden = false;
    this.diagram.scale = this.stage.scale;
    this.diagram.draw(cells, view.mergesOn(...atoms), view.step);
    this.opened = { view, start };
    this.merges.querySelector(".close").focus({ preventScroll: true });
  }

  hideMerges() {
    if (this.merges.hidden) return;
    this.merges.hidden = true;
    this.section.focus({ preventScroll: true });
  }

  /** Hide the merges, or else clear the selection. */
  close() {
    if (this.merges.hidden) this.clear();
    else this.hideMerges();
  }
}

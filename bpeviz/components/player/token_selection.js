// A token of the player that the user looks at: its ring and tooltip, the tokens over the same characters
// in other rows, and its merge tree.

import { LIT } from "../shared/cells.js";
import { Tooltip, element, tokenLabel } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";
import { mergeTree } from "./merge_tree.js";

const MAX_LEAVES = 64; // of a merge tree

export class TokenSelection {
  /**
   * @param {any} root
   * @param {import("./announcer.js").Announcer} announcer
   * @param {import("./stage.js").Stage} stage
   */
  constructor(root, announcer, stage) {
    this.stage = stage;
    this.section = root.querySelector(".player");
    this.tree = root.querySelector(".tree");
    this.tooltip = new Tooltip(root.querySelector(".card"), root.querySelector(".stage"));
    this.announcer = announcer;
    this.token = null; // with its view
  }

  /** The token that the followers in a room see. */
  get lit() {
    return this.token ?? (this.tree.hidden ? null : this.treeOf);
  }

  get isEmpty() {
    return !this.token && this.tree.hidden;
  }

  select(view, atom) {
    this.clear();
    const token = view.inspect(atom);
    this.token = { view, ...token };
    this.#light(true);
    this.tooltip.show(view.describeToken(token), view.cells.placeOf(token.start));
  }

  /** Show a sentence beside an element. */
  say(words, box) {
    this.clear();
    this.tooltip.show([element("p", "", words)], box);
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
    this.token.view.outline(this.token, on);
    score.host.classList.toggle("dims", on && several);
    if (several) for (const [view, tokens] of this.#over) for (const { start, end } of tokens) view.cells.toggle(start, end, LIT, on);
  }

  /** The tokens of each row over the characters of the selected token. */
  get #over() {
    const { view, start, end } = this.token;
    const span = view.cells.cellsOf(start, end);
    return this.stage.views.map((other) => [other, [...other.tokens(...other.cells.atomsOfCells(...span))]]);
  }

  hover(view, atom) {
    const { token } = this;
    if (atom < 0) this.clear();
    else if (token?.view !== view || atom < token.start || atom >= token.end) this.select(view, atom);
  }

  announce() {
    const inWords = ([view, tokens]) => `${view.data.title}: ${tokens.map((token) => view.tokenInWords(token)).join("; ")}`;
    this.announcer.say(this.stage.views.length > 1 ? this.#over.map(inWords).join(". ") : this.token.view.tokenInWords(this.token));
  }

  /** Select the token after this one (1) or before it (-1); without one, the first of the first row. */
  selectNeighbor(direction) {
    const { view, start, end } = this.token ?? { view: this.stage.views[0], start: 1, end: 0 };
    const atom = direction > 0 ? end : start - 1;
    if (atom < 0 || atom >= view.timeline.atoms) return;
    view.elementOf(view.token(atom)).scrollIntoView({ block: "nearest" });
    this.select(view, atom);
    this.token.byKey = true;
    this.announce();
  }

  showTree(view, { id, start, end }) {
    this.clear();
    const { label, color } = view.style(id);
    const size = end - start;
    const about = this.tree.querySelector(".about");
    about.replaceChildren(
      tokenLabel(label, color),
      view.parents(id)
        ? ` id ${id}: built from ${formatCount(size)} ${view.atomsName} in ${counted(size - 1, "merge")}.`
        : ` id ${id}: ${view.origin({ id, start, end })}. No merge made it.`,
    );
    const { nodes, leaves } = mergeTree(id, (of) => view.parents(of), (of) => view.stepOf.get(of), MAX_LEAVES);
    this.tree.querySelector(".nodes").replaceChildren(...nodes.map((node) => nodeBox(node, view.style(node.id))));
    if (leaves.some((leaf) => leaf.step >= 0)) about.append(` Its last ${counted(leaves.length - 1, "merge")} are shown.`);
    this.tree.hidden = false;
    this.treeOf = { view, start };
    this.tree.querySelector(".close").focus({ preventScroll: true });
  }

  hideTree() {
    if (this.tree.hidden) return;
    this.tree.hidden = true;
    this.section.focus({ preventScroll: true });
  }

  /** Hide the merge tree, or else clear the selection. */
  close() {
    if (this.tree.hidden) this.clear();
    else this.hideTree();
  }
}

function nodeBox({ id, step, row, from, to }, { label, color }) {
  const box = element("div", color < 0 ? "node" : `node t color${color}`);
  box.style.gridColumn = `${from} / ${to}`;
  box.style.gridRow = row;
  const merge = step < 0 ? "" : ` · merge ${step + 1}`;
  box.append(element("bdi", "", label), element("small", "", `id ${id}${merge}`));
  return box;
}

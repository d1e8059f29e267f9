// One text under several tokenizers or pre-tokenizers, line by line below one another. Positions are UTF-8
// bytes, which all of them share, whatever their atoms are.

import { LIT, idOf } from "../shared/cells.js";
import { Tooltip, component, element, followSize, toggleFullscreen, tokenLabel } from "../shared/dom.js";
import { savesPicture } from "../shared/picture.js";
import { spokenBytes } from "../shared/spoken.js";
import { TokenList } from "../shared/token_list.js";
import { overlapping, tokenAt } from "./agreement.js";
import { Comparison } from "./comparison.js";

const MOST_TOKENS = 12; // of a row in the tooltip
const PROJECTED = 96; // pixels, the largest letters on the whole screen
const NAMES_PROJECTED = 1.3; // names there, relative to a page

let revealed = null; // a change of the page does not scroll again

/** @typedef {[number | null, string, string, number, string[] | string]} Token id, label, bytes in hex or a note, color, how it was made: two labels, or words */

/**
 * @typedef {object} Row
 * @property {string} title
 * @property {number[]} tokenEnds where each token ends
 * @property {number[]} tokens the index of each in `distinct`
 * @property {Token[]} distinct
 * @property {string[]} notes beside the title
 * @property {number} tokenCount tokens of the whole text, of which a part may be shown
 * @property {boolean} [isBest] whether no other row has fewer tokens
 * @property {boolean} [isOwn] whether it is the user's own tokenizer, below a line
 * @property {boolean} [isInSample] whether it was trained on this text, so that it is not compared
 */

/**
 * @typedef {object} ScorePayload the payload from Python (`bpeviz.views.stage.Stage.score`, `bpeviz.views.pretokenization.payload`)
 * @property {string} key
 * @property {string} text
 * @property {number[]} [rowEnds] places of line ends between rows of a table, in bytes
 * @property {Row[]} rows
 * @property {boolean} [showIds] whether to show the id of each token
 * @property {string} [unit] "token" unless given
 * @property {string} [ariaLabel] the accessible name of the score
 * @property {string} [verdict] the result of the comparison, for the projector; the page shows it, too. Only the score
 *   of a page has one, which may be empty: it has buttons and keys
 * @property {number | null} [reveal] another number than before scrolls to the score
 */

/**
 * Return bytes [start, end) in words, for screen readers: the tokens of each row.
 * @param {ScorePayload} data
 * @param {Uint8Array} bytes of the text
 * @param {number} start
 * @param {number} end
 */
export function spanInWords({ rows, unit }, bytes, start, end) {
  const words = rows.map(({ tokenEnds, tokens, distinct }) => {
    const [from, to] = overlapping(tokenEnds, start, end);
    return tokens.slice(from, to).map((token, i) => {
      const at = from + i;
      const [id, label, details] = distinct[token];
      const begin = at ? tokenEnds[at - 1] : 0;
      const word = tokenEnds[at] > begin ? spokenBytes(bytes.subarray(begin, tokenEnds[at])) : label;
      return [word, idOf(id) === null ? details : rows.length > 1 ? "" : `id ${id}`].filter(Boolean).join(", ");
    }).join(rows.length > 1 ? "; " : ", ");
  });
  if (rows.length < 2) return words[0];
  if (new Set(words).size < 2) return `${words[0]}: ${unit ?? "token"} in all`;
  return rows.map(({ title }, i) => `${title.replace(/ \(.*/, "")}: ${words[i]}`).join(". ");
}

class ScoreView {
  constructor(root, signal) {
    this.root = root;
    const find = (selector) => root.querySelector(selector);
    this.board = find(".board");
    this.place = find(".place");
    this.tooltip = new Tooltip(find(".card"), this.board);
    this.live = find(".live");
    this.list = new TokenList("Tokens");
    this.place.after(this.list.box);
    const on = (target, name, listener) => target.addEventListener(name, listener, { signal });
    on(this.place, "mousemove", (event) => this.hover(event));
    on(this.place, "mouseleave", () => this.clear());
    on(this.place, "copy", (event) => this.comparison.score.copyTo(event, root));
    savesPicture(find(".save-picture"), () => this.board);
    savesPicture(find(".save-drawing"), () => this.board, "tokens.svg");
    on(find(".projector"), "click", () => toggleFullscreen(this.board));
    on(document, "keydown", (event) => this.#key(event));
    followSize(this.place, () => this.#resized(), signal);
  }

  #resized() {
    const isAlone = this.board.matches(":fullscreen");
    this.comparison?.fit(isAlone ? { largest: PROJECTED } : {}, isAlone ? NAMES_PROJECTED : 1);
    this.board.classList.toggle("brief", /few|in-bytes/.test(this.comparison?.view));
  }

  /** @param {ScorePayload} data */
  update(data) {
    if (this.key !== data.key) this.#draw(data);
    if (data.reveal && data.reveal !== revealed) this.#reveal();
    revealed = data.reveal ?? revealed;
  }

  #reveal() {
    // The title and the choices of the page are above the score.
    const shown = this.board.getRootNode().host?.closest(".st-key-shown_text") ?? this.board;
    shown.scrollIntoView({ block: "start" });
    this.board.focus({ preventScroll: true });
  }

  /** @param {ScorePayload} data */
  #draw(data) {
    this.key = data.key;
    this.clear();
    this.data = data;
    const { rows, unit = "token" } = data;
    if (data.ariaLabel) this.board.ariaLabel = data.ariaLabel;
    this.comparison = new Comparison(data);
    this.place.replaceChildren(this.comparison.box);
    this.root.querySelector(".verdict").textContent = data.verdict ?? "";
    this.root.querySelector(".foot").hidden = data.verdict === undefined;
    this.#resized();
    this.bytes = new TextEncoder().encode(data.text);
    const { common } = this.comparison.agreed;
    this.list.title = `${unit[0].toUpperCase()}${unit.slice(1)}s${rows.length > 1 ? " of each row" : ""}`;
    this.list.show(() => ({ count: common.length, words: (i) => spanInWords(data, this.bytes, i ? common[i - 1] : 0, common[i]) }));
    // The page hides what follows until the score has its height.
    this.board.getRootNode().host?.closest("[class*=st-key-]")?.toggleAttribute("data-drawn", true);
  }

  hover(event) {
    const place = this.comparison.score.at(event);
    if (!place) return this.clear();
    this.#light(place.row.index, tokenAt(this.data.rows[place.row.index].tokenEnds, place.atom));
  }

  // The whole page has these keys where the score is its picture.
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const path = event.composedPath().filter((node) => node instanceof Element);
    if (path.some((node) => node.matches("input, textarea, select, [contenteditable=true], [role=combobox]"))) return;
    if (this.data?.verdict === undefined && !path.includes(this.board)) return;
    const [row, token] = this.lit ? [this.lit.row, this.lit.token] : [0, -1];
    if (event.key === ".") this.#select(row, token + 1);
    else if (event.key === ",") this.#select(row, token < 0 ? 0 : token - 1);
    else if (event.key === "Escape") this.clear();
    else if (event.key.toLowerCase() === "p") toggleFullscreen(this.board);
  }

  /** Light a token that the user has gone to. */
  #select(row, token) {
    const { tokenEnds } = this.data.rows[row];
    if (token < 0 || token >= tokenEnds.length) return;
    const shown = this.comparison.score.rows[row];
    const byte = Math.max(0, tokenEnds[token] - 1);
    this.comparison.unfold(shown.lineOf(byte));
    shown.reveal(byte);
    shown.elementAt(byte).closest(".line").scrollIntoView({ block: "nearest" });
    this.#light(row, token);
    this.live.textContent = spanInWords(this.data, this.bytes, ...this.lit.span);
  }

  /** @returns {import("../player/player.js").Display} */
  get display() {
    return { step: 0, playing: false, speed: 1, lit: this.lit ? [this.lit.row, this.lit.span[0]] : null };
  }

  /** @param {import("../player/player.js").Display} display of the leader of a room */
  follow({ lit }) {
    if (String(lit) === this.litByLeader) return; // a follower may point elsewhere meanwhile
    this.litByLeader = String(lit);
    const row = this.data?.rows[lit?.[0]];
    if (!row) return this.clear();
    this.comparison.score.rows[lit[0]].reveal(lit[1]);
    this.#light(lit[0], tokenAt(row.tokenEnds, lit[1]));
  }

  /** Dim everything but a token and those over the same signs in other rows, and describe them. */
  #light(row, token) {
    if (this.lit?.row === row && this.lit.token === token) return;
    this.#unlight();
    const { score, host } = this.comparison;
    const { tokenEnds } = this.data.rows[row];
    const span = [token ? tokenEnds[token - 1] : 0, tokenEnds[token]];
    const lit = this.data.rows.map(({ tokenEnds: ends }) => {
      const [from, to] = overlapping(ends, ...span);
      return [from ? ends[from - 1] : 0, ends[to - 1]];
    });
    this.lit = { row, token, span, lit };
    lit.forEach((at, i) => score.rows[i]?.toggle(...at, LIT, true)); // a row of many lines may be left out
    host.classList.add("dims");
    this.tooltip.show(this.#describe(row, token, span), score.rows[row].placeOf(span[0]));
  }

  #describe(row, token, span) {
    const { rows } = this.data;
    const spans = element("div", rows.length > 1 ? "spans" : "");
    rows.forEach(({ tokenEnds, tokens, distinct }, i) => {
      if (rows.length > 1) spans.append(element("b", i === row ? "own" : "", this.comparison.names[i]));
      const line = spans.appendChild(element("p"));
      const [from, to] = overlapping(tokenEnds, ...span);
      for (const index of tokens.slice(from, Math.min(to, from + MOST_TOKENS))) {
        const [id, label, details, color, origin] = distinct[index];
        line.append(tokenLabel(label, color), element("small", "", id === null ? ` ${origin} ` : idOf(id) === null ? ` ${details} ` : ` id ${id} `));
      }
      if (to - from > MOST_TOKENS) line.append(` and ${to - from - MOST_TOKENS} more`);
    });
    const [id, label, details, color, origin] = rows[row].distinct[rows[row].tokens[token]];
    const about = element("p", "origin");
    about.append(tokenLabel(label, color), " ", element("span", id === null ? "" : "hex", details));
    if (id !== null && origin.length) about.append(" from ", tokenLabel(origin[0], -1), " + ", tokenLabel(origin[1], -1));
    return [spans, about];
  }

  #unlight() {
    this.lit?.lit.forEach((at, i) => this.comparison.score.rows[i]?.toggle(...at, LIT, false));
    this.lit = null;
  }

  clear() {
    if (!this.lit) return;
    this.#unlight();
    this.comparison.host.classList.remove("dims");
    this.tooltip.hide();
  }
}

export const mount = component(ScoreView);

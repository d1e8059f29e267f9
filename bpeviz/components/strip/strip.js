// A conversation as a model reads it: the text of its template as tokens, one paragraph for each message,
// with who speaks beside it. Positions are code points.

import { TICK, TOKEN_END, directionOf, splitIntoCells } from "../shared/cells.js";
import { Tooltip, component, draw, element, followSize, tokenLabel } from "../shared/dom.js";
import { Score } from "../shared/score.js";
import { firstIndex } from "../shared/search.js";
import { spokenLabel } from "../shared/spoken.js";
import { TokenList } from "../shared/token_list.js";

const NAMES = 144; // pixels at the left for who speaks
const ABOVE = 20; // pixels above a line for it, where the page is narrow
const NARROW = 560; // pixels
const BELOW = 15; // pixels below lines for the ids of control tokens
const FIRST_LETTER = 200; // UTF-16 units in which the direction of words is looked for
const WARNING = "M12 4L2.5 20h19zM12 10v4.5M12 17.5v.2";

// What a token is (`bpeviz.views.conversation`).
export const WORDS = 1; // it has characters of a message, else it is the template's
const CONTROL = 2;
const LEARNED = 4;

/**
 * @typedef {object} TokenStrip a conversation in tokens
 * @property {string} title stands above it, "" for none
 * @property {string} note below the title
 * @property {string} text
 * @property {[number, number, string, number, number][]} tokens the end of each, its id, label, color index and kind
 * @property {[number, string, string, boolean][]} speakers where parts begin, the role, who wrote it where that is another one, and whether it is forged
 */

/**
 * @typedef {object} StripPayload the payload from Python (`bpeviz.views.conversation`)
 * @property {string} key
 * @property {TokenStrip[]} strips
 * @property {[string, [string, [number, string, number][]][]][]} turns sentences, each with rows of tokens: the title, and id, label and color index of each
 */

/**
 * Return the cells of a conversation, in lines: one for each part, and for each line of a message. Words from
 * right to left have lines of their own, so that no name of a token is torn.
 * @param {TokenStrip} strip
 */
export function cellsOf({ text, tokens, speakers }) {
  const units = [0]; // where each code point starts, in UTF-16 units
  for (const character of text) units.push(units.at(-1) + character.length);
  const starts = new Set(speakers.map(([start]) => start));
  const cells = splitIntoCells(text, "characters", { starts: new Set([...starts].map((start) => units[start])) });
  let [line, token, isRtl] = [0, 0, false];
  cells.forEach((cell, i) => {
    while (token < tokens.length - 1 && tokens[token][0] <= cell.firstAtom) token++;
    const kind = tokens[token]?.[4] ?? 0;
    const before = cells[i - 1];
    const isInWords = before?.look.includes("words");
    const wasRtl = isInWords && isRtl;
    const isNext = starts.has(cell.firstAtom) || (isInWords && text[before.start] === "\n");
    if (isNext || !isInWords) isRtl = directionOf(text.slice(cell.start, cell.start + FIRST_LETTER)) === "rtl";
    const isTurned = kind & WORDS ? !isInWords && isRtl : wasRtl;
    if (i && (isNext || isTurned)) line++;
    const isTyped = (kind & WORDS) && (kind & CONTROL);
    const look = [kind & WORDS ? "words" : "of-template", kind & CONTROL && "control", isTyped && "typed", kind & LEARNED && "learned"];
    Object.assign(cell, { line, look: ` ${look.filter(Boolean).join(" ")}` });
  });
  return cells;
}

class Strips {
  constructor(root, signal) {
    this.place = root.querySelector(".place");
    this.tooltip = new Tooltip(root.querySelector(".card"), root.querySelector(".strips"));
    this.scores = [];
    followSize(this.place, () => this.#fit(), signal);
  }

  /** @param {StripPayload} data */
  update(data) {
    if (this.key === data.key) return;
    this.key = data.key;
    const scrolled = this.scores.map(({ score }) => score.host.scrollTop);
    this.scores = [];
    this.place.replaceChildren(...data.strips.flatMap((strip) => this.#strip(strip)));
    for (const [sentence, rows] of data.turns) this.place.append(element("h2", "", sentence), this.#turn(rows));
    this.#fit();
    this.scores.forEach(({ score }, i) => (score.host.scrollTop = scrolled[i] ?? 0));
  }

  #strip(strip) {
    const { title, note, text, tokens, speakers } = strip;
    const head = [title && element("h2", "", title), title && note && element("p", "", note)].filter(Boolean);
    const host = element("div", { className: "text", role: "group", ariaLabel: title || "The text of the model" });
    const list = new TokenList(title || "Tokens of the conversation");
    const words = (i) => [spokenLabel(tokens[i][2]), `id ${tokens[i][1]}`, ...this.#kinds(tokens[i][4])].join(", ");
    list.show(() => ({ count: tokens.length, words }));
    if (text) {
      const score = new Score(host, text, [{ atomKind: "characters", cells: cellsOf(strip) }]);
      const [row] = score.rows;
      let start = 0;
      const first = new Map(); // the token that begins at an atom
      tokens.forEach(([end, , , color, kind], i) => {
        if (end > start) first.set(start, i);
        row.colors.fill(kind & WORDS ? color : -1, start, end);
        row.flags[end - 1] |= kind & WORDS && color < 0 ? TOKEN_END | TICK : TOKEN_END;
        start = end;
      });
      row.labelOf = (atom) => (tokens[first.get(atom)]?.[4] & CONTROL ? String(tokens[first.get(atom)][1]) : "");
      score.laidOut = () => {
        host.tabIndex = host.scrollHeight > host.clientHeight ? 0 : -1;
        this.#name(score, speakers);
      };
      host.addEventListener("copy", (event) => score.copyTo(event, host.getRootNode()));
      host.addEventListener("mousemove", (event) => this.#point(score, strip, event));
      host.addEventListener("mouseleave", () => this.tooltip.hide());
      this.scores.push({ score, speakers });
    }
    return [...head, host, list.box];
  }

  #fit() {
    const isNarrow = this.place.clientWidth < NARROW;
    this.place.classList.toggle("above", isNarrow);
    for (const { score, speakers } of this.scores) {
      const starts = new Set(speakers.map(([start]) => start));
      score.room = { names: isNarrow ? 0 : NAMES, counts: 0, below: BELOW, between: 6 };
      score.over = (_, first) => (isNarrow && starts.has(score.cells[first].firstAtom) ? ABOVE : 0);
      score.layOut();
    }
  }

  // Say who speaks beside the first line of each part.
  #name(score, speakers) {
    for (const [start, role, writer, isForged] of speakers) {
      const cell = score.cells.findIndex(({ firstAtom }) => firstAtom === start);
      const line = score.lines[score.lineOfCell(cell)]?.element;
      if (cell < 0 || !line || line.querySelector(".speaker")) continue;
      const name = element("div", isForged ? "speaker forged" : "speaker");
      if (isForged) draw(draw(name, "svg", { viewBox: "0 0 24 24", role: "img", "aria-label": "Warning" }), "path", { d: WARNING });
      name.append(role);
      if (writer) name.append(" ", element("small", "", writer));
      line.prepend(name);
    }
  }

  #kinds(kind) {
    const whose = kind & WORDS ? "words of a message" : "the template’s";
    return [whose, kind & CONTROL && "a control token", kind & LEARNED && "learned by the model"].filter(Boolean);
  }

  #point(score, { tokens }, event) {
    const place = score.at(event);
    if (!place) return this.tooltip.hide();
    const [, id, label, color, kind] = tokens[firstIndex(tokens.length, (i) => tokens[i][0] > place.atom)];
    const about = [tokenLabel(label, kind & WORDS ? color : -1), ` id ${id}: ${this.#kinds(kind).join(", ")}`];
    this.tooltip.show([element("p", "", ...about)], place.row.placeOf(place.atom));
  }

  // Rows of tokens with their ids.
  #turn(rows) {
    const piece = ([id, label, color]) => element("span", "over-id", tokenLabel(label, color), element("small", "", String(id)));
    return element("div", "turn", ...rows.flatMap(([title, tokens]) => [element("b", "", title), element("div", "", ...tokens.map(piece))]));
  }
}

export const mount = component(Strips);

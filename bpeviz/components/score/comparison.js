// A text under several tokenizers: the name and the figures of each, and the score.

import { LEFT_OUT, LEFT_OUT_ID, TICK, TOKEN_END, UNKNOWN, UNKNOWN_ID, idOf } from "../shared/cells.js";
import { element, unbroken } from "../shared/dom.js";
import { formatCount, plural } from "../shared/format.js";
import { Score } from "../shared/score.js";
import { fitScore, sizesOfRows } from "../player/fit.js";
import { agreement, tokenAt } from "./agreement.js";

const ID_HEIGHT = 15; // pixels

/** Return the name of a title, and the vocabulary or its size in parentheses. */
const partsOf = (title) => title.match(/^(.*?)( \([^()]*[\d,]+\))$/)?.slice(1) ?? [title, ""];

export class Comparison {
  /** @param {import("./score.js").ScorePayload} data */
  constructor(data) {
    this.data = data;
    const { rows, unit = "token" } = data;
    this.names = rows.map(({ title }) => partsOf(title)[0]);
    this.size = new TextEncoder().encode(data.text).length;
    this.box = element("div", "comparison");
    this.heads = this.box.appendChild(element("div", data.unit ? "heads about-rules" : "heads"));
    this.host = this.box.appendChild(element("div", "text"));
    this.host.tabIndex = 0; // it scrolls
    this.host.setAttribute("role", "group");
    this.host.ariaLabel = `The text and its ${unit}s`;
    const several = rows.length > 1;
    const { rowEnds } = data;
    this.score = new Score(this.host, data.text, rows.map((_, i) => ({ atomKind: "bytes", rowEnds, name: several ? this.names[i] : "" })));
    const { common, alike } = agreement(rows, this.size);
    this.common = common;
    this.isEqual = several && alike.flat().every(Boolean);
    /** Whether only tokens that differ have color: color is news. */
    this.showsDifferences = several && !this.isEqual;
    this.heads.append(...rows.flatMap((row) => this.#head(row, unit)));
    rows.forEach((row, i) => this.#fill(row, this.score.rows[i], alike[i]));
  }

  #head({ title, tokenCount, isBest, notes }, unit) {
    const [name, size] = partsOf(title);
    const heading = unbroken("h2", "", name);
    heading.append(element("small", "", size));
    const count = element("p", "count");
    count.append(element("b", "", formatCount(tokenCount)), ` ${plural(tokenCount, unit)}`);
    const about = element("p", "about");
    if (isBest) about.append(element("span", "badge", "Fewest"));
    about.append(...notes.filter(Boolean).map((note) => unbroken("span", "note", note)));
    about.title = about.textContent; // it may be shortened
    return [heading, count, about];
  }

  #fill({ tokenEnds, tokens, distinct }, row, alike) {
    const { showsDifferences } = this;
    const { showIds, unit } = this.data;
    const counts = new Uint32Array(this.size + 1); // tokens that begin at each byte
    let start = 0;
    tokenEnds.forEach((end, i) => {
      const [id, , , color] = distinct[tokens[i]];
      const isSame = showsDifferences && alike[i];
      const isShort = showsDifferences ? isSame : color < 0 && (id >= 0 || id === LEFT_OUT_ID); // an atom
      row.colors.fill(isSame ? -1 : color, start, end);
      if (id !== LEFT_OUT_ID) counts[start]++;
      const kind = id === UNKNOWN_ID ? UNKNOWN : id === LEFT_OUT_ID ? LEFT_OUT : 0;
      if (end > start) row.flags[end - 1] |= TOKEN_END | (isShort && !unit ? TICK : 0) | kind;
      start = end;
    });
    row.countIn = (from, to) => counts.subarray(from, to < this.size ? to : undefined).reduce((sum, count) => sum + count, 0);
    if (!showIds) return;
    row.labelOf = (byte) => {
      const [id] = distinct[tokens[tokenAt(tokenEnds, byte)]];
      return String(idOf(id) ?? "");
    };
  }

  /**
   * Set the size of the text to the largest at which all of it fits.
   * @param {{smallest?: number, largest?: number}} [sizes] in pixels
   * @param {number} [scale] of names
   */
  fit(sizes = {}, scale = 1) {
    const { host, score, data } = this;
    if (!host.clientWidth) return;
    host.classList.add("fitting"); // as high as it may be
    host.style.maxHeight = "";
    const set = (size) => (host.style.fontSize = `${size}px`);
    const fits = fitScore(score, set, { ...sizesOfRows(score.rows.length), ...sizes }, { scale, below: data.showIds ? ID_HEIGHT : 0 });
    this.box.classList.toggle("scrolls", !fits);
    const { padding } = score.measure();
    if (!fits) score.pageHeight = host.clientHeight - padding; // it may be higher then
    host.classList.remove("fitting");
    score.layOut();
    if (fits) return;
    const whole = score.lines.filter(({ bottom }) => bottom <= host.clientHeight - padding + 1);
    if (!whole.length) return;
    score.pageHeight = whole.at(-1).bottom; // it ends at a line
    host.style.maxHeight = `${score.pageHeight}px`;
    score.layOut();
  }
}

// A column: a text under one tokenizer, with its title and figures.

import { EXTRA, LEFT_OUT, LEFT_OUT_ID, MISSING, TOKEN_END, UNKNOWN, UNKNOWN_ID } from "../shared/cells.js";
import { element, unbroken } from "../shared/dom.js";
import { formatCount, plural } from "../shared/format.js";
import { newSheet } from "../shared/picture.js";
import { Score } from "../shared/score.js";
import { TokenList } from "../shared/token_list.js";

/**
 * Insert the id of each token before its first character. Ids of several tokens in one character
 * are together.
 */
function insertIds(score, { tokenEnds: ends, tokens, distinct }) {
  const [cells] = score.rows;
  ends.forEach((end, i) => {
    const [id, , , color] = distinct[tokens[i]];
    const start = i ? ends[i - 1] : 0;
    if (id === null || id < 0 || start >= cells.cellOf.length) return;
    const cell = cells.cellOf[start];
    if (!score.before.has(cell)) score.before.set(cell, []);
    score.before.get(cell).push(element("span", color < 0 ? "id" : `id t color${color}`, String(id)));
  });
}

/**
 * Draw a column; return it with its elements.
 * @param {import("./columns.js").ColumnsPayload} data
 * @param {import("./columns.js").Column} column
 * @param {boolean} isBaseline
 */
export function drawColumn(data, column, isBaseline) {
  const { title, notes, tokenCount, isBest, tokenEnds: ends, tokens, distinct, extra, missing } = column;
  const unit = data.unit ?? "token";
  const box = element("div", `column${isBaseline ? " baseline" : ""}${isBest ? " best" : ""}`);
  const about = element("p");
  about.append(element("b", "", formatCount(tokenCount)), ` ${plural(tokenCount, unit)} `);
  if (isBest) {
    const star = element("span", "", "★ ");
    star.ariaHidden = "true";
    const badge = element("span", "badge");
    badge.append(star, "Fewest");
    about.append(badge);
  }
  // Longer notes are below the text, which is seen first.
  const below = element("p", "below");
  notes.forEach((note, i) => (unit === "token" && !i ? about : below).append(unbroken("span", "note", note)));
  const host = element("div", "text");
  host.tabIndex = 0;
  host.dir = "auto";
  host.setAttribute("role", "group");
  host.ariaLabel = `${unit[0].toUpperCase()}${unit.slice(1)}s of ${title}`;
  const list = new TokenList(host.ariaLabel);
  const [, name, size] = title.match(/^(.*)( \([^()]*[\d,]+\))$/) ?? [null, title, ""];
  const heading = unbroken("h2", "", name);
  heading.append(element("small", "", size));
  box.append(heading, about, host, list.box, ...(below.firstChild ? [below] : []));
  const score = new Score(host, data.text, [{ atomKind: "bytes" }]);
  const [cells] = score.rows;
  let start = 0;
  ends.forEach((end, i) => {
    const [id, , , color] = distinct[tokens[i]];
    cells.colors.fill(color, start, end);
    const status = id === UNKNOWN_ID ? UNKNOWN : id === LEFT_OUT_ID ? LEFT_OUT : 0;
    if (end > start) cells.flags[end - 1] |= TOKEN_END | status;
    start = end;
  });
  for (const end of extra) cells.flags[end - 1] |= EXTRA;
  for (const end of missing) cells.flags[end - 1] |= MISSING;
  if (data.showIds) insertIds(score, column);
  cells.paint(0, cells.flags.length);
  return { box, host, list, score, cells, ends, tokens, distinct, title };
}

/**
 * Lay out columns with the words around them, for a picture.
 * @param {any} parent an element inside their style
 * @param {import("./columns.js").ColumnsPayload} data
 * @param {import("../shared/picture.js").SheetPayload} words
 */
export function columnsSheet(parent, data, words) {
  const columns = element("div", "columns");
  const baseline = data.columns.length > 1 ? data.baseline : -1;
  const drawn = data.columns.map((column, i) => drawColumn(data, column, i === baseline));
  columns.append(...drawn.map(({ box }) => box));
  const sheet = newSheet(parent, words, [columns]);
  for (const { score } of drawn) score.layOut();
  return sheet;
}

// Messages: plain text with tokens in it, and the rows above a question.

import { element, tokenLabel } from "./dom.js";
import { spokenLabel } from "./spoken.js";

/**
 * @typedef {string | {label: string, color: number, mark?: string, id?: number}} MessagePart plain text,
 *   or a token, how it is marked (one that is "out" is struck out), and its id, which stands below it
 */

/**
 * @typedef {{title: string, items: MessagePart[][], numbered: boolean}} MessageRow
 */

/**
 * Return a message as elements. Texts of users are set as text.
 * @param {MessagePart[]} parts
 */
export const drawMessage = (parts) =>
  parts.map((part) => {
    if (typeof part === "string") return document.createTextNode(part);
    const piece = tokenLabel(part.label, part.color);
    if (part.mark) piece.classList.add(part.mark);
    if (part.id === undefined) return piece;
    return element("span", "over-id", piece, element("span", "", String(part.id)));
  });

/**
 * Return a message in words, for screen readers.
 * @param {MessagePart[]} parts
 */
export const messageInWords = (parts) =>
  parts.map((part) => (typeof part === "string" ? part : [spokenLabel(part.label), part.id].join(" ").trim())).join("");

/**
 * Draw the rows above a question.
 * @param {any} host
 * @param {MessageRow[]} rows
 */
export function drawRows(host, rows) {
  host.hidden = !rows.length;
  host.replaceChildren(
    ...rows.map(({ title, items, numbered }) => {
      const list = element(numbered ? "ol" : "ul", "items", ...items.map((parts) => element("li", "", ...drawMessage(parts))));
      return element("div", "seen", element("span", "title", title), list);
    }),
  );
}

// Marks of a picture as an SVG drawing. A mark has roles of colors, so that the same marks can be
// drawn on a light or a dark background.

/**
 * @typedef {object} Mark its places are pixels
 * @property {"rect" | "ring" | "line" | "dot" | "wave" | "text"} kind
 * @property {string} color the role of its color, or a color
 * @property {number} x the left edge, the first end, or the middle of a dot; of a text from right to left, the right edge
 * @property {number} y the upper edge, the first end, or the baseline of a text
 * @property {number} [width]
 * @property {number} [height]
 * @property {number} [thick] of a line or a ring
 * @property {string} [dash] of a line
 * @property {number} [opacity]
 * @property {string} [words] of a text
 * @property {string} [font] its style as in CSS
 * @property {boolean} [isRtl] whether it runs from right to left
 * @property {string} [link] the address that it opens
 *
 * @typedef {object} Picture
 * @property {number} width
 * @property {number} height
 * @property {string} title
 * @property {Mark[]} marks
 */

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escape words, without characters that XML does not allow. */
const xml = (words) =>
  words.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD").replace(/[&<>"]/g, (sign) => ENTITIES[sign]);

const round = (number) => String(Math.round(number * 100) / 100);

/** Return the attribute that all marks of a path share. */
function look({ kind, color, thick, dash, opacity }, colors) {
  const paint = xml(colors[color] ?? color);
  const isFilled = kind === "rect" || kind === "dot";
  const stroke = isFilled ? "" : ` stroke="${paint}" stroke-width="${round(thick)}"`;
  return (
    `fill="${isFilled ? paint : "none"}"${stroke}` +
    (dash ? ` stroke-dasharray="${xml(dash)}"` : "") +
    (opacity < 1 ? ` opacity="${round(opacity)}"` : "")
  );
}

/** Return the part of a path that draws a mark. */
function outline({ kind, x, y, width = 0, height = 0, thick = 0 }) {
  const box = (x, y, width, height) => `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
  if (kind === "rect") return box(x, y, width, height);
  if (kind === "ring") return box(x + thick / 2, y + thick / 2, width - thick, height - thick);
  if (kind === "line") return `M${round(x)} ${round(y)}l${round(width)} ${round(height)}`;
  if (kind === "wave") return `M${round(x)} ${round(y)}${"q1.5-3 3 0t3 0".repeat(Math.max(1, Math.round(width / 6)))}`;
  return `M${round(x - width)} ${round(y)}a${round(width)} ${round(width)} 0 1 0 ${round(2 * width)} 0a${round(width)} ${round(width)} 0 1 0 ${round(-2 * width)} 0z`;
}

/** Return a text. It keeps its width in another font. */
function drawText({ x, y, width, words, font, color, isRtl, opacity, link }, colors) {
  const isLong = [...words].length > 1;
  const text =
    `<text x="${round(x)}" y="${round(y)}" style="font:${xml(font)}" fill="${xml(colors[color] ?? color)}"` +
    (isLong ? ` textLength="${round(width)}" lengthAdjust="spacingAndGlyphs"` : "") +
    (isRtl ? ' direction="rtl"' : "") +
    (opacity < 1 ? ` opacity="${round(opacity)}"` : "") +
    `>${xml(words)}</text>`;
  return /^https?:/.test(link ?? "") ? `<a href="${xml(link)}">${text}</a>` : text;
}

/**
 * Return marks as an SVG drawing.
 * @param {Picture} picture
 * @param {Object<string, string>} colors the color of each role
 * @param {boolean} [isFilled] whether it has a background
 */
export function svg({ width, height, title, marks }, colors, isFilled = true) {
  const parts = [];
  let shared = "";
  for (const mark of isFilled ? [{ kind: "rect", color: "background", x: 0, y: 0, width, height }, ...marks] : marks) {
    const attributes = mark.kind === "text" ? "" : look(mark, colors);
    // One path for all neighbors of equal looks keeps the file small.
    if (attributes && attributes === shared) parts[parts.length - 1].d += outline(mark);
    else parts.push(attributes ? { attributes, d: outline(mark) } : drawText(mark, colors));
    shared = attributes;
  }
  const drawn = parts.map((part) => (part.d ? `<path ${part.attributes} d="${part.d}"/>` : part)).join("\n");
  const size = `width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" xml:space="preserve">\n<title>${xml(title)}</title>\n${drawn}\n</svg>\n`;
}

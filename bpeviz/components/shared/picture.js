// Reads a picture from what the page draws: where each token, line and text is, and the role of its
// color. `svg` draws the marks.

import { element, saveFile } from "./dom.js";
import { svg } from "./svg.js";

const ROLES = ["text", "background", "accent", "quiet", "line", "faint", "soft", "border"];
const WHITE = /^\s+$/;
const SHADOW = /(\w+\([^)]*\)|#?\w+) (-?[\d.]+)px (-?[\d.]+)px [\d.]+px (-?[\d.]+)px inset/g;
const FALLBACKS = "'DejaVu Sans Mono', Menlo, Consolas";

/** Return a function that returns a computed color as one of sRGB, or null for none. */
function toSrgb() {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  return (color) => {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, alpha] = canvas.getImageData(0, 0, 1, 1).data;
      const hex = [r, g, b, ...(alpha < 255 ? [alpha] : [])].map((part) => part.toString(16).padStart(2, "0"));
      known.set(color, alpha ? `#${hex.join("")}` : null);
    }
    return known.get(color);
  };
}

/** Return the color of each role inside an element. */
function colorsIn(root) {
  const srgb = toSrgb();
  const probe = root.appendChild(element("span"));
  const colors = {};
  const read = (role, color) => {
    probe.style.color = color;
    colors[role] = srgb(getComputedStyle(probe).color);
  };
  for (const role of ROLES) read(role, `var(--${role})`);
  for (let index = 0; ; index++) {
    probe.className = `color${index}`;
    if (!getComputedStyle(probe).getPropertyValue("--fill")) break;
    read(`fill${index}`, "var(--fill)");
  }
  probe.remove();
  return colors;
}

/**
 * Return the color of each role on a light or a dark background.
 * @param {any} root an element whose style has the palette
 * @param {"light" | "dark"} background
 */
export function colorsOn(root, background) {
  const box = root.appendChild(element("div", `on-${background}`));
  const colors = colorsIn(box);
  box.remove();
  return colors;
}

/** Reads the marks of an element. */
class Reader {
  constructor(root) {
    this.root = root;
    const roles = new Map();
    for (const [role, color] of Object.entries(colorsIn(root))) if (!roles.has(color)) roles.set(color, role);
    const srgb = toSrgb();
    this.role = (color) => roles.get(srgb(color)) ?? srgb(color);
    this.frame = root.getBoundingClientRect();
    this.looks = new Map();
    [this.fills, this.lines, this.texts] = [[], [], []];
    this.range = document.createRange();
    this.canvas = new OffscreenCanvas(1, 1).getContext("2d");
    this.ascents = new Map();
    this.segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
    this.run = null;
    this.#visit(root, 1);
    this.#endRun();
  }

  get marks() {
    return [...this.fills, ...this.lines, ...this.texts];
  }

  // Cells with the same classes look the same, so that the style of most elements is not read.
  #look(node) {
    const key = node.cell === undefined ? null : `${node.className} ${node.style.cssText}`;
    let look = key === null ? undefined : this.looks.get(key);
    if (look) return look;
    const style = getComputedStyle(node);
    const size = parseFloat(style.fontSize);
    const family = style.fontFamily.includes("mono") ? style.fontFamily.replace(/, monospace$/, `, ${FALLBACKS}, monospace`) : style.fontFamily;
    const shadows = [...style.boxShadow.matchAll(SHADOW)].map(([, color, x, y, spread]) => [this.role(color), +x, +y, +spread]);
    const edges = ["Top", "Right", "Bottom", "Left"].map((side) =>
      style[`border${side}Style`] === "none" ? [null, 0] : [this.role(style[`border${side}Color`]), parseFloat(style[`border${side}Width`]), style[`border${side}Style`]],
    );
    look = {
      isHidden: style.display === "none" || style.visibility === "hidden" || style.clipPath !== "none",
      opacity: +style.opacity,
      fill: this.role(style.backgroundColor),
      shadows: shadows.filter(([role]) => role),
      edges: edges.some(([role]) => role) ? edges : null,
      size,
      color: this.role(style.color),
      font: `${style.fontWeight} ${round2(size)}px ${family}`.replaceAll('"', "'"),
      isRtl: style.direction === "rtl",
      names: node.classList,
      style,
    };
    if (key !== null) this.looks.set(key, look);
    return look;
  }

  #visit(node, opacity, link) {
    const look = this.#look(node);
    if (look.isHidden) return;
    opacity *= look.opacity;
    link = node.href && typeof node.href === "string" ? node.href : link;
    if (node instanceof SVGElement) this.#drawing(node, look, opacity);
    else this.#boxes(node, look, opacity);
    for (const child of node.childNodes)
      if (child.nodeType === Node.TEXT_NODE) {
        if (!(node instanceof SVGElement)) this.#text(child, node, look, opacity, link);
      } else if (child.nodeType === Node.ELEMENT_NODE) this.#visit(child, opacity, link);
  }

  #add(layer, kind, color, box, more = {}) {
    if (!color) return;
    const { left, top } = this.frame;
    layer.push({ kind, color, ...box, x: box.x - left, y: box.y - top, ...more });
  }

  /** Add the background, the borders and the signs of an element. */
  #boxes(node, look, opacity) {
    const hasSigns = node.cell !== undefined || look.names.contains("tick");
    if (!look.fill && !look.shadows.length && !look.edges && !hasSigns) return;
    for (const { x, y, width, height } of node.getClientRects()) {
      if (!width || !height) continue;
      if (look.fill && node !== this.root) this.#fill(look.fill, { x, y, width, height }, opacity);
      for (const [color, dx, dy, spread] of look.shadows)
        if (spread) this.#add(this.lines, "ring", color, { x, y, width, height }, { thick: spread, opacity });
        else {
          const line = dx
            ? { x: dx < 0 ? x + width + dx : x, y, width: Math.abs(dx), height }
            : { x, y: dy < 0 ? y + height + dy : y, width, height: Math.abs(dy) };
          this.#add(this.lines, "rect", color, line, { opacity });
        }
      if (look.edges) this.#edges(look.edges, { x, y, width, height }, opacity);
      if (hasSigns) this.#signs(look, { x, y, width, height }, opacity);
    }
  }

  /** Add a background; cells of a token that touch have one. */
  #fill(color, box, opacity) {
    const last = this.fills.at(-1);
    const { left, top } = this.frame;
    const [x, y] = [box.x - left, box.y - top];
    const touches = last?.color === color && Math.abs(last.y - y) < 0.1 && Math.abs(last.height - box.height) < 0.1;
    if (touches && Math.abs(last.x + last.width - x) < 0.1) last.width += box.width;
    else if (touches && Math.abs(x + box.width - last.x) < 0.1) Object.assign(last, { x, width: last.width + box.width });
    else this.#add(this.fills, "rect", color, box, { opacity });
  }

  #edges(edges, { x, y, width, height }, opacity) {
    const isRing = edges.every(([role, thick, kind]) => role === edges[0][0] && thick === edges[0][1] && kind === "solid");
    if (isRing) return this.#add(this.lines, "ring", edges[0][0], { x, y, width, height }, { thick: edges[0][1], opacity });
    const [top, right, bottom, left] = edges;
    for (const [[role, thick, kind], box] of [
      [top, { x, y: y + top[1] / 2, width, height: 0 }],
      [right, { x: x + width - right[1] / 2, y, width: 0, height }],
      [bottom, { x, y: y + height - bottom[1] / 2, width, height: 0 }],
      [left, { x: x + left[1] / 2, y, width: 0, height }],
    ])
      this.#add(this.lines, "line", role, box, { thick, opacity, ...(kind === "dashed" ? { dash: "3 2" } : {}) });
  }

  /** Add what the stylesheet draws in a cell as a background image or a decoration. */
  #signs({ names, size, isRtl, color }, { x, y, width, height }, opacity) {
    const toLeft = names.contains("rtl") || isRtl;
    if (names.contains("space"))
      this.#add(this.texts, "dot", "quiet", { x: x + width / 2, y: y + height / 2, width: 0.08 * size }, { opacity });
    if (names.contains("tick"))
      this.#add(this.lines, "rect", "line", { x: toLeft ? x : x + width - 2, y: y + 0.75 * height, width: 2, height: height / 4 }, { opacity });
    if (names.contains("unknown")) this.#add(this.lines, "wave", "accent", { x, y: y + height - 0.3 * size, width }, { thick: 1, opacity });
    if (names.contains("tab")) {
      const at = { x: x + width / 2 - 0.3 * size, y: y + height / 2 + 0.35 * size, width: 0.6 * size };
      this.#add(this.texts, "text", "quiet", at, { words: "→", font: `400 ${round2(size)}px monospace`, opacity });
    }
  }

  /** Add an element of an SVG drawing, in its order: later boxes cover earlier lines. */
  #drawing(node, { style, font }, opacity) {
    const { x, y, width, height } = node.getBoundingClientRect();
    const scale = node.getScreenCTM?.().a ?? 1;
    const [fill, stroke] = [this.role(style.fill), this.role(style.stroke)];
    const thick = parseFloat(style.strokeWidth) * scale;
    const dash = style.strokeDasharray === "none" ? {} : { dash: style.strokeDasharray.replaceAll("px", "") };
    const box = { x, y, width, height };
    if (node.tagName === "rect") {
      if (style.fill !== "none") this.#add(this.fills, "rect", fill, box, { opacity });
      const around = { x: x - thick / 2, y: y - thick / 2, width: width + thick, height: height + thick };
      if (style.stroke !== "none") this.#add(this.fills, "ring", stroke, around, { thick, opacity, ...dash });
    } else if (node.tagName === "line") this.#add(this.fills, "line", stroke, box, { thick, opacity, ...dash });
    else if (node.tagName === "circle")
      this.#add(this.fills, "dot", fill, { x: x + width / 2, y: y + height / 2, width: width / 2 }, { opacity });
    else if (node.tagName === "text" && node.textContent) {
      const baseline = new DOMPoint(+node.getAttribute("x"), +node.getAttribute("y")).matrixTransform(node.getScreenCTM());
      const size = parseFloat(style.fontSize) * scale;
      const sized = font.replace(/[\d.]+px/, `${round2(size)}px`);
      this.#add(this.fills, "text", fill, { x, y: baseline.y, width }, { words: node.textContent, font: sized, opacity });
    }
  }

  /** Add a text node by runs: stretches of a line in one direction and font. Tokens do not divide them. */
  #text(node, parent, look, opacity, link) {
    const isCell = parent.cell !== undefined;
    if (isCell) {
      this.range.selectNodeContents(node);
      this.#piece(parent.classList.contains("space") ? " " : node.data, look, opacity, link);
    } else if (node.data.trim())
      for (const { segment, index } of this.segmenter.segment(node.data)) {
        this.range.setStart(node, index);
        this.range.setEnd(node, index + segment.length);
        this.#piece(WHITE.test(segment) ? " " : segment, look, opacity, link);
      }
  }

  #piece(words, look, opacity, link) {
    const box = this.range.getClientRects()[0];
    if (!box?.width) return; // white space that is not drawn
    const { run } = this;
    const { left, right, top, height } = box;
    const isWhite = WHITE.test(words);
    const before = run?.pieces.at(-1);
    const isOfRun =
      run && words !== "\t" && run.look.font === look.font && run.look.color === look.color && run.opacity === opacity &&
      run.link === link && Math.abs(run.top - top) < 1;
    const isAfter = isOfRun && Math.abs(left - before.right) < 0.75 && run.isRtl !== true;
    const isBefore = isOfRun && Math.abs(right - before.left) < 0.75 && run.isRtl !== false;
    if (isAfter || isBefore) {
      run.isRtl = isBefore;
      run.pieces.push({ words, left, right });
      return;
    }
    this.#endRun();
    if (isWhite) return;
    this.run = { look, opacity, link, top, height, isRtl: null, isLetterRtl: look.names.contains("rtl"), pieces: [{ words, left, right }] };
  }

  #endRun() {
    const { run } = this;
    this.run = null;
    if (!run) return;
    while (run.pieces.length && WHITE.test(run.pieces.at(-1).words)) run.pieces.pop();
    const isRtl = run.isRtl ?? run.isLetterRtl;
    const left = Math.min(...run.pieces.map((piece) => piece.left));
    const right = Math.max(...run.pieces.map((piece) => piece.right));
    const { font, color } = run.look;
    const place = { x: isRtl ? right : left, y: run.top + this.#ascent(font, run.height), width: right - left };
    const words = run.pieces.map((piece) => piece.words).join("");
    this.#add(this.texts, "text", color, place, { words, font, isRtl, opacity: run.opacity, link: run.link });
  }

  /** Return the distance of the baseline from the upper edge of a text. */
  #ascent(font, height) {
    if (!this.ascents.has(font)) {
      this.canvas.font = font;
      const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = this.canvas.measureText("x");
      this.ascents.set(font, above / (above + below));
    }
    return height * this.ascents.get(font);
  }
}

const round2 = (number) => Math.round(number * 100) / 100;

/**
 * Return the picture of an element as it is laid out now.
 * @param {any} root
 * @param {string} title
 * @returns {import("./svg.js").Picture}
 */
export function pictureOf(root, title) {
  const { width, height } = root.getBoundingClientRect();
  return { width, height, title, marks: new Reader(root).marks };
}

export const svgBlob = (drawing) => new Blob([drawing], { type: "image/svg+xml" });

/**
 * @typedef {object} SheetPayload the words around a picture
 * @property {string} title
 * @property {string[]} [about] lines below the title
 * @property {string[]} [notes] lines below the content
 * @property {{words: string, link: string, linked: string}} credit see `credit.parts` in Python
 */

/**
 * Lay out a picture with its words beside the page, where nobody sees it.
 * @param {any} parent an element inside the style of the content
 * @param {SheetPayload} words
 * @param {any} content
 */
export function newSheet(parent, { title, about = [], notes = [], credit }, content) {
  const sheet = element("div", "sheet on-light");
  sheet.inert = true; // nobody can reach it
  sheet.style.cssText =
    "position:fixed;left:-30000px;top:0;width:max-content;box-sizing:border-box;padding:20px;overflow:visible;" +
    "font:400 16px/1.5 var(--font,system-ui),sans-serif;color:var(--text);background:var(--background)";
  const line = (words, style) => Object.assign(element("div", "", words), { style });
  const last = line(`${credit.words} `, "font-size:14px;color:var(--quiet)");
  if (credit.link) last.append(Object.assign(element("a", "", credit.linked), { href: credit.link, style: "color:inherit" }));
  sheet.append(
    line(title, "font-size:20px;font-weight:600;margin-bottom:4px"),
    ...about.map((words) => line(words, "color:var(--quiet);font-size:14px")),
    content,
    ...notes.map((words) => line(words, "color:var(--quiet);font-size:14px")),
    last,
  );
  parent.append(sheet);
  // Long lines wrap at the width of the content.
  sheet.style.width = `${Math.max(640, content.getBoundingClientRect().width) + 40}px`;
  return sheet;
}

/**
 * Save a sheet as an SVG or PNG file, in light colors, and remove it.
 * @param {any} sheet
 * @param {string} title
 * @param {string} fileName
 */
export async function saveSheet(sheet, title, fileName) {
  const picture = pictureOf(sheet, title);
  const drawing = svg(picture, colorsOn(sheet.parentNode, "light"));
  sheet.remove();
  if (fileName.endsWith(".svg")) return saveFile(svgBlob(drawing), fileName);
  const scale = Math.min(2, 16_000 / picture.height); // browsers draw no larger ones
  const canvas = newCanvas(picture.width * scale, picture.height * scale);
  await drawOn(canvas, drawing);
  saveFile(await png(canvas.canvas), fileName);
}

/** Return the style of the fonts of the page, with their files in it: an image loads none. */
async function fontStyle() {
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]);
  const fonts = rules.filter(({ cssText }) => /^@font-face.*Source (Sans|Code)/.test(cssText) && !cssText.includes("italic"));
  const styles = fonts.map(async ({ cssText, parentStyleSheet }) => {
    const [, address] = /url\("(.+?)"/.exec(cssText);
    const reader = new FileReader();
    const isRead = new Promise((resolve) => (reader.onload = resolve));
    reader.readAsDataURL(await (await fetch(new URL(address, parentStyleSheet.href ?? document.baseURI))).blob());
    await isRead;
    return cssText.replace(address, reader.result);
  });
  return `<style>${(await Promise.all(styles)).join("")}</style>`;
}

let fonts = null; // a promise, for all pictures

/** Return the address of an SVG drawing as an image with the fonts of the page. */
export async function addressOf(drawing) {
  fonts ??= fontStyle().catch(() => "");
  const style = await fonts;
  return URL.createObjectURL(svgBlob(drawing.replace("<title>", () => `${style}<title>`)));
}

/** Draw an SVG drawing on a canvas, of which it fills all. */
export async function drawOn(canvas, drawing) {
  const { width, height } = canvas.canvas;
  const image = new Image(width, height);
  image.src = await addressOf(drawing);
  await image.decode();
  canvas.clearRect(0, 0, width, height);
  canvas.drawImage(image, 0, 0, width, height);
  URL.revokeObjectURL(image.src);
}

export function newCanvas(width, height) {
  const canvas = Object.assign(element("canvas"), { width, height });
  return canvas.getContext("2d", { willReadFrequently: true });
}

export const png = (canvas) => new Promise((resolve) => canvas.toBlob(resolve, "image/png"));

/** Whether a picture can be saved: a frame of another page may forbid downloads. */
export const CAN_SAVE = typeof window === "undefined" || window === parent || window.origin !== "null";

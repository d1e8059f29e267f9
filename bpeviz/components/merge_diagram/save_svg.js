// Saves the diagram as an SVG file.

import { saveFile } from "../shared/dom.js";

export const SVG = "http://www.w3.org/2000/svg";

const LINE = 24; // pixels
const LETTER = 6.5; // pixels, of a letter on the line

/** Add a text below a drawing, on its paper and in the color of its first words. */
function addWords(copy, words) {
  const [, , width, height] = copy.getAttribute("viewBox").split(" ").map(Number);
  const lines = [""];
  for (const word of words.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length * LETTER < width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const whole = height + LINE * lines.length;
  copy.setAttribute("viewBox", `0 0 ${width} ${whole}`);
  for (const drawn of [copy, copy.querySelector("rect")]) drawn.setAttribute("height", whole);
  lines.forEach((words, i) => {
    const line = copy.appendChild(copy.querySelector("text").cloneNode());
    const place = { x: 8, y: height + LINE * (i + 1) - 8, "font-size": 12, "text-anchor": "start" };
    for (const [name, value] of Object.entries(place)) line.setAttribute(name, value);
    line.textContent = words.trim();
  });
}

const FILLED = new Set(["rect", "circle", "text"]);
const STROKED = new Set(["rect", "circle", "line"]);
const INTERACTIVE = ["class", "tabindex", "role", "aria-label", "aria-orientation", "aria-valuemin", "aria-valuemax", "aria-valuenow", "aria-valuetext"];

/**
 * Download a copy of the drawing with every color and font written into it.
 * @param {any} svg
 * @param {string} fileName
 * @param {string} credit words below the drawing
 */
export function saveSvg(svg, fileName, credit) {
  const copy = svg.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const toHexColor = (color) => {
    if (color === "none") return "none";
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return a ? `#${[r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("")}` : "none";
  };
  [svg, ...svg.querySelectorAll("*")].forEach((original, i) => {
    const style = getComputedStyle(original);
    const name = original.tagName;
    const set = (attribute, value) => copies[i].setAttribute(attribute, value);
    if (FILLED.has(name)) set("fill", toHexColor(style.fill));
    if (STROKED.has(name)) {
      set("stroke", toHexColor(style.stroke));
      set("stroke-width", parseFloat(style.strokeWidth));
      if (style.strokeDasharray !== "none") set("stroke-dasharray", style.strokeDasharray);
    }
    if (name === "text") set("font-family", style.fontFamily);
    if (style.opacity !== "1") set("opacity", style.opacity);
    for (const attribute of INTERACTIVE) copies[i].removeAttribute(attribute);
  });
  addWords(copy, credit);
  copy.setAttribute("xmlns", SVG);
  saveFile(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), fileName);
}

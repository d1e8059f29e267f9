// Saves the diagram as an SVG file.

import { saveFile } from "../shared/dom.js";

export const SVG = "http://www.w3.org/2000/svg";

const LINE = 24; // pixels

/** Add a line of text below a drawing, on its paper and in the color of its first words. */
function addLine(copy, words) {
  const [, , width, height] = copy.getAttribute("viewBox").split(" ").map(Number);
  copy.setAttribute("viewBox", `0 0 ${width} ${height + LINE}`);
  for (const drawn of [copy, copy.querySelector("rect")]) drawn.setAttribute("height", height + LINE);
  const line = copy.querySelector("text").cloneNode();
  for (const [name, value] of Object.entries({ x: 8, y: height + LINE - 8, "font-size": 12, "text-anchor": "start" }))
    line.setAttribute(name, value);
  line.textContent = words;
  copy.append(line);
}

const FILLED = new Set(["rect", "circle", "text"]);
const STROKED = new Set(["rect", "circle", "line"]);
const INTERACTIVE = ["class", "tabindex", "role", "aria-label", "aria-orientation", "aria-valuemin", "aria-valuemax", "aria-valuenow", "aria-valuetext"];

/**
 * Download a copy of the drawing with every color and font written into it.
 * @param {any} svg
 * @param {string} fileName
 * @param {string} credit a line below the drawing
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
  addLine(copy, credit);
  copy.setAttribute("xmlns", SVG);
  saveFile(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), fileName);
}

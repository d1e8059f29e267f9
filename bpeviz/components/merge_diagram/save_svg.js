// Saves the diagram as an SVG file.

import { element } from "../shared/dom.js";

export const SVG = "http://www.w3.org/2000/svg";

const FILLED = new Set(["rect", "circle", "text"]);
const STROKED = new Set(["rect", "circle", "line"]);
const INTERACTIVE = ["class", "tabindex", "role", "aria-label", "aria-orientation", "aria-valuemin", "aria-valuemax", "aria-valuenow", "aria-valuetext"];

/**
 * Download a copy of the drawing with every color and font written into it.
 * @param {any} svg
 * @param {string} fileName
 */
export function saveSvg(svg, fileName) {
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
  copy.setAttribute("xmlns", SVG);
  const file = new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
  const link = element("a");
  link.href = URL.createObjectURL(file);
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

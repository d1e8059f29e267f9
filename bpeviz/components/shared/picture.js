// Saves an element as a picture. The browser itself draws it: a copy of the element inside an SVG drawing,
// with its styles as they are on paper, in the colors of the page, and with the fonts of the page.

import { element, newButton, saveFile } from "./dom.js";

const PICTURE_SCALE = 2;
const MOST_PIXELS = { side: 16_000, area: 64_000_000 }; // pixels of a picture that every browser can draw
const [STAGE, STAGE_WIDTH] = [".player", 1200]; // pixels, on each screen the same
const AROUND = 16; // pixels around the content
const NO_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/**
 * Let a button save all that an element contains, also what is scrolled out of sight, as a PNG image in double
 * size or as an SVG drawing. A picture that is too large is refused in words.
 * @param {any} button is hidden in a frame of another page, which may forbid downloads
 * @param {() => any} content returns the element
 * @param {string} [name] of the file
 */
export function savesPicture(button, content, name = "bpeviz-picture.png") {
  button.hidden = window !== parent && window.origin === "null";
  button.onclick = () => savePicture(content(), name);
}

async function savePicture(box, name) {
  try {
    const sheet = await newSheet(box);
    const { width, height } = sheet.content.getBoundingClientRect();
    const drawing = await drawingOf(sheet, width, height);
    saveFile(name.endsWith(".svg") ? new Blob([drawing], { type: "image/svg+xml" }) : await raster(drawing, width, height), name);
  } catch (error) {
    refuse(box, error instanceof RangeError ? error.message : "The browser could not draw the picture.");
  }
}

function checkSize(width, height) {
  const [x, y] = [PICTURE_SCALE * width, PICTURE_SCALE * height];
  if (Math.max(x, y) > MOST_PIXELS.side || x * y > MOST_PIXELS.area) throw new RangeError("The picture would be too large. Choose a shorter part of the text.");
}

function refuse(box, words) {
  const properties = { ariaLabel: "Save this picture", onclose: () => dialog.remove() };
  const dialog = element("dialog", properties, element("p", "", words), newButton("", "Close", () => dialog.close()));
  box.append(dialog);
  dialog.showModal();
}

const drawn = async () => {
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
};

/** Give a stage its width in a picture, and the height of all its content; add how its nodes were to `before`. */
async function unroll(box, before) {
  const change = (node, style) => {
    before.push([node, node.style.cssText, node.scrollTop]);
    node.style.cssText += style;
  };
  if (box.matches(STAGE)) change(box, `; width: ${STAGE_WIDTH}px; max-width: none`);
  await drawn();
  const scrolling = [...box.querySelectorAll("*")].filter((node) => node.scrollHeight > node.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(node).overflowY));
  checkSize(box.offsetWidth, box.offsetHeight + scrolling.reduce((sum, node) => sum + node.scrollHeight - node.clientHeight, 0));
  for (const node of scrolling) change(node, "; height: auto !important; max-height: none !important");
  await drawn();
}

/** Lay out a copy of an element with its styles beside the page, where nobody sees it. */
async function newSheet(box) {
  const before = [];
  let [copy, width] = [null, 0];
  try {
    await unroll(box, before);
    [copy, width] = [box.cloneNode(true), box.getBoundingClientRect().width];
  } finally {
    for (const [node, style, top] of before) [node.style.cssText, node.scrollTop] = [style, top];
  }
  const root = box.getRootNode();
  const outside = root.host ?? box.parentNode;
  const styles = element("style", "", stylesOf(root));
  const host = element("div", "host", copy);
  const inherited = getComputedStyle(outside);
  host.style.cssText = `font: ${inherited.font}; direction: ${inherited.direction}; width: ${width}px`;
  for (const name of new Set(styles.textContent.match(/--[\w-]+/g)))
    if (inherited.getPropertyValue(name)) host.style.setProperty(name, inherited.getPropertyValue(name), "important");
  host.style.colorScheme = isDark(box) ? "dark" : "light";
  const content = element("div", "saved", host);
  // Nobody can reach it.
  const place = element("div", { inert: true, style: "position: fixed; left: -30000px; top: 0; width: max-content" });
  place.attachShadow({ mode: "open" }).append(styles, content);
  document.body.append(place);
  return { place, styles, content };
}

function isDark(box) {
  const probe = box.appendChild(element("i"));
  probe.style.color = "light-dark(#000, #fff)";
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color !== "rgb(0, 0, 0)";
}

/** Return the styles that apply inside a root, as on paper. */
function stylesOf(root) {
  const applies = (media) => /print/.test(media) || (!/screen/.test(media) && matchMedia(media).matches);
  const own = [...root.styleSheets].map(({ ownerNode, cssRules }) => ownerNode.textContent || [...cssRules].map(({ cssText }) => cssText).join("\n"));
  const styles = own
    .join("\n")
    .replace(/@font-face[^}]+}/g, "") // see fontsInUse
    .replace(/@media([^{]+)/g, (_, media) => `@media ${applies(media) ? "all" : "not all"}`)
    .replace(/([\d.]+)d?vh\b/g, (_, share) => `${(share * innerHeight) / 100}px`)
    .replace(/:host\(([^)]*)\)/g, ".host$1")
    .replace(/:host|:root/g, ".host");
  return `${styles}
.saved { width: max-content }
.host { box-sizing: content-box; padding: ${AROUND}px; background: var(--background) }
.saved * { animation: none !important; transition: none !important }`;
}

/** Return the fonts of the page that are in use, with their files in them: an image loads none. */
async function fontsInUse() {
  const used = new Set([...document.fonts].filter(({ status }) => status === "loaded").map(({ family, style }) => `${family} ${style}`.replaceAll('"', "")));
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).filter((rule) => rule instanceof CSSFontFaceRule);
  const nameOf = ({ style }) => `${style.getPropertyValue("font-family")} ${style.getPropertyValue("font-style") || "normal"}`.replaceAll('"', "");
  const inlined = rules.filter((rule) => used.has(nameOf(rule))).map(async ({ cssText, parentStyleSheet }) => {
    const [, address] = /url\("(.+?)"/.exec(cssText);
    const file = await fetch(new URL(address, parentStyleSheet.href ?? document.baseURI));
    const reader = new FileReader();
    reader.readAsDataURL(await file.blob());
    await new Promise((resolve) => (reader.onload = resolve));
    return cssText.replace(address, reader.result);
  });
  return (await Promise.all(inlined)).join("\n");
}

/** Return a sheet as an SVG drawing, and remove it. */
async function drawingOf({ place, styles, content }, width, height) {
  place.remove();
  checkSize(width, height);
  styles.prepend(await fontsInUse());
  content.prepend(styles);
  const markup = new XMLSerializer().serializeToString(content).replace(NO_XML, "\uFFFD");
  const rem = getComputedStyle(document.documentElement).fontSize;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" style="font-size: ${rem}"><foreignObject width="100%" height="100%">${markup}</foreignObject></svg>`;
}

/** Return a drawing as a PNG image. */
async function raster(drawing, width, height) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(drawing)}`; // an address of a blob would taint the canvas
  await image.decode();
  const canvas = Object.assign(element("canvas"), { width: PICTURE_SCALE * width, height: PICTURE_SCALE * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// Saves the colored text of a page as SVG, or the slide of a step as SVG or PNG, and the slides of a range
// of steps as a GIF. All are pictures of what the page draws; Python encodes the GIF
// (`bpeviz/ui/pictures.py`).

import { scoreSheet } from "../score/comparison.js";
import { component, saveFile } from "../shared/dom.js";
import { CAN_SAVE, addressOf, colorsOn, drawOn, newCanvas, png, saveSheet, svgBlob } from "../shared/picture.js";
import { svg } from "../shared/svg.js";
import { changedBox } from "./changes.js";
import { indexedPng, limitColors } from "./indexed_png.js";
import { Slide } from "./slide.js";

const RETRY_AFTER = 10_000; // milliseconds

/**
 * @typedef {object} PicturePayload
 * @property {string} name of the files, without suffix
 * @property {(import("../shared/picture.js").SheetPayload & {score: any}) | null} text the colored text to save
 * @property {import("./slide.js").SlidePayload | null} slide otherwise, the slide
 * @property {number} [step] that of the slide
 * @property {boolean} [isDark]
 * @property {boolean} [isFilled] whether the slide has a background
 * @property {{key: string, steps: number[], width: number, height: number} | null} [animation] the frames of
 *   the GIF, and their size
 * @property {{request: number, data: string, words: string} | null} [gif] the encoded GIF in Base64
 * @property {"plays" | "page" | "table" | "slide"} [file] the file of which this is a small picture; without a
 *   slide of its own, it shows the slide that is drawn elsewhere
 */

/** The latest slide, which small pictures show, and all views. */
const latest = { url: "", views: new Set() };

/** Draws the frames of a GIF, each as the part that differs from the one before it. */
class GifFrames {
  constructor({ width, height }) {
    this.canvas = newCanvas(width, height);
    this.frames = [];
    this.pixels = null;
  }

  async add(drawing) {
    const { width, height } = this.canvas.canvas;
    await drawOn(this.canvas, drawing);
    const pixels = this.canvas.getImageData(0, 0, width, height);
    const box = changedBox(this.pixels, new Uint32Array(pixels.data.buffer), width);
    this.pixels = new Uint32Array(pixels.data.buffer);
    const part = newCanvas(box.width, box.height);
    part.putImageData(pixels, -box.x, -box.y, box.x, box.y, box.width, box.height);
    const bytes = new Uint8Array(await (await png(part.canvas)).arrayBuffer());
    let binary = "";
    for (let i = 0; i < bytes.length; i += 32768) binary += String.fromCharCode(...bytes.subarray(i, i + 32768));
    this.frames.push({ x: box.x, y: box.y, png: btoa(binary) });
  }
}

class PictureView {
  constructor(root, signal) {
    const find = (selector) => root.querySelector(selector);
    this.box = find(".picture");
    [this.image, this.part, this.make, this.stop] = [".preview", ".animation", ".make", ".stop"].map(find);
    [this.progress, this.words, this.saveSvg, this.savePng] = [".progress", ".words", ".save-svg", ".save-png"].map(find);
    find(".actions").hidden = !CAN_SAVE;
    const press = (button, listener) => button.addEventListener("click", listener, { signal });
    press(this.saveSvg, () => (this.data.slide ? saveFile(svgBlob(this.drawing), `${this.data.name}.svg`) : this.#saveText()));
    press(this.savePng, () => this.#savePng());
    press(this.make, () => this.#start());
    press(this.stop, () => this.#end("Stopped."));
    latest.views.add(this);
    signal.addEventListener("abort", () => {
      latest.views.delete(this);
      clearInterval(this.timer);
      this.animation = null;
      this.slide?.remove();
    });
  }

  /** @param {PicturePayload} data */
  update(data, on) {
    [this.data, this.on] = [data, on];
    const { slide, text, animation, gif, file } = data;
    [this.saveSvg.hidden, this.savePng.hidden, this.part.hidden] = [!slide && !text, !slide, !animation];
    if (file) this.box.dataset.file = file;
    if (!slide) this.#see(latest.url);
    const kind = slide?.content === "Picture to share" ? "Picture" : slide ? "Slide" : "Drawing";
    [this.saveSvg.textContent, this.savePng.textContent] = [`${kind} (SVG)`, `${kind} (PNG)`];
    if (this.animation && animation?.key !== this.key) this.#end("Stopped: the choices have changed.");
    if (slide) this.#show(slide);
    if (gif && gif.request === this.request) this.#finish(gif);
  }

  #show(slide) {
    if (this.slide?.data.key !== slide.key) {
      this.slide?.remove();
      this.slide = new Slide(this.box, slide);
    }
    const { step, isDark, isFilled } = this.data;
    const picture = this.slide.picture(step);
    const drawing = this.#svg(picture, isDark, isFilled);
    if (drawing === this.drawing) return;
    this.drawing = drawing;
    this.size = picture;
    addressOf(drawing).then((url) => {
      latest.url = url;
      for (const view of latest.views) if (view === this || !view.data.slide) view.#see(url);
    });
    this.image.alt = [picture.title, this.slide.figures.textContent].filter(Boolean).join(". ");
    this.image.style.aspectRatio = `${picture.width} / ${picture.height}`;
    this.image.className = `preview on-${isDark ? "dark" : "light"}`; // behind a transparent slide
  }

  #see(url) {
    this.image.hidden = !url || this.data.file === "table";
    if (url) this.image.src = url;
  }

  #svg(picture, isDark, isFilled) {
    return svg(picture, colorsOn(this.box, isDark ? "dark" : "light"), isFilled);
  }

  #saveText() {
    const { text, name } = this.data;
    saveSheet(scoreSheet(this.box, text.score, text), text.title, `${name}.svg`);
  }

  async #savePng() {
    const { width, height } = this.size;
    const canvas = newCanvas(width, height);
    await drawOn(canvas, this.drawing);
    const { data } = canvas.getImageData(0, 0, width, height);
    const { isFilled } = this.data;
    if (isFilled) limitColors(data);
    const file = isFilled ? new Blob([await indexedPng(data, width)], { type: "image/png" }) : await png(canvas.canvas);
    saveFile(file, `${this.data.name}.png`);
  }

  async #start() {
    const { steps, key, width, height } = this.data.animation;
    const animation = new GifFrames({ width, height });
    [this.animation, this.key] = [animation, key];
    [this.make.disabled, this.stop.hidden, this.progress.hidden] = [true, false, false];
    [this.progress.max, this.progress.value, this.words.textContent] = [steps.length, 0, ""];
    for (const step of steps) {
      await animation.add(this.#svg(this.slide.picture(step), this.data.isDark, true));
      await new Promise((resolve) => setTimeout(resolve)); // the page stays responsive
      if (this.animation !== animation) return; // stopped
      this.progress.value = animation.frames.length;
    }
    this.progress.removeAttribute("value");
    this.words.textContent = "Encoding …";
    // Of two components that report at the same time, Streamlit receives one, so a request is repeated.
    this.request = Date.now();
    const request = { frames: animation.frames, number: this.request, key };
    this.timer = setInterval(() => this.on("drawn", request), RETRY_AFTER);
    this.on("drawn", request);
  }

  #finish({ data, words }) {
    const bytes = Uint8Array.from(atob(data), (byte) => byte.charCodeAt(0));
    saveFile(new Blob([bytes], { type: "image/gif" }), `${this.data.name}.gif`);
    this.#end(words);
  }

  #end(words) {
    clearInterval(this.timer);
    [this.animation, this.request] = [null, null];
    [this.make.disabled, this.stop.hidden, this.progress.hidden] = [false, true, true];
    this.words.textContent = words;
  }
}

export const mount = component(PictureView);

// Saves the slide of a step as SVG or PNG, and the slides of a range of steps as a GIF. Python draws each slide as SVG
// and encodes the GIF (`bpeviz/ui/slides_section.py`); the browser draws pixels, since it has the fonts.

import { component, element, saveFile } from "../shared/dom.js";
import { changedBox } from "./changes.js";

const [WIDTH, HEIGHT] = [1920, 1080]; // of a slide
const RETRY_AFTER = 10_000; // milliseconds

/**
 * @typedef {object} SlidePayload
 * @property {string} svg the slide
 * @property {string} name of the files, without suffix
 * @property {string} alternative the slide in words
 * @property {string} background the color behind a transparent slide
 * @property {{key: string, count: number, width: number, height: number} | null} animation the number of frames of the GIF,
 *   and their size
 * @property {{request: number, first: number, svgs: string[]} | null} frames the answer to a request
 * @property {{request: number, data: string, words: string} | null} gif the encoded GIF in Base64
 */

const svgBlob = (svg) => new Blob([svg], { type: "image/svg+xml" });

/** Draw a slide on a canvas, of which it fills all. */
async function draw(svg, canvas) {
  const image = new Image(WIDTH, HEIGHT);
  image.src = URL.createObjectURL(svgBlob(svg));
  await image.decode();
  canvas.clearRect(0, 0, canvas.canvas.width, canvas.canvas.height);
  canvas.drawImage(image, 0, 0, canvas.canvas.width, canvas.canvas.height);
  URL.revokeObjectURL(image.src);
}

function newCanvas(width, height) {
  const canvas = Object.assign(element("canvas"), { width, height });
  return canvas.getContext("2d", { willReadFrequently: true });
}

const png = (canvas) => new Promise((resolve) => canvas.toBlob(resolve, "image/png"));

/** Draws the frames of a GIF, each as the part that differs from the one before it. */
class GifFrames {
  constructor({ count, width, height }) {
    this.count = count;
    this.canvas = newCanvas(width, height);
    this.frames = [];
    this.pixels = null;
  }

  async add(svg) {
    const { width, height } = this.canvas.canvas;
    await draw(svg, this.canvas);
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

class Slide {
  constructor(root, signal) {
    const find = (selector) => root.querySelector(selector);
    [this.image, this.part, this.make, this.stop] = [".preview", ".animation", ".make", ".stop"].map(find);
    [this.progress, this.words] = [".progress", ".words"].map(find);
    const press = (button, listener) => button.addEventListener("click", listener, { signal });
    press(find(".save-svg"), () => saveFile(svgBlob(this.data.svg), `${this.data.name}.svg`));
    press(find(".save-png"), () => this.#savePng());
    press(this.make, () => this.#start());
    press(this.stop, () => this.#end("Stopped."));
    signal.addEventListener("abort", () => clearInterval(this.timer));
  }

  /** @param {SlidePayload} data */
  update(data, on) {
    [this.data, this.on] = [data, on];
    if (this.svg !== data.svg) {
      if (this.svg) URL.revokeObjectURL(this.image.src);
      this.svg = data.svg;
      this.image.src = URL.createObjectURL(svgBlob(data.svg));
    }
    this.image.alt = data.alternative;
    this.image.style.background = data.background;
    this.part.hidden = !data.animation;
    if (this.animation && data.animation?.key !== this.key) this.#end("Stopped: the choices have changed.");
    if (data.frames && data.frames.request === this.request) this.#receive(data.frames);
    if (data.gif && data.gif.request === this.request) this.#finish(data.gif);
  }

  async #savePng() {
    const canvas = newCanvas(WIDTH, HEIGHT);
    await draw(this.data.svg, canvas);
    saveFile(await png(canvas.canvas), `${this.data.name}.png`);
  }

  #start() {
    this.animation = new GifFrames(this.data.animation);
    this.key = this.data.animation.key;
    [this.make.disabled, this.stop.hidden, this.progress.hidden] = [true, false, false];
    this.progress.max = this.animation.count;
    this.progress.value = 0;
    this.words.textContent = "";
    this.#ask("request", { first: 0 });
  }

  // Of two components that report at the same time, Streamlit receives one, so a request is repeated.
  #ask(name, values) {
    clearInterval(this.timer);
    this.request = Date.now();
    const request = { ...values, number: this.request, key: this.key };
    this.timer = setInterval(() => this.on(name, request), RETRY_AFTER);
    this.on(name, request);
  }

  async #receive({ first, svgs }) {
    const { animation } = this;
    if (!animation || first !== animation.frames.length) return; // drawn already
    this.request = null;
    clearInterval(this.timer);
    for (const svg of svgs) {
      await animation.add(svg);
      if (this.animation !== animation) return; // stopped
      this.progress.value = animation.frames.length;
    }
    if (animation.frames.length < animation.count) return this.#ask("request", { first: animation.frames.length });
    this.progress.removeAttribute("value");
    this.words.textContent = "Encoding …";
    this.#ask("drawn", { frames: animation.frames });
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

export const mount = component(Slide);

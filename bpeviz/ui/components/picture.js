// The whole film in one picture. Python sends when each token comes and goes (`bpeviz/views/merge_diagram.py`).
// Time runs away from the text, on a logarithmic scale: up, and for a second tokenizer down.

const SVG = "http://www.w3.org/2000/svg";
const LEFT = 58; // room for the scale
const RIGHT = 26; // … and for the rule's knob
const EDGE = 30; // above and below: a title
const TALL = { one: 300, two: 210 }; // how high a side is drawn
const REST = 24; // what is left after the last step: the tokens at the end always find room
const ROW = 46; // the text between the sides: signs, and bytes below them
const LEAST = 420; // … of the whole, so that its title fits
const NARROW = 15; // the least width of a column, in pixels
const WIDEST = 46;

const inFull = (number) => number.toLocaleString("en");

function drawn(parent, tag, attributes = {}, text) {
  const made = parent.appendChild(document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text; // never markup: the text is a visitor's
  return made;
}

class Picture {
  constructor(root) {
    this.root = root;
    const find = (selector) => root.querySelector(selector);
    this.frame = find(".picture");
    this.scroll = find(".scroll");
    this.svg = find(".drawing");
    this.readout = find(".readout");
    find(".save").addEventListener("click", () => this.save());
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this.scroll);
    // A player that shows the same film tells where it stands.
    this.told = ({ detail }) => this.data?.film === detail.film && this.follow(detail.step);
    document.addEventListener(STEP, this.told);
  }

  update(data) {
    if (this.data?.key === data.key && this.data.film === data.film) return;
    this.data = data;
    this.most = Math.max(1, ...data.sides.map(({ total }) => total));
    // The steps at which something changes, those of both sides, and the end.
    const steps = new Set([0, this.most]);
    for (const { tokens } of data.sides) for (const [, , since] of tokens) steps.add(since);
    this.steps = [...steps].sort((a, b) => a - b);
    this.step = this.most;
    this.width = 0;
    if (data.film) document.dispatchEvent(new CustomEvent(ASK, { detail: (step) => (this.step = step) }));
    this.fit();
  }

  follow(step) {
    if (this.slider && step !== this.step) this.show(step);
  }

  // Go to a step by hand, and take the player along. It takes the focus then, which belongs here.
  go(step) {
    const before = this.step;
    this.show(step);
    if (!this.data.film || this.step === before) return;
    document.dispatchEvent(new CustomEvent(JUMP, { detail: this.step }));
    this.slider.focus({ preventScroll: true });
  }

  fit() {
    if (!this.data) return;
    const width = this.scroll.clientWidth;
    if (!width || Math.abs(width - this.width) < 4) return;
    this.width = width;
    this.draw();
  }

  // How far from the text a number of steps is, in pixels.
  height(step) {
    return (Math.log1p(step) / Math.log1p(this.most)) * (this.tall - REST);
  }

  stepAt(height) {
    const share = Math.max(0, Math.min(1, height / (this.tall - REST)));
    return Math.expm1(share * Math.log1p(this.most));
  }

  get two() {
    return this.data.sides.length > 1;
  }

  draw() {
    const { data, svg } = this;
    this.tall = this.two ? TALL.two : TALL.one;
    const columns = Math.max(1, data.columns);
    this.column = Math.max(NARROW, Math.min(WIDEST, (this.width - LEFT - RIGHT - 2) / columns));
    const width = Math.round(Math.max(LEAST, LEFT + columns * this.column + RIGHT));
    this.top = EDGE + this.tall; // where the text begins
    this.bottom = this.top + ROW; // … and ends
    const height = this.bottom + (this.two ? this.tall + EDGE : 4);
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    const titles = data.sides.map(({ title }) => title).join(" above, below ");
    drawn(svg, "title", {}, `How a text is cut at every step: ${titles}`);
    drawn(svg, "rect", { class: "paper", width, height });
    this.#scale(width);
    this.tokens = [];
    data.sides.forEach((side, i) => this.#side(side, i === 0 ? -1 : 1));
    this.#signs();
    this.#rule(width);
    this.show(this.step);
  }

  x(column) {
    return LEFT + column * this.column;
  }

  // Where a height above (way -1) or below (way 1) the text lies.
  y(height, way) {
    return way < 0 ? this.top - height : this.bottom + height;
  }

  #scale(width) {
    const ticks = [0];
    for (let step = 1; step < this.most; step *= 10) ticks.push(step);
    ticks.push(this.most);
    for (const way of this.two ? [-1, 1] : [-1]) {
      let last = -Infinity;
      for (const step of ticks) {
        const height = this.height(step);
        const y = this.y(height, way);
        if (step !== this.most && this.height(this.most) - height < 12) continue;
        drawn(this.svg, "line", { class: "grid-line", x1: LEFT, x2: width - RIGHT, y1: y, y2: y });
        if (height - last < 11) continue;
        last = height;
        const at = { class: "words faint", x: LEFT - 6, y: y + 3.5, "font-size": 10.5, "text-anchor": "end" };
        drawn(this.svg, "text", at, inFull(step));
      }
    }
  }

  #side(side, way) {
    const { svg } = this;
    const y = way < 0 ? EDGE - 12 : this.bottom + this.tall + 20;
    const words = `${side.title}: after how many ${side.unit}s (logarithmic), of ${inFull(side.total)}`;
    drawn(svg, "text", { class: "words", x: LEFT, y, "font-size": 12.5 }, words);
    const group = drawn(svg, "g");
    for (const [from, to, since, until, id] of side.tokens) {
      const low = this.height(since);
      const high = until < 0 ? this.height(side.total) + REST : this.height(until);
      const tall = Math.max(0, high - low);
      const [label, hue] = side.looks[id] ?? [id === -2 ? "left out" : id === -1 ? "unknown" : "…", -1];
      const box = drawn(group, "g");
      const top = way < 0 ? this.top - high : this.bottom + low;
      const wide = (to - from) * this.column;
      const looks = hue >= 0 ? `token tinted h${hue}` : id < 0 ? "token unknown" : "token";
      const rect = drawn(box, "rect", { class: looks, x: this.x(from), y: top, width: wide, height: tall });
      const end = until < 0 ? "to the end" : `to ${inFull(until)}`;
      drawn(rect, "title", {}, `${label}${id < 0 ? "" : ` id ${id}`}, after ${inFull(since)} ${side.unit}s ${end}`);
      // Its name, where there is room for it: as large as fits.
      const signs = [...label];
      const ems = signs.reduce((sum, sign) => sum + (WIDE.test(sign) ? 1 : 0.61), 0);
      const size = Math.min(15, (wide - 4) / ems, tall - 2);
      if (size >= 7) {
        const at = { x: this.x((from + to) / 2), y: top + tall / 2 + size * 0.35, "font-size": size.toFixed(1) };
        drawn(box, "text", { ...at, "text-anchor": "middle", "pointer-events": "none" }, label);
      }
      this.tokens.push({ box, way, since, until, from, to, id, label, hue });
    }
  }

  // The text itself, and below what has several bytes, its bytes.
  #signs() {
    const { svg, data } = this;
    const y = this.top;
    for (const way of this.two ? [-1, 1] : [-1])
      drawn(svg, "line", { class: "axis", x1: LEFT, x2: this.x(data.columns), y1: this.y(0, way), y2: this.y(0, way) });
    for (const [from, to, sign, bytes] of data.signs) {
      const room = (to - from) * this.column - 2;
      const ems = sign.length > 3 && sign.startsWith("⟨") ? sign.length * 0.61 : WIDE.test(sign) ? 1.1 : 0.61;
      const size = Math.min(20, Math.max(8, room / ems));
      const at = { x: this.x((from + to) / 2), y: y + 22, "font-size": size.toFixed(1), "text-anchor": "middle" };
      drawn(svg, "text", at, sign);
      if (bytes.length < 2) continue;
      const small = Math.min(10, (this.column - 2) / 1.22);
      for (const [column, hex] of bytes) {
        const place = { x: this.x(column + 0.5), y: y + 38, "font-size": small.toFixed(1), "text-anchor": "middle" };
        drawn(svg, "text", { ...place, class: "faint" }, hex);
      }
      drawn(svg, "line", { class: "axis", x1: this.x(from) + 2, x2: this.x(to) - 2, y1: y + 28, y2: y + 28 });
    }
  }

  #rule(width) {
    const { svg } = this;
    this.rules = [];
    for (const way of this.two ? [-1, 1] : [-1]) {
      const main = way < 0;
      const handle = drawn(svg, "g", { class: "handle" });
      drawn(handle, "line", { class: "rule", x1: LEFT, x2: width - RIGHT + 8, y1: 0, y2: 0 });
      drawn(handle, "rect", { class: "grip", x: LEFT, y: -9, width: width - LEFT, height: 18 });
      drawn(handle, "circle", { class: "knob", cx: width - RIGHT + 12, cy: 0, r: 8 });
      if (main) {
        handle.setAttribute("tabindex", "0");
        handle.setAttribute("role", "slider");
        handle.setAttribute("aria-orientation", "vertical");
        handle.setAttribute("aria-label", "Step of the picture");
        handle.addEventListener("keydown", (event) => this.key(event));
        this.slider = handle;
      }
      handle.addEventListener("pointerdown", (event) => {
        handle.setPointerCapture(event.pointerId);
        this.slider.focus({ preventScroll: true });
        event.preventDefault();
      });
      handle.addEventListener("pointermove", (event) => {
        if (!handle.hasPointerCapture(event.pointerId)) return;
        const box = this.svg.getBoundingClientRect();
        const y = event.clientY - box.top;
        this.go(this.stepAt(way < 0 ? this.top - y : y - this.bottom));
      });
      this.rules.push({ handle, way });
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = this.steps.find((step) => step > this.step);
    const before = this.steps.findLast((step) => step < this.step);
    const to = {
      ArrowUp: next,
      ArrowRight: next,
      ArrowDown: before,
      ArrowLeft: before,
      PageUp: this.step * 2 + 1,
      PageDown: Math.floor(this.step / 2),
      Home: 0,
      End: this.most,
    };
    if (!(event.key in to)) return;
    event.preventDefault();
    event.stopPropagation();
    if (to[event.key] !== undefined) this.go(to[event.key]);
  }

  // Show how the text is cut after so many steps.
  show(step) {
    this.step = Math.max(0, Math.min(this.most, Math.round(step)));
    const { data, slider } = this;
    const height = this.height(this.step) + (this.step === this.most ? REST / 2 : 0);
    for (const { handle, way } of this.rules)
      handle.setAttribute("transform", `translate(0 ${this.y(height, way)})`);
    const now = data.sides.map(() => []);
    for (const token of this.tokens) {
      const side = token.way < 0 ? 0 : 1;
      const at = Math.min(this.step, data.sides[side].total);
      const stands = token.since <= at && (token.until < 0 || at < token.until);
      token.box.setAttribute("class", stands ? "at-rule" : token.since > at ? "above" : "");
      if (stands) now[side].push(token);
    }
    // What is outlined stands over its neighbours.
    for (const token of now.flat()) token.box.parentNode.append(token.box);
    const told = data.sides.map((side, i) => {
      const tokens = now[i].filter(({ id }) => id !== -2).sort((a, b) => a.from - b.from);
      const steps = Math.min(this.step, side.total);
      const words = `${tokens.length} token${tokens.length === 1 ? "" : "s"} after ${inFull(steps)} ${side.unit}${steps === 1 ? "" : "s"}`;
      return { title: side.title, words, tokens };
    });
    slider.setAttribute("aria-valuemin", 0);
    slider.setAttribute("aria-valuemax", this.most);
    slider.setAttribute("aria-valuenow", this.step);
    slider.setAttribute("aria-valuetext", told.map(({ title, words }) => `${title}: ${words}`).join("; "));
    this.readout.replaceChildren(
      ...told.map(({ title, words, tokens }) => {
        const line = element("p");
        line.append(element("b", "", `${title}: `), words);
        if (this.two) return line;
        const pieces = element("div", "pieces");
        pieces.append(...tokens.map(({ label, hue, id }) => piece(id === -1 ? "unknown" : label, hue)));
        const both = element("div");
        both.append(line, pieces);
        return both;
      }),
    );
  }

  // The picture as a file of its own: every colour and font is written into it.
  save() {
    const copy = this.svg.cloneNode(true);
    const from = [this.svg, ...this.svg.querySelectorAll("*")];
    const to = [copy, ...copy.querySelectorAll("*")];
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const plain = (colour) => {
      if (colour === "none") return "none";
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      return a ? `#${[r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("")}` : "none";
    };
    from.forEach((element, i) => {
      const looks = getComputedStyle(element);
      const name = element.tagName;
      if (["rect", "circle", "text"].includes(name)) to[i].setAttribute("fill", plain(looks.fill));
      if (["rect", "circle", "line"].includes(name)) {
        to[i].setAttribute("stroke", plain(looks.stroke));
        to[i].setAttribute("stroke-width", parseFloat(looks.strokeWidth));
        if (looks.strokeDasharray !== "none") to[i].setAttribute("stroke-dasharray", looks.strokeDasharray);
      }
      if (name === "text") to[i].setAttribute("font-family", looks.fontFamily);
      if (looks.opacity !== "1") to[i].setAttribute("opacity", looks.opacity);
      for (const one of ["class", "tabindex", "role", "aria-label", "aria-orientation"]) to[i].removeAttribute(one);
      for (const one of ["valuemin", "valuemax", "valuenow", "valuetext"]) to[i].removeAttribute(`aria-${one}`);
    });
    copy.setAttribute("xmlns", SVG);
    const file = new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
    const link = element("a");
    link.href = URL.createObjectURL(file);
    link.download = "bpeviz-picture.svg";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  leave() {
    this.watch.disconnect();
    document.removeEventListener(STEP, this.told);
  }
}

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u;
const pictures = new WeakMap(); // a component's root → its picture

export default function ({ data, parentElement }) {
  let picture = pictures.get(parentElement);
  if (!picture) pictures.set(parentElement, (picture = new Picture(parentElement)));
  picture.update(data);
  return () => {
    picture.leave();
    pictures.delete(parentElement);
  };
}

// The grid of Inspect: characters, code points, bytes, the normalized text, pre-tokens, tokens and
// ids, one below the other, in lines that fit the page.

import { Tooltip, component, element, moveFocus, observeSize, toggleFullscreen, tokenLabel } from "../shared/dom.js";
import { formatCount } from "../shared/format.js";
import { savesPicture } from "../shared/picture.js";
import { spokenBytes } from "../shared/spoken.js";
import { breakLines, byteText, columnWidths } from "./layout.js";

const ROWS = [
  ["graphemes", "characters", 2.1],
  ["codePoints", "code points", 1.35],
  ["bytes", "UTF-8 bytes", 1.35],
  ["normalized", "normalized", 1.6],
  ["preTokens", "pre-tokens", 1.6],
  ["tokens", "tokens", 2.1],
  ["ids", "ids", 2.3],
]; // with their titles and heights in rem
const SOURCES = { ids: "tokens" }; // rows that show another one's items
const NARROW_PAGE = 560; // pixels
const SCROLLBAR = 0.75; // rem
const ZOOMS = Array.from({ length: 28 }, (_, i) => (220 - 5 * i) / 100); // of a text that is seen whole: 2.2 to 0.85
const LARGEST_STRETCH = 1.6; // of columns, over the full width
const LEAST_ROOM = 260; // pixels
const BETWEEN_LINES = 1.1; // rem
const BELOW = 20; // pixels below the lines
const BELOW_GRID = ".st-key-look_up, .st-key-ids_box"; // boxes that leave it half of the height
const NAMED = 3; // split characters named
const REMOVED = "∅"; // in the place of characters that the normalization removes
const MAX_IDS = 12; // ids listed in a tooltip
const STAND_IN = /^(?:[·→↵␍]|⟨[0-9A-F]+⟩)$/u;

class Grid {
  constructor(root, signal) {
    this.frame = root.querySelector(".grid");
    this.lines = root.querySelector(".lines");
    this.summary = root.querySelector(".summary");
    this.tooltip = new Tooltip(root.querySelector(".card"), this.frame);
    this.cells = [];
    this.focused = 0; // the token in the tab order
    const on = (name, listener) => this.lines.addEventListener(name, listener, { signal });
    on("mouseover", ({ target }) => this.highlight(target.closest(".cell")));
    on("mouseleave", () => this.clear());
    on("focusin", ({ target }) => this.#focus(target));
    on("focusout", () => this.clear());
    on("keydown", (event) => (event.key === "Escape" ? this.tooltip.hide() : moveFocus(event, this.buttons)));
    on("click", ({ target }) => {
      const id = target.closest(".tokens .cell, .ids .cell")?.token?.id ?? null;
      if (id !== null) this.on("token", id);
    });
    root.querySelector(".projector").addEventListener("click", () => toggleFullscreen(this.frame), { signal });
    savesPicture(root.querySelector(".save-icon"), () => this.frame);
    const page = root.host?.closest(".st-key-body"); // which grows or shrinks where its place moves
    observeSize(() => this.#fit(), signal, this.frame, ...(page ? [page] : []));
  }

  /**
   * @param {import("./layout.js").GridPayload} data
   * @param {Function} on
   */
  update(data, on) {
    this.on = on;
    if (this.data?.key === data.key) return;
    this.data = data;
    this.focused = 0;
    this.measured = "";
    this.widths = columnWidths(data);
    this.#summarize();
    this.#fit();
  }

  // The characters that tokens split, in words: the marker lines are not the only sign.
  #summarize() {
    const { innerBoundaries, graphemes, tokens } = this.data;
    const isInside = (start, end) => ([at, kind]) => kind === "character" && at > start && at < end;
    const split = graphemes.filter(([start, end]) => innerBoundaries.some(isInside(start, end)));
    const words = split.slice(0, NAMED).map(([start, end, text]) => {
      const count = tokens.filter((token) => token.start < end && token.end > start).length;
      return `${text} is split into ${formatCount(count)} tokens`;
    });
    if (split.length > NAMED) words.push(`so are ${formatCount(split.length - NAMED)} more characters`);
    this.summary.textContent = words.length ? `${words.join("; ")}.` : "";
  }

  /** The pixels of the page above the grid, however it is scrolled. */
  get #above() {
    let above = 0;
    for (let box = this.frame.getRootNode().host ?? this.frame; box; box = box.offsetParent) above += box.offsetTop;
    return above + this.lines.offsetTop;
  }

  // As few lines as at normal size, then the largest letters at which they are all seen, then columns over
  // the full width.
  #fit() {
    if (!this.data) return;
    const isProjector = this.frame.matches(":fullscreen");
    const width = this.lines.clientWidth;
    const share = !isProjector && this.frame.getRootNode().host?.closest(".st-key-body")?.querySelector(BELOW_GRID) ? 0.5 : 1;
    const room = Math.max(LEAST_ROOM, share * (innerHeight - (isProjector ? this.lines.offsetTop : this.#above) - BELOW));
    const measured = `${width} ${Math.round(room)}`;
    if (!width || measured === this.measured) return;
    this.measured = measured;
    this.clear();
    this.cells = [];
    this.buttons = [];
    // The page hides what follows until the grid has its height.
    this.frame.getRootNode().host?.closest(".st-key-grid")?.toggleAttribute("data-drawn", true);
    if (!this.data.columnCount) {
      this.lines.replaceChildren(element("p", "empty", "There is no text yet. Type one, or choose a sample."));
      return;
    }
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
    const head = width < NARROW_PAGE ? 4.6 : 6;
    const rows = ROWS.filter(([name]) => this.data[SOURCES[name] ?? name]);
    const height = rem * (rows.reduce((sum, [, , height]) => sum + height, 0) + BETWEEN_LINES);
    const inside = (zoom) => (width / rem - head) / zoom - SCROLLBAR;
    const linesAt = (zoom) => breakLines(this.data, this.widths, inside(zoom));
    const fewest = linesAt(1).length;
    const fits = (zoom) => zoom * fewest * height <= room && linesAt(zoom).length <= fewest;
    const zoom = (width >= NARROW_PAGE && ZOOMS.find(fits)) || 1;
    this.lines.style.setProperty("--zoom", String(zoom));
    this.lines.style.setProperty("--room", `${room}px`);
    const lines = linesAt(zoom);
    const lengths = lines.map(([start, end]) => this.widths.slice(start, end).reduce((sum, width) => sum + width, 0));
    const stretch = Math.max(1, Math.min(LARGEST_STRETCH, inside(zoom) / Math.max(...lengths)));
    this.lines.replaceChildren(...lines.map(([start, end], i) => this.#line(start, end, head / zoom, i, stretch)));
    this.#reach(this.focused);
  }

  #line(start, end, head, number, stretch) {
    const { data, widths } = this;
    const columns = widths.slice(start, end).map((width) => `${(stretch * width).toFixed(3)}rem`);
    const style = `grid-template-columns: ${head}rem ${columns.join(" ")}`;
    const line = element("div", { className: "strip-line", role: "table", ariaLabel: `Line ${number + 1}, from byte ${data.firstByte + start + 1}`, style });
    const rows = ROWS.filter(([name]) => data[SOURCES[name] ?? name]);
    rows.forEach(([name, title], row) => {
      const heading = element("div", { className: "head", role: "rowheader", style: `grid-area: ${row + 1} / 1` }, title);
      const box = line.appendChild(element("div", { className: `row ${name}`, role: "row" }, heading));
      for (const item of this.#items(name)) {
        if (item.end <= start || item.start >= end) continue;
        const cell = this.#cell(name, item);
        const middle = (item.start + item.end - 1) >> 1;
        if (/ids|codePoints/.test(name) && (middle < start || middle >= end)) cell.replaceChildren(); // it has more room there
        const from = Math.max(item.start, start);
        const to = Math.min(item.end, end);
        cell.style.gridArea = `${row + 1} / ${from - start + 2} / auto / ${to - start + 2}`;
        cell.ariaColSpan = String(to - from);
        if (item.end > end) cell.classList.add("continues");
        if (item.start < start) cell.classList.add("continued");
        this.cells.push(cell);
        box.append(cell);
      }
    });
    for (const [at, kind] of data.innerBoundaries) {
      if (at <= start || at > end) continue;
      const style = `grid-area: 1 / ${at - start + 1} / ${rows.length + 1} / ${at - start + 2}`;
      line.append(element("i", { className: `marker ${kind}`, ariaHidden: "true", style }));
    }
    return line;
  }

  // The items of a row: {start, end, text}, and `about` or `token`.
  #items(name) {
    const { data } = this;
    if (name === "bytes") return data.bytes.map(([start, byte]) => ({ start, end: start + 1, text: byteText(byte, data.decimal), byte }));
    if (name === "tokens" || name === "ids")
      return data.tokens.map((token) => {
        const text = name === "tokens" ? token.label : String(token.id ?? "");
        return { start: token.start, end: token.end, text, token };
      });
    const inDecimal = name === "codePoints" && data.decimal;
    return data[name].map(([start, end, text, about]) => ({ start, end, text: inDecimal ? String(parseInt(text, 16)) : text, point: text, about }));
  }

  #cell(name, { start, end, text, point, about, token, byte }) {
    const cell = element("div", { className: "cell", role: "cell", span: [start, end], row: name, text, point, about, token, byte });
    let content = cell;
    if (name === "tokens") {
      if (token.color >= 0) cell.classList.add("t", `color${token.color}`);
      if (token.kind) cell.classList.add(token.kind.replace(" ", "-"));
      if (token.id === null) cell.ariaLabel = token.note;
      else {
        const ariaLabel = `${this.#inWords(start, end, text)}, id ${token.id}${token.note ? `, ${token.note}` : ""}`;
        content = cell.appendChild(element("button", { ariaLabel, number: this.buttons.length, cell }));
        this.buttons.push(content);
      }
    }
    if (name === "normalized" && about) {
      cell.classList.add("changed");
      if (!text) {
        text = REMOVED;
        cell.ariaLabel = about;
      }
    }
    if (name === "graphemes" && STAND_IN.test(text)) cell.classList.add("stand-in");
    if (name === "graphemes" || name === "preTokens") cell.ariaLabel = this.#inWords(start, end, text);
    content.append(element("bdi", "", text));
    return cell;
  }

  // The characters of some columns in words, for screen readers; a mark without bytes has its label.
  #inWords(start, end, label) {
    const bytes = this.data.bytes.filter(([column]) => column >= start && column < end).map(([, byte]) => byte);
    return bytes.length ? spokenBytes(Uint8Array.from(bytes)) : label;
  }

  #reach(number) {
    this.focused = number;
    this.buttons.forEach((button, i) => (button.tabIndex = i === number ? 0 : -1));
  }

  #focus(button) {
    if (button.number === undefined) return;
    this.#reach(button.number);
    this.highlight(button.cell);
  }

  /** Highlight everything above and below a cell, and show its tooltip. */
  highlight(cell) {
    if (!cell?.span || this.lit === cell) return;
    this.clear();
    this.lit = cell;
    const [start, end] = cell.span;
    for (const other of this.cells)
      if (other.span[0] < end && other.span[1] > start) other.classList.add("lit");
    this.tooltip.show(cell.token ? this.#describeToken(cell.token) : this.#describe(cell), cell);
  }

  #describeToken({ id, label, color, hex, note }) {
    const head = id === null ? [note] : [tokenLabel(label, color), ` id ${id}`];
    const more = id === null ? [] : [note, "Press it to look it up."].filter(Boolean);
    return [element("p", "", ...head), element("p", "hex", hex || "no bytes"), ...more.map((line) => element("p", "", line))];
  }

  #describe({ span: [start, end], row, text, point, about, byte }) {
    const ofByte = row === "bytes" ? ` a byte: hexadecimal ${byteText(byte, false)}, decimal ${byte}` : "";
    const words = row === "codePoints" ? ` code point U+${point}, in decimal ${parseInt(point, 16)}` : ofByte;
    const head = element("p", "", tokenLabel(text || REMOVED, -1), words);
    const ids = this.data.tokens
      .filter((token) => token.start < end && token.end > start && token.id !== null)
      .map(({ id }) => id);
    const list = ids.slice(0, MAX_IDS).join(", ") + (ids.length > MAX_IDS ? " …" : "");
    const count = ids.length === 1 ? "one token" : `${ids.length} tokens`;
    const tokens = ids.length ? `in ${count}: ${list}` : "in no token";
    return [head, ...[about, tokens].filter(Boolean).map((line) => element("p", "", line))];
  }

  clear() {
    for (const cell of this.cells) cell.classList.remove("lit");
    this.lit = null;
    this.tooltip.hide();
  }
}

export const mount = component(Grid);

// The grid of Inspect: characters, code points, bytes, chunks, tokens and ids, one under the other.
// A column is a byte. Python says what stands where (`bpeviz/analysis/trace.py`); lines are broken here.

const ROWS_OF_GRID = [
  ["graphemes", "characters"],
  ["points", "code points"],
  ["bytes", "UTF-8 bytes"],
  ["chunks", "chunks"],
  ["tokens", "tokens"],
  ["ids", "ids"],
];
const WIDE_SIGN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u;
const NARROWEST = 2.05; // rem: a column holds a code point of four digits

class Grid {
  constructor(root) {
    this.root = root;
    this.frame = root.querySelector(".grid");
    this.lines = root.querySelector(".lines");
    this.words = root.querySelector(".cut-words");
    this.card = new Card(root.querySelector(".card"), this.frame);
    this.chosen = 0; // the token that takes the focus
    this.here = new AbortController();
    const listen = (name, heard) => this.lines.addEventListener(name, heard, { signal: this.here.signal });
    listen("mouseover", (event) => this.point(event.target.closest(".cell")));
    listen("mouseleave", () => this.clear());
    listen("focusin", (event) => this.focused(event.target));
    listen("focusout", () => this.clear());
    listen("keydown", (event) => this.key(event));
    listen("click", (event) => {
      const token = event.target.closest(".tokens .cell, .ids .cell")?.token;
      if (token && token.id !== null) this.pick(token.id);
    });
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this.frame);
  }

  update(data, pick) {
    this.pick = pick;
    if (this.shown === data.key) return;
    this.shown = data.key;
    this.data = data;
    this.chosen = 0;
    this.width = 0;
    this.widths = this.#widths();
    this.#say();
    this.fit();
  }

  // How wide each column has to be, in rem: so that ids and names find room over their bytes.
  #widths() {
    const { data } = this;
    const widths = new Array(data.columns).fill(NARROWEST);
    const need = (start, end, rem) => {
      const each = rem / (end - start);
      for (let c = start; c < end; c++) widths[c] = Math.max(widths[c], each);
    };
    for (const [start, end, shown] of data.points) need(start, end, shown.length * 0.45 + 0.25);
    for (const { start, end, id, label } of data.tokens) {
      if (id !== null) need(start, end, String(id).length * 0.49 + 0.3);
      const signs = [...label].slice(0, 14);
      need(start, end, signs.reduce((sum, sign) => sum + (WIDE_SIGN.test(sign) ? 1.1 : 0.58), 0.35));
    }
    return widths;
  }

  // In words how often tokens cut characters: the rulers are not the only sign.
  #say() {
    const { data } = this;
    const of = (kind) => data.cuts.filter(([, one]) => one === kind).length;
    const parts = [];
    const add = (kind, number, what) => {
      if (!number) return;
      parts.push(element("i", `key ${kind}`), element("span", "", `${number.toLocaleString("en")} ${what}`));
    };
    const plural = (number) => (number === 1 ? "a token ends" : "tokens end");
    const inside = of("character");
    const between = of("grapheme");
    add("", inside, `× ${plural(inside)} inside a character`);
    add("grapheme", between, `× ${plural(between)} between the code points of one`);
    if (!parts.length && data.columns) parts.push(element("span", "", "No token ends inside a character."));
    this.words.replaceChildren(...parts);
  }

  // Break the columns into lines that fit: behind a chunk if that leaves no line half empty, else
  // behind a token, else behind a character, else (a sign of many bytes) behind a token within it.
  #breaks(room) {
    const { data, widths } = this;
    const chunks = new Set((data.chunks ?? []).map(([, end]) => end));
    const tokens = new Set(data.tokens.map(({ end }) => end));
    const graphemes = new Set(data.graphemes.map(([, end]) => end));
    const places = [
      [0.6, (at) => chunks.has(at) && tokens.has(at) && graphemes.has(at)],
      [0.4, (at) => tokens.has(at) && graphemes.has(at)],
      [0.4, (at) => graphemes.has(at)],
      [0.4, (at) => tokens.has(at)],
    ];
    const found = [];
    let start = 0;
    while (start < data.columns) {
      let end = start;
      let used = 0;
      while (end < data.columns && (end === start || used + widths[end] <= room)) used += widths[end++];
      if (end < data.columns)
        for (const [least, fits] of places) {
          let at = end;
          while (at > start && !fits(at)) at--;
          if (at < start + 1 || at - start < (end - start) * least) continue;
          end = at;
          break;
        }
      found.push([start, end]);
      start = end;
    }
    return found;
  }

  fit() {
    if (!this.data) return;
    const width = this.frame.clientWidth;
    if (!width || Math.abs(width - this.width) < 4) return;
    this.width = width;
    this.clear();
    this.cells = [];
    this.buttons = [];
    if (!this.data.columns) {
      this.lines.replaceChildren(element("p", "empty", "There is no text yet. Type one above."));
      return;
    }
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
    const head = width < 560 ? 4.6 : 6;
    const breaks = this.#breaks(width / rem - head);
    this.lines.replaceChildren(...breaks.map(([start, end], i) => this.#line(start, end, head, i)));
    this.#focusable();
  }

  #line(start, end, head, number) {
    const { data, widths } = this;
    const line = element("div", "strip-line");
    line.setAttribute("role", "table");
    line.ariaLabel = `Line ${number + 1}: bytes ${data.first + start + 1} and on`;
    line.style.gridTemplateColumns = `${head}rem ${widths
      .slice(start, end)
      .map((width) => `${width.toFixed(3)}rem`)
      .join(" ")}`;
    const shown = ROWS_OF_GRID.filter(([name]) => name !== "chunks" || data.chunks);
    shown.forEach(([name, title], row) => {
      const box = line.appendChild(element("div", `row ${name}`));
      box.setAttribute("role", "row");
      const heading = box.appendChild(element("div", "head", title));
      heading.setAttribute("role", "rowheader");
      heading.style.gridRow = row + 1;
      heading.style.gridColumn = 1;
      for (const one of this.#of(name)) {
        if (one.end <= start || one.start >= end) continue;
        const cell = this.#cell(name, one);
        const from = Math.max(one.start, start);
        const to = Math.min(one.end, end);
        cell.style.gridRow = row + 1;
        cell.style.gridColumn = `${from - start + 2} / ${to - start + 2}`;
        cell.ariaColSpan = String(to - from);
        if (one.end > end) cell.classList.add("goes-on");
        if (one.start < start) cell.classList.add("comes-from");
        cell.span = [one.start, one.end];
        this.cells.push(cell);
        box.append(cell);
      }
    });
    for (const [at, kind] of data.cuts) {
      if (at <= start || at > end) continue;
      const ruler = line.appendChild(element("i", `ruler ${kind}`));
      ruler.style.gridColumn = `${at - start + 1} / ${at - start + 2}`;
      ruler.style.gridRow = `1 / ${shown.length + 1}`;
      ruler.ariaHidden = "true";
    }
    return line;
  }

  // What stands in a row: {start, end, text, and what else is known of it}.
  #of(name) {
    const { data } = this;
    if (name === "bytes") return data.bytes.map(([start, text]) => ({ start, end: start + 1, text }));
    if (name === "tokens") return data.tokens.map((token) => ({ ...token, text: token.label, token }));
    if (name === "ids")
      return data.tokens.map((token) => ({ ...token, text: token.id === null ? "" : String(token.id), token }));
    return data[name].map(([start, end, text, about]) => ({ start, end, text, about }));
  }

  #cell(name, one) {
    const cell = element("div", "cell");
    cell.setAttribute("role", "cell");
    Object.assign(cell, { about: one.about, kind: name, text: one.text, token: one.token });
    let inside = cell;
    if (name === "tokens") {
      if (one.hue >= 0) cell.classList.add("t", `h${one.hue}`);
      if (one.kind) cell.classList.add(one.kind.replace(" ", "-"));
      if (one.id === null) cell.ariaLabel = one.note;
      else {
        inside = cell.appendChild(element("button"));
        inside.type = "button";
        inside.ariaLabel = `${one.label}, id ${one.id}${one.note ? `, ${one.note}` : ""}`;
        inside.number = this.buttons.length;
        inside.cell = cell;
        this.buttons.push(inside);
      }
    }
    if (name === "graphemes" && /^(?:[·→↵␍]|⟨[0-9A-F]+⟩)$/u.test(one.text)) cell.classList.add("stand-in");
    inside.append(element("bdi", "", one.text));
    return cell;
  }

  #focusable() {
    this.buttons.forEach((button, i) => (button.tabIndex = i === this.chosen ? 0 : -1));
  }

  focused(button) {
    if (button.number === undefined) return;
    this.chosen = button.number;
    this.#focusable();
    this.point(button.cell);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = {
      ArrowRight: this.chosen + 1,
      ArrowLeft: this.chosen - 1,
      Home: 0,
      End: this.buttons.length - 1,
    }[event.key];
    if (event.key === "Escape") this.card.hide();
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.buttons[Math.max(0, Math.min(this.buttons.length - 1, to))]?.focus();
  }

  // Light all that stands over and under a cell, and tell of it.
  point(cell) {
    if (!cell?.span || this.lit === cell) return;
    this.clear();
    this.lit = cell;
    const [low, high] = cell.span;
    for (const other of this.cells)
      if (other.span[0] < high && other.span[1] > low) other.classList.add("lit");
    this.card.show(this.#about(cell, low, high), cell);
  }

  #about(cell, low, high) {
    const touched = this.data.tokens.filter((token) => token.start < high && token.end > low);
    const lines = [];
    const { token } = cell;
    if (token) {
      const head = element("p");
      if (token.id === null) head.append(token.note);
      else head.append(piece(token.label, token.hue), ` id ${token.id}`);
      lines.push(head, element("p", "hex", token.hex || "no bytes"));
      if (token.note && token.id !== null) lines.push(element("p", "", token.note));
      if (token.id !== null) lines.push(element("p", "", "Press it to look it up."));
      return lines;
    }
    const head = element("p");
    head.append(piece(cell.text, -1));
    if (cell.kind === "points") head.append(` code point U+${cell.text}`);
    if (cell.kind === "bytes") head.append(` a byte: ${parseInt(cell.text, 16)}`);
    lines.push(head);
    if (cell.about) lines.push(element("p", "", cell.about));
    const ids = touched.filter(({ id }) => id !== null);
    const shown = ids.slice(0, 12).map(({ id }) => id).join(", ");
    const more = ids.length > 12 ? " …" : "";
    lines.push(
      element("p", "", ids.length ? `in ${ids.length === 1 ? "one token" : `${ids.length} tokens`}: ${shown}${more}` : "in no token"),
    );
    return lines;
  }

  clear() {
    for (const cell of this.cells ?? []) cell.classList.remove("lit");
    this.lit = null;
    this.card.hide();
  }

  leave() {
    this.here.abort();
    this.watch.disconnect();
  }
}

const grids = new WeakMap(); // a component's root → its grid
const picked = new WeakMap(); // … → how often a token was picked

export default function ({ data, parentElement, setStateValue }) {
  let grid = grids.get(parentElement);
  if (!grid) grids.set(parentElement, (grid = new Grid(parentElement)));
  grid.update(data, (id) => {
    const number = (picked.get(parentElement) ?? 0) + 1;
    picked.set(parentElement, number);
    setStateValue("token", { id, number: `${Date.now()} ${number}` });
  });
  return () => {
    grid.leave();
    grids.delete(parentElement);
  };
}

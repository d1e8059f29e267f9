// The columns of Compare and Split: one text under several tokenizers or splits. Positions are
// UTF-8 bytes, in which all of them agree, whatever their atoms are.

const plural = (number, unit) => `${unit}${number === 1 ? "" : "s"}`;

class Columns {
  constructor(root) {
    this.root = root;
    this.frame = root.querySelector(".columns");
    this.card = new Card(root.querySelector(".card"), this.frame);
    this.frame.addEventListener("mouseover", (event) => this.hover(event.target));
    this.frame.addEventListener("mouseleave", () => this.clear());
    this.frame.addEventListener("copy", (event) => {
      const column = this.columns.find(({ box }) => box.contains(event.composedPath()[0]));
      column?.cells.copyTo(event, root);
    });
  }

  update(data) {
    if (this.key === data.key) return;
    this.key = data.key;
    this.clear();
    this.unit = data.unit ?? "token";
    if (data.name) this.frame.ariaLabel = data.name;
    this.frame.classList.toggle("chunks", this.unit === "chunk");
    this.columns = data.columns.map((column, i) => this.column(data, column, i));
    this.frame.replaceChildren(...this.columns.map(({ box }) => box));
    // Scrolling one column scrolls all, so that the same place stands side by side.
    for (const { host } of this.columns)
      host.addEventListener("scroll", () => {
        if (this.scrolling && this.scrolling !== host) return;
        this.scrolling = host;
        clearTimeout(this.calm);
        this.calm = setTimeout(() => (this.scrolling = null), 120);
        const share = host.scrollTop / Math.max(1, host.scrollHeight - host.clientHeight);
        for (const other of this.columns)
          if (other.host !== host)
            other.host.scrollTop = share * (other.host.scrollHeight - other.host.clientHeight);
      });
  }

  // note and total: what is said of a split instead of a comparison, and how many chunks the whole
  // text has, of which a part may be shown.
  column(data, { title, note: about, total, ends, tokens, own, missing }, index) {
    const box = element("div", index === data.reference ? "column reference" : "column");
    const note = element("p");
    const number = total ?? tokens.filter(([id]) => id !== LEFT_OUT_ID).length;
    note.append(element("b", "", number.toLocaleString("en")), ` ${plural(number, this.unit)}`);
    const cuts =
      about ??
      (index === data.reference
        ? "the reference"
        : `${own.length.toLocaleString("en")} ${plural(own.length, "cut")} of its own, ${missing.length.toLocaleString("en")} missing`);
    note.append(element("span", "cuts", cuts)); // on a line of its own, so that columns stay level
    const host = element("div", "text");
    host.tabIndex = 0;
    host.dir = "auto";
    host.setAttribute("role", "group");
    host.ariaLabel = `${this.unit === "token" ? "Tokens" : "Chunks"} of ${title}`;
    box.append(element("h3", "", title), note, host);
    const cells = new CellText(host, data.text, "bytes");
    let start = 0;
    ends.forEach((end, i) => {
      for (let a = start; a < end; a++) cells.hues[a] = tokens[i][3];
      const rest = { [UNKNOWN_ID]: UNKNOWN, [LEFT_OUT_ID]: LEFT_OUT }[tokens[i][0]] ?? 0;
      if (end > start) cells.flags[end - 1] |= END | rest;
      start = end;
    });
    for (const cut of own) cells.flags[cut - 1] |= OWN;
    for (const cut of missing) cells.flags[cut - 1] |= MISSING;
    cells.paint(0, cells.atoms);
    return { box, host, cells, ends, tokens, title };
  }

  hover(target) {
    const column = this.columns?.find(({ host }) => host.contains(target));
    const atom = column ? column.cells.atomAt(target) : -1;
    if (atom < 0) return this.clear();
    let i = 0;
    for (let low = 0, high = column.ends.length - 1; low <= high; ) {
      const middle = (low + high) >> 1;
      if (column.ends[middle] > atom) {
        i = middle;
        high = middle - 1;
      } else low = middle + 1;
    }
    const span = [i ? column.ends[i - 1] : 0, column.ends[i]];
    if (this.lit && this.lit.column === column && this.lit.span[0] === span[0]) return;
    this.clear();
    this.lit = { column, span };
    for (const { cells } of this.columns) cells.mark(...span, "lit", true);
    const [id, label, below, hue] = column.tokens[i];
    const head = element("p");
    head.append(piece(label, hue), id === null || id < 0 ? "" : ` id ${id}`);
    const lines = [head, element("p", id === null ? "" : "hex", below)];
    for (const other of this.columns) {
      if (other === column) continue;
      const touched = other.ends.filter((end, j) => end > span[0] && (j ? other.ends[j - 1] : 0) < span[1]).length;
      lines.push(element("p", "", `${other.title}: ${touched} ${plural(touched, this.unit)} here`));
    }
    this.card.show(lines, column.cells.cells[column.cells.cellOf[span[0]]].element);
  }

  clear() {
    if (this.lit) for (const { cells } of this.columns) cells.mark(...this.lit.span, "lit", false);
    this.lit = null;
    this.card.hide();
  }
}

const all = new WeakMap(); // a component's root → its columns

export default function ({ data, parentElement }) {
  let columns = all.get(parentElement);
  if (!columns) all.set(parentElement, (columns = new Columns(parentElement)));
  columns.update(data);
  return () => all.delete(parentElement);
}

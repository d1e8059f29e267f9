// Text drawn as cells, shared by the player and the columns of Compare (their scripts follow this
// one in the same module). A cell is what the eye takes for one sign; it holds one or more atoms.
// Cells never move: a change of step changes their classes only.

const END = 1; // a boundary stands behind the atom
const NEW = 2; // the atom is part of a token made by the present merge …
const FIRST = 4; // … and its first
const LAST = 8; // … or its last
const SEAM = 16; // the present merge removed the boundary behind the atom
const OWN = 32; // only this column cuts behind the atom
const UNKNOWN = 128; // the atom is not in the vocabulary
const MISSING = 64; // the reference column cuts behind the atom, this one does not
const LEFT_OUT = 256; // the atom becomes no token

// Ids that stand for no token of the vocabulary.
const UNKNOWN_ID = -1;
const LEFT_OUT_ID = -2;

const QUICK_NAMES = { " ": "·", "\t": "→", "\n": "↵", "\r": "␍" };
const UNSEEN = /[\p{C}\p{Z}]/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
const DIRECTED = /[\p{L}\p{N}]/u;
const LONGEST_SIGN = 16; // UTF-16 units; what is longer is drawn by code points
const ROWS = 4; // rows of a strip before it goes on in a second column

const hexadecimal = (number, digits) => number.toString(16).toUpperCase().padStart(digits, "0");

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text; // never innerHTML: the text is a visitor's
  return made;
}

// The first index below count for which test holds, or count; test holds for all after it.
function partition(count, test) {
  let low = 0;
  for (let high = count; low < high; ) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// What is drawn as one cell: a grapheme, or each code point of one that holds something unseen,
// so that a joiner or a direction mark is seen and cannot act on the page.
function* signs(text) {
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text))
    if (UNSEEN.test(segment) || segment.length > LONGEST_SIGN) yield* segment;
    else yield segment;
}

class CellText {
  // kind: what an atom is, "bytes" or "characters". sizes: the bytes of each atom, where they are
  // not what kind says: 0 for a mark that is no text, one byte of a character that the vocabulary
  // does not hold. marks: the atoms that carry an end-of-word mark. label: tells what an atom of no
  // text is called.
  constructor(host, text, kind, { sizes = null, marks = [], label = () => "" } = {}) {
    this.text = text;
    this.cells = [];
    this.cellOf = [];
    this.host = host;
    const utf8 = new TextEncoder();
    const marked = new Set(marks);
    const lines = document.createDocumentFragment();
    let line = null;
    let backwards = false;
    let at = 0; // in UTF-16 units, for copying
    const add = (cell) => {
      line ??= lines.appendChild(element("div", "line"));
      line.append(cell.element);
      cell.element.cell = this.cells.length;
      for (let i = 0; i < cell.size; i++) this.cellOf.push(this.cells.length);
      this.cells.push(cell);
    };
    const bytesIn = (sign) => Array.from(utf8.encode(sign), (byte) => hexadecimal(byte, 2));
    // What stands below a sign: a label for each of its atoms.
    const labelsOf = (sign) => {
      if (kind === "bytes") return bytesIn(sign);
      const points = [...sign];
      if (!sizes) return points.map((point) => hexadecimal(point.codePointAt(0), 4));
      const labels = [];
      for (const point of points) {
        const bytes = bytesIn(point);
        const whole = sizes[this.cellOf.length + labels.length] === bytes.length;
        labels.push(...(whole ? [hexadecimal(point.codePointAt(0), 4)] : bytes));
      }
      return labels;
    };
    // A mark is drawn where it stands, without taking any text.
    const drawMarks = () => {
      while (sizes && sizes[this.cellOf.length] === 0) {
        const name = label(this.cellOf.length);
        const symbol = { element: element("span", "c quiet", name), base: "c quiet", size: 1 };
        add({ ...symbol, from: at, to: at, first: this.cellOf.length, classes: "" });
      }
    };
    // A word may end within a sign, where a split cuts marks from their letter: its code points
    // are then cells of their own, so that the end has a place.
    const parted = (sign) => {
      const points = [...sign];
      const from = this.cellOf.length;
      const ends = (i) => marked.has(from + i) || (sizes && sizes[from + i + 1] === 0);
      return points.slice(1).some((_, i) => ends(i)) ? points : [sign];
    };
    const draw = (sign) => {
      const labels = labelsOf(sign);
      // Blanks and signs run the way of the letters before them.
      if (DIRECTED.test(sign)) backwards = RIGHT_TO_LEFT.test(sign);
      const cell = this.#cell(sign, labels);
      if (backwards) cell.element.className = cell.base += " rtl";
      cell.from = at;
      at += sign.length;
      cell.to = at;
      cell.first = this.cellOf.length;
      const last = cell.first + cell.size - 1;
      if (marked.has(last)) cell.element.append(element("span", "mark", "</w>"));
      add(cell);
      if (cell.strip) {
        const rows = Math.min(cell.size, ROWS);
        line.rows = Math.max(line.rows ?? 0, rows);
        line.style.setProperty("--rows", line.rows);
      }
      drawMarks();
      if (sign === "\n") {
        line = null;
        backwards = false;
      }
    };
    drawMarks();
    for (const sign of signs(text)) parted(sign).forEach(draw);
    host.replaceChildren(lines);
    const atoms = this.cellOf.length;
    this.hues = new Int8Array(atoms).fill(-1);
    this.flags = new Uint16Array(atoms);
  }

  #cell(sign, labels) {
    const cell = { size: labels.length, base: "c", classes: "", strip: null };
    const span = element("span");
    const quick = QUICK_NAMES[sign];
    if (sign === " " || sign === "\t") {
      // A real blank, so that lines break and copying works, under a quiet sign.
      cell.base += sign === " " ? " space" : " tab";
      span.textContent = sign;
    } else if (quick || UNSEEN.test(sign)) {
      cell.base += " quiet";
      span.textContent = quick ?? `⟨${hexadecimal(sign.codePointAt(0), 4)}⟩`;
    } else {
      span.textContent = sign;
    }
    if (cell.size > 1) {
      // What a token may cut inside a sign stands below it: bytes, or the code points of a cluster.
      cell.strip = element("span", "strip");
      cell.strip.ariaHidden = "true";
      cell.rows = labels.map((label) => cell.strip.appendChild(element("i", "", label)));
      cell.rows.forEach((row, i) => (row.row = i));
      cell.base += " multi";
      const columns = Math.ceil(cell.size / ROWS);
      if (columns > 1 || labels[0].length > 2) {
        cell.base += " wide";
        span.style.setProperty("--columns", columns * (labels[0].length / 2));
      }
      span.append(cell.strip);
    }
    span.className = cell.base;
    cell.element = span;
    return cell;
  }

  get atoms() {
    return this.cellOf.length;
  }

  // Where an atom begins in the text, in UTF-16 units (atoms are characters, or marks).
  offset(atom) {
    if (atom >= this.atoms) return this.text.length;
    const cell = this.cells[this.cellOf[atom]];
    const before = [...this.text.slice(cell.from, cell.to)].slice(0, atom - cell.first);
    return cell.from + before.join("").length;
  }

  // The atoms that can be seen, and half a frame's height more on either side: [start, end).
  visible() {
    const { top, bottom, height } = this.host.getBoundingClientRect();
    const low = top - height / 2;
    const high = bottom + height / 2;
    const lines = this.host.children;
    const firstLine = lines[partition(lines.length, (i) => lines[i].getBoundingClientRect().bottom >= low)];
    if (!firstLine) return [0, 0];
    const lastLine =
      lines[partition(lines.length, (i) => lines[i].getBoundingClientRect().top > high) - 1] ?? firstLine;
    // A paragraph may be long, so look inside the outermost ones.
    const inside = (line, test) => {
      const spans = line.children;
      return partition(spans.length, (i) => test(spans[i].getBoundingClientRect()));
    };
    const from = firstLine.children[inside(firstLine, (spot) => spot.bottom >= low)] ?? firstLine.lastChild;
    const to = lastLine.children[inside(lastLine, (spot) => spot.top > high) - 1] ?? lastLine.firstChild;
    const last = this.cells[to.cell];
    return [this.cells[from.cell].first, last.first + last.size];
  }

  // Write the classes that hues and flags of atoms start to end ask for.
  paint(start, end) {
    if (start >= end) return;
    const lastCell = this.cellOf[end - 1];
    for (let c = this.cellOf[start]; c <= lastCell; c++) {
      const cell = this.cells[c];
      const final = cell.first + cell.size - 1;
      let cut = false;
      for (let a = cell.first; a < final; a++) cut ||= (this.flags[a] & END) !== 0;
      let classes;
      if (cut) {
        classes = `${cell.base} cut${this.flags[final] & END ? " b" : ""}`;
        cell.rows.forEach((row, i) => {
          const looks = this.#classes(cell.first + i, cell.first + i);
          if (row.className !== looks) row.className = looks;
        });
      } else classes = cell.base + this.#classes(cell.first, final);
      if (cell.classes !== classes) {
        cell.classes = classes;
        cell.element.className = classes;
      }
    }
  }

  #classes(first, last) {
    const start = this.flags[first];
    const end = this.flags[last];
    let classes = "";
    if (this.hues[first] >= 0) classes += ` t h${this.hues[first]}`;
    if (end & END) classes += " b";
    if (end & SEAM) classes += " seam";
    if (end & OWN) classes += " own";
    if (end & MISSING) classes += " missing";
    if (end & UNKNOWN) classes += " unknown";
    if (end & LEFT_OUT) classes += " left-out";
    if (start & NEW) classes += " new";
    if (start & FIRST) classes += " first";
    if (end & LAST) classes += " last";
    return classes;
  }

  // The atom under an element of this text, or -1.
  atomAt(target) {
    const span = target?.closest?.(".c");
    if (!span || span.cell === undefined) return -1;
    const cell = this.cells[span.cell];
    const row = target.closest("i");
    return cell.first + (row ? row.row : 0);
  }

  // Add or remove a class on the cells and strips of atoms start to end.
  mark(start, end, className, on) {
    for (let a = start; a < end; a++) {
      const cell = this.cells[this.cellOf[a]];
      if (!cell) continue;
      if (cell.size > 1 && cell.classes.includes(" cut")) cell.rows[a - cell.first].classList.toggle(className, on);
      else cell.element.classList.toggle(className, on);
    }
  }

  // Copying gives the original text, not its stand-ins.
  copyTo(event, root) {
    const selection = root.getSelection?.() ?? document.getSelection();
    if (!selection || selection.isCollapsed || !selection.rangeCount) return;
    const range = selection.getComposedRanges
      ? selection.getComposedRanges({ shadowRoots: [root] })[0]
      : selection.getRangeAt(0);
    const edge = (node, offset, atEnd) => {
      const inside = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
      const span = inside.closest(".c");
      if (span) {
        const cell = this.cells[span.cell];
        return (node.nodeType === Node.TEXT_NODE ? offset > 0 : atEnd) ? cell.to : cell.from;
      }
      // Between cells, or between lines: look at what stands at that place.
      const next = inside.childNodes[offset]?.querySelector?.(".c") ?? inside.childNodes[offset];
      if (next?.cell !== undefined) return this.cells[next.cell].from;
      const before = inside.childNodes[offset - 1];
      const last = before?.cell !== undefined ? before : before?.lastElementChild;
      return last?.cell !== undefined ? this.cells[last.cell].to : atEnd ? this.text.length : 0;
    };
    const from = edge(range.startContainer, range.startOffset, false);
    const to = edge(range.endContainer, range.endOffset, true);
    event.clipboardData.setData("text/plain", this.text.slice(from, to));
    event.preventDefault();
  }
}

// A token drawn on its own, as it looks in the text.
function piece(label, hue) {
  return element("bdi", hue < 0 ? "piece" : `piece t h${hue}`, label);
}

// A small card beside the pointer, kept inside its frame.
class Card {
  constructor(card, frame) {
    this.card = card;
    this.frame = frame;
  }

  show(content, near) {
    this.card.replaceChildren(...content);
    this.card.hidden = false;
    const frame = this.frame.getBoundingClientRect();
    const spot = near.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.card;
    const left = Math.min(Math.max(0, spot.left - frame.left), Math.max(0, frame.width - width));
    const below = spot.bottom - frame.top + 6;
    const fits = below + height <= frame.height;
    this.card.style.left = `${left}px`;
    this.card.style.top = `${fits ? below : Math.max(0, spot.top - frame.top - height - 6)}px`;
  }

  hide() {
    this.card.hidden = true;
  }
}

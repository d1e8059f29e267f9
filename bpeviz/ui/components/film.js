// Films: how a text is cut at every step, and a view that draws one (`bpeviz/views/player.py` makes them).

const count = (number) => number.toLocaleString("en");
const figures = (number) => number.toLocaleString("en", { maximumSignificantDigits: 3 });
const fixed = (number, digits) =>
  number.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

const INSIDE = -3; // no token begins at this atom; of a part's first one: it begins before it
const NEVER = 0x7fffffff;

// Where merges alone decide: each boundary vanishes once, and the last to go tells the token's id.
class Merged {
  constructor({ vanish, firstId }, atomIds) {
    this.vanish = Int32Array.from(vanish, (time) => (time < 0 ? NEVER : time));
    this.firstId = firstId;
    this.atomIds = atomIds;
    this.atoms = vanish.length;
  }

  // The token around an atom: [start, end) and its id.
  token(atom, step) {
    const { vanish } = this;
    let start = atom;
    let end = atom;
    let made = -1;
    while (start > 0 && vanish[start - 1] < step) made = Math.max(made, vanish[--start]);
    while (end < this.atoms - 1 && vanish[end] < step) made = Math.max(made, vanish[end++]);
    return { start, end: end + 1, id: made < 0 ? this.atomIds[start] : this.firstId + made, made };
  }

  // Did this token come about at that very step?
  isNew(token, time) {
    return token.made >= 0 && token.made === time;
  }

  // Did the boundary behind an atom vanish at that very step?
  isSeam(atom, time) {
    return this.vanish[atom] === time;
  }
}

// Where boundaries may come back: for each atom, which token begins there, and from when on.
class Changing {
  constructor({ changes }) {
    this.rows = Int32Array.from(changes.rows);
    this.times = Int32Array.from(changes.times);
    this.ids = Int32Array.from(changes.ids);
    this.atoms = this.rows.length - 1;
  }

  begins(atom, step) {
    let id = INSIDE;
    for (let k = this.rows[atom]; k < this.rows[atom + 1] && this.times[k] < step; k++) id = this.ids[k];
    return id;
  }

  token(atom, step) {
    let start = atom;
    let id = this.begins(start, step);
    while (start > 0 && id === INSIDE) id = this.begins(--start, step);
    let end = atom + 1;
    while (end < this.atoms && this.begins(end, step) === INSIDE) end++;
    return { start, end, id };
  }

  at(atom, time) {
    for (let k = this.rows[atom]; k < this.rows[atom + 1] && this.times[k] <= time; k++)
      if (this.times[k] === time) return this.ids[k];
    return null;
  }

  isNew({ start, end, id }, time) {
    if (time < 0 || id === LEFT_OUT_ID) return false;
    for (let a = start; a < end; a++) if (this.at(a, time) !== null) return true;
    return false;
  }

  isSeam(atom, time) {
    return time >= 0 && atom + 1 < this.atoms && this.at(atom + 1, time) === INSIDE;
  }
}

// One text under one learner, with the step at which it stands.
class View {
  constructor(data) {
    this.data = data;
    this.step = 0;
    this.host = element("div", "text");
    this.host.dir = "auto";
    this.host.setAttribute("role", "group");
    this.host.ariaLabel = data.title ? `Tokens of ${data.title}` : "The text and its tokens";
    this.box = element("div", "view");
    if (data.title) {
      this.note = element("p", "note");
      this.sentence = element("div", "sentence");
      this.box.append(element("h3", "", data.title), this.note, this.sentence);
    }
    this.box.append(this.host);
    this.raw = data.atoms === "bytes" ? new TextEncoder().encode(data.text) : null;
    const atomIds = data.atomIds ?? this.raw;
    this.film = data.changes ? new Changing(data) : new Merged(data, atomIds);
    this.stepOf = new Map(data.steps.id.map((id, i) => [id, i])); // the step that is about an id
    this.cells = new CellText(this.host, data.text, data.atoms, {
      sizes: data.sizes,
      marks: data.marks,
      label: (atom) => this.look(atomIds[atom]).label,
    });
    if (!data.text) this.host.append(element("p", "empty", "There is no text yet. Type one, or choose a sample."));
  }

  token(atom) {
    return this.film.token(atom, this.step);
  }

  // Where each atom ends, in bytes: all views of a text agree on these.
  get byteEnds() {
    if (!this.ends) {
      const utf8 = new TextEncoder();
      const sizes = this.raw
        ? new Uint8Array(this.raw.length).fill(1)
        : (this.data.sizes ?? Array.from(this.data.text, (point) => utf8.encode(point).length));
      let end = 0;
      this.ends = Int32Array.from(sizes, (size) => (end += size));
    }
    return this.ends;
  }

  // Tell for each byte whether a token ends behind it. [bytes]
  cuts() {
    const ends = this.byteEnds;
    const cuts = new Uint8Array(ends.length ? ends.at(-1) : 0);
    for (let a = 0; a < ends.length; ) {
      const token = this.token(a);
      if (ends[token.end - 1]) cuts[ends[token.end - 1] - 1] = 1;
      a = token.end;
    }
    return cuts;
  }

  // Look anew at the tokens that cover atoms start to end. reference: the cuts of another view.
  refresh(start, end, reference = null) {
    const { film, step, cells } = this;
    const { looks } = this.data;
    const ends = reference && this.byteEnds;
    const mine = reference && this.cuts(); // an atom of no bytes ends where its neighbour does
    const present = step - 1;
    let at = start;
    while (at < end) {
      const token = film.token(at, step);
      const isNew = film.isNew(token, present);
      const hue = looks[token.id]?.[1] ?? -1;
      const rest = token.id === LEFT_OUT_ID ? LEFT_OUT : token.id === UNKNOWN_ID ? UNKNOWN : 0;
      for (let a = token.start; a < token.end; a++) {
        const isEnd = a === token.end - 1;
        cells.hues[a] = hue;
        let flags = rest | (isEnd ? END : 0);
        if (film.isSeam(a, present)) flags |= SEAM;
        if (isNew) flags |= NEW | (a === token.start ? FIRST : 0) | (isEnd ? LAST : 0);
        // A cut behind white space that is left out is no choice of the tokenizer's.
        if (reference && ends[a] && ends[a] < ends.at(-1)) {
          if (isEnd && rest !== LEFT_OUT && !reference[ends[a] - 1]) flags |= OWN;
          if (!mine[ends[a] - 1] && reference[ends[a] - 1]) flags |= MISSING;
        }
        cells.flags[a] = flags;
      }
      cells.paint(token.start, token.end);
      at = token.end;
    }
  }

  // The label and hue of an id.
  look(id) {
    if (id === LEFT_OUT_ID) return { label: "left out", hue: -1 };
    const [label, hue] = this.data.looks[id] ?? [this.data.unknown ?? "?", -1];
    return { label, hue };
  }

  bytesOf({ start, end }) {
    const most = 32;
    const bytes = this.raw
      ? this.raw.subarray(start, end)
      : new TextEncoder().encode(this.data.text.slice(this.cells.offset(start), this.cells.offset(end)));
    const shown = Array.from(bytes.subarray(0, most), (byte) => hexadecimal(byte, 2)).join(" ");
    return !shown ? "no bytes" : bytes.length > most ? `${shown} … (${bytes.length} bytes)` : shown;
  }

  withId(id, className = "") {
    const { label, hue } = this.look(id);
    const both = element("span", "with-id");
    const drawn = piece(label, hue);
    if (className) drawn.classList.add(className);
    drawn.title = label;
    both.append(drawn, element("span", "id", `id ${id}`));
    return both;
  }

  // The step at which it stands, in words.
  inWords() {
    const { data, step } = this;
    if (step) return this.decision(step - 1);
    const words = !data.text ? "No text, no tokens." : data.last ? `${data.beginning} Press play.` : data.still;
    return [element("span", "start", words)];
  }

  decision(i) {
    const s = this.data.steps;
    const facts = [];
    if (s.kind === "pruning") {
      facts.push(`costs ${figures(s.score[i])}`);
      facts.push(s.count[i] ? `used ${s.count[i] === 1 ? "once" : `${count(s.count[i])} times`}` : "not used");
      facts.push(`round ${s.round[i]}`);
    } else {
      const plain = s.count[i] === 1 ? "once" : `${count(s.count[i])} times`;
      const times = this.data.weighted ? `weighted count ${count(s.count[i])}` : plain;
      const overlap = s.applied[i] === s.count[i] ? "" : `, ${count(s.applied[i])} replaced (the others overlap)`;
      if (s.score.length) facts.push(`score ${figures(s.score[i])}`);
      facts.push(times + overlap);
      if (s.ties[i]) facts.push(`tied with ${count(s.ties[i])} other${s.ties[i] > 1 ? "s" : ""}`);
    }
    if (s.note[i]) facts.push(s.note[i]);
    const words = element("span", "facts", facts.join(" · "));
    if (s.kind === "pruning") return [this.withId(s.id[i]), element("span", "op", "is pruned"), words];
    const [plus, becomes] = ["+", "→"].map((sign) => element("span", "op", sign));
    return [this.withId(s.left[i]), plus, this.withId(s.right[i]), becomes, this.withId(s.id[i], "born"), words];
  }

  // What is known of an id's origin: its parents, or that it has none.
  parents(id) {
    const { steps } = this.data;
    const i = this.stepOf.get(id);
    return i === undefined || !steps.left.length ? null : [steps.left[i], steps.right[i]];
  }

  origin({ start, end, id }) {
    const { data } = this;
    const i = this.stepOf.get(id);
    if (data.steps.kind === "pruning") {
      if (i === undefined) return "a single byte or character: never pruned";
      return `${count(end - start)} ${this.atomsName}, pruned at ${data.unit} ${count(i + 1)}`;
    }
    if (end - start > 1) return "from the vocabulary that this one began with";
    return data.atoms === "bytes" ? "a single byte" : "a single character";
  }

  get atomsName() {
    if (this.data.atoms === "bytes") return "bytes";
    return this.data.sizes?.includes(0) ? "characters and marks" : "characters";
  }

  // A token and how often it stands in what is shown.
  inspect(atom) {
    const token = this.token(atom);
    let times = 0;
    for (let a = 0; a < this.film.atoms; ) {
      const other = this.token(a);
      times += other.id === token.id;
      a = other.end;
    }
    return { ...token, times };
  }

  // The word around an atom, with the space before it: a run of letters, marks and digits; else
  // nothing.
  word(atom) {
    const { from, to } = this.cells.cells[this.cells.cellOf[atom]];
    const { text } = this.data;
    const before = text.slice(0, from).match(/[\p{L}\p{M}\p{N}]*$/u)[0];
    const after = text.slice(to).match(/^[\p{L}\p{M}\p{N}]*/u)[0];
    const here = text.slice(from, to);
    const space = text[from - before.length - 1] === " " ? " " : "";
    return /^[\p{L}\p{M}\p{N}]+$/u.test(here) ? space + before + here + after : "";
  }

  // What the card says of a token.
  about(token) {
    const { data } = this;
    const head = element("p");
    if (token.id < 0) {
      const why = {
        [LEFT_OUT_ID]: "Left out: it becomes no token",
        [UNKNOWN_ID]: `Not in the vocabulary: ${data.unknown}`,
        [INSIDE]: "Its token begins in the part before",
      };
      head.append(why[token.id]);
      return [head];
    }
    const { label, hue } = this.look(token.id);
    head.append(piece(label, hue), ` id ${token.id}`);
    const lines = [head, element("p", "hex", this.bytesOf(token))];
    const where = data.part ? "in this part" : "in this text";
    lines.push(element("p", "", `${count(token.times)}× ${where} at this step`));
    const parents = this.parents(token.id);
    if (parents) {
      const from = element("p");
      const [left, right] = parents;
      const parent = (id) => piece(this.look(id).label, this.look(id).hue);
      const merge = this.stepOf.get(token.id) + 1;
      from.append("from ", parent(left), ` ${left} + `, parent(right), ` ${right} by merge ${merge}`);
      lines.push(from);
    } else lines.push(element("p", "", this.origin(token)));
    return lines;
  }

  ring({ start, end }, on) {
    this.cells.mark(start, end, "here", on);
    this.cells.mark(start, start + 1, "here-first", on);
    this.cells.mark(end - 1, end, "here-last", on);
  }

  elementOf({ start }) {
    return this.cells.cells[this.cells.cellOf[start]].element;
  }
}

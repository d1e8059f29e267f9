// The player. Python sends decisions (`bpeviz/replay.py`): when each boundary vanishes, or which
// token begins where and when; and what each step decides. The whole view is a function of one
// number, the step.

const PER_SECOND = 2; // merges a second at speed 1×
const TELL_WHILE_PLAYING = 1000; // milliseconds between reports to what follows the step
const TELL_AT_REST = 150;
const TREE_LEAVES = 64; // how many pieces a merge tree is drawn with at most
const READABLE = 10; // merges a second up to which each is told in words and moves

const stepOfFilm = new Map(); // film → step: survives a change of page

const count = (number) => number.toLocaleString("en");
const figures = (number) => number.toLocaleString("en", { maximumSignificantDigits: 3 });
const fixed = (number, digits) =>
  number.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

const INSIDE = -3; // no token begins at this atom
const LEFT_OUT_ID = -2; // the atom becomes no token
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

class Player {
  constructor(root) {
    this.root = root;
    const find = (selector) => root.querySelector(selector);
    this.section = find(".player");
    this.sentence = find(".sentence");
    this.host = find(".text");
    this.track = find(".track");
    this.number = find(".step");
    this.speed = find(".speed");
    this.tree = find(".tree");
    this.card = new Card(find(".card"), find(".stage"));
    this.step = 0;
    this.playing = false;
    this.listen();
  }

  // ---- data in, step out

  update(data) {
    const fresh = this.data?.key !== data.key;
    if (fresh || this.data.last !== data.last) this.stop(); // while the old text is still here
    const grown = this.data?.last !== data.last;
    const sameFilm = this.data?.film === data.film;
    this.data = data;
    if (fresh) this.draw();
    if (fresh || grown) {
      this.track.max = this.number.max = data.last;
      this.root.querySelector("output.last").textContent = count(data.last);
      const known = sameFilm && !grown ? this.step : sameFilm ? data.last : stepOfFilm.get(data.film);
      this.show(Math.min(known ?? data.last, data.last));
      this.report(0);
    }
  }

  report(wait = TELL_AT_REST) {
    if (this.told === this.step && !this.timer) return;
    if (this.timer && this.playing) return; // one is on its way, and will carry the step of then
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.told === this.step) return;
      this.told = this.step;
      this.tell();
    }, wait);
  }

  tell() {
    const detail = { step: this.step, film: this.data.film };
    document.dispatchEvent(new CustomEvent(STEP, { detail }));
  }

  // ---- drawing

  draw() {
    const { data } = this;
    this.hideTree();
    this.card.hide();
    this.chosen = null;
    this.raw = data.atoms === "bytes" ? new TextEncoder().encode(data.text) : null;
    const atomIds = data.atomIds ?? this.raw;
    this.film = data.changes ? new Changing(data) : new Merged(data, atomIds);
    this.stepOf = new Map(data.steps.id.map((id, i) => [id, i])); // the step that is about an id
    this.cells = new CellText(this.host, data.text, data.atoms, {
      sizes: data.sizes,
      marks: data.marks,
      label: (atom) => this.look(atomIds[atom]).label,
    });
    this.host.scrollTop = 0;
    if (!data.text) this.host.append(element("p", "empty", "There is no text yet. Type one, or choose a sample."));
  }

  token(atom) {
    return this.film.token(atom, this.step);
  }

  // Look anew at the tokens that cover atoms start to end.
  refresh(start, end) {
    const { film, step, cells } = this;
    const { looks } = this.data;
    const present = step - 1;
    let at = start;
    while (at < end) {
      const token = film.token(at, step);
      const isNew = film.isNew(token, present);
      const hue = looks[token.id]?.[1] ?? -1;
      const rest = token.id === LEFT_OUT_ID ? LEFT_OUT : token.id < 0 ? UNKNOWN : 0;
      for (let a = token.start; a < token.end; a++) {
        cells.hues[a] = hue;
        let flags = rest | (a === token.end - 1 ? END : 0);
        if (film.isSeam(a, present)) flags |= SEAM;
        if (isNew) flags |= NEW | (a === token.start ? FIRST : 0) | (a === token.end - 1 ? LAST : 0);
        cells.flags[a] = flags;
      }
      cells.paint(token.start, token.end);
      at = token.end;
    }
  }

  // While it plays, only what can be seen is drawn in each frame; at rest all of it.
  show(step) {
    const { data } = this;
    this.step = step;
    this.clearChosen();
    if (this.playing) this.refresh(...this.cells.visible());
    else this.refresh(0, this.film.atoms);
    stepOfFilm.set(data.film, step);
    // At a pace that nobody can read, words and controls need not follow every frame.
    const now = performance.now();
    if (this.playing && this.pace > READABLE && now - this.described < 100) return;
    this.described = now;
    this.describe();
  }

  controls() {
    const { data, step } = this;
    this.track.value = step;
    this.track.disabled = this.root.querySelector("[data-act=play]").disabled = !data.last;
    this.track.setAttribute("aria-valuetext", `${data.unit} ${step} of ${data.last}`);
    this.root.querySelector(".unit").textContent = data.unit;
    if (this.root.activeElement !== this.number) this.number.value = step;
    for (const [act, at] of [["first", 0], ["back", 0], ["on", data.last], ["last", data.last]])
      this.root.querySelector(`[data-act=${act}]`).disabled = step === at;
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

  describe() {
    this.controls();
    const { data, step } = this;
    if (step === 0) {
      const words = !data.text ? "No text, no tokens." : data.last ? `${data.beginning} Press play.` : data.still;
      this.sentence.replaceChildren(element("span", "start", words));
    } else this.sentence.replaceChildren(...this.inWords(step - 1));
    const tokens = data.tokens[step];
    const figure = (name, text) => (this.root.querySelector(`[data-figure=${name}]`).textContent = text);
    figure("tokens", count(tokens));
    figure("bytes", tokens ? fixed(data.bytes / tokens, 2) : "–");
    // Cut, not rounded: while there are tokens, not all of them are saved.
    const first = data.tokens[0];
    const change = Math.floor(Math.abs(1 - tokens / first) * 1000) / 10;
    figure("saved", first ? `${fixed(change, 1)}%` : "–");
    this.root.querySelector("[data-figure=saved]").previousElementSibling.textContent =
      tokens > first ? "more than at the start" : "fewer than at the start";
    this.root.querySelector("[data-figure=tokens]").previousElementSibling.textContent =
      tokens === 1 ? "token" : "tokens";
  }

  // A step in words.
  inWords(i) {
    const s = this.data.steps;
    const facts = [];
    if (s.kind === "pruning") {
      facts.push(`costs ${figures(s.score[i])}`);
      facts.push(s.count[i] ? `was ${count(s.count[i])} token${s.count[i] === 1 ? "" : "s"}` : "was no token");
      facts.push(`round ${s.round[i]}`);
    } else {
      const times = s.count[i] === 1 ? "once" : `${count(s.count[i])} times`;
      const overlap = s.applied[i] === s.count[i] ? "" : `, ${count(s.applied[i])} replaced (the others overlap)`;
      if (s.score.length) facts.push(`score ${figures(s.score[i])}`);
      facts.push(times + overlap);
      if (s.ties[i]) facts.push(`tied with ${count(s.ties[i])} other${s.ties[i] > 1 ? "s" : ""}`);
    }
    if (s.note[i]) facts.push(s.note[i]);
    const words = element("span", "facts", facts.join(" · "));
    if (s.kind === "pruning") return [this.withId(s.id[i]), element("span", "op", "is given up"), words];
    const [plus, becomes] = ["+", "→"].map((sign) => element("span", "op", sign));
    return [this.withId(s.left[i]), plus, this.withId(s.right[i]), becomes, this.withId(s.id[i], "born"), words];
  }

  // ---- moving

  go(step) {
    const target = Math.max(0, Math.min(this.data.last, Math.round(step)));
    if (target === this.step) return;
    this.show(target);
    this.report(this.playing ? TELL_WHILE_PLAYING : TELL_AT_REST);
  }

  play() {
    if (!this.data.last) return;
    if (this.step >= this.data.last) this.show(0);
    this.hideTree();
    this.playing = true;
    this.section.classList.add("playing");
    this.name("Pause");
    this.owed = 0.999; // the first merge comes at once
    this.before = performance.now();
    this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  get pace() {
    return PER_SECOND * Number(this.speed.value);
  }

  tick(now) {
    if (!this.playing) return;
    this.section.classList.toggle("moving", this.pace <= READABLE);
    this.owed += Math.min(250, now - this.before) * (this.pace / 1000);
    this.before = now;
    const whole = Math.floor(this.owed);
    if (whole) {
      this.owed -= whole;
      this.go(this.step + whole);
    }
    if (this.step >= this.data.last) this.stop();
    else this.frame = requestAnimationFrame((next) => this.tick(next));
  }

  stop() {
    cancelAnimationFrame(this.frame);
    if (!this.playing) return;
    this.playing = false;
    this.section.classList.remove("playing", "moving");
    this.name("Play");
    this.show(this.step);
    clearTimeout(this.timer);
    this.timer = null;
    this.report();
  }

  name(what) {
    const button = this.root.querySelector("[data-act=play]");
    button.ariaLabel = what;
    button.title = `${what} (space)`;
  }

  act(what) {
    if (what === "play") return this.playing ? this.stop() : this.play();
    if (what === "large")
      return document.fullscreenElement ? document.exitFullscreen() : this.section.requestFullscreen?.();
    this.stop();
    // A single step by hand moves as in play, so that the eye finds what was born.
    this.section.classList.add("moving");
    setTimeout(() => this.playing || this.section.classList.remove("moving"), 250);
    this.go({ first: 0, back: this.step - 1, on: this.step + 1, last: this.data.last }[what]);
  }

  // ---- looking at a token

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
      if (i === undefined) return "a single character: never given up";
      return `${count(end - start)} ${this.atomsName}, given up at ${data.unit} ${count(i + 1)}`;
    }
    if (end - start > 1) return "from the vocabulary that this one began with";
    return data.atoms === "bytes" ? "a single byte" : "a single character";
  }

  point(atom) {
    this.clearChosen();
    const token = this.inspect(atom);
    this.chosen = token;
    this.ring(token, true);
    const { data } = this;
    const head = element("p");
    if (token.id < 0) {
      head.append(token.id === LEFT_OUT_ID ? "Left out: it becomes no token" : `Not in the vocabulary: ${data.unknown}`);
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

  clearChosen() {
    if (!this.chosen) return;
    this.ring(this.chosen, false);
    this.chosen = null;
    this.card.hide();
  }

  hover(atom) {
    if (atom < 0) return this.clearChosen();
    if (this.chosen && atom >= this.chosen.start && atom < this.chosen.end) return;
    const lines = this.point(atom);
    this.card.show(lines, this.cells.cells[this.cells.cellOf[this.chosen.start]].element);
  }

  walk(direction) {
    const from = this.chosen;
    const atom = !from ? 0 : direction > 0 ? from.end : from.start - 1;
    if (atom < 0 || atom >= this.film.atoms) return;
    const lines = this.point(atom);
    const near = this.cells.cells[this.cells.cellOf[this.chosen.start]].element;
    near.scrollIntoView({ block: "nearest" });
    this.card.show(lines, near);
  }

  get atomsName() {
    if (this.data.atoms === "bytes") return "bytes";
    return this.data.sizes?.includes(0) ? "characters and marks" : "characters";
  }

  // The merge tree: a token parts into the two that it was merged from.
  showTree(atom) {
    const token = this.inspect(atom);
    const { start, end, id } = token;
    if (id < 0) return;
    this.stop();
    this.clearChosen();
    const nodes = this.tree.querySelector(".nodes");
    nodes.replaceChildren();
    const about = this.tree.querySelector(".about");
    const { label, hue } = this.look(id);
    const joins = `joined at ${count(end - start - 1)} ${end - start === 2 ? "boundary" : "boundaries"}`;
    about.replaceChildren(
      piece(label, hue),
      this.parents(id)
        ? ` id ${id}: ${count(end - start)} ${this.atomsName}, ${joins}. Read it from below.`
        : ` id ${id}: ${this.origin(token)}. No merge made it.`,
    );
    // Part the latest merge first, until the picture is full: so it is the token at a step before.
    const node = (of, row) => ({ id: of, row, made: this.parents(of) ? this.stepOf.get(of) : -1 });
    const root = node(id, 1);
    let leaves = [root];
    while (leaves.length < TREE_LEAVES) {
      const latest = leaves.reduce((a, b) => (b.made > a.made ? b : a));
      if (latest.made < 0) break;
      latest.parents = this.parents(latest.id).map((of) => node(of, latest.row + 1));
      leaves = leaves.flatMap((leaf) => (leaf === latest ? leaf.parents : leaf));
    }
    leaves.forEach((leaf, i) => ([leaf.from, leaf.to] = [i + 1, i + 2]));
    const span = (of) => {
      if (of.parents) {
        of.parents.forEach(span);
        [of.from, of.to] = [of.parents[0].from, of.parents[1].to];
      }
    };
    span(root);
    const todo = [root];
    while (todo.length) {
      const now = todo.pop();
      const looks = this.look(now.id);
      const box = nodes.appendChild(element("div", looks.hue < 0 ? "node" : `node t h${looks.hue}`));
      box.style.gridColumn = `${now.from} / ${now.to}`;
      box.style.gridRow = now.row;
      box.append(element("bdi", "", looks.label));
      box.append(element("small", "", now.made < 0 ? `id ${now.id}` : `id ${now.id} · merge ${now.made + 1}`));
      todo.push(...(now.parents ?? []).toReversed()); // left before right, for those who listen
    }
    if (leaves.some((leaf) => leaf.made >= 0)) about.append(` Its last ${leaves.length - 1} joins are shown.`);
    this.tree.hidden = false;
    this.tree.querySelector(".close").focus({ preventScroll: true });
  }

  hideTree() {
    if (this.tree.hidden) return;
    this.tree.hidden = true;
    this.section.focus({ preventScroll: true });
  }

  // ---- hands

  listen() {
    const { section, host } = this;
    section.addEventListener("click", (event) => {
      const act = event.target.closest("[data-act]")?.dataset.act;
      if (act) this.act(act);
      else if (event.target.closest(".close")) this.hideTree();
    });
    this.track.addEventListener("input", () => {
      this.stop();
      this.go(Number(this.track.value));
    });
    this.number.addEventListener("change", () => {
      this.stop();
      this.go(Number(this.number.value) || 0);
      this.number.value = this.step;
    });
    host.addEventListener("mouseover", (event) => this.playing || this.hover(this.cells.atomAt(event.target)));
    host.addEventListener("scroll", () => this.playing && this.refresh(...this.cells.visible()));
    host.addEventListener("mouseleave", () => this.clearChosen());
    host.addEventListener("click", (event) => {
      if (!document.getSelection().isCollapsed) return; // somebody selects text
      const atom = this.cells.atomAt(event.target);
      if (atom >= 0) this.showTree(atom);
    });
    host.addEventListener("copy", (event) => this.cells.copyTo(event, this.root));
    section.addEventListener("keydown", (event) => this.key(event));
    // Keys work from anywhere on the page while nothing else has the focus.
    this.anywhere = (event) => document.activeElement === document.body && this.key(event);
    document.addEventListener("keydown", this.anywhere);
    // What follows the step (follower.js) asks for it when it appears, and may send the player on.
    this.asked = () => this.data && this.tell();
    document.addEventListener(ASK, this.asked);
    this.sent = ({ detail }) => {
      this.stop();
      this.go(detail);
      section.focus({ preventScroll: true }); // so that the keys go on from there
    };
    document.addEventListener(JUMP, this.sent);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const field = event.composedPath()[0];
    const typing = field.matches?.("input[type=number], select");
    if (field.matches?.("button") && (event.key === " " || event.key === "Enter")) return;
    if (typing && event.key !== "Escape") return;
    const keys = {
      " ": () => this.act("play"),
      ArrowRight: () => this.act("on"),
      ArrowLeft: () => this.act("back"),
      Home: () => this.act("first"),
      End: () => this.act("last"),
      ".": () => this.walk(1),
      ",": () => this.walk(-1),
      Enter: () => this.chosen && this.showTree(this.chosen.start),
      p: () => this.act("large"),
      Escape: () => (this.tree.hidden ? this.clearChosen() : this.hideTree()),
    };
    const act = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }

  leave() {
    this.stop();
    clearTimeout(this.timer);
    document.removeEventListener("keydown", this.anywhere);
    document.removeEventListener(ASK, this.asked);
    document.removeEventListener(JUMP, this.sent);
  }
}

const players = new WeakMap(); // a component's root → its player

export default function ({ data, parentElement }) {
  let player = players.get(parentElement);
  if (!player) players.set(parentElement, (player = new Player(parentElement)));
  player.update(data);
  return () => {
    player.leave();
    players.delete(parentElement);
  };
}

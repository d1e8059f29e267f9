// The player. Python sends decisions (`bpeviz/replay.py`): when each boundary vanishes, and what
// each merge joins. The whole view is a function of one number, the step.

const PER_SECOND = 2; // merges a second at speed 1×
const TELL_WHILE_PLAYING = 1000; // milliseconds between reports to what follows the step
const TELL_AT_REST = 150;
const TREE_LEAVES = 64; // how many pieces a merge tree is drawn with at most
const READABLE = 10; // merges a second up to which each is told in words and moves

const stepOfFilm = new Map(); // film → step: survives a change of page

const count = (number) => number.toLocaleString("en");
const fixed = (number, digits) =>
  number.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

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
    this.cells = new CellText(this.host, data.text, data.atoms, data.mark, data.marks);
    this.raw = data.atoms === "bytes" ? new TextEncoder().encode(data.text) : null;
    this.vanish = Int32Array.from(data.vanish, (time) => (time < 0 ? 0x7fffffff : time));
    this.host.scrollTop = 0;
    if (!data.text) this.host.append(element("p", "empty", "There is no text yet. Type one, or choose a sample."));
  }

  // The token around an atom: [start, end) and the merge that made it, or -1.
  token(atom, step = this.step) {
    let start = atom;
    let end = atom;
    let made = -1;
    while (start > 0 && this.vanish[start - 1] < step) made = Math.max(made, this.vanish[--start]);
    while (end < this.vanish.length - 1 && this.vanish[end] < step) made = Math.max(made, this.vanish[end++]);
    return { start, end: end + 1, made };
  }

  // Look anew at the tokens that cover atoms start to end.
  refresh(start, end) {
    const { vanish, step, cells } = this;
    const { hue } = this.data.merges;
    const present = step - 1;
    let at = start;
    while (at < end) {
      const token = this.token(at);
      const isNew = token.made >= 0 && token.made === present;
      for (let a = token.start; a < token.end; a++) {
        cells.hues[a] = token.made < 0 ? -1 : hue[token.made];
        let flags = a === token.end - 1 ? END : 0;
        if (vanish[a] === present) flags |= SEAM;
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
    else this.refresh(0, this.vanish.length);
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
    this.track.setAttribute("aria-valuetext", `merge ${step} of ${data.last}`);
    if (this.root.activeElement !== this.number) this.number.value = step;
    for (const [act, at] of [["first", 0], ["back", 0], ["on", data.last], ["last", data.last]])
      this.root.querySelector(`[data-act=${act}]`).disabled = step === at;
  }

  // The label and hue of an id.
  look(id) {
    const { alphabet, merges, firstId } = this.data;
    if (id < firstId) return { label: alphabet[id] ?? "?", hue: -1 };
    return { label: merges.label[id - firstId], hue: merges.hue[id - firstId] };
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
    const m = data.merges;
    const i = step - 1;
    if (step === 0) {
      const atoms = data.atoms === "bytes" ? "byte" : "character";
      const words = !data.tokens[0]
        ? "No text, no tokens."
        : data.last
          ? `Nothing is merged yet: every ${atoms} is a token. Press play.`
          : data.still;
      this.sentence.replaceChildren(element("span", "start", words));
    } else {
      const times = m.count[i] === 1 ? "once" : `${count(m.count[i])} times`;
      const replaced =
        m.applied[i] === m.count[i] ? "" : `, ${count(m.applied[i])} replaced (the others overlap)`;
      const ties = m.ties[i] ? ` · tied with ${count(m.ties[i])} other${m.ties[i] > 1 ? "s" : ""}` : "";
      this.sentence.replaceChildren(
        this.withId(m.left[i]),
        element("span", "op", "+"),
        this.withId(m.right[i]),
        element("span", "op", "→"),
        this.withId(data.firstId + i, "born"),
        element("span", "facts", `${times}${replaced}${ties}`),
      );
    }
    const tokens = data.tokens[step];
    const figure = (name, text) => (this.root.querySelector(`[data-figure=${name}]`).textContent = text);
    figure("tokens", count(tokens));
    figure("bytes", tokens ? fixed(data.bytes / tokens, 2) : "–");
    // Cut, not rounded: while there are tokens, not all of them are saved.
    const saved = Math.floor((1 - tokens / data.tokens[0]) * 1000) / 10;
    figure("saved", data.tokens[0] ? `${fixed(saved, 1)}%` : "–");
    this.root.querySelector("[data-figure=tokens]").previousElementSibling.textContent =
      tokens === 1 ? "token" : "tokens";
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
    const id = this.idOf(token);
    let times = 0;
    for (let a = 0; a < this.vanish.length; ) {
      const other = this.token(a);
      times += this.idOf(other) === id;
      a = other.end;
    }
    return { ...token, id, times };
  }

  idOf({ start, made }) {
    return made >= 0 ? this.data.firstId + made : (this.data.atomIds ?? this.raw)[start];
  }

  point(atom) {
    this.clearChosen();
    const token = this.inspect(atom);
    this.chosen = token;
    this.ring(token, true);
    const { data } = this;
    const head = element("p");
    if (token.id < 0) {
      head.append("Not in the vocabulary: <unk>");
      return [head];
    }
    const { label, hue } = this.look(token.id);
    head.append(piece(label, hue), ` id ${token.id}`);
    const lines = [head, element("p", "hex", this.bytesOf(token))];
    const where = data.part ? "in this part" : "in this text";
    lines.push(element("p", "", `${count(token.times)}× ${where} at this step`));
    if (token.made >= 0) {
      const from = element("p");
      const left = data.merges.left[token.made];
      const right = data.merges.right[token.made];
      const parent = (id) => piece(this.look(id).label, this.look(id).hue);
      from.append("from ", parent(left), ` ${left} + `, parent(right), ` ${right} by merge ${token.made + 1}`);
      lines.push(from);
    } else lines.push(element("p", "", data.atoms === "bytes" ? "a single byte" : "a single character"));
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
    if (atom < 0 || atom >= this.vanish.length) return;
    const lines = this.point(atom);
    const near = this.cells.cells[this.cells.cellOf[this.chosen.start]].element;
    near.scrollIntoView({ block: "nearest" });
    this.card.show(lines, near);
  }

  get atomsName() {
    if (this.data.atoms === "bytes") return "bytes";
    return this.data.mark === "symbol" ? "characters and marks" : "characters";
  }

  // The merge tree: the last boundary to vanish parts a token into its two parents.
  showTree(atom) {
    const { start, end, made, id } = this.inspect(atom);
    if (id < 0) return;
    this.stop();
    this.clearChosen();
    const { data } = this;
    const nodes = this.tree.querySelector(".nodes");
    nodes.replaceChildren();
    const about = this.tree.querySelector(".about");
    const { label, hue } = this.look(id);
    const atoms = data.atoms === "bytes" ? "byte" : "character";
    about.replaceChildren(
      piece(label, hue),
      made < 0
        ? ` is a single ${atoms}: no merge made it.`
        : ` id ${id}: ${count(end - start)} ${this.atomsName}, joined at ${count(end - start - 1)} ${end - start === 2 ? "boundary" : "boundaries"}. Read it from below.`,
    );
    // Part the latest merge first, until the picture is full: so it is the token at a step before.
    const root = { start, end, made, row: 1 };
    let leaves = [root];
    while (leaves.length < TREE_LEAVES) {
      const latest = leaves.reduce((a, b) => (b.made > a.made ? b : a));
      if (latest.made < 0) break;
      let middle = latest.start;
      while (this.vanish[middle] !== latest.made) middle++;
      const most = (from, to) => this.vanish.subarray(from, to).reduce((a, b) => Math.max(a, b), -1);
      const row = latest.row + 1;
      latest.parents = [
        { start: latest.start, end: middle + 1, made: most(latest.start, middle), row },
        { start: middle + 1, end: latest.end, made: most(middle + 1, latest.end - 1), row },
      ];
      leaves = leaves.flatMap((leaf) => (leaf === latest ? leaf.parents : leaf));
    }
    const column = new Map(leaves.map((leaf, i) => [leaf.start, i + 1]));
    column.set(end, leaves.length + 1);
    const todo = [root];
    while (todo.length) {
      const node = todo.pop();
      const nodeId = this.idOf(node);
      const looks = this.look(nodeId);
      const box = nodes.appendChild(element("div", looks.hue < 0 ? "node" : `node t h${looks.hue}`));
      box.style.gridColumn = `${column.get(node.start)} / ${column.get(node.end)}`;
      box.style.gridRow = node.row;
      box.append(element("bdi", "", looks.label));
      box.append(element("small", "", node.made < 0 ? `id ${nodeId}` : `id ${nodeId} · merge ${node.made + 1}`));
      todo.push(...(node.parents ?? []).toReversed()); // left before right, for those who listen
    }
    if (end - start > leaves.length) about.append(` Its last ${leaves.length - 1} joins are shown.`);
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

// The player. Python sends films (`bpeviz/views/player.py`): one text under one learner, or under several
// side by side. The whole view is a function of one number, the step; where several are shown, it
// is the vocabulary size, and `at` tells which step of each film has it.

const PER_SECOND = 2; // steps a second at speed 1×
const TELL_WHILE_PLAYING = 1000; // milliseconds between reports to what follows the step
const TELL_AT_REST = 150;
const TREE_LEAVES = 64; // how many pieces a merge tree is drawn with at most
const READABLE = 10; // steps a second up to which each is told in words and moves

const stepOfFilm = new Map(); // film → step: survives a change of page

class Player {
  constructor(root) {
    this.root = root;
    const find = (selector) => root.querySelector(selector);
    this.section = find(".player");
    this.sentence = find(".sentence");
    this.frameOfViews = find(".views");
    this.track = find(".track");
    this.number = find(".step");
    this.speed = find(".speed");
    this.tree = find(".tree");
    this.card = new Card(find(".card"), find(".stage"));
    this.views = [];
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
    for (const [i, view] of this.views.entries()) view.data.last = data.views[i].last;
    if (fresh || grown) {
      this.track.max = data.last;
      this.number.min = this.shown(0);
      this.number.max = this.shown(data.last);
      this.root.querySelector("output.last").textContent = count(this.shown(data.last));
      const known = sameFilm && !grown ? this.step : sameFilm ? data.last : stepOfFilm.get(data.film);
      this.show(Math.min(known ?? data.opening, data.last));
      this.number.value = this.shown(this.step); // also while it has the focus
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
    this.hideTree();
    this.card.hide();
    this.chosen = null;
    this.views = this.data.views.map((view) => new View({ ...view }));
    this.frameOfViews.replaceChildren(...this.views.map(({ box }) => box));
    this.views.forEach((view) => this.listenTo(view));
    this.section.classList.toggle("several", this.several);
    this.root.querySelector(".unit").textContent = this.data.unit;
    const unit = this.data.unit.replace(/^./, (letter) => letter.toUpperCase());
    this.number.ariaLabel = this.several ? "Vocabulary size" : `${unit} number`;
  }

  get several() {
    return this.data.views.length > 1 || Boolean(this.data.views[0]?.title);
  }

  // What stands for a step in the controls: itself, or the vocabulary size.
  shown(step) {
    return this.data.sizes?.[step] ?? step;
  }

  // The step for which a number stands; for a size that none has, the next one below.
  stepShown(number) {
    const { sizes } = this.data;
    return sizes ? Math.max(0, partition(sizes.length, (i) => sizes[i] > number) - 1) : number;
  }

  // While it plays, only what can be seen is drawn in each frame; at rest all of it.
  show(step) {
    const { data } = this;
    this.step = step;
    this.clearChosen();
    for (const view of this.views) view.step = view.data.at ? view.data.at[step] : step;
    this.reference = this.views.length > 1 ? this.views[0].cuts() : null;
    for (const view of this.views) this.paint(view);
    stepOfFilm.set(data.film, step);
    // At a pace that nobody can read, words and controls need not follow every frame.
    const now = performance.now();
    if (this.playing && this.pace > READABLE && now - this.described < 100) return;
    this.described = now;
    this.describe();
  }

  paint(view) {
    const [from, to] = this.playing ? view.cells.visible() : [0, view.film.atoms];
    view.refresh(from, to, view === this.views[0] ? null : this.reference);
  }

  controls() {
    const { data, step } = this;
    this.track.value = step;
    this.track.disabled = this.root.querySelector("[data-act=play]").disabled = !data.last;
    this.track.setAttribute("aria-valuetext", `${data.unit} ${this.shown(step)} of ${this.shown(data.last)}`);
    if (this.root.activeElement !== this.number) this.number.value = this.shown(step);
    for (const [act, at] of [["first", 0], ["back", 0], ["on", data.last], ["last", data.last]])
      this.root.querySelector(`[data-act=${act}]`).disabled = step === at;
  }

  describe() {
    this.controls();
    if (this.several) return this.views.forEach((view) => this.describeOne(view));
    const [{ data, step }] = this.views;
    this.sentence.replaceChildren(...this.views[0].inWords());
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

  // Of several: the tokens and the vocabulary of each, and its own last decision.
  describeOne(view) {
    const { data, step } = view;
    const tokens = data.tokens[step];
    const ratio = tokens ? ` · ${fixed(data.bytes / tokens, 2)} bytes per token` : "";
    const size = data.vocabulary[step];
    const still = size === this.shown(this.step) ? "" : ` · vocabulary ${count(size)}`;
    view.note.replaceChildren(element("b", "", count(tokens)), ` token${tokens === 1 ? "" : "s"}${ratio}${still}`);
    view.sentence.replaceChildren(...view.inWords());
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

  point(view, atom) {
    this.clearChosen();
    const token = view.inspect(atom);
    this.chosen = { view, ...token };
    view.ring(token, true);
    return view.about(token);
  }

  clearChosen() {
    if (!this.chosen) return;
    this.chosen.view.ring(this.chosen, false);
    this.chosen = null;
    this.card.hide();
  }

  hover(view, atom) {
    if (atom < 0) return this.clearChosen();
    const { chosen } = this;
    if (chosen?.view === view && atom >= chosen.start && atom < chosen.end) return;
    const lines = this.point(view, atom);
    this.card.show(lines, view.elementOf(this.chosen));
  }

  walk(direction) {
    const from = this.chosen;
    const view = from?.view ?? this.views[0];
    const atom = !from ? 0 : direction > 0 ? from.end : from.start - 1;
    if (atom < 0 || atom >= view.film.atoms) return;
    const lines = this.point(view, atom);
    const near = view.elementOf(this.chosen);
    near.scrollIntoView({ block: "nearest" });
    this.card.show(lines, near);
  }

  // The merge tree: a token parts into the two that it was merged from.
  showTree(view, atom) {
    const token = view.inspect(atom);
    const { start, end, id } = token;
    if (id < 0) return;
    this.stop();
    this.clearChosen();
    const nodes = this.tree.querySelector(".nodes");
    nodes.replaceChildren();
    const about = this.tree.querySelector(".about");
    const { label, hue } = view.look(id);
    const joins = `joined at ${count(end - start - 1)} ${end - start === 2 ? "boundary" : "boundaries"}`;
    about.replaceChildren(
      piece(label, hue),
      view.parents(id)
        ? ` id ${id}: ${count(end - start)} ${view.atomsName}, ${joins}. Read it from below.`
        : ` id ${id}: ${view.origin(token)}. No merge made it.`,
    );
    // Part the latest merge first, until the picture is full: so it is the token at a step before.
    const node = (of, row) => ({ id: of, row, made: view.parents(of) ? view.stepOf.get(of) : -1 });
    const root = node(id, 1);
    let leaves = [root];
    while (leaves.length < TREE_LEAVES) {
      const latest = leaves.reduce((a, b) => (b.made > a.made ? b : a));
      if (latest.made < 0) break;
      latest.parents = view.parents(latest.id).map((of) => node(of, latest.row + 1));
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
      const looks = view.look(now.id);
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
    const { section } = this;
    // Streamlit may take a component away and put it back with the same elements.
    this.here = new AbortController();
    const { signal } = this.here;
    const clicked = (event) => {
      const act = event.target.closest("[data-act]")?.dataset.act;
      if (act) this.act(act);
      else if (event.target.closest(".close")) this.hideTree();
    };
    section.addEventListener("click", clicked, { signal });
    const drawn = () => {
      this.stop();
      this.go(Number(this.track.value));
    };
    this.track.addEventListener("input", drawn, { signal });
    const typed = () => {
      this.stop();
      this.go(this.stepShown(Number(this.number.value) || 0));
      this.number.value = this.shown(this.step);
    };
    this.number.addEventListener("change", typed, { signal });
    section.addEventListener("keydown", (event) => this.key(event), { signal });
    // Keys work from anywhere on the page while nothing else has the focus.
    const anywhere = (event) => document.activeElement === document.body && this.key(event);
    document.addEventListener("keydown", anywhere, { signal });
    // What follows the step (follower.js) asks for it when it appears, and may send the player on.
    const asked = ({ detail: answer }) => this.data && (answer ? answer(this.step) : this.tell());
    document.addEventListener(ASK, asked, { signal });
    const sent = ({ detail }) => {
      this.stop();
      this.go(detail);
      // So that the keys go on from there; but not for who walks over the page with keys.
      if (!document.activeElement?.matches(":focus-visible")) section.focus({ preventScroll: true });
    };
    document.addEventListener(JUMP, sent, { signal });
  }

  listenTo(view) {
    const { host, cells } = view;
    host.addEventListener("mouseover", (event) => this.playing || this.hover(view, cells.atomAt(event.target)));
    host.addEventListener("scroll", () => this.playing && this.paint(view));
    host.addEventListener("mouseleave", () => this.clearChosen());
    host.addEventListener("click", (event) => {
      if (!document.getSelection().isCollapsed) return; // somebody selects text
      const atom = cells.atomAt(event.target);
      if (atom < 0) return;
      const word = view.word(atom);
      if (word) document.dispatchEvent(new CustomEvent(PICK, { detail: word }));
      this.showTree(view, atom);
    });
    host.addEventListener("copy", (event) => cells.copyTo(event, this.root));
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
      Enter: () => this.chosen && this.showTree(this.chosen.view, this.chosen.start),
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
    this.here.abort();
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

// The player: one text under one trainer, or under several side by side. One number, the step,
// determines the display. For several trainers, the step selects a vocabulary size, and each text
// is at its own step of that size.

import { Tooltip, component, element, newButton, toggleFullscreen, tokenLabel } from "../shared/dom.js";
import { DISPLAY_REQUESTED, FOLLOW, JUMP, RACE, RACE_REQUESTED, STEP_CHANGED, STEP_REQUESTED, WAY_CHOSEN, WORD_CLICKED, emit, subscribe } from "../shared/events.js";
import { counted, formatCount, plural } from "../shared/format.js";
import { store, stored } from "../shared/storage.js";
import { Announcer } from "./announcer.js";
import { Bars } from "./bars.js";
import { KEY_ACTIONS, clampStep, isSingleCharacter, stepAfter, stepOfSize, usesKey } from "./controls.js";
import { BRIEF, LARGEST, SMALLEST, SMALLEST_BESIDE, largestFitting, scrollingSize, unbrokenSize } from "./fit.js";
import { mergeTree } from "./merge_tree.js";
import { LED, Opening, Playback, secondsBetween } from "./pace.js";
import { shownStep, storeStep, storedSteps } from "./position.js";
import { TimelineView } from "./timeline_view.js";

const REPORT_AFTER = 150; // milliseconds at rest
const MAX_LEAVES = 64; // of a merge tree
const CALM = 2; // changes a second up to which the text scrolls calmly
const PROJECTOR = { width: 900, height: 500 }; // pixels for which the controls are made
const OPENING_AFTER = 600; // milliseconds
const OPENED = "bpeviz-opened"; // in the browser's storage after a first visit
const TAKEN_OVER = 600; // milliseconds; the press that stops the opening does nothing else
const LETTER_KEYS = "bpeviz-letter-keys"; // "off" in the browser's storage, if they are off

const lastSteps = storedSteps(); // timeline → step; survives a change of page
const players = new Set(); // those on the page: the first one takes the keys of the page
const reducedMotion = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");

const formatFixed = (number, digits) =>
  number.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

/**
 * @typedef {object} PlayerPayload the payload from Python (`bpeviz.views.player.payload` and `lock_step`)
 * @property {string} key changes with anything that is drawn
 * @property {string} timelineId changes with the text and its steps, not with `last`
 * @property {number} last
 * @property {number} initialStep the step to begin with
 * @property {string} unit
 * @property {number[] | null} vocabSizes the vocabulary size at each step, where several texts are shown
 * @property {boolean} [opensInMotion] whether a first visit plays it once by itself
 * @property {boolean} [hasEnd] whether its end offers ways on
 * @property {string | null} [tieRule] which of equal pairs wins, as half a sentence
 * @property {boolean} [hasRace] whether the candidates of its steps arrive later
 * @property {boolean} [isLive] whether further steps of the same timeline may arrive, as in a room
 * @property {import("./tokenized_text.js").TextPayload[]} views
 */

class Player {
  /**
   * @param {any} root
   * @param {AbortSignal} signal
   */
  constructor(root, signal) {
    this.root = root;
    const find = (selector) => root.querySelector(selector);
    this.section = find(".player");
    this.sentence = find(".sentence");
    this.track = find(".track");
    this.number = find(".step");
    this.speed = find(".speed");
    this.tree = find(".tree");
    this.help = find(".help");
    this.letters = find(".letters");
    this.tooltip = new Tooltip(find(".card"), find(".stage"));
    this.announcer = new Announcer((words) => (find(".announced").textContent = words));
    this.views = [];
    this.step = 0;
    this.playing = false;
    this.#listen(signal);
  }

  // ---- data in, step out

  /** @param {PlayerPayload} data */
  update(data) {
    const isNew = this.data?.key !== data.key;
    const isResized = this.data?.last !== data.last;
    if (isNew || (isResized && !data.isLive)) this.stop(); // while the old text is still shown
    const isOpening = !this.data && this.#opensInMotion(data);
    const step = isOpening ? 0 : shownStep(this.data, this.step, data, lastSteps);
    this.data = data;
    if (isNew) this.#draw();
    this.views.forEach((view, i) => {
      view.data.last = data.views[i].last;
      if (data.isLive && !isNew) view.extend(data.views[i]);
    });
    if (!isNew && !isResized) return;
    this.track.max = data.last;
    this.number.min = this.shown(0);
    this.number.max = this.shown(data.last);
    this.#find("output.last").textContent = formatCount(this.shown(data.last));
    if (data.isLive && !isNew) return this.#updateControls(); // the leader's step follows
    if (isNew) {
      emit(RACE_REQUESTED);
      this.fit();
    }
    this.show(step);
    this.number.value = this.shown(this.step); // also while it has the focus
    this.report(0);
    if (isOpening) this.#awaitOpening();
  }

  // ---- the opening of a first visit

  #opensInMotion(data) {
    return data.opensInMotion && data.last > 0 && !reducedMotion?.matches && !lastSteps.has(data.timelineId) && !stored(OPENED);
  }

  #awaitOpening() {
    const { signal } = (this.openingEnds = new AbortController());
    const options = { signal, capture: true, passive: false };
    for (const name of ["keydown", "pointerdown", "wheel", "touchstart"])
      document.addEventListener(name, (event) => this.#takeOver(event), options);
    const observer = new IntersectionObserver(([entry]) => (this.isSeen = entry.intersectionRatio > 0.5), { threshold: 0.5 });
    observer.observe(this.#find(".stage"));
    this.section.classList.add("awaiting");
    const begin = setInterval(() => {
      this.section.classList.remove("awaiting");
      if (!this.isSeen || document.hidden || this.playing) return;
      clearInterval(begin);
      store(OPENED, "yes");
      this.#start(new Opening(this.data.last));
    }, OPENING_AFTER);
    signal.addEventListener("abort", () => {
      this.section.classList.remove("awaiting");
      clearInterval(begin);
      observer.disconnect();
    });
  }

  get #isOpening() {
    return this.playing && this.playback instanceof Opening;
  }

  // What the user does stops the opening. A press on Pause, or the space bar, does no more.
  #takeOver(event) {
    store(OPENED, "yes");
    this.openingEnds.abort();
    if (!this.#isOpening) return;
    this.takenOver = performance.now();
    this.stop();
  }

  #find(selector) {
    return this.root.querySelector(selector);
  }

  #button(action) {
    return this.#find(`[data-act=${action}]`);
  }

  get #isReported() {
    return this.reported?.step === this.step && this.reported.timelineId === this.data.timelineId;
  }

  /** Report the step at rest: tables, charts and the server follow it then. */
  report(wait = REPORT_AFTER) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.#isReported || this.playing) return;
      this.reported = this.#position;
      storeStep(this.reported);
      this.#emitStep();
    }, wait);
  }

  get #position() {
    return { step: this.step, timelineId: this.data.timelineId };
  }

  #emitStep() {
    emit(STEP_CHANGED, this.#position);
  }

  // ---- drawing

  #draw() {
    const { views, unit } = this.data;
    this.hideTree();
    this.tooltip.hide();
    this.selected = null;
    this.views = views.map((view) => new TimelineView({ ...view, hasEnd: this.data.hasEnd, tieRule: this.data.tieRule }));
    this.#find(".views").replaceChildren(...this.views.map(({ box }) => box));
    this.views.forEach((view) => this.#listenTo(view));
    this.#drawChoice();
    this.section.classList.toggle("several", this.several);
    const { hasRace } = this.data;
    this.section.classList.toggle("racing", Boolean(hasRace) && !this.several);
    const race = this.#find(".player > .race");
    const boxes = this.several && hasRace ? this.views.map(({ box }) => box.appendChild(race.cloneNode(true))) : [race];
    this.bars = boxes.map((box) => new Bars(box));
    this.bars.forEach((bars) => bars.update(null));
    this.#find(".unit").textContent = unit;
    this.number.ariaLabel = this.several ? "Vocabulary size" : `${unit[0].toUpperCase()}${unit.slice(1)} number`;
  }

  // On a narrow screen, one of several texts is shown at a time.
  #drawChoice() {
    const buttons = this.data.views.map(({ title }, i) => newButton("", title ?? "", () => this.#choose(i)));
    this.#find(".choice").replaceChildren(...(buttons.length > 1 ? buttons : []));
    this.#choose(Math.min(this.chosen ?? 0, buttons.length - 1));
  }

  #choose(index) {
    this.chosen = index;
    this.views.forEach(({ box }, i) => box.classList.toggle("chosen", i === index));
    [...this.#find(".choice").children].forEach((button, i) => (button.ariaPressed = String(i === index)));
    if (!this.isDrawn) return;
    this.fit();
    this.#paint(this.views[index]);
  }

  /** Set the size of the text to the largest at which all of it fits into the stage. */
  fit() {
    const { section } = this;
    const projector = section.matches(":fullscreen");
    const scale = projector ? Math.max(1, Math.min(innerWidth / PROJECTOR.width, innerHeight / PROJECTOR.height)) : 1;
    section.style.setProperty("--scale", String(scale));
    const shown = this.views.filter(({ host }) => host.clientWidth);
    if (!shown.length) return;
    const set = (size) => section.style.setProperty("--size", `${size}px`);
    const smallest = this.several ? SMALLEST_BESIDE : SMALLEST;
    const brief = shown.every(({ cells: { cells } }) => cells.length <= BRIEF.cells && !(cells.at(-1)?.line >= BRIEF.lines));
    section.classList.toggle("brief", brief);
    section.classList.add("fitting"); // each text is as high as the stage may be
    const { paddingInlineStart } = getComputedStyle(shown[0].host);
    const width = Math.min(...shown.map(({ host }) => host.clientWidth)) - 2 * parseFloat(paddingInlineStart);
    const height = shown[0].host.clientHeight;
    const high = Math.min(
      projector ? Math.max(LARGEST, height / 10) : LARGEST,
      ...shown.map(({ data }) => Math.max(smallest, unbrokenSize(data.text, width))),
    );
    const fits = (size) => {
      set(size);
      return shown.every(({ host }) => host.scrollHeight <= host.clientHeight);
    };
    const largest = brief ? largestFitting(smallest, high, fits) : null;
    set(largest ?? scrollingSize(width) * scale);
    section.classList.toggle("scrolls", largest === null);
    section.classList.remove("fitting");
  }

  get several() {
    return this.data.views.length > 1 || Boolean(this.data.views[0]?.title);
  }

  /** Return the number that the controls show for a step: the step, or the vocabulary size. */
  shown(step) {
    return this.data.vocabSizes?.[step] ?? step;
  }

  /** Show a step. While playing, each frame draws the visible part only. */
  show(step) {
    this.section.classList.toggle("jumps", Math.abs(step - this.step) > 1);
    this.step = step;
    this.clearSelected();
    for (const view of this.views) view.step = view.data.ownSteps ? view.data.ownSteps[step] : step;
    this.reference = this.views.length > 1 ? this.views[0].boundaries() : null;
    // Before the tokens change: nothing moves, and the browser has laid out the text.
    const changes = this.playing ? this.playback.changesPerSecond(Number(this.speed.value)) : 1;
    const calmly = this.isDrawn && !reducedMotion?.matches && changes <= CALM;
    for (const view of this.views) view.follow(calmly);
    this.section.classList.toggle("slowly", this.#isOpening && this.playback.isSlow);
    for (const view of this.views) this.#paint(view);
    lastSteps.set(this.data.timelineId, step);
    this.#updateControls();
    if (this.several) this.views.forEach((view) => this.#describeView(view));
    else this.#describe(this.views[0]);
    this.#race();
    const { unit, last } = this.data;
    const place = `${unit} ${formatCount(this.shown(step))} of ${formatCount(this.shown(last))}`;
    this.track.setAttribute("aria-valuetext", place);
    if (this.isDrawn && !this.#isOpening) this.announcer.say(this.playing ? place : `${place}: ${this.#inWords()}`);
    this.isDrawn = true; // a page that opens announces nothing
    if (!this.playing) for (const view of this.views) view.listTokens();
  }

  // The step at rest, for screen readers.
  #inWords() {
    const tokens = ({ data, step }) => counted(data.tokenCounts[step], "token");
    if (this.several) return this.views.map((view) => `${view.data.title} ${tokens(view)}`).join(", ");
    return `${this.views[0].stepInWords().replace(/\.$/, "")}, ${tokens(this.views[0])}`;
  }

  #paint(view) {
    const [start, end] = this.playing ? view.cells.visible() : [0, view.timeline.atoms];
    view.refresh(start, end, view === this.views[0] ? null : this.reference);
  }

  #updateControls() {
    const { data, step } = this;
    this.track.value = step;
    this.track.disabled = this.#button("play").disabled = !data.last;
    if (this.root.activeElement !== this.number) this.number.value = this.shown(step);
    for (const action of ["first", "back"]) this.#button(action).disabled = step === 0;
    for (const action of ["forward", "last"]) this.#button(action).disabled = step === data.last;
    if (!this.playing) this.#namePlayButton();
    this.section.classList.toggle("ended", Boolean(data.hasEnd) && data.last > 0 && step === data.last && !this.playing);
  }

  #describe(view) {
    const { data, step } = view;
    this.sentence.replaceChildren(...view.describeStep(this.#isOpening));
    const [first, tokens] = [data.tokenCounts[0], data.tokenCounts[step]];
    const figure = (name, text) => {
      const value = this.#find(`[data-figure=${name}]`);
      value.textContent = text;
      return value.previousElementSibling;
    };
    figure("tokens", formatCount(tokens)).textContent = plural(tokens, "token");
    figure("bytes", tokens ? formatFixed(data.byteCount / tokens, 2) : "–");
    this.#find(".at-start").textContent = step ? `instead of ${formatCount(first)}` : "";
  }

  #race() {
    if (!this.data.hasRace) return;
    this.bars.forEach((bars, i) => {
      const { data, step } = this.views[i];
      const { kind, id, left, right } = data.steps;
      const decision = Math.max(step, 1) - 1;
      const taken = kind === "pruning" ? [id[decision]] : [left[decision], right[decision]];
      bars.show(step, taken, this.playing);
    });
  }

  // With several texts: the tokens, the vocabulary and the last decision of each.
  #describeView(view) {
    const { data, step } = view;
    const tokens = data.tokenCounts[step];
    const ratio = tokens ? ` · ${formatFixed(data.byteCount / tokens, 2)} bytes per token` : "";
    const size = data.vocabSizes[step];
    const ownSize = size === this.shown(this.step) ? "" : ` · vocabulary ${formatCount(size)}`;
    view.note.replaceChildren(element("b", "", formatCount(tokens)), ` ${plural(tokens, "token")}${ratio}${ownSize}`);
    view.sentence.replaceChildren(...view.describeStep());
  }

  // ---- moving

  go(step) {
    const target = clampStep(step, this.data.last);
    if (target === this.step) return;
    this.show(target);
    if (!this.playing) this.report();
  }

  play() {
    if (!this.data.last) return;
    this.hideTree();
    const replay = this.step >= this.data.last;
    const from = replay ? 0 : this.step;
    this.#start(new Playback(from, this.data.last, { replay, reducedMotion: reducedMotion?.matches }), replay);
  }

  #start(playback, replay = false) {
    this.playing = true;
    this.playback = playback;
    if (replay) this.show(0);
    for (const { list } of this.views) list.hide();
    this.section.classList.add("playing", "moving");
    document.documentElement.toggleAttribute("data-playing", true); // for what follows at rest
    this.#namePlayButton();
    this.previousFrame = performance.now();
    if (playback !== LED) this.frame = requestAnimationFrame((now) => this.#tick(now));
  }

  #tick(now) {
    if (!this.playing) return;
    const seconds = secondsBetween(this.previousFrame, now);
    this.previousFrame = now;
    const waits = this.#isOpening && !this.isSeen;
    if (!waits) this.go(this.playback.advance(seconds, Number(this.speed.value)));
    if (this.playback.isOver) {
      this.openingEnds?.abort();
      this.stop();
      this.report(0);
    } else this.frame = requestAnimationFrame((next) => this.#tick(next));
  }

  stop() {
    cancelAnimationFrame(this.frame);
    if (!this.playing) return;
    this.playing = false;
    document.documentElement.toggleAttribute("data-playing", false);
    this.section.classList.remove("playing", "moving");
    this.show(this.step);
    this.report();
  }

  #namePlayButton() {
    const isOver = !this.playing && this.data.last > 0 && this.step === this.data.last;
    const name = this.playing ? "Pause" : isOver ? "Replay" : "Play";
    const button = this.#button("play");
    if (button.ariaLabel === name) return;
    this.section.classList.toggle("over", isOver);
    button.ariaLabel = name;
    button.title = `${name} (space)`;
    button.querySelector(".name").textContent = name;
  }

  act(action) {
    switch (action) {
      case "play":
        if (performance.now() - this.takenOver < TAKEN_OVER) return;
        return this.playing ? this.stop() : this.play();
      case "projector":
        return toggleFullscreen(this.section);
      case "next-token":
        return this.selectNeighbor(1);
      case "previous-token":
        return this.selectNeighbor(-1);
      case "tree":
        return this.selected && this.showTree(this.selected.view, this.selected.start);
      case "close":
        return this.tree.hidden ? this.clearSelected() : this.hideTree();
      case "help":
        return this.help.showModal();
      case "close-help":
        return this.help.close();
      default:
        this.stop();
        this.#moveTo(stepAfter(action, this.step, this.data.last));
    }
  }

  // A single step is animated as in play, so that the new token is easy to find.
  #moveTo(step) {
    this.section.classList.add("moving");
    setTimeout(() => this.playing || this.section.classList.remove("moving"), 250);
    this.go(step);
  }

  // ---- following the leader of a room

  /** @returns {import("../shared/events.js").Display} */
  get #display() {
    const pointedAt = this.selected ?? (this.tree.hidden ? null : this.rooted);
    const lit = pointedAt && [this.views.indexOf(pointedAt.view), pointedAt.start];
    return { step: this.step, playing: this.playing, speed: Number(this.speed.value), lit };
  }

  /** @param {import("../shared/events.js").Display} display */
  #follow({ step, playing, speed, lit }) {
    const isLed = this.playing && this.playback === LED;
    if (!playing || !isLed) this.stop();
    this.speed.value = String(speed);
    if (playing && !isLed) this.#start(LED);
    this.#moveTo(step);
    if (String(lit) === this.litByLeader && this.selected) return; // the follower's own
    this.litByLeader = String(lit);
    const view = this.views[lit?.[0]];
    if (view && !view.host.clientWidth) this.#choose(lit[0]); // a narrow screen shows one text
    if (!view?.host.clientWidth) return this.clearSelected();
    view.cells.reveal(lit[1]);
    this.#select(view, lit[1]);
    this.announcer.say(view.tokenInWords(this.selected));
  }

  // ---- looking at a token

  #select(view, atom) {
    this.clearSelected();
    const token = view.inspect(atom);
    this.selected = { view, ...token };
    view.outline(token, true);
    this.tooltip.show(view.describeToken(token), view.elementOf(token));
  }

  clearSelected() {
    if (!this.selected) return;
    this.selected.view.outline(this.selected, false);
    this.selected = null;
    this.tooltip.hide();
  }

  hover(view, atom) {
    if (atom < 0) return this.clearSelected();
    const { selected } = this;
    if (selected?.view === view && atom >= selected.start && atom < selected.end) return;
    this.#select(view, atom);
  }

  selectNeighbor(direction) {
    const from = this.selected;
    const view = from?.view ?? this.views[0];
    const atom = !from ? 0 : direction > 0 ? from.end : from.start - 1;
    if (atom < 0 || atom >= view.timeline.atoms) return;
    view.elementOf(view.token(atom)).scrollIntoView({ block: "nearest" });
    this.#select(view, atom);
    this.selected.byKey = true;
    this.announcer.say(view.tokenInWords(this.selected));
  }

  showTree(view, atom) {
    const token = view.inspect(atom);
    const { start, end, id } = token;
    if (id < 0) return;
    this.stop();
    this.clearSelected();
    const { label, color } = view.style(id);
    const size = end - start;
    const about = this.tree.querySelector(".about");
    about.replaceChildren(
      tokenLabel(label, color),
      view.parents(id)
        ? ` id ${id}: built from ${formatCount(size)} ${view.atomsName} in ${counted(size - 1, "merge")}.`
        : ` id ${id}: ${view.origin(token)}. No merge made it.`,
    );
    const { nodes, leaves } = mergeTree(id, (of) => view.parents(of), (of) => view.stepOf.get(of), MAX_LEAVES);
    const boxes = nodes.map((node) => {
      const style = view.style(node.id);
      const box = element("div", style.color < 0 ? "node" : `node t color${style.color}`);
      box.style.gridColumn = `${node.from} / ${node.to}`;
      box.style.gridRow = node.row;
      const merge = node.step < 0 ? "" : ` · merge ${node.step + 1}`;
      box.append(element("bdi", "", style.label), element("small", "", `id ${node.id}${merge}`));
      return box;
    });
    this.tree.querySelector(".nodes").replaceChildren(...boxes);
    if (leaves.some((leaf) => leaf.step >= 0)) about.append(` Its last ${counted(leaves.length - 1, "merge")} are shown.`);
    this.tree.hidden = false;
    this.rooted = { view, start };
    this.tree.querySelector(".close").focus({ preventScroll: true });
  }

  hideTree() {
    if (this.tree.hidden) return;
    this.tree.hidden = true;
    this.section.focus({ preventScroll: true });
  }

  // ---- input

  #listen(signal) {
    const { section, track, number } = this;
    const on = (target, name, listener) => target.addEventListener(name, listener, { signal });
    on(section, "click", ({ target }) => {
      const way = target.closest("[data-way]")?.dataset.way;
      if (way) return emit(WAY_CHOSEN, way);
      const action = target.closest("[data-act]")?.dataset.act;
      if (action) this.act(action);
    });
    // The size of the text follows the stage and the window.
    const stage = this.root.querySelector(".stage");
    const resized = () => {
      if (!this.data) return;
      this.fit();
      this.views.forEach((view) => view.follow(false));
    };
    let width = 0;
    const observer = new ResizeObserver(() => {
      if (stage.clientWidth !== width) resized();
      width = stage.clientWidth;
    });
    observer.observe(stage);
    on(globalThis, "resize", resized);
    on(document, "fullscreenchange", resized);
    on(document.fonts, "loadingdone", resized);
    on(track, "input", () => {
      this.stop();
      this.go(Number(track.value));
    });
    on(number, "change", () => {
      this.stop();
      const typed = Number(number.value) || 0;
      this.go(this.data.vocabSizes ? stepOfSize(this.data.vocabSizes, typed) : typed);
      number.value = this.shown(this.step);
    });
    on(number, "keydown", ({ key }) => key === "Enter" && section.focus({ preventScroll: true }));
    players.add(this);
    // A hidden page has no frames: playback continues where it was.
    on(document, "visibilitychange", () => (this.previousFrame = performance.now()));
    // A reload returns to this step, also while it plays.
    on(globalThis, "pagehide", () => this.data && storeStep(this.#position));
    on(document, "keydown", (event) => this.#key(event));
    // A click on empty space focuses Streamlit's scroll area, which then gets an outline.
    on(document, "mouseup", () => document.activeElement?.matches("main, section[tabindex]") && document.activeElement.blur());
    this.letters.checked = stored(LETTER_KEYS) !== "off";
    on(this.letters, "change", () => store(LETTER_KEYS, this.letters.checked ? "on" : "off"));
    const answer = (callback) => {
      if (!this.data) return;
      if (callback) callback(this.step);
      else if (!this.playing) this.#emitStep();
    };
    subscribe(STEP_REQUESTED, answer, signal);
    const receive = (races) => {
      if (!this.data?.hasRace || races[0].timelineId !== this.data.timelineId) return;
      this.bars.forEach((bars, i) => bars.update(races[i]));
      this.#race();
    };
    subscribe(RACE, receive, signal);
    const jump = (step) => {
      this.stop();
      this.go(step);
      // Keys continue from here, except for a user who moves over the page by keyboard.
      if (!document.activeElement?.matches(":focus-visible")) section.focus({ preventScroll: true });
    };
    subscribe(JUMP, jump, signal);
    subscribe(FOLLOW, (display) => this.#follow(display), signal);
    subscribe(DISPLAY_REQUESTED, (callback) => this.data && callback(this.#display), signal);
    signal.addEventListener("abort", () => {
      this.openingEnds?.abort();
      this.stop();
      observer.disconnect();
      players.delete(this);
      this.announcer.stop();
      clearTimeout(this.timer);
    });
  }

  #listenTo(view) {
    const { host, cells } = view;
    host.addEventListener("mouseover", ({ target }) => this.playing || this.hover(view, cells.atomAt(target)));
    host.addEventListener("scroll", () => {
      if (this.playing) this.#paint(view);
      view.countHidden();
    });
    host.addEventListener("mouseleave", () => this.clearSelected());
    host.addEventListener("click", ({ target }) => {
      if (!document.getSelection().isCollapsed) return; // the user is selecting text
      const atom = cells.atomAt(target);
      if (atom < 0) return;
      const word = view.word(atom);
      if (word) emit(WORD_CLICKED, word);
      this.showTree(view, atom);
    });
    host.addEventListener("copy", (event) => cells.copyTo(event, this.root));
  }

  // Keys work on the whole page, except those that the focused control uses itself.
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    const path = event.composedPath().filter((node) => node instanceof Element);
    const owner = [...players].find(({ section }) => path.includes(section));
    if (this !== (owner ?? players.values().next().value) || !this.data || this.help.open) return;
    if (!this.section.getClientRects().length) return; // a hidden player, as during a vote in a room
    const isOutside = (node) => !this.section.contains(node);
    if (path.some((node) => node.matches("[role=dialog], dialog") && isOutside(node))) return;
    const [control] = path;
    // A token that a key has chosen comes before a button that still has the focus.
    const opensTree = event.key === "Enter" && this.selected?.byKey && this.section.contains(control);
    if (control && !opensTree && control !== this.track && usesKey(describeControl(control), event.key)) return;
    const action = KEY_ACTIONS[event.key] ?? KEY_ACTIONS[event.key.toLowerCase()];
    if (!action || (isSingleCharacter(event.key) && !this.letters.checked)) return;
    if (action === "close" && this.tree.hidden && !this.selected) return;
    event.preventDefault();
    if (!event.repeat || !["play", "projector"].includes(action)) this.act(action);
  }
}

const describeControl = (control) => ({
  tag: control.localName,
  type: control.type,
  role: control.getAttribute("role"),
  editable: control.isContentEditable,
});

export const mount = component(Player);

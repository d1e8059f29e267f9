// The player: one text under one trainer, or under several, line by line below one another. One number,
// the step, determines the display. For several trainers, the step selects a vocabulary size, and each row
// is at its own step of that size. The stage draws the rows, the captions the words and figures of
// the step, the selection one token; the playback control moves the step.

import { component, newButton, setClasses, toggleFullscreen } from "../shared/dom.js";
import { STEP_REQUESTED, WAY_CHOSEN, emit, subscribe } from "../shared/events.js";
import { formatCount, ordinal } from "../shared/format.js";
import { savesPicture } from "../shared/picture.js";
import { store, stored } from "../shared/storage.js";
import { Announcer } from "./announcer.js";
import { Captions } from "./captions.js";
import { KEY_ACTIONS, clampStep, isSingleCharacter, rankOf, stepAfter, stepOfSize, usesKey } from "./controls.js";
import { shown } from "./film.js";
import { PlaybackControl } from "./playback_control.js";
import { shownStep, storeStep, storedSteps } from "./position.js";
import { Remark } from "./remark.js";
import { Stage } from "./stage.js";
import { Task } from "./task.js";
import { TokenSelection } from "./token_selection.js";
import { Track } from "./track.js";

const ROW_ACTIONS = ["next-token", "previous-token", "projector", "close"]; // where rows have no steps
const REPORT_AFTER = 150; // milliseconds at rest
const LETTER_KEYS = "bpeviz-letter-keys"; // "off" in the browser's storage, if they are off

const lastSteps = storedSteps(); // key → step; survives a change of page
let tourStep; // the last step of a tour that sent it to a step
const players = new Set(); // those on the page: the first one takes the keys of the page

/**
 * @typedef {object} PlayerPayload the payload from Python (`bpeviz.views.stage.Stage`)
 * @property {string} key changes with anything that is drawn, but not with `last`
 * @property {number} last
 * @property {number} initialStep the step to begin with
 * @property {string} [tourStep] the step of a tour that sends it to `initialStep`
 * @property {string} unit
 * @property {number[] | null} vocabSizes the vocabulary size at each step, where several rows are shown
 * @property {number[] | null} changingSteps the steps that change a token of the whole text, in order; null if all do
 * @property {boolean} [opensInMotion] whether a first visit plays it once by itself
 * @property {boolean} [plays] whether it plays as soon as it is seen, as the user asked
 * @property {boolean} [isWritten] whether its text is newly written or opened, and plays once
 * @property {import("./remark.js").RemarkPayload | null} [remark] why little of the text changes
 * @property {[string, string][]} [ways] the next steps that its end offers (`WAY_CHOSEN`), with their titles
 * @property {import("./bars.js").RacePayload[] | null} [races] the candidates of its steps, for each view, if there are any
 * @property {boolean} [isFollowed] whether the host follows the step
 * @property {boolean} [isLive] whether further steps of the same timeline may arrive, as in a room
 * @property {boolean} [isDiagram] whether its text has its merges on it, however long it is
 * @property {import("./tokenized_text.js").TextPayload} [mirrored] the same text, whose merges hang below the letters
 * @property {string} [name] its name, where the page has several players
 * @property {boolean} [isStill] whether its texts are only seen, since they have no steps
 * @property {boolean} [isBare] whether its steps are played without words and controls
 * @property {boolean} [isPlain] whether figures that need an explanation are left out
 * @property {import("./task.js").TaskPayload} [task] what the user does on the stage
 * @property {number} [goal] the step to which further ones are played, in place of the last
 * @property {import("./track.js").CurvesPayload} [curves] what the track shows in place of numbers of tokens
 * @property {import("./tokenized_text.js").TextPayload[]} views
 */

/**
 * @typedef {object} Display the state of a player, or of a score, that followers in a room see, too
 * @property {number} step
 * @property {boolean} playing
 * @property {number} speed
 * @property {number[] | null} lit the token that is pointed at: the index of its text, and an atom of it
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
    this.track = new Track(root);
    this.track.chosen = (step) => {
      this.playback.stop();
      this.#moveTo(step);
    };
    this.number = find(".step");
    this.speedInput = find(".speed");
    this.help = find(".help");
    this.letters = find(".letters");
    this.announcer = new Announcer((words) => (find(".announced").textContent = words));
    this.playback = new PlaybackControl(this, signal);
    this.stage = new Stage(root, this.playback, signal);
    this.captions = new Captions(root, this.playback);
    this.selection = new TokenSelection(root, this.announcer, this.stage, signal);
    this.remark = new Remark(find(".remark"));
    this.task = new Task(root, this, signal);
    this.stage.laidOut = () => {
      this.task.place();
      this.captions.views && this.captions.place();
      this.track.layOut();
    };
    this.stage.scored = (score) => this.#listenTo(score);
    this.captions.lacking = () => this.#lack();
    this.stage.said = (words, box) => {
      this.selection.say(words, box);
      this.announcer.say(words.textContent);
    };
    const stopped = () => {
      this.playback.stop();
      return this.section;
    };
    savesPicture(find(".save"), stopped);
    savesPicture(find(".save-drawing"), stopped, "tokens.svg");
    this.step = 0;
    this.film = { from: 0, to: 0, beat: 0 };
    this.#listen(signal);
  }

  get views() {
    return this.stage.views;
  }

  get speed() {
    return Number(this.speedInput.value);
  }

  // ---- data in, step out

  /**
   * @param {any} data a `PlayerPayload`, or a `ScorePayload` of rows without steps
   * @param {(name: string, value: any) => void} on
   */
  update(data, on) {
    this.on = on;
    if (data.rows) return this.#compare(data);
    this.remark.show(data.remark, on);
    const isNew = this.data?.key !== data.key;
    const isResized = this.data?.last !== data.last;
    if (isNew || (isResized && !data.isLive)) this.playback.stop(); // while the old text is still shown
    const isSent = data.tourStep !== undefined && data.tourStep !== tourStep;
    if (isSent) ({ tourStep } = data);
    const isFirst = !this.data?.last && !lastSteps.has(data.key);
    const isOpening = !isSent && isFirst && data.opensInMotion && data.last > 0 && this.playback.mayOpen;
    const plays = isNew && data.last > 0 && (data.plays || (data.isWritten && this.playback.playsWritten && rankOf(data.changingSteps, data.last) > 0));
    const known = isSent ? data.initialStep : shownStep(this.data, this.step, data, lastSteps);
    const step = isOpening || plays ? 0 : known;
    this.data = data;
    if (isNew) {
      [this.isLacking, this.rest, this.lastReport] = [false, data.initialStep, null];
      this.reported = JSON.stringify(this.#report);
      this.#draw();
    } else if (isResized && !data.isLive) {
      // The host cuts the step of the last report, and begins at the initial step without one.
      const report = this.lastReport ?? { key: data.key, step: data.initialStep, isLacking: false };
      this.reported = JSON.stringify({ ...report, step: Math.min(report.step, data.last) });
    }
    if (data.races) this.captions.receive(data.races, !isNew);
    this.views.forEach((view, i) => {
      view.data.last = data.views[i].last;
      if (data.isLive && !isNew) view.extend(data.views[i]);
    });
    const { isSolved } = this.task;
    const { className } = this.section;
    this.task.update(data.task, on);
    this.section.classList.toggle("single", !this.stage.several && !data.task?.isLed);
    const { below } = this.stage;
    this.stage.below = this.task.below;
    const isBlocked = this.stage.block(data, !data.isStill && !data.task && !data.isBare); // letters of a task stay large
    const isOther = below !== this.stage.below || className !== this.section.className; // the height of the stage
    if ((isBlocked || isOther) && !isNew) this.stage.fit();
    const contents = data.task ? JSON.stringify([data.views.map(({ key }) => key), data.curves]) : "";
    const isChanged = contents !== this.contents; // other merges of the same text
    this.contents = contents;
    if (!isNew && !isResized && !isChanged) return isSent && this.jump(step);
    this.track.draw(data, this.stage.score.isBytes);
    const steps = this.stage.several ? rankOf(data.changingSteps, data.last) : data.last;
    this.section.classList.toggle("stepless", !steps && !data.curves);
    this.number.min = this.numberOf(0);
    this.number.max = this.numberOf(data.last);
    this.#find("output.last").textContent = formatCount(this.numberOf(data.last));
    if (data.isLive && !isNew) {
      this.#updateControls();
      this.track.show(this.step, this.#inWords(this.step));
      this.drawn = {};
      this.tell();
      if (!data.task || data.task.isLed) return; // the leader's step follows
      if (data.task.isLive && this.task.isSolved && !isSolved) return this.playback.play(data.last, data.last);
      const goal = data.goal ?? data.last;
      const isLater = rankOf(data.changingSteps, goal) > rankOf(data.changingSteps, this.step);
      return isLater && (this.task.hasSent || data.task.isVote) ? this.playback.play(this.step, goal) : this.show(goal);
    }
    if (isNew) {
      this.stage.fit();
      this.#markDrawn();
    }
    this.show(step, !isNew);
    this.number.value = this.numberOf(this.step); // also while it has the focus
    this.awaitsPlay = isOpening || plays;
    this.report(0);
    if (plays && data.plays) this.playback.whenSeen(() => this.data.key === data.key && this.playback.play(0, data.last));
    else if (plays) this.playback.playWritten();
    else if (isOpening) this.playback.awaitOpening();
  }

  /** @param {import("./comparison.js").ScorePayload} data */
  #compare(data) {
    const { section, stage } = this;
    if (this.data?.key !== data.key) {
      this.selection.clear();
      this.data = { ...data, last: 0 };
      section.ariaLabel = data.ariaLabel ?? "The text under each tokenizer";
      section.tabIndex = -1;
      this.#find(".controls").hidden = data.verdict === undefined;
      stage.compare(data);
      this.#markDrawn();
    }
    stage.comparison.reveal(data);
  }

  /** Mark the place of the player for the page: it has its height. */
  #markDrawn() {
    const { host } = this.root;
    (host?.closest("[class*=st-key-stage_]") ?? host?.closest("[class*=st-key-]"))?.toggleAttribute("data-drawn", true);
  }

  #find(selector) {
    return this.root.querySelector(selector);
  }

  #button(action) {
    return this.#find(`[data-act=${action}]`);
  }

  /** Report the step at rest, and whether candidates are lacking, where the host does not know it. */
  report(wait = REPORT_AFTER) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (!this.playback.isPlaying && !this.awaitsPlay) {
        this.rest = this.step;
        storeStep({ key: this.data.key, step: this.step });
      }
      const report = this.#report;
      const words = JSON.stringify(report);
      if (words === this.reported || !(this.data.isFollowed || this.data.isLive)) return;
      [this.reported, this.lastReport] = [words, report];
      this.on("report", report);
    }, wait);
  }

  get #report() {
    return { key: this.data.key, step: this.rest, isLacking: this.isLacking };
  }

  #lack() {
    if (this.isLacking) return;
    this.isLacking = true;
    this.report(this.playback.isPlaying ? 0 : REPORT_AFTER);
  }

  // ---- drawing

  #draw() {
    this.selection.hideMerges();
    this.selection.clear();
    this.stage.draw(this.data);
    const { several } = this.stage;
    const { races, unit, ways = [] } = this.data;
    const box = this.#find(".foot");
    box.hidden = !ways.length;
    box.replaceChildren(...ways.map(([way, title]) => newButton("", title, () => emit(WAY_CHOSEN, way))));
    if (this.data.name) this.section.ariaLabel = `${this.data.name}: its tokens, step by step`;
    const { curves, isBare: bare, isPlain: plain, isStill: still } = this.data;
    setClasses(this.section, { still, plain, bare, curved: curves });
    if (curves) this.#find(".prompt").after(this.#find(".controls"), this.#find(".task")); // on the screen together
    this.captions.draw(this.stage, Boolean(races));
    this.#find(".unit").textContent = unit;
    this.number.ariaLabel = several ? "Vocabulary size" : `${unit[0].toUpperCase()}${unit.slice(1)} number`;
  }

  /** Return the number that the controls show for a step: the step, or the vocabulary size. */
  numberOf(step) {
    return this.data.vocabSizes?.[step] ?? step;
  }

  /**
   * Show a step. While playing, each frame draws the visible part only.
   * @param {number} step
   * @param {boolean} [follows] whether the text scrolls to the step; a new one is seen from its beginning
   */
  show(step, follows = true) {
    const { playback, section, stage } = this;
    const { changingSteps } = this.data;
    const isNext = Math.abs(rankOf(changingSteps, step) - rankOf(changingSteps, this.step)) <= 1;
    const beat = isNext ? 1000 * playback.beat : 0;
    setClasses(section, { jumps: !isNext, "in-order": beat > 0 });
    this.film = { from: this.step, to: step, beat };
    this.eventAt = performance.now();
    this.drawn = {};
    this.step = step;
    this.selection.clear();
    this.task.clear();
    stage.show(step, { follows, calmly: playback.isCalm, beat });
    lastSteps.set(this.data.key, step);
    this.#updateControls();
    this.captions.show(!isNext);
    const place = this.#inWords(step);
    this.track.show(step, place);
    this.tell();
    if (this.isDrawn && !this.playback.isOpening) this.announcer.say(this.playback.isPlaying ? place : `${place}: ${this.captions.inWords()}`);
    this.isDrawn ||= this.data.last > 0; // a page that opens announces nothing
    if (!this.playback.isPlaying) for (const view of this.views) view.listTokens();
  }

  /** Draw the figures, the marker and the number, each of the step that it shows at this moment. */
  tell() {
    const { drawn } = this;
    const { figure, number } = (this.drawn = shown(performance.now() - this.eventAt, this.film));
    if (figure !== drawn.figure) {
      this.captions.count(figure, this.numberOf(figure));
      this.track.mark(figure);
    }
    if (number === drawn.number) return;
    if (this.root.activeElement !== this.number) this.number.value = this.numberOf(number);
    const rank = this.#rankInWords(number);
    this.#find(".rank").textContent = rank;
    this.section.classList.toggle("ranked", Boolean(rank));
  }

  /** Return a step in words. */
  #inWords(step) {
    const { data } = this;
    const rank = this.#rankInWords(step);
    const number = `${data.unit} ${formatCount(this.numberOf(step))} of ${formatCount(this.numberOf(data.last))}`;
    return rank ? `${number}, ${rank}` : number;
  }

  /** Return which of the steps that change the text a step is, in words; "" where all do. */
  #rankInWords(step) {
    const { changingSteps } = this.data;
    const [before, rank] = [step - 1, step].map((step) => rankOf(changingSteps, step));
    if (!changingSteps || !step || this.stage.several) return "";
    return rank === before ? "no change in your text" : `the ${ordinal(rank)} that changes your text`;
  }

  /** Whether no later step changes the text. */
  get #isOver() {
    const { changingSteps, last } = this.data;
    return last > 0 && rankOf(changingSteps, this.step) === rankOf(changingSteps, last);
  }

  #updateControls() {
    const { data, step } = this;
    this.#button("play").disabled = !rankOf(data.changingSteps, data.last);
    for (const action of ["first", "back"]) this.#button(action).disabled = step === 0;
    this.#button("last").disabled = step === data.last;
    this.#button("forward").disabled = stepAfter("forward", step, data.last, data.changingSteps) === step;
    this.#namePlayButton();
    const isAtLast = this.#isOver && !this.playback.isPlaying;
    setClasses(this.section, { "at-last": isAtLast, ended: isAtLast && data.ways?.length });
  }

  // ---- moving

  go(step) {
    const target = clampStep(step, this.data.last);
    this.awaitsPlay = false;
    if (target === this.step) return;
    this.show(target);
    if (!this.playback.isPlaying) this.report();
  }

  /** Called when playback begins. */
  began() {
    this.played = this.data.key;
    this.awaitsPlay = false;
    for (const { list } of this.views) list.hide();
    this.#updateControls();
  }

  #namePlayButton() {
    const button = this.#button("play");
    const isOver = !this.playback.isPlaying && !button.disabled && this.#isOver && this.played === this.data.key;
    const name = this.playback.isPlaying ? "Pause" : isOver ? "Replay" : "Play";
    if (button.ariaLabel === name) return;
    this.section.classList.toggle("over", isOver);
    button.ariaLabel = name;
    button.title = `${name} (space)`;
    button.querySelector(".name").textContent = name;
  }

  act(action) {
    const { playback, section, selection } = this;
    if (action === "play" && playback.wasJustTakenOver) return;
    const actions = {
      play: () => (playback.isPlaying ? playback.stop() : this.#play()),
      projector: () => toggleFullscreen(section),
      "next-token": () => selection.selectNeighbor(1),
      "previous-token": () => selection.selectNeighbor(-1),
      merges: () => selection.token && this.#showMerges(selection.token.view, selection.token.start),
      close: () => selection.close(),
      help: () => this.help.showModal(),
      "close-help": () => this.help.close(),
    };
    if (actions[action]) return actions[action]();
    playback.stop();
    this.#moveTo(stepAfter(action, this.step, this.data.last, this.data.changingSteps));
  }

  #play() {
    if (!this.data.last) return;
    this.selection.hideMerges();
    this.playback.play(this.step, this.data.last);
  }

  /** Show a step that the address, or a tour, names. */
  jump(step) {
    this.playback.stop();
    this.go(step);
    // Keys continue from here, except for a user who moves over the page by keyboard.
    if (!document.activeElement?.matches(":focus-visible")) this.section.focus({ preventScroll: true });
  }

  // A single step is animated as in play, so that the new token is easy to find.
  #moveTo(step) {
    this.section.classList.add("moving");
    setTimeout(() => this.playback.isPlaying || this.section.classList.remove("moving"), 250);
    this.go(step);
  }

  // ---- following the leader of a room

  /** @returns {Display} */
  get display() {
    const { lit } = this.selection;
    const place = lit && [this.views.indexOf(lit.view), lit.start];
    return { step: this.step, playing: this.playback.isPlaying, speed: this.speed, lit: place };
  }

  /** @param {Display} display of the leader */
  follow({ step, playing, speed, lit }) {
    const { playback, selection } = this;
    if (!playing || !playback.isLed) playback.stop();
    this.speedInput.value = String(speed);
    if (playing) playback.beLed();
    this.#moveTo(step);
    if (String(lit) === this.litByLeader && selection.token) return; // the follower's own
    this.litByLeader = String(lit);
    const view = this.views[lit?.[0]];
    if (!view) return selection.clear();
    view.cells.reveal(lit[1]);
    selection.select(view, lit[1]);
    selection.announce();
  }

  // ---- looking at a token

  #showMerges(view, atom) {
    const token = view.inspect(atom);
    if (token.id < 0 || this.stage.comparison) return;
    this.playback.stop();
    if (this.stage.blocks?.pressToken(token)) return;
    this.selection.showMerges(view, token, this.stage.scale);
  }

  // ---- input

  #listen(signal) {
    const { section, number } = this;
    const { input } = this.track;
    const on = (target, name, listener) => target.addEventListener(name, listener, { signal });
    on(section, "click", ({ target }) => {
      const action = target.closest("[data-act]")?.dataset.act;
      if (action) this.act(action);
    });
    on(input, "input", () => {
      this.playback.stop();
      this.go(Number(input.value));
    });
    on(number, "change", () => {
      this.playback.stop();
      const typed = Number(number.value) || 0;
      this.go(this.data.vocabSizes ? stepOfSize(this.data.vocabSizes, typed) : typed);
      number.value = this.numberOf(this.step);
    });
    on(number, "keydown", ({ key }) => key === "Enter" && section.focus({ preventScroll: true }));
    players.add(this);
    // A reload returns to this step, also while it plays.
    on(globalThis, "pagehide", () => this.data?.views && storeStep({ key: this.data.key, step: this.step }));
    on(document, "keydown", (event) => this.#key(event));
    // A click on empty space focuses Streamlit's scroll area, which then gets an outline.
    on(document, "mouseup", () => document.activeElement?.matches("main, section[tabindex]") && document.activeElement.blur());
    this.letters.checked = stored(LETTER_KEYS) !== "off";
    on(this.letters, "change", () => store(LETTER_KEYS, this.letters.checked ? "on" : "off"));
    // A link has no step whose text may change.
    subscribe(STEP_REQUESTED, (callback) => this.data?.views && !this.data.isLive && callback(this.step), signal);
    signal.addEventListener("abort", () => {
      this.playback.end();
      players.delete(this);
      this.announcer.stop();
      clearTimeout(this.timer);
    });
  }

  #listenTo({ host, views }) {
    const { playback, selection, stage } = this;
    const place = (event) => {
      const { row, atom = -1 } = stage.score.at(event) ?? {};
      return { view: views[row?.index ?? 0], atom };
    };
    host.addEventListener("mousemove", (event) => {
      if (playback.isPlaying) return;
      if (this.task.takesPlaces) return this.task.hover(event);
      const { view, atom } = place(event);
      selection.hover(view, atom);
    });
    host.addEventListener("scroll", () => playback.isPlaying && stage.paint());
    host.addEventListener("mouseleave", () => {
      selection.clear();
      this.task.leave();
    });
    host.addEventListener("click", (event) => {
      if (!document.getSelection().isCollapsed) return; // the user is selecting text
      if (this.task.takesPlaces) return this.task.click(event);
      const { view, atom } = place(event);
      if (atom >= 0) this.#showMerges(view, atom);
    });
    host.addEventListener("copy", (event) => stage.score.copyTo(event, this.root));
  }

  // Keys work on the whole page, except those that the focused control uses itself.
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    const path = event.composedPath().filter((node) => node instanceof Element);
    const owner = [...players].find(({ section }) => path.includes(section));
    const visible = [...players].find(({ section }) => section.getClientRects().length); // a vote in a room hides one
    if (this !== (owner ?? visible) || !this.data || this.help.open) return;
    const isOutside = (node) => !this.section.contains(node);
    if (path.some((node) => node.matches("[role=dialog], dialog") && isOutside(node))) return;
    const [control] = path;
    // A token that a key has chosen comes before a button that still has the focus.
    const opensMerges = event.key === "Enter" && this.selection.token?.byKey && this.section.contains(control);
    if (control && !opensMerges && control !== this.track.input && usesKey(control, event.key)) return;
    const action = KEY_ACTIONS[event.key] ?? KEY_ACTIONS[event.key.toLowerCase()];
    if (!action || (isSingleCharacter(event.key) && !this.letters.checked)) return;
    if (action === "close" && this.selection.isEmpty) return;
    if (this.stage.comparison && !ROW_ACTIONS.includes(action)) return;
    event.preventDefault();
    if (!event.repeat || !["play", "projector"].includes(action)) this.act(action);
  }
}

export const mount = component(Player);

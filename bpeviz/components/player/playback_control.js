// Plays the timeline frame by frame: on request, once by itself on a first visit, or led in a room.

import { store, stored } from "../shared/storage.js";
import { rankOf, stepOfRank } from "./controls.js";
import { LED, Opening, Playback, beatOf, duration, secondsBetween } from "./pace.js";

const CALM = 0.5; // seconds of a step from which on the text scrolls calmly
const OPENING_AFTER = 600; // milliseconds
const OPENED = "bpeviz-opened"; // in the browser's storage after a first visit
const WRITTEN_STOPPED = "bpeviz-written-stopped"; // in the storage of a tab in which a new text was stopped
const LONGEST_WRITTEN = 8; // seconds
const WRITTEN_AFTER = 900; // milliseconds, in which the user may type on
const TAKEN_OVER = 600; // milliseconds; the press that stops the opening does nothing else

const reducedMotion = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");

export class PlaybackControl {
  /**
   * @param {any} player the `Player`
   * @param {AbortSignal} signal
   */
  constructor(player, signal) {
    this.player = player;
    this.section = player.section;
    this.pace = null; // at rest
    this.haste = 1; // by which a new text plays faster
    this.isWritten = false; // whether a new text plays
    this.signal = signal;
    // A hidden page has no frames: playback continues where it was.
    document.addEventListener("visibilitychange", () => (this.previousFrame = performance.now()), { signal });
  }

  /** Whether a first visit may begin with the opening. */
  get mayOpen() {
    return !reducedMotion?.matches && !stored(OPENED);
  }

  get isPlaying() {
    return this.pace !== null;
  }

  get isOpening() {
    return this.pace instanceof Opening;
  }

  /** Seconds of a beat of the step that begins, or 0 where everything changes at once. */
  get beat() {
    return !this.isPlaying || reducedMotion?.matches ? 0 : beatOf(this.pace.restOf(this.speed));
  }

  get speed() {
    return this.player.speed * this.haste;
  }

  get isLed() {
    return this.pace === LED;
  }

  /** Whether the text has the time to scroll calmly. */
  get isCalm() {
    return !reducedMotion?.matches && (this.pace?.restOf(this.speed) ?? 1) >= CALM;
  }

  get wasJustTakenOver() {
    return performance.now() - this.takenOver < TAKEN_OVER;
  }

  // The pace counts the steps that change the text.
  #rank(step) {
    return rankOf(this.player.data.changingSteps, step);
  }

  play(step, last) {
    const [rank, end] = [this.#rank(step), this.#rank(last)];
    const replay = rank >= end;
    this.#start(new Playback(replay ? 0 : rank, end, { replay, reducedMotion: reducedMotion?.matches }), replay);
  }

  /** Let the leader of a room lead, step by step. */
  beLed() {
    if (!this.isLed) this.#start(LED);
  }

  #start(pace, replay = false) {
    if (!this.isWritten) this.writtenEnds?.abort();
    this.pace = pace;
    if (replay) this.player.show(0);
    this.section.classList.add("playing", "moving");
    this.player.began();
    this.previousFrame = performance.now();
    if (pace !== LED) this.frame = requestAnimationFrame((now) => this.#tick(now));
  }

  #tick(now) {
    if (!this.isPlaying) return;
    const seconds = secondsBetween(this.previousFrame, now);
    this.previousFrame = now;
    const rank = this.pace.advance(seconds, this.speed);
    this.player.go(stepOfRank(this.player.data.changingSteps, rank));
    this.player.tell();
    if (this.pace.isOver) {
      this.openingEnds?.abort();
      this.stop();
      this.player.report(0);
    } else this.frame = requestAnimationFrame((next) => this.#tick(next));
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.writtenEnds?.abort();
    if (!this.isPlaying) return;
    if (this.isWritten && !this.pace.isOver) store(WRITTEN_STOPPED, "yes", "sessionStorage");
    Object.assign(this, { pace: null, haste: 1, isWritten: false });
    this.section.classList.remove("playing", "moving");
    this.player.show(this.player.step);
    this.player.report();
  }

  /** Stop, also what has not begun. */
  end() {
    this.openingEnds?.abort();
    this.unseen?.disconnect();
    this.stop();
  }

  // ---- a new text

  /** Whether a new text plays. */
  get playsWritten() {
    return !reducedMotion?.matches && !stored(WRITTEN_STOPPED, "sessionStorage") && !("embedded" in document.documentElement.dataset);
  }

  /** Play a new text once, as soon as typing has paused and it is seen. */
  playWritten() {
    const { data } = this.player;
    const last = data.vocabSizes ? data.initialStep : data.last;
    const { signal } = (this.writtenEnds = new AbortController());
    const leave = (event) => {
      const [target] = event.composedPath();
      const isTyping = target.localName === "textarea";
      if (event.type === "input" ? isTyping : !event.composedPath().includes(this.section)) this.#leaveWritten(last, isTyping);
    };
    for (const name of ["pointerdown", "input"]) document.addEventListener(name, leave, { signal, capture: true });
    this.#afterPause(signal, WRITTEN_AFTER, () => {
      this.isWritten = true;
      this.haste = Math.max(1, duration(this.#rank(last)) / LONGEST_WRITTEN / this.player.speed);
      this.play(last, last);
    });
  }

  // Typing shows the last step, and so does a press outside of the player, which stops later texts, too.
  #leaveWritten(last, isTyping) {
    if (isTyping) this.isWritten = false;
    this.stop();
    this.player.go(last);
  }

  /** Call a function once half of the stage is visible. */
  whenSeen(act) {
    this.unseen?.disconnect();
    this.unseen = new IntersectionObserver(([{ isIntersecting }]) => {
      if (!isIntersecting) return;
      this.unseen.disconnect();
      act();
    }, { threshold: 0.5 });
    this.unseen.observe(this.section.querySelector(".stage"));
  }

  /** Play the opening once the player is seen, until the user does something. */
  awaitOpening() {
    const { signal } = (this.openingEnds = new AbortController());
    for (const name of ["keydown", "pointerdown", "wheel", "touchstart"])
      document.addEventListener(name, () => this.#takeOver(), { signal, capture: true, passive: false });
    this.#afterPause(signal, OPENING_AFTER, () => {
      store(OPENED, "yes");
      this.#start(new Opening(this.#rank(this.player.data.last)));
    });
  }

  // Act after a pause, as soon as the stage is seen, unless it plays or the signal is aborted.
  #afterPause(signal, pause, act) {
    const timer = setTimeout(() => this.whenSeen(() => this.isPlaying || signal.aborted || act()), pause);
    signal.addEventListener("abort", () => clearTimeout(timer));
  }

  // What the user does stops the opening. A press on Pause, or the space bar, does no more.
  #takeOver() {
    store(OPENED, "yes");
    this.openingEnds.abort();
    if (!this.isOpening) return;
    this.takenOver = performance.now();
    this.stop();
  }
}

// The stage of the player: its texts, the one of them that a narrow screen shows, and their size.

import { newButton } from "../shared/dom.js";
import { BRIEF, LARGEST, SMALLEST, SMALLEST_BESIDE, largestFitting, scrollingSize, unbrokenSize } from "./fit.js";
import { TimelineView } from "./timeline_view.js";

const PROJECTOR = { width: 900, height: 500 }; // pixels for which the controls are made

export class Stage {
  /**
   * @param {any} root
   * @param {{isPlaying: boolean}} playback while playing, only the visible part of a text is drawn
   * @param {AbortSignal} signal
   */
  constructor(root, playback, signal) {
    this.section = root.querySelector(".player");
    this.box = root.querySelector(".views");
    this.choice = root.querySelector(".choice");
    this.playback = playback;
    /** @type {TimelineView[]} */
    this.views = [];
    this.chosen = 0;
    this.#followSize(root.querySelector(".stage"), signal);
  }

  // The size of the text follows the stage and the window.
  #followSize(stage, signal) {
    const resized = () => this.fit();
    let width = 0;
    const observer = new ResizeObserver(() => {
      if (stage.clientWidth !== width) resized();
      width = stage.clientWidth;
    });
    observer.observe(stage);
    signal.addEventListener("abort", () => observer.disconnect());
    for (const [target, name] of [[globalThis, "resize"], [document, "fullscreenchange"], [document.fonts, "loadingdone"]])
      target.addEventListener(name, resized, { signal });
  }

  /** @param {import("./player.js").PlayerPayload} data */
  draw({ views, ways }) {
    const hasEnd = Boolean(ways?.length);
    this.views = views.map((view) => new TimelineView({ ...view, hasEnd }));
    this.box.replaceChildren(...this.views.map(({ box }) => box));
    this.several = views.length > 1 || Boolean(views[0]?.title);
    this.section.classList.toggle("several", this.several);
    const buttons = views.map(({ title }, i) => newButton("", title ?? "", () => this.choose(i)));
    this.choice.replaceChildren(...(buttons.length > 1 ? buttons : []));
    this.#mark(Math.min(this.chosen, buttons.length - 1));
  }

  #mark(index) {
    this.chosen = index;
    this.views.forEach(({ box }, i) => box.classList.toggle("chosen", i === index));
    [...this.choice.children].forEach((button, i) => (button.ariaPressed = String(i === index)));
  }

  /** Show one of several texts on a narrow screen. */
  choose(index) {
    this.#mark(index);
    this.fit();
    this.paint(this.views[index]);
  }

  /**
   * Show a step of all texts.
   * @param {number} step
   * @param {object} how
   * @param {boolean} how.follows whether they scroll to a place of the step, if none is visible
   * @param {boolean} how.calmly whether they scroll calmly
   * @param {number} how.wait milliseconds until the tokens change
   */
  show(step, { follows, calmly, wait }) {
    for (const view of this.views) view.step = view.data.ownSteps ? view.data.ownSteps[step] : step;
    this.reference = this.views.length > 1 ? this.views[0].boundaries() : null;
    // Before the tokens change: nothing moves, and the browser has laid out the text.
    if (follows) for (const view of this.views) view.follow(calmly);
    clearTimeout(this.timer);
    const paint = () => this.views.forEach((view) => this.paint(view));
    if (wait) this.timer = setTimeout(paint, wait);
    else paint();
  }

  paint(view) {
    const [start, end] = this.playback.isPlaying ? view.cells.visible() : [0, view.timeline.atoms];
    view.refresh(start, end, view === this.views[0] ? null : this.reference);
  }

  /** Set the size of the text to the largest at which all of it fits into the stage. */
  fit() {
    const { section } = this;
    const projector = section.matches(":fullscreen");
    const scale = projector ? Math.max(1, Math.min(innerWidth / PROJECTOR.width, innerHeight / PROJECTOR.height)) : 1;
    section.style.setProperty("--scale", String(scale));
    section.style.setProperty("--remark", `${section.querySelector(".remark").offsetHeight}px`); // below the stage
    const views = this.views.filter(({ host }) => host.clientWidth);
    if (!views.length) return;
    const set = (size) => section.style.setProperty("--size", `${size}px`);
    const smallest = this.several ? SMALLEST_BESIDE : SMALLEST;
    const brief = views.every(({ cells: { cells } }) => cells.length <= BRIEF.cells && !(cells.at(-1)?.line >= BRIEF.lines));
    section.classList.add("fitting"); // each text is as high as the stage may be
    const { paddingInlineStart } = getComputedStyle(views[0].host);
    const width = Math.min(...views.map(({ host }) => host.clientWidth)) - 2 * parseFloat(paddingInlineStart);
    const height = views[0].host.clientHeight;
    const high = Math.min(
      projector ? Math.max(LARGEST, height / 10) : LARGEST,
      ...views.map(({ data }) => Math.max(smallest, unbrokenSize(data.text, width))),
    );
    const fits = (size) => {
      set(size);
      return views.every(({ score }) => score.fits);
    };
    const largest = brief ? largestFitting(smallest, high, fits) : null;
    set(largest ?? scrollingSize(width) * scale);
    section.classList.toggle("scrolls", largest === null);
    section.classList.remove("fitting");
    for (const { score } of views) score.layOut();
  }
}

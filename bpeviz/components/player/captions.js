// The words, figures and bars about a step of the player.

import { element } from "../shared/dom.js";
import { counted, formatCount, plural } from "../shared/format.js";
import { Bars } from "./bars.js";

const formatFixed = (number, digits) =>
  number.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

export class Captions {
  /**
   * @param {any} root
   * @param {import("./playback_control.js").PlaybackControl} playback
   */
  constructor(root, playback) {
    this.root = root;
    this.sentence = root.querySelector(".sentence");
    this.playback = playback;
  }

  /**
   * @param {import("./stage.js").Stage} stage
   * @param {boolean} [hasRace] whether the candidates of its steps arrive later
   */
  draw({ section, views, several }, hasRace) {
    this.views = views;
    this.several = several;
    section.classList.toggle("racing", Boolean(hasRace) && !several);
    const race = this.root.querySelector(".player > .race");
    const boxes = several && hasRace ? views.map(({ box }) => box.appendChild(race.cloneNode(true))) : [race];
    this.bars = boxes.map((box) => new Bars(box));
    this.receive([]);
  }

  /** @param {import("./bars.js").RacePayload[]} races */
  receive(races) {
    this.bars.forEach((bars, i) => bars.update(races[i] ?? null));
    this.#race();
  }

  /** @param {number} size the vocabulary size, where several texts are shown */
  show(size) {
    if (this.several) this.views.forEach((view) => this.#describeView(view, size));
    else this.#describe(this.views[0]);
    this.#race();
  }

  /** Return the step at rest, for screen readers. */
  inWords() {
    const tokens = ({ data, step }) => counted(data.tokenCounts[step], "token");
    if (this.several) return this.views.map((view) => `${view.data.title} ${tokens(view)}`).join(", ");
    return `${this.views[0].stepInWords().replace(/\.$/, "")}, ${tokens(this.views[0])}`;
  }

  #describe(view) {
    const { data, step } = view;
    this.sentence.replaceChildren(...view.describeStep(this.playback.isOpening));
    const [first, tokens] = [data.tokenCounts[0], data.tokenCounts[step]];
    const figure = (name, text) => {
      const value = this.root.querySelector(`[data-figure=${name}]`);
      value.textContent = text;
      return value.previousElementSibling;
    };
    figure("tokens", formatCount(tokens)).textContent = plural(tokens, "token");
    figure("bytes", tokens ? formatFixed(data.byteCount / tokens, 2) : "–");
    this.root.querySelector(".at-start").textContent = step ? `instead of ${formatCount(first)}` : "";
  }

  #race() {
    this.bars.forEach((bars, i) => {
      const { data, step } = this.views[i];
      const { kind, id, left, right } = data.steps;
      const decision = Math.max(step, 1) - 1;
      const taken = kind === "pruning" ? [id[decision]] : [left[decision], right[decision]];
      bars.show(step, taken, this.playback.isPlaying);
    });
  }

  // With several texts: the tokens, the vocabulary and the last decision of each.
  #describeView(view, shownSize) {
    const { data, step } = view;
    const tokens = data.tokenCounts[step];
    const ratio = tokens ? ` · ${formatFixed(data.byteCount / tokens, 2)} bytes per token` : "";
    const size = data.vocabSizes[step];
    const ownSize = size === shownSize ? "" : ` · vocabulary ${formatCount(size)}`;
    view.note.replaceChildren(element("b", "", formatCount(tokens)), ` ${plural(tokens, "token")}${ratio}${ownSize}`);
    view.sentence.replaceChildren(...view.describeStep());
  }
}

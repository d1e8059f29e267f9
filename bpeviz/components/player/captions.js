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
    section.style.setProperty("--race-notes", views[0].data.trainedOn ? 2 : 1);
    const race = this.root.querySelector(".player > .race");
    const boxes = several && hasRace ? views.map(({ box }) => box.appendChild(race.cloneNode(true))) : [race];
    this.bars = boxes.map((box) => new Bars(box));
    const { algorithm, rule } = views[0].data;
    this.root.querySelector(".rule").replaceChildren(...(rule && !several ? [element("b", "", algorithm), `: ${rule}.`] : []));
    this.receive([]);
  }

  /** @param {import("./bars.js").RacePayload[]} races */
  receive(races) {
    this.bars.forEach((bars, i) => bars.update(races[i] ?? null));
    this.#race();
  }

  /**
   * Show a step: at once, or with beats in order. Its candidate wins, the sentence appears, and after the
   * lines have closed, the figures and the race change.
   * @param {number} size the vocabulary size, where several texts are shown
   * @param {number} [beat] milliseconds, or 0
   * @param {number} [next] the step of the player whose race then follows
   */
  show(size, beat = 0, next = 0) {
    this.timers?.forEach(clearTimeout);
    const after = (beats, draw) => (beat ? setTimeout(draw, beats * beat) : draw());
    this.#race();
    this.timers = [
      after(1, () => this.#describe()),
      after(7, () => {
        this.#count(size);
        if (beat) this.#race(next);
      }),
    ];
  }

  /** Return the step at rest, for screen readers. */
  inWords() {
    const tokens = ({ data, step }) => counted(data.tokenCounts[step], "token");
    if (this.several) return this.views.map((view) => `${view.data.title} ${tokens(view)}`).join(", ");
    const [view] = this.views;
    return view.step ? view.stepInWords() : `${view.stepInWords().replace(/\.$/, "")}, ${tokens(view)}`;
  }

  #describe() {
    for (const view of this.views) (view.sentence ?? this.sentence).replaceChildren(...view.describeStep());
  }

  /** Write the numbers of tokens, and with several texts the vocabulary of those of another size. */
  #count(size) {
    for (const { data, step, note } of this.views) {
      const tokens = data.tokenCounts[step];
      const ratio = tokens ? formatFixed(data.byteCount / tokens, 2) : "–";
      if (this.several) {
        const own = data.vocabSizes[step]; // in place of the ratio: both do not fit into one line
        const more = own === size ? `${ratio} bytes per token` : `vocabulary ${formatCount(own)}`;
        const words = `${plural(tokens, "token")}${data.leftOut ? `, ${data.leftOut}` : ""}`;
        note.replaceChildren(element("b", "", formatCount(tokens)), ` ${words} · ${more}`);
        continue;
      }
      const [count, bytes] = this.root.querySelectorAll("[data-figure]");
      [count.textContent, bytes.textContent] = [formatCount(tokens), ratio];
      count.previousElementSibling.textContent = plural(tokens, "token");
    }
  }

  /** Show the candidates of the step, or without a winner those of another step of the player. */
  #race(next = 0) {
    this.bars.forEach((bars, i) => {
      const { data, step } = this.views[i];
      const { kind, id, left, right } = data.steps;
      const at = next ? (data.ownSteps?.[next] ?? next) : step;
      const decision = Math.max(at, 1) - 1;
      const taken = at !== step ? [] : kind === "pruning" ? [id[decision]] : [left[decision], right[decision]];
      const when = [` before ${data.unit} ${formatCount(decision + 1)}`, ...(data.trainedOn ? [" in the training text"] : [])];
      bars.show(decision + 1, taken, this.playback.isPlaying, when);
    });
  }
}

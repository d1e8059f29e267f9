// The words, figures and bars about a step of the player.

import { element, setClasses } from "../shared/dom.js";
import { counted, formatCount, plural } from "../shared/format.js";
import { Arcs } from "./arcs.js";
import { Bars } from "./bars.js";

export class Captions {
  /**
   * @param {any} root
   * @param {import("./playback_control.js").PlaybackControl} playback
   */
  constructor(root, playback) {
    this.root = root;
    [this.rows, this.races] = [".sentences", ".races"].map((name) => root.querySelector(name));
    this.race = this.races.firstElementChild; // empty
    this.playback = playback;
    this.arcs = new Arcs(root);
    this.lacking = () => {}; // called for a step whose candidates may still arrive
  }

  /**
   * @param {import("./stage.js").Stage} stage
   * @param {boolean} hasRaces whether there are candidates of its steps
   */
  draw({ section, views, several }, hasRaces) {
    this.views = views;
    this.several = several;
    this.races.hidden = !hasRaces;
    this.bars = views.map((view) => new Bars(this.race.cloneNode(true), view, (ids) => this.#light(view, ids)));
    this.races.replaceChildren(...this.bars.map(({ box }) => box));
    this.sentences = views.map(() => element("div", "sentence"));
    this.notes = views.map(() => element("span", "note"));
    this.rows.replaceChildren(...this.sentences.map((sentence, i) => (several ? this.#decision(i) : sentence)));
    const { algorithm, rule } = views[0].data;
    const isRuled = Boolean(rule) && !several;
    const { text, tokenStyles } = views[0].data;
    const marksSpaces = !text.includes("▁") && Object.values(tokenStyles).some(([label]) => label[0] === "▁");
    setClasses(section, { racing: hasRaces, ruled: isRuled, "low-lines": marksSpaces && !several });
    this.root.querySelector(".player > .rule").replaceChildren(...(isRuled ? [element("b", "", algorithm), `: ${rule}.`] : []));
    const kinds = new Set(views.map(({ data }) => (data.atomKind === "bytes" ? "byte" : "character")));
    this.root.querySelector(".legend .atom").textContent = [...kinds].join(" or ");
  }

  /** Return the name of a row and its number of tokens, with its sentence. */
  #decision(i) {
    const head = element("div", "head", element("h2", "", this.views[i].data.title), this.notes[i]);
    return element("div", "decision", head, this.sentences[i]);
  }

  /**
   * @param {import("./bars.js").RacePayload[]} races
   * @param {boolean} draws whether to show those of the step
   */
  receive(races, draws) {
    this.bars.forEach((bars, i) => bars.update(races[i] ?? null));
    if (draws) this.#race();
  }

  /**
   * Show the candidates, the sentence and the places of a step.
   * @param {boolean} jumps whether it is not the next one
   */
  show(jumps) {
    this.jumps = jumps;
    this.#race();
    this.views.forEach((view, i) => this.sentences[i].replaceChildren(...view.describeStep()));
    this.place();
  }

  /** Put each sentence of several rows under its row, where the stage has room there; else join the equation. */
  place() {
    const section = this.root.querySelector(".player");
    const { top, left } = section.getBoundingClientRect();
    this.sentences.forEach((sentence, i) => {
      const staff = section.classList.contains("at-rows") && this.views[i].cells.score.lines.at(-1)?.staves[i];
      const box = staff && (staff.ruler ?? staff.pieces).getBoundingClientRect();
      sentence.style.cssText = box ? `top:${box.bottom - top}px;left:${staff.pieces.getBoundingClientRect().left - left}px;text-align:${this.views[i].dir === "rtl" ? "right" : "left"}` : "";
    });
    // Where there is time to see them.
    this.arcs.clear();
    if (!this.several && !this.views[0].isBytes && !this.views[0].cells.score.blocks.length && !(this.playback.isPlaying && this.jumps)) this.arcs.show(this.views[0]);
  }

  // Light the places of a pair, or none.
  #light(view, ids) {
    for (const token of this.lit ?? []) view.outline(token, false);
    this.lit = [];
    if (!ids) return;
    let before = null;
    for (const token of view.tokens()) {
      if (before?.id === ids[0] && token.id === ids[1]) this.lit.push({ start: before.start, end: token.end });
      before = token;
    }
    for (const token of this.lit) view.outline(token, true);
  }

  /** Return the step at rest, for screen readers. */
  inWords() {
    const tokens = ({ data, step }) => counted(data.tokenCounts[step], "token");
    if (this.several) return this.views.map((view) => `${view.data.title} ${tokens(view)}`).join(", ");
    const [view] = this.views;
    return view.step ? view.stepInWords() : `${view.stepInWords().replace(/\.$/, "")}, ${tokens(view)}`;
  }

  /**
   * Write the numbers of tokens, and in several rows the vocabulary of those of another size.
   * @param {number} at the step of the player
   * @param {number} size its vocabulary size, where several rows are shown
   */
  count(at, size) {
    this.views.forEach(({ data }, i) => {
      const step = data.ownSteps?.[at] ?? at;
      const tokens = data.tokenCounts[step];
      if (this.several) {
        const own = data.vocabSizes[step];
        const words = [plural(tokens, "token"), data.leftOut, own === size ? "" : `vocabulary ${formatCount(own)}`].filter(Boolean);
        return this.notes[i].replaceChildren(element("b", "", formatCount(tokens)), ` ${words.join(", ")}`);
      }
      this.root.querySelector("[data-figure]").textContent = formatCount(tokens);
      this.root.querySelector(".figures dt").textContent = plural(tokens, "token");
    });
  }

  #race() {
    const lacks = this.bars.map((bars, i) => {
      if (!bars.data) return false;
      const { data, step } = this.views[i];
      const { kind, id, left, right } = data.steps;
      const decision = Math.max(step, 1) - 1;
      const { heading } = bars.data;
      return bars.show(step, kind === "pruning" ? [id[decision]] : [left[decision], right[decision]], (tied) => {
        const name = this.several ? `${data.title} ${heading[0].toLowerCase()}${heading.slice(1)}` : heading;
        if (tied && !this.several) return [data.tieRule ? `${tied}; ${data.tieRule}` : tied];
        const when = this.several ? ` before ${data.unit} ${formatCount(decision + 1)}` : "";
        return [tied ? `${name}: ${tied}` : name, element("small", "", when + (data.trainedOn ? " in the training text" : ""))];
      });
    });
    if (lacks.includes(true)) this.lacking();
  }
}

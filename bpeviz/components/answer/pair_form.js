// Click the next pair in a text.

import { NEW, NEW_END, NEW_START } from "../shared/cells.js";
import { element, newButton, tokenLabel } from "../shared/dom.js";
import { TimelineScore } from "../player/timeline_view.js";
import { spokenLabel } from "../shared/spoken.js";
import { legend } from "./legend.js";
import { nearestPair } from "./logic.js";

export class PairForm {
  /**
   * @param {any} host
   * @param {{timeline: any, pairs: number[]}} data the text as it is now, and the index of the left
   *   token of each pair that may be merged
   * @param {number | null} given the index of the left token
   * @param {{given: number[][], right: number[][]} | null} marks the places of both pairs, in atoms
   * @param {() => void} changed
   */
  constructor(host, data, given, marks, changed) {
    Object.assign(this, { pairs: data.pairs, changed, value: null });
    this.score = new TimelineScore([data.timeline]);
    [this.view] = this.score.views;
    this.view.step = data.timeline.last;
    this.score.refresh();
    this.tokens = [...this.view.tokens()];
    const text = this.score.host;
    text.ariaLabel = "The text";
    host.append(text);
    if (marks) return this.#mark(host, marks);
    text.classList.add("pickable");
    text.addEventListener("click", (event) => this.#clicked(event));
    this.#controls(host);
  }

  #controls(host) {
    const row = element("div", "row");
    const track = element("input", "track");
    this.track = track;
    Object.assign(track, { type: "range", min: 0, max: this.pairs.length - 1, value: 0 });
    track.setAttribute("aria-label", "Pair of neighbors");
    track.setAttribute("aria-valuetext", "no pair chosen");
    track.addEventListener("input", () => this.choose(Number(track.value)));
    track.addEventListener("keydown", ({ key }) => {
      if (this.value === null && key.startsWith("Arrow")) queueMicrotask(() => this.choose(Number(track.value)));
    });
    const step = (name, label, by) =>
      newButton("step", label, () => this.choose(this.value === null ? 0 : this.place + by), name);
    this.chosen = element("p", "chosen", "Click between two neighbors in the text, or move along it here.");
    row.append(step("Previous pair", "←", -1), track, step("Next pair", "→", 1));
    host.append(row, this.chosen);
  }

  #clicked(event) {
    const { view, tokens } = this;
    const { atom } = this.score.at(event) ?? {};
    if (atom === undefined) return;
    const index = tokens.findIndex(({ end }) => atom < end);
    const box = (of) => view.cells.elementAt(of).getBoundingClientRect();
    const middle = (box(tokens[index].start).left + box(tokens[index].end - 1).right) / 2;
    const place = nearestPair(this.pairs, index, event.clientX > middle);
    if (place >= 0) this.choose(place);
  }

  /** Choose a pair by its place among all. */
  choose(place) {
    if (!this.pairs.length) return;
    const { view, tokens } = this;
    if (this.value !== null) view.outline(this.#span(this.value), false);
    this.place = Math.max(0, Math.min(this.pairs.length - 1, place));
    this.value = this.pairs[this.place];
    view.outline(this.#span(this.value), true);
    view.elementOf(tokens[this.value]).scrollIntoView({ block: "nearest" });
    this.track.value = this.place;
    const [left, right] = [tokens[this.value], tokens[this.value + 1]].map(({ id }) => view.style(id));
    const words = `${spokenLabel(left.label)} and ${spokenLabel(right.label)}, pair ${this.place + 1} of ${this.pairs.length}`;
    this.track.setAttribute("aria-valuetext", words);
    this.chosen.replaceChildren(
      "Your pair: ",
      tokenLabel(left.label, left.color),
      " + ",
      tokenLabel(right.label, right.color),
    );
    this.changed();
  }

  #span(index) {
    return { start: this.tokens[index].start, end: this.tokens[index + 1].end };
  }

  #mark(host, { given, right }) {
    const { view } = this;
    for (const [start, end] of given) view.outline({ start, end }, true);
    for (const [start, end] of right) {
      view.cells.toggle(start, end, NEW, true);
      view.cells.toggle(start, start + 1, NEW_START, true);
      view.cells.toggle(end - 1, end, NEW_END, true);
    }
    host.append(legend([["ring", "merged first"], ...(given.length ? [["frame", "your pair"]] : [])]));
  }
}

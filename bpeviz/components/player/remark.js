// The remark in the stage where few steps change the text, with buttons for next steps.

import { element, newButton } from "../shared/dom.js";

/**
 * @typedef {object} RemarkPayload
 * @property {string} sentence
 * @property {[string, string][]} ways key and title of each button, the main one first
 */

export class Remark {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.drawn = "";
  }

  /**
   * @param {RemarkPayload | null | undefined} remark
   * @param {(name: string, value: any) => void} on
   */
  show(remark, on) {
    this.on = on;
    this.place.hidden = !remark;
    const words = JSON.stringify(remark ?? null);
    if (!remark || words === this.drawn) return;
    this.drawn = words;
    const ways = remark.ways.map(([way, title]) => newButton("", title, () => this.on("way", way)));
    this.place.replaceChildren(element("p", "", remark.sentence), element("div", "ways", ...ways));
  }
}

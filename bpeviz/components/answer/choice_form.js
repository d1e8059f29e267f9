// Choose one of a few answers. Their order follows from a seed that the browser stores.

import { element } from "../shared/dom.js";
import { store, stored } from "../shared/storage.js";
import { shuffled } from "./logic.js";

const SEED = "bpeviz-learn-seed";
const SHORT = 16; // the most characters of answers that stand in one row after the question

let groups = 0;

/** Return the seed of this browser; without storage, another one for each load of the page. */
const seed = (() => {
  const found = stored(SEED) ?? String(Math.floor(Math.random() * 10_000));
  store(SEED, found);
  return Math.floor(Number(found)) || 0;
})();

export class ChoiceForm {
  /**
   * @param {any} host
   * @param {{options: Record<string, string>}} data the words of each answer, by their keys
   * @param {string | null} given the key of an answer
   * @param {{right: string[]} | null} marks
   * @param {() => void} changed
   */
  constructor(host, { options }, given, marks, changed) {
    this.value = given;
    const name = `answer-${++groups}`;
    const entries = Object.entries(options);
    const isShort = entries.every(([, words]) => words.length <= SHORT);
    const list = element("div", isShort ? "options short" : "options");
    for (const [key, words] of shuffled(entries, seed, Object.values(options).join())) {
      const label = element("label", "option");
      const input = element("input");
      Object.assign(input, { type: "radio", name, value: key, checked: given === key, disabled: Boolean(marks) });
      input.addEventListener("change", () => {
        this.value = key;
        changed();
      });
      label.append(input, element("span", "", words));
      if (marks) {
        const isRight = marks.right.includes(key);
        label.classList.toggle("is-right", isRight);
        label.classList.toggle("is-given", given === key);
        if (isRight || given === key) label.append(element("span", "yours", isRight ? "right" : "your answer"));
      }
      list.append(label);
    }
    host.append(list);
  }
}

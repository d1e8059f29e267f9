// Choose one of a few answers.

import { element } from "../shared/dom.js";

let groups = 0;

export class ChoiceForm {
  /**
   * @param {any} host
   * @param {{options: string[]}} data
   * @param {number | null} given
   * @param {{right: number[]} | null} marks
   * @param {() => void} changed
   */
  constructor(host, { options }, given, marks, changed) {
    this.value = given;
    const name = `answer-${++groups}`;
    const list = element("div", "options");
    options.forEach((words, i) => {
      const label = element("label", "option");
      const input = element("input");
      Object.assign(input, { type: "radio", name, value: i, checked: given === i, disabled: Boolean(marks) });
      input.addEventListener("change", () => {
        this.value = i;
        changed();
      });
      label.append(input, element("span", "", words));
      if (marks) {
        const isRight = marks.right.includes(i);
        label.classList.toggle("is-right", isRight);
        label.classList.toggle("is-given", given === i);
        if (isRight || given === i) label.append(element("span", "yours", isRight ? "right" : "your answer"));
      }
      list.append(label);
    });
    host.append(list);
  }
}

// A question and its answer: the user predicts, then Python sends the result. The payload before
// an answer contains nothing that depends on the result.

import { component, element, tokenLabel } from "../shared/dom.js";
import { BoundariesForm } from "./boundaries_form.js";
import { ChoiceForm } from "./choice_form.js";
import { CurveForm } from "./curve_form.js";
import { spokenLabel } from "./logic.js";
import { NumberForm } from "./number_form.js";
import { OrderForm } from "./order_form.js";
import { PairForm } from "./pair_form.js";

const FORMS = {
  pair: PairForm,
  boundaries: BoundariesForm,
  number: NumberForm,
  curve: CurveForm,
  order: OrderForm,
  choice: ChoiceForm,
};
const VERDICTS = { right: "Right.", near: "Close.", wrong: "Not quite.", shown: "The answer." };

/**
 * @typedef {string | {label: string, color: number}} MessagePart plain text, or a token
 */

/**
 * @typedef {object} AnswerPayload the payload from Python (`bpeviz.ui.learn.base`)
 * @property {string} key changes with the content
 * @property {string} of identifies the question's inputs
 * @property {MessagePart[]} prompt
 * @property {any} form `kind`, and the data of the form
 * @property {any} given the user's answer, null before it and after “Show me”
 * @property {{verdict: string, message: MessagePart[], marks: any} | null} result null before an answer
 */

/**
 * Return a message as elements. Texts of users are set as text.
 * @param {MessagePart[]} parts
 */
const drawn = (parts) =>
  parts.map((part) => (typeof part === "string" ? document.createTextNode(part) : tokenLabel(part.label, part.color)));

/**
 * Return a message in words, for screen readers.
 * @param {MessagePart[]} parts
 */
const inWords = (parts) => parts.map((part) => (typeof part === "string" ? part : spokenLabel(part.label))).join("");

class Answer {
  constructor(root, signal) {
    this.root = root;
    const find = (selector) => root.querySelector(selector);
    this.section = find(".answer");
    this.prompt = find(".prompt");
    this.host = find(".form");
    this.check = find(".check");
    this.result = find(".result");
    const on = (target, listener) => target.addEventListener("click", listener, { signal });
    on(this.check, () => this.commit(this.form.value));
    on(find(".show"), () => this.commit(null));
  }

  /** @param {AnswerPayload} data */
  update(data, setState) {
    this.send = (value) => setState("answer", { number: Date.now(), of: data.of, value });
    if (this.key === data.key) return;
    this.key = data.key;
    this.prompt.replaceChildren(...drawn(data.prompt));
    this.section.ariaLabel = inWords(data.prompt);
    const { form, given, result } = data;
    const isAgain = !result && this.of === data.of && this.section.classList.contains("answered");
    this.of = data.of;
    this.section.classList.toggle("answered", Boolean(result));
    this.host.replaceChildren();
    this.form = new FORMS[form.kind](this.host, form, given, result?.marks ?? null, () => this.#changed());
    this.root.querySelector(".actions").hidden = Boolean(result);
    this.result.className = result ? `result ${result.verdict}` : "result";
    this.result.replaceChildren();
    this.result.hidden = !result;
    this.#changed();
    if (isAgain) this.#reach(this.section); // the button “Try again” had the focus, and is gone
    if (!result) return;
    const verdict = `${VERDICTS[result.verdict]} `;
    this.result.append(element("b", "", verdict), ...drawn(result.message));
    // Screen readers announce this label once, with the focus. A live region would announce it again.
    this.result.ariaLabel = inWords([verdict, ...result.message]);
    // The button that had the focus is hidden now. It may have been far above the result.
    if (this.committed) this.#reach(this.result);
    this.committed = false;
  }

  #reach(part) {
    part.focus({ preventScroll: true });
    part.scrollIntoView({ block: "nearest" });
  }

  #changed() {
    this.check.disabled = this.form.value === null;
  }

  commit(value) {
    this.committed = true;
    this.send(value);
  }
}

export const mount = component(Answer);

// A question and its answer: the user predicts, then Python sends the result. The payload before
// an answer contains nothing that depends on the result.

import { component, element } from "../shared/dom.js";
import { drawMessage, drawRows, messageInWords } from "../shared/message.js";
import { BoundariesForm } from "./boundaries_form.js";
import { ChoiceForm } from "./choice_form.js";
import { CurveForm } from "./curve_form.js";
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
const MARKS = { first: "● First try", second: "◐ Second try", shown: "○ Shown" };

/**
 * @typedef {object} AnswerPayload the payload from Python (`bpeviz.ui.learn.base`)
 * @property {string} key changes with the content
 * @property {string} of identifies the question's inputs
 * @property {import("../shared/message.js").MessageRow[]} see the picture above the question
 * @property {import("../shared/message.js").MessagePart[]} prompt
 * @property {any} form `kind`, and the data of the form
 * @property {any} given the user's last answer, null before it and after “Show me”
 * @property {import("../shared/message.js").MessagePart[] | null} feedback the sentence about a wrong first try, before the second
 * @property {"first" | "second" | "shown" | null} mark how the question was answered
 * @property {boolean} [hasManyTries] whether there are more than two tries
 * @property {{verdict: string, message: import("../shared/message.js").MessagePart[], marks: any} | null} result null before an answer
 */

class Answer {
  constructor(root, signal) {
    this.root = root;
    const find = (selector) => root.querySelector(selector);
    this.section = find(".answer");
    this.see = find(".see");
    this.prompt = find(".prompt");
    this.host = find(".form");
    this.check = find(".check");
    this.result = find(".result");
    const on = (target, listener) => target.addEventListener("click", listener, { signal });
    on(this.check, () => this.commit(this.form.value));
    on(find(".show"), () => this.commit(null));
    this.again = find(".again");
    on(this.again, () => this.commit(null, true));
  }

  /** @param {AnswerPayload} data */
  update(data, setState) {
    this.send = (value, again) => setState("answer", { number: Date.now(), of: data.of, value, again });
    if (this.key === data.key) return;
    this.key = data.key;
    this.prompt.replaceChildren(...drawMessage(data.prompt));
    this.section.ariaLabel = messageInWords(data.prompt);
    drawRows(this.see, data.see);
    const { form, given, result, feedback, mark } = data;
    const isAgain = !result && this.of === data.of && this.section.classList.contains("answered");
    this.of = data.of;
    this.section.dataset.kind = form.kind;
    // A second try begins with the form as the user left it.
    const isSecondTry = Boolean(feedback) && !isAgain && this.drawn === JSON.stringify(form);
    this.drawn = result ? null : JSON.stringify(form);
    this.tried = feedback ? JSON.stringify(given) : null;
    this.section.classList.toggle("answered", Boolean(result));
    if (!isSecondTry) {
      this.host.replaceChildren();
      this.form = new FORMS[form.kind](this.host, form, given, result?.marks ?? null, () => this.#changed());
    }
    this.root.querySelector(".actions").hidden = Boolean(result);
    this.again.hidden = !result;
    const kind = result?.verdict ?? (feedback ? "again" : "");
    this.result.className = `result ${kind}`.trim();
    this.result.replaceChildren();
    this.result.hidden = !kind;
    this.#changed();
    if (isAgain) this.#reach(this.section); // the button “Try again” had the focus, and is gone
    if (!kind) return;
    const message = result?.message ?? feedback ?? [];
    const verdict = `${result ? VERDICTS[result.verdict] : "Not yet."} `;
    const note = mark ? ` ${MARKS[mark]}` : data.hasManyTries ? "" : " One more try.";
    this.result.append(element("b", "", verdict), ...drawMessage(message), element("span", "mark", note));
    // Screen readers announce this label once, with the focus. A live region would announce it again.
    this.result.ariaLabel = messageInWords([verdict, ...message, note.replace(/[●◐○]/, "")]);
    // The button that had the focus is hidden or disabled now. It may have been far above the result.
    if (this.committed) this.#reach(this.result);
    this.committed = false;
  }

  #reach(part) {
    part.focus({ preventScroll: true });
    part.scrollIntoView({ block: "nearest" });
  }

  #changed() {
    this.check.disabled = this.form.value === null || JSON.stringify(this.form.value) === this.tried;
  }

  /** Send an answer, null to be shown it; or ask to be asked again. */
  commit(value, again = false) {
    this.committed = !again;
    this.send(value, again);
  }
}

export const mount = component(Answer);

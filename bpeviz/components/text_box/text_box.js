// The box for a text: a sample or one's own. Typing applies by itself after a short pause.

import { component, element } from "../shared/dom.js";
import { WAY_CHOSEN, subscribe } from "../shared/events.js";
import { formatCount } from "../shared/format.js";
import { remember } from "../shared/tab.js";
import { Sender } from "./sender.js";
import { characterCount, isNewText } from "./text_state.js";

const PAUSE = 600; // milliseconds without a key until a text applies
const REST = 1500; // milliseconds without a key, after which another text begins
const STATUS_SHOWN = 2500; // milliseconds
const BEGINNING = 400; // UTF-16 units in the closed line
const MOST_LINES = 9; // of the open box, in browsers in which its height does not follow the text
const PAUSE_PER_MEGABYTE = 3000; // long texts take longer to send and to train on

class TextBox {
  constructor(root, signal) {
    const find = (selector) => root.querySelector(selector);
    [this.source, this.select, this.box, this.label, this.count] = [".source", "select", "textarea", ".label", ".count"].map(find);
    [this.opener, this.file, this.joiner, this.notice, this.status] = [".open", ".file", ".join", ".notice", ".status"].map(find);
    this.isTyped = false; // and not yet applied
    this.timer = 0;
    this.typedAt = -REST;
    this.settled = ""; // the text before what is being typed
    this.given = ""; // the last text that was not typed: the browser's undo would mix it with what was before
    this.isPasted = false; // or dropped
    this.sender = new Sender((message) => this.#tell(message), signal);
    this.drawn = "";
    this.remembered = "";
    const on = (target, name, listener) => target.addEventListener(name, listener, { signal });
    on(this.select, "change", () => this.#choose());
    on(this.box, "input", ({ isComposing, inputType }) => {
      if (performance.now() - this.typedAt > REST) Object.assign(this, { settled: this.state.text, isPasted: false });
      this.typedAt = performance.now();
      this.isPasted ||= /^insertFrom(Paste|Drop)/.test(inputType);
      if (!isComposing) this.#typed();
    });
    on(this.box, "compositionend", () => this.#typed());
    on(this.box, "blur", () => {
      this.#apply();
      this.#close();
    });
    on(this.box, "keydown", (event) => {
      const { key, ctrlKey, metaKey, shiftKey } = event;
      if ((ctrlKey || metaKey) && /^[zy]$/i.test(key) && this.box.value === this.given) this.#undo(event, shiftKey);
      if (key === "Enter" && (ctrlKey || metaKey)) this.#apply();
    });
    on(this.opener, "click", () => {
      const uploader = this.#uploader;
      if (!uploader) return;
      uploader.value = ""; // the same file may have changed
      uploader.click();
    });
    on(globalThis, "pagehide", () => this.#apply());
    for (const name of ["dragover", "dragleave", "drop"]) on(document, name, (event) => this.#drag(event));
    on(find(".back"), "click", () => this.#change(this.state.sample, this.state.text));
    on(this.joiner, "click", () => this.#change(this.data.own, "", { joins: true }));
    subscribe(WAY_CHOSEN, (way) => way === "text" && this.#select(), signal);
    signal.addEventListener("abort", () => this.#apply());
  }

  /**
   * @param {import("./text_state.js").TextBoxPayload} data
   * @param {Function} setState
   */
  update(data, setState) {
    const isFirst = !this.data;
    this.data = data;
    this.state = this.sender.receive(data, setState);
    if (isFirst) this.#describe();
    this.#draw();
    this.#remember();
    if (this.isTyped && !this.timer && data.answered >= this.state.number) {
      this.isTyped = false;
      this.status.textContent = "Applied";
      this.statusTimer = setTimeout(() => (this.status.textContent = ""), STATUS_SHOWN);
    }
  }

  /** Streamlit's input of files, which is drawn beside this component. */
  get #uploader() {
    return /** @type {HTMLInputElement | null} */ (document.querySelector(`.st-key-${this.data.uploader} input[type=file]`));
  }

  // A file that is dropped anywhere on the page is opened, rather than shown by the browser in place of the page.
  #drag(event) {
    const isElsewhere = this.data.others.length > 0 || document.querySelector("[role=dialog]") || event.target.closest?.(".stFileUploader");
    const uploader = !isElsewhere && event.dataTransfer?.types.includes("Files") ? this.#uploader : null;
    this.source.classList.toggle("over", uploader !== null && event.type === "dragover");
    if (!uploader) return;
    event.preventDefault();
    if (event.type !== "drop") return;
    uploader.files = event.dataTransfer.files;
    uploader.dispatchEvent(new Event("change", { bubbles: true }));
  }

  #select() {
    this.box.focus();
    this.box.select();
  }

  #describe() {
    const { label, boxLabel, placeholder, help, fileHelp, samples, others, own, ownTitle } = this.data;
    this.label.textContent = label;
    Object.assign(this.select, { ariaLabel: label, title: help });
    const optionsOf = (texts) => texts.map(([key, title]) => new Option(title, key));
    const groups = samples.map(([title, listed]) => element("optgroup", { label: title }, ...optionsOf(listed)));
    this.select.replaceChildren(...optionsOf([...others, [own, ownTitle]]), ...groups);
    Object.assign(this.box, { ariaLabel: boxLabel, placeholder });
    this.opener.title = fileHelp;
  }

  #draw() {
    const { sample, text, file, version, number } = this.state;
    const changes = `${version} ${number} ${file} ${Object.keys(this.data.replaced)}`;
    // A text that is being typed, or is too long, stays while the page runs for another reason.
    if (!this.timer && changes !== this.drawn) {
      // A file takes the place of a sample.
      this.select.value = file === null ? (this.data.replaced[sample] ?? sample) : this.data.own;
      this.#fill(text);
      this.drawn = changes;
    }
    this.count.hidden = this.data.count === null;
    const [characters, tokens] = (this.data.count ?? "").split(/(?<= · )/);
    this.count.replaceChildren(characters, element("b", "", tokens));
    this.source.classList.toggle("line", this.data.count !== null);
    this.#close();
    for (const option of this.select.options) option.hidden = option.value in this.data.replaced;
    const isBrief = this.data.others.length > 0 && this.select.value !== this.data.own;
    this.box.hidden = file !== null || isBrief;
    this.opener.hidden = isBrief && file === null;
    this.file.hidden = file === null;
    this.file.querySelector(".name").textContent = file ?? "";
    this.joiner.hidden = !this.data.hasRows;
  }

  // Draw the beginning of the text in the closed line.
  #close() {
    this.box.scrollTop = 0;
    const beginning = this.box.value.slice(0, BEGINNING).replaceAll("\n", " ↵ ");
    this.source.querySelector(".beginning").textContent = beginning;
    if (!CSS.supports("field-sizing: content")) this.box.rows = Math.min(MOST_LINES, this.box.value.split("\n").length + 1);
  }

  #tell(message) {
    this.notice.textContent = message;
    this.notice.hidden = !message;
  }

  #choose() {
    const sample = this.select.value;
    if (this.timer) this.#apply();
    this.select.value = sample;
    const { own } = this.state;
    if (sample !== this.data.own) this.#change(sample, this.state.text);
    else if (own === null) this.#change(sample, this.state.text, { text: undefined, isOwn: true });
    else {
      this.#fill(own);
      this.#change(sample, own);
    }
  }

  #fill(text) {
    if (this.box.value !== text) this.box.value = this.given = text;
  }

  // Undo what was chosen in place of the user's own text.
  #undo(event, isRedo) {
    event.preventDefault();
    if (isRedo || this.select.value === this.data.own || this.state.own === null) return;
    this.select.value = this.data.own;
    this.#choose();
  }

  #typed() {
    this.select.value = this.data.own;
    this.isTyped = true;
    clearTimeout(this.statusTimer);
    this.status.textContent = "Updates when you stop typing";
    clearTimeout(this.timer);
    const pause = PAUSE + (this.box.value.length / 1e6) * PAUSE_PER_MEGABYTE;
    this.timer = setTimeout(() => this.#apply(), pause);
  }

  // Send what was typed, if anything was.
  #apply() {
    if (!this.timer) return;
    clearTimeout(this.timer);
    this.timer = 0;
    const text = this.box.value.toWellFormed();
    this.#fill(text);
    this.#use(text);
  }

  #use(text) {
    const { limit, own } = this.data;
    const count = text.length > limit ? characterCount(text) : 0;
    if (count <= limit) {
      this.state.own = text;
      remember(`own/${this.data.name}`, text);
      this.#change(own, text, { isNew: isNewText(this.settled, text, this.isPasted) });
      return;
    }
    this.isTyped = false;
    this.status.textContent = "Not applied";
    // The server would refuse it, and end the connection at a still longer one.
    this.#tell(
      `This text has ${formatCount(count)} characters; the limit is ${formatCount(limit)}, so the ` +
        "page still shows the previous text. Shorten it, or use a part of it.",
    );
  }

  #change(sample, text, more = {}) {
    this.#tell("");
    this.sender.send({ ...this.state.change(sample, text), ...more });
    this.#remember();
  }

  // Store the text in the browser, for a reload.
  #remember() {
    const { sample, text, version, number } = this.state;
    const changes = `${version} ${number}`;
    if (changes === this.remembered) return;
    this.remembered = changes;
    remember(`text/${this.data.name}`, { sample, text: sample === this.data.own ? text : "" });
  }
}

export const mount = component(TextBox);

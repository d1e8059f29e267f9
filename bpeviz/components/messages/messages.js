// The messages of a conversation: role and text of each. What is typed applies by itself after a short pause.

import { copyText } from "../shared/clipboard.js";
import { component, draw, element } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";
import { remember } from "../shared/tab.js";
import { Sender } from "../text_box/sender.js";
import { characterCount } from "../text_box/text_state.js";
import { conversationIn, conversationOf, following, inJson, moved, rolesOf, textOf } from "./conversation.js";

const PAUSE = 400; // milliseconds without a key until a text applies
const LONGEST_FILE = 4; // bytes for each character that the server uses
const TOOLS = { up: ["M12 19V5M6 11l6-6 6 6", "Move up"], down: ["M12 5v14M6 13l6 6 6-6", "Move down"], remove: ["M6 6l12 12M18 6L6 18", "Remove"] };

/**
 * @typedef {object} MessagesPayload
 * @property {string} name the name of the conversation in the session; for this and the following, see `TextBoxPayload`
 * @property {string} session
 * @property {number} version
 * @property {number} answered
 * @property {string} sample
 * @property {string | null} text the conversation in JSON, or any other text as a message of a user
 * @property {null} file
 * @property {number} limit the most characters of the JSON that the server uses
 * @property {string} address
 * @property {number} longest
 * @property {string} own
 */

class Messages {
  constructor(root, signal) {
    this.root = root;
    [this.box, this.list, this.notice] = [".conversation", "ol", ".notice"].map((selector) => root.querySelector(selector));
    this.sender = new Sender((message) => this.#tell(message), signal);
    this.timer = 0;
    this.drawn = this.before = /** @type {string | null} */ (null);
    const on = (target, name, listener) => target.addEventListener(name, listener, { signal });
    on(this.list, "input", (event) => this.#typed(event));
    on(this.list, "focusout", () => this.#apply());
    on(this.list, "keydown", (event) => this.#key(event));
    on(this.list, "paste", (event) => this.#take(event, event.clipboardData.getData("text/plain"), "Pasted"));
    on(this.list, "click", ({ target }) => this.#press(target.closest("button")));
    on(root.querySelector(".add"), "click", () => this.#add(this.messages.length));
    on(root.querySelector(".copy"), "click", async () => {
      this.#tell((await copyText(Promise.resolve(inJson(this.conversation)), root)) ? "Copied." : "Your browser does not allow to copy.");
    });
    on(root.querySelector(".undo"), "click", () => this.before !== null && this.#replace(conversationOf(this.before), 0));
    on(globalThis, "pagehide", () => this.#apply());
    for (const name of ["dragover", "dragleave", "drop"]) on(document, name, (event) => this.#drag(event));
    signal.addEventListener("abort", () => this.#apply());
  }

  get messages() {
    return this.conversation.messages;
  }

  /**
   * @param {MessagesPayload} data
   * @param {Function} setState
   */
  update(data, setState) {
    this.data = data;
    this.state = this.sender.receive(data, setState);
    // A message that is being typed stays while the page runs for another reason.
    if (!this.timer && this.state.text !== this.drawn) this.#draw(conversationOf(this.state.text));
    this.root.host?.closest(".st-key-messages_component")?.style.setProperty("min-height", "0"); // no longer reserved
  }

  /** @param {import("./conversation.js").Conversation} conversation */
  #draw(conversation) {
    this.conversation = conversation;
    this.drawn = inJson(conversation);
    if (this.state.text !== this.drawn && conversationIn(this.state.text)) this.drawn = this.state.text; // as it was written
    this.list.replaceChildren(...this.messages.map((message, i) => this.#row(message, i)));
  }

  #row(message, i) {
    const roles = rolesOf(this.messages).map((name) => new Option(name, name, false, name === message.role));
    const role = element("select", { ariaLabel: `Role of message ${i + 1}` }, ...roles);
    const text = textOf(message);
    const box = element("textarea", { ariaLabel: `Message ${i + 1}`, rows: 1, dir: "auto", spellcheck: false, placeholder: "Type or paste text." });
    Object.assign(box, { value: text ?? JSON.stringify({ ...message, role: undefined }), readOnly: text === null });
    const isIdle = { up: i === 0, down: i === this.messages.length - 1, remove: this.messages.length < 2 };
    const tools = Object.entries(TOOLS).map(([name, [path, title]]) => {
      const button = element("button", { className: name, title, ariaLabel: `${title}: message ${i + 1}`, disabled: isIdle[name] });
      draw(draw(button, "svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }), "path", { d: path });
      return button;
    });
    return element("li", "", role, box, element("span", "tools", ...tools));
  }

  #indexOf(target) {
    return [...this.list.children].indexOf(target.closest("li"));
  }

  #focus(index, selector = "textarea") {
    const row = this.list.children[Math.max(0, Math.min(index, this.messages.length - 1))];
    const target = row.querySelector(selector);
    (target.disabled ? row.querySelector("textarea") : target).focus();
  }

  #typed({ target }) {
    const message = this.messages[this.#indexOf(target)];
    if (target.matches("select")) message.role = target.value;
    else message.content = target.value.toWellFormed();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#apply(), target.matches("select") ? 0 : PAUSE);
  }

  #key(event) {
    const { key, altKey, ctrlKey, metaKey, target } = event;
    const by = { ArrowUp: -1, ArrowDown: 1 }[key];
    const isEnter = key === "Enter" && (ctrlKey || metaKey);
    if (!isEnter && !(altKey && by)) return;
    event.preventDefault();
    const index = this.#indexOf(target);
    if (isEnter) this.#add(index + 1);
    else this.#move(index, by, target.matches("select") ? "select" : "textarea");
  }

  #press(button) {
    if (!button) return;
    const index = this.#indexOf(button);
    if (button.className !== "remove") return this.#move(index, button.className === "up" ? -1 : 1, `.${button.className}`);
    this.#replace({ ...this.conversation, messages: this.messages.toSpliced(index, 1) }, index, `Message ${index + 1} is removed.`);
  }

  #move(index, by, selector) {
    if (!this.messages[index + by]) return;
    this.#replace({ ...this.conversation, messages: moved(this.messages, index, by) }, index + by, "", selector);
  }

  #add(index) {
    const messages = this.messages.toSpliced(index, 0, following(this.messages[index - 1]));
    this.#replace({ ...this.conversation, messages }, index);
  }

  #replace(conversation, index, words = "", selector = "textarea") {
    const before = inJson(this.conversation);
    this.#draw(conversation);
    this.timer ||= -1; // apply at once
    this.#apply();
    this.before = words ? before : null;
    if (words) this.#tell(words);
    this.#focus(index, selector);
  }

  // Use messages in JSON that were pasted or dropped; other text goes into its message.
  #take(event, text, verb, name = "") {
    const conversation = conversationIn(text.toWellFormed());
    if (!conversation) return name && this.#tell(`${name} is not a list of messages in JSON, each with a “role”.`);
    event.preventDefault();
    this.#replace(conversation, conversation.messages.length, `${verb}: ${counted(conversation.messages.length, "message")}${name && ` of ${name}`}.`);
  }

  async #drag(event) {
    const { dataTransfer, type } = event;
    const isFile = dataTransfer?.types.includes("Files") && !document.querySelector("[role=dialog]");
    this.box.classList.toggle("over", isFile && type === "dragover");
    if (!isFile) return type === "drop" && this.root.contains?.(event.composedPath()[0]) && this.#take(event, dataTransfer.getData("text/plain"), "Dropped");
    event.preventDefault();
    const [file] = dataTransfer.files;
    if (type !== "drop" || !file) return;
    if (file.size > LONGEST_FILE * this.data.limit) return this.#refuse(file.size, "bytes", LONGEST_FILE * this.data.limit);
    this.#take(event, await file.text(), "Dropped", file.name);
  }

  #refuse(size, unit, limit) {
    this.#tell(`This conversation has ${formatCount(size)} ${unit}; the limit is ${formatCount(limit)}, so the page still shows the previous one.`);
  }

  #tell(words) {
    this.notice.firstElementChild.textContent = words;
    this.notice.hidden = !words;
    this.notice.querySelector(".undo").hidden = this.before === null;
  }

  // Send what was changed, if anything was.
  #apply() {
    if (!this.timer) return;
    clearTimeout(this.timer);
    this.timer = 0;
    this.before = null;
    const text = inJson(this.conversation);
    const size = text.length > this.data.limit ? characterCount(text) : 0;
    if (size > this.data.limit) return this.#refuse(size, "characters", this.data.limit);
    this.#tell("");
    this.drawn = text;
    remember(`own/${this.data.name}`, text);
    this.sender.send(this.state.change(this.data.own, text));
  }
}

export const mount = component(Messages);

// Sends the user's changes of a text to the server.

import { TextState } from "./text_state.js";

const RETRY_AFTER = 3000; // milliseconds, doubled each time

/** @type {Map<string, TextState>} The texts by name: they outlast a change of page. */
const states = new Map();

export class Sender {
  /** @type {{own: string, longest: number, address: string, answered: number}} the server's last data (`TextBoxPayload`) */
  data;
  /** @type {TextState | undefined} */
  state;
  /** @type {Function} stores a value in the session, and runs the page */
  setState;
  retry = 0;
  upload = new AbortController();

  /**
   * @param {(message: string) => void} tell tells the user why a text could not be sent, or "" once it was
   * @param {AbortSignal} signal
   */
  constructor(tell, signal) {
    Object.assign(this, { tell, signal });
    signal.addEventListener("abort", () => {
      clearTimeout(this.retry); // the next box sends it
      this.upload.abort();
    });
  }

  /**
   * Take what the server sent, and send again what it lacks.
   * @param {any} data
   * @param {Function} setState
   * @returns {TextState}
   */
  receive(data, setState) {
    const isMounted = this.state !== undefined;
    if (!states.has(data.name)) states.set(data.name, new TextState());
    Object.assign(this, { data, setState, state: states.get(data.name) });
    const again = this.state.receive(data, isMounted);
    if (again) this.send(again);
    return this.state;
  }

  // Send a change until it is answered: of two components that report at the same time, as when the
  // player reports its step, Streamlit receives one.
  async send(change, pause = RETRY_AFTER) {
    clearTimeout(this.retry);
    this.upload.abort();
    const upload = (this.upload = new AbortController());
    if (change.sample !== this.data.own) change = { ...change, text: "" }; // the server has it
    if ((change.text?.length ?? 0) <= this.data.longest) {
      this.setState("change", change);
    } else if (await this.#upload(change, upload.signal)) {
      this.setState("change", { ...change, text: undefined, isUploaded: true });
    }
    if (upload.signal.aborted || this.signal.aborted) return;
    this.retry = setTimeout(() => {
      const isPending = change.number === this.state.number && change.number > this.data.answered;
      // Another object, or Streamlit would take it for the same value.
      if (isPending) this.send({ ...change, attempt: (change.attempt ?? 0) + 1 }, 2 * pause);
    }, pause);
  }

  // Send a long text by itself: inside Streamlit's messages it would slow down all users. Return
  // whether the server has it.
  async #upload({ number, text }, signal) {
    if (this.signal.aborted) return false;
    try {
      const answer = await fetch(`${this.data.address}/${number}`, { method: "PUT", body: text, signal });
      if (answer.ok) this.tell("");
      else this.tell(`The text could not be sent. ${(await answer.text()).slice(0, 300)}`);
      return answer.ok && !signal.aborted;
    } catch {
      if (!signal.aborted) this.tell("The text could not be sent. It will be tried again.");
      return false;
    }
  }
}

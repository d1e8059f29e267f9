// The notes of a room's leader in a window of their own: what to say, the answers, the time, and Next.
// They have all from the leader's page, in the same browser.

import { component, element } from "../shared/dom.js";
import { counted } from "../shared/format.js";
import { following, inWords, timeInWords } from "../room/run_sheet.js";

const LOOK_AFTER = 5000; // milliseconds until the minute is written again
const CLAIMS = { right: "Right", mistake: "Likely mistake" };
const NOTE = /^(Say|Goals|Afterwards): (.*)$/;

class Notes {
  /**
   * @param {any} root
   * @param {AbortSignal} signal
   */
  constructor(root, signal) {
    this.signal = signal;
    [this.where, this.title, this.list, this.next] = [".where", "h1", "dl", ".next"].map((name) => root.querySelector(name));
    const timer = setInterval(() => this.#draw(), LOOK_AFTER);
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  /** @param {{letters: string}} data the letters of the room */
  update({ letters }) {
    if (this.channel) return;
    this.channel = new BroadcastChannel(`bpeviz-room-${letters}-notes`);
    this.channel.onmessage = ({ data }) => this.#receive(data);
    this.next.onclick = () => this.channel.postMessage("next");
    this.channel.postMessage("hello");
    this.where.textContent = "Open the leader's page in this browser.";
  }

  #receive(state) {
    if (typeof state === "string") return; // of another window
    this.state = state.ended ? null : state;
    if (state.ended) {
      this.where.textContent = state.ended;
      this.title.textContent = "";
      this.list.replaceChildren();
      this.next.hidden = true;
    }
    this.#draw();
  }

  #draw() {
    const { state } = this;
    if (!state) return;
    const { vote, answer, parts, names } = state;
    const part = parts?.[state.part];
    const time = part ? timeInWords(parts, state.part, state.began) : [];
    const where = [...time, vote ? `${vote.answered} of ${Math.max(vote.answered, state.followers)} have answered` : counted(state.followers, "follower")].join(" · ");
    if (this.where.textContent !== where) this.where.textContent = where;
    const action = parts ? following(state, parts, names) : "";
    this.next.hidden = !parts;
    this.next.disabled = !action;
    this.next.textContent = action ? `Next: ${action}` : "The end";
    const words = JSON.stringify([part, answer, vote?.name, state.part]);
    if (words === this.drawn) return;
    this.drawn = words;
    this.title.textContent = part ? inWords(part, names) : parts ? "Press Next to begin." : vote?.name || "No run sheet: “Share” in the app offers some.";
    const claims = Object.entries(part?.claims ?? {}).flatMap(([kind, answers]) => answers.map((named) => [CLAIMS[kind], named, "claim"]));
    if (vote && answer && !part?.claims.right) claims.unshift([CLAIMS.right, answer, "claim"]);
    const notes = (part?.notes ?? []).map((note) => NOTE.exec(note)?.slice(1) ?? ["Note", note]);
    const isLater = ([name]) => name === "Afterwards"; // it tells the answer
    const listed = [...notes.filter((note) => !isLater(note)), ...claims, ...notes.filter(isLater)];
    this.list.replaceChildren(...listed.flatMap(([name, said, className]) => [element("dt", "", name), element("dd", className, said.replace(/^./u, (letter) => (className ? letter : letter.toUpperCase())))]));
  }
}

export const mount = component(Notes);

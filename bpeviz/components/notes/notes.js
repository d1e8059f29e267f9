// The notes of a room's leader, on a second screen: what to say, the answers, the time, and Next.

import { component, element } from "../shared/dom.js";
import { counted } from "../shared/format.js";
import { following, inWords, namesOf, timeInWords } from "../room/run_sheet.js";

const RETRY_AFTER = 1000; // milliseconds
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
    this.names = new Map(); // of the questions of Learn
    this.next.onclick = () => this.#send({ do: "next" });
    const timer = setInterval(() => this.#draw(), LOOK_AFTER);
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  /** @param {{room: string}} data the path of the room */
  update({ room }) {
    if (this.room) return;
    this.room = room;
    this.#connect();
  }

  #connect() {
    const url = new URL(`${this.room}/notes/ws`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    this.socket = new WebSocket(url);
    this.socket.onopen = () => {
      this.#send({});
      this.#send({ do: "list questions" });
    };
    this.socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    this.socket.onclose = () => {
      if (this.signal.aborted || this.hasEnded) return;
      this.where.textContent = "Connecting again …";
      setTimeout(() => this.#connect(), RETRY_AFTER);
    };
  }

  #send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  #receive(state) {
    if (state.questions) this.names = namesOf(state.questions);
    else if (state.ended || state.refused) this.#end(state.ended ?? state.refused);
    else if (!state.note) {
      this.state = state;
      if (state.sheet) this.parts = state.sheet.parts;
      if (state.part === undefined) this.parts = null;
      else this.began = Date.now() - state.elapsed * 1000;
    }
    this.#draw();
  }

  #end(words) {
    this.hasEnded = true;
    this.where.textContent = words;
    this.title.textContent = "";
    this.list.replaceChildren();
    this.next.hidden = true;
  }

  #draw() {
    if (!this.state || this.hasEnded) return;
    const { parts, state, names } = this;
    const { vote, answer } = state;
    const part = parts?.[state.part];
    const time = part ? timeInWords(parts, state.part, this.began) : [];
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

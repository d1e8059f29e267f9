// A member's page of a room: connects to the server, follows the leader or leads, and votes.
// Its host draws columns (`on("columns", payload)`), or the player (`on("player", payload)`) and the
// race (`on("races", payloads)`), which it hides before a decision (`on("hidden", true)`). A vote may be
// shown without them (`on("alone", true)`).

import { component, element } from "../shared/dom.js";
import { FOLLOW, STEP_CHANGED, currentDisplay, emit, subscribe } from "../shared/events.js";
import { counted, formatCount } from "../shared/format.js";
import { store, stored } from "../shared/storage.js";
import { begin, extend } from "./assembly.js";
import { Ballot } from "./vote.js";

const REPORT_EVERY = 60; // milliseconds; the server drops more than 20 messages a second
const RETRY_AFTER = 1000; // milliseconds
const LOOK_AFTER = 5000; // milliseconds, if the room has ended: its leader may open it again
const LOOK_FOR = 15 * 60_000; // milliseconds
const REOPEN_WITHIN = 60_000; // milliseconds
const FEW = 5; // failed connections until a sentence says what to do

/**
 * @typedef {object} RoomPayload
 * @property {string} room the path of the room
 * @property {string} app the path of the app, without a slash at its end
 * @property {string} letters
 * @property {boolean} isLeader
 */

class Room {
  constructor(root, signal) {
    this.root = root;
    this.signal = signal;
    this.find = (selector) => root.querySelector(selector);
    this.content = null;
    this.kept = new Map(); // what a follower was shown, by number
    /** @type {import("../shared/events.js").Display} */
    this.display = { step: 0, playing: false, speed: 1, lit: null }; // of the leader
    this.away = false; // whether a follower looks around
    this.failures = 0; // of connections, one after the other
    this.hasEnded = false;
    this.lookUntil = 0; // when the page gives up an ended room
  }

  /**
   * @param {RoomPayload} data
   * @param {(name: string, value: any) => void} on
   */
  update(data, on) {
    if (this.data) return;
    this.data = data;
    this.on = on;
    this.find(".room").classList.toggle("leader", data.isLeader);
    this.find(".letters").textContent = data.letters;
    this.find(".where").textContent = "Connecting …";
    this.find(".back").onclick = () => this.#return();
    this.find(".votes").onclick = () => this.#save(this.state.votes, "text/csv", `votes-${data.letters}.csv`);
    this.find(".keep").onclick = () => this.#keep();
    this.find(".reopen").onclick = () => this.#reopen();
    for (const button of this.root.querySelectorAll("[data-do]"))
      button.onclick = () => this.#send({ do: button.dataset.do });
    this.ballot = new Ballot(this.root, data.isLeader, (message) => this.#send(message));
    if (data.isLeader) this.#readLeaderToken();
    subscribe(STEP_CHANGED, () => this.#moved(), this.signal);
    if (data.isLeader) this.timer = setInterval(() => this.#report(), REPORT_EVERY);
    this.signal.addEventListener("abort", () => clearInterval(this.timer));
    this.#connect();
  }

  // The token leaves the address bar at once: a projector may show it.
  #readLeaderToken() {
    const token = location.hash.slice(1);
    if (token) {
      store(this.#name("leader"), token);
      history.replaceState(history.state, "", location.pathname);
    }
  }

  #name(role) {
    return `bpeviz-room-${this.data.letters}-${role}`;
  }

  #connect() {
    const url = new URL(`${this.data.room}/ws`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = (this.socket = new WebSocket(url));
    const leader = this.data.isLeader ? (stored(this.#name("leader")) ?? "none") : "";
    socket.onopen = () => {
      this.reported = null;
      this.#send({ token: stored(this.#name("follower")) ?? "", leader });
    };
    socket.onmessage = ({ data }) => {
      this.failures = 0;
      this.#receive(JSON.parse(data));
    };
    socket.onclose = () => {
      if (this.signal.aborted) return;
      if (this.hasEnded) return this.#look();
      const isLong = ++this.failures > FEW;
      this.find(".where").textContent = isLong ? "No connection. If the server was restarted, reload this page." : "Connecting again …";
      setTimeout(() => this.#connect(), RETRY_AFTER);
    };
  }

  #send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  #receive(state) {
    if (state.ended) return this.#end(state.ended);
    if (this.hasEnded) this.#setEnded(false);
    if (!this.data.isLeader) store(this.#name("follower"), state.token);
    const { isLeader } = this.data;
    if (this.#isAway()) this.away = true;
    const before = this.content;
    if (state.content) {
      this.content = begin(state.content);
      this.away = this.away && before?.number === this.content.number;
    }
    const { step, playing, speed, lit } = state;
    this.display = { step, playing, speed, lit };
    if (state.more) extend(this.content, state.more);
    if (state.content?.columns) this.on("columns", this.content.columns);
    else if (this.content && (state.content || state.more)) {
      this.on("player", { ...this.content.player, isLive: true, initialStep: step });
      if (state.content && this.content.races) this.on("races", this.content.races);
    }
    const isNew = state.content && before?.number !== this.content.number;
    // A leader who was disconnected leads on from where the player is.
    if (isLeader ? isNew : this.content && !this.away) emit(FOLLOW, this.display);
    if (isNew) this.on("title", this.content);
    if (this.content && !isLeader) this.#offerFile();
    this.state = state;
    this.#draw();
    if (this.frame) this.frame = this.frame.remove();
  }

  // ---- an ended room

  #end(sentence) {
    if (this.hasEnded) return;
    const { isLeader } = this.data;
    const link = this.state?.link;
    this.#setEnded(true);
    this.lookUntil = isLeader ? 0 : Date.now() + LOOK_FOR;
    this.find(".reopen").hidden = !link;
    const others = isLeader ? "In your bpeviz tab, “Share” opens another one." : "If its leader opens it again, it goes on here.";
    this.find(".ended span").textContent = link ? sentence : `${sentence} ${others}`;
  }

  #setEnded(hasEnded) {
    this.hasEnded = hasEnded;
    this.find(".ended").hidden = !hasEnded;
    this.find(".room").classList.toggle("over", hasEnded);
  }

  #look() {
    const { isLeader } = this.data;
    if (Date.now() < this.lookUntil) return setTimeout(() => this.#connect(), isLeader ? RETRY_AFTER : LOOK_AFTER);
    if (this.frame) this.find(".ended span").textContent = "It could not be opened. In your bpeviz tab, “Share” opens another one.";
  }

  // The app makes the content anew from its link, in a hidden frame, and then opens the room.
  #reopen() {
    this.frame?.remove();
    this.frame = element("iframe");
    this.frame.hidden = true;
    const room = `${this.data.letters}.${stored(this.#name("leader"))}`;
    this.frame.src = `${this.data.app}${this.state.link}&step=${this.display.step}&room=${room}&embed=true`;
    document.body.append(this.frame);
    this.find(".reopen").hidden = true;
    this.find(".ended span").textContent = "Opening it again …";
    this.lookUntil = Date.now() + REOPEN_WITHIN;
    this.#connect();
  }

  // ---- the step

  #report() {
    const display = this.content && currentDisplay();
    const message = JSON.stringify({ ...display, content: this.content?.number });
    if (!display || message === this.reported) return;
    this.reported = message;
    this.#send(JSON.parse(message));
  }

  #isAway() {
    const own = this.content && !this.data.isLeader ? currentDisplay() : null;
    return own !== null && (own.step !== this.display.step || own.playing !== this.display.playing);
  }

  #moved() {
    if (!this.#isAway()) return;
    this.away = true;
    this.#draw();
  }

  #return() {
    this.away = false;
    emit(FOLLOW, this.display);
    this.#draw();
  }

  // ---- drawing

  #draw() {
    const { state, content, away } = this;
    if (!state) return;
    const { isLeader } = this.data;
    const { unit, vocabSizes } = content?.player ?? {};
    const at = (step) => (unit ? `: ${unit} ${formatCount(vocabSizes?.[step] ?? step)}` : "");
    const followers = `${counted(state.followers, "follower")}`;
    const { step, playing, speed } = this.display;
    const plays = playing ? `, playing at ${speed}×` : "";
    const follows = `${away ? "You look around. The leader" : "Following the leader"}${at(step)}${plays}`;
    this.find(".where").textContent = isLeader ? followers : content ? follows : state.vote ? "" : "Wait for the leader.";
    this.find(".back").hidden = !away;
    if (isLeader) this.#drawJoin(state);
    this.ballot.update(state.vote, state.followers);
    this.on("alone", Boolean(state.vote?.isAlone));
    // At the beginning, the race is that of the first decision.
    this.on("hidden", !step || Boolean(state.vote?.isAboutStep && state.vote.right === null));
  }

  #drawJoin({ join, canAsk, vote, votes }) {
    const { qr, address, notes } = join;
    const details = this.find(".join");
    if (details.hidden) {
      details.hidden = false;
      this.find(".qr").toggleAttribute("hidden", !qr);
      if (qr) {
        this.find(".qr").setAttribute("viewBox", `-4 -4 ${qr.size + 8} ${qr.size + 8}`);
        this.find(".qr path").setAttribute("d", qr.path);
      }
      this.find(".address").textContent = address;
      this.find(".code").textContent = `Room ${this.data.letters}`;
      this.find(".notes").textContent = notes;
    }
    const ask = this.find("[data-do=ask]");
    ask.hidden = !this.content?.player;
    ask.disabled = !canAsk || Boolean(vote);
    ask.title = canAsk ? "Ask for a vote before you play on" : "Only at the furthest step that followers have seen";
    this.find(".votes").disabled = votes.split("\n").length < 3;
    if (vote) details.open = false;
  }

  // ---- files

  // The file is fetched at once, since the server may have stopped when it is wanted.
  async #offerFile() {
    this.kept.set(this.content.number, this.content);
    if (this.file) return;
    this.file = fetch(`${this.data.room}/file`, { priority: "low" }).then((response) => response.text());
    await this.file.catch(() => (this.file = null));
    this.find(".keep").hidden = !this.file;
  }

  // Its contents are those that were received, so none is later than the leader's furthest step.
  async #keep() {
    const shown = JSON.stringify([...this.kept.values()]).replaceAll("<", "\\u003c");
    const page = (await this.file).replace('id="data">', (start) => start + shown);
    this.#save(page, "text/html", `room-${this.data.letters}.html`);
  }

  #save(content, type, name) {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}

export const mount = component(Room);

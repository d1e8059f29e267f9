// A member's page of a room: connects to the server, follows the leader or leads, and votes.
// Its host draws a score (`on("score", payload)`), or the player (`on("player", payload, send)`), and returns
// its view. It hides the race before a decision (`on("hidden", true)`). A vote is
// shown above them (`on("vote", "above")`) or alone, with a stage of its own (`on("task", payload, send)`).

import { copyText } from "../shared/clipboard.js";
import { component, element, newButton, saveFile } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";
import { store, stored } from "../shared/storage.js";
import { following, inWords, namesOf, timeInWords } from "./run_sheet.js";
import { upto } from "./upto.js";
import { Ballot } from "./vote.js";

const LOOK_AT_PLAYER = 15; // milliseconds until a click of the leader is noticed
const REPORT_EVERY = 60; // milliseconds; the server drops more than 20 messages a second
const RETRY_AFTER = 1000; // milliseconds
const LOOK_AFTER = 5000; // milliseconds until the minute of a run sheet is written again
const ANSWER_EVERY = 200; // milliseconds, where each change is an answer
const NO_VOTE = "No vote here: it needs one algorithm, a next step, and candidates that do not all tie";
const NO_COOKIES = "This browser refuses cookies, so you follow without a vote.";
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
    this.whole = null; // the content as it was sent
    this.content = null; // as it is drawn: to the leader's furthest step
    this.picture = null; // the view of the player or of the score
    /** @type {import("../player/player.js").Display} */
    this.display = { step: 0, playing: false, speed: 1, lit: null }; // of the leader
    this.away = false; // whether a follower looks around
    this.reportAgain = 0; // when the leader's display may be sent again
    this.failures = 0; // of connections, one after the other
    this.hasEnded = false;
    this.names = new Map(); // of the questions of Learn
    this.stage = null; // of the vote
    this.task = "null"; // as it is drawn
    this.asked = "{}"; // the task on what the leader shows
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
    this.answer = (name, value) => (name === "answer" ? this.#answer(value.value) : this.#moved());
    this.find(".keep").onclick = () => this.#keep();
    this.find(".invite").onclick = () => this.#invite();
    this.find(".ask").onclick = () => {
      this.#send({ do: "ask question", key: this.find(".questions").value });
      this.find(".questions").value = "";
    };
    this.find(".join").ontoggle = () => this.#beside();
    this.find(".next").onclick = () => this.#next();
    this.find(".previous").onclick = () => this.#goTo(this.state.part - 1);
    this.find(".print").onclick = () => print();
    this.find(".open-notes").onclick = () => open(`${data.room}/notes`, `notes-${data.letters}`, "popup,width=560,height=760");
    for (const button of this.root.querySelectorAll("[data-do]"))
      button.onclick = () => this.#do(button.dataset.do);
    this.ballot = new Ballot(this.root, data.isLeader, this.answer, this.signal);
    addEventListener("resize", () => this.ballot.fit(), { signal: this.signal });
    // The contents that a follower was shown, by number, also before a reload.
    this.kept = new Map(JSON.parse(stored(this.#name("kept"), "sessionStorage") ?? "[]"));
    if (data.isLeader) this.#lead();
    this.#connect();
  }

  #lead() {
    const report = () => Date.now() >= this.reportAgain && this.#report();
    const timers = [setInterval(report, LOOK_AT_PLAYER), setInterval(() => this.#drawRun(), LOOK_AFTER)];
    this.signal.addEventListener("abort", () => timers.forEach(clearInterval));
    const { signal } = this;
    this.notes = new BroadcastChannel(this.#name("notes"));
    this.notes.onmessage = ({ data }) => (data === "next" ? this.sheet && this.#next() : this.#tellNotes());
    signal.addEventListener("abort", () => this.notes.close());
    document.addEventListener("keydown", (event) => this.#key(event), { signal });
    addEventListener("beforeprint", () => this.sheet && (this.find(".sheet").open = true), { signal });
  }

  #name(role) {
    return `bpeviz-room-${this.data.letters}-${role}`;
  }

  #connect() {
    const { isLeader, room } = this.data;
    const url = new URL(`${room}${isLeader ? "/lead" : ""}/ws`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = (this.socket = new WebSocket(url));
    socket.onopen = () => {
      this.reported = null;
      this.#send({});
      if (isLeader) this.#send({ do: "list questions" });
    };
    socket.onmessage = ({ data }) => {
      this.failures = 0;
      this.#receive(JSON.parse(data));
    };
    socket.onclose = async () => {
      if (this.signal.aborted) return;
      // The invitation has ended with its room.
      if (!isLeader && !this.hasEnded) await this.#askWhy();
      if (this.hasEnded) return;
      const isLong = ++this.failures > FEW;
      this.find(".where").textContent = isLong ? "No connection. If the server was restarted, reload this page." : "Connecting again …";
      setTimeout(() => this.#connect(), RETRY_AFTER);
    };
  }

  async #askWhy() {
    const answer = await fetch(this.data.room).catch(() => null);
    if (answer?.status === 401) this.#end({ ended: await answer.text().catch(() => "") });
  }

  // The next step reveals the answer to a question about it.
  #do(action) {
    if (action === "ask") this.#pause();
    if (action === "reveal" && this.state.vote?.task.isLed) this.#moveTo(this.state.furthest + 1);
    else this.#send({ do: action });
  }

  #send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  #receive(state) {
    if (state.questions) return this.#offerQuestions(state.questions);
    if (state.ended || state.refused) return this.#end(state);
    const { isLeader } = this.data;
    if (this.#isAway()) this.away = true;
    const before = this.content;
    if (state.content) {
      this.whole = state.content;
      this.away = this.away && before?.number === this.whole.number;
    }
    const isLonger = !isLeader && state.furthest !== before?.player?.last;
    if (this.whole && (state.content || isLonger)) this.content = isLeader ? this.whole : upto(this.whole, state.furthest);
    const { step, playing, speed, lit } = state;
    if (playing && !this.display.playing) this.#makePlace();
    this.display = { step, playing, speed, lit };
    if (state.stage) this.stage = state.stage;
    const task = state.vote?.task.isLed ? { task: state.vote.task } : {};
    const isAsked = JSON.stringify(task) !== this.asked;
    if (state.content?.score) this.picture = this.on("score", this.content.score);
    else if (this.content?.player && (state.content || isLonger || isAsked)) {
      this.asked = JSON.stringify(task);
      this.picture = this.on("player", { ...this.content.player, races: this.content.races, isLive: true, initialStep: step, ...task }, this.answer);
    }
    const isNew = state.content && before?.number !== this.content.number;
    // A leader who was disconnected leads on from where the player is.
    if (isLeader ? isNew : this.content && !this.away) this.picture?.follow(this.display);
    if (isNew) this.on("title", this.content);
    if (this.content && !isLeader) this.#offerFile();
    this.state = state;
    if (isLeader) this.#takeSheet();
    this.#draw();
    if (isLeader) this.#tellNotes();
  }

  /** @param {{ended?: string, refused?: string}} words */
  #end({ ended, refused }) {
    this.hasEnded = true;
    if (this.state?.vote) this.#receive({ ...this.state, vote: null, content: null, stage: null }); // no answer arrives any more
    this.find(".ended").hidden = false;
    this.find(".room").classList.add("over");
    this.#beside();
    const others = this.data.isLeader ? "In your bpeviz tab, “Share” opens another one." : "";
    this.find(".ended span").textContent = refused ?? `${ended} ${others}`;
    this.notes?.postMessage({ ended: refused ?? ended });
  }

  // ---- the stage of a vote

  #drawTask(vote, stage) {
    const isDrawn = vote?.isStaged && !vote.task.isLed && stage;
    const payload = isDrawn ? { ...stage, task: { ...vote.task, ...stage.task } } : null;
    const words = JSON.stringify(payload);
    if (words !== this.task) this.on("task", payload, this.answer);
    this.task = words;
  }

  // The last of several changes counts.
  #answer(value) {
    const { vote } = this.state;
    const send = () => this.#send({ answer: value, vote: vote.number });
    clearTimeout(this.answering);
    const wait = vote.task.isLive ? (this.answerAgain ?? 0) - Date.now() : 0;
    this.answerAgain = Date.now() + Math.max(wait, 0) + ANSWER_EVERY;
    if (wait > 0) this.answering = setTimeout(send, wait);
    else send();
  }

  // ---- the run sheet

  #takeSheet() {
    const { sheet, part } = this.state;
    if (sheet) {
      this.sheet = sheet;
      this.#drawSheet();
      this.on("sheet", true);
    } else if (part === undefined && this.sheet) {
      this.sheet = null;
      this.on("sheet", false);
    }
  }

  #drawSheet() {
    const { title, parts } = this.sheet;
    this.find(".sheet h2").textContent = title;
    this.find(".parts").replaceChildren(...parts.map((one, i) => this.#part(one, i)));
    this.#drawRun();
  }

  #part(part, i) {
    const button = newButton("", `${part.minutes} min: ${inWords(part, this.names)}`, () => this.#goTo(i));
    const details = part.options.map((option, k) => `${k === part.right ? "✓" : "–"} ${option}`);
    const claims = Object.entries(part.claims).flatMap(([kind, answers]) => answers.map((named) => `${kind === "right" ? "✓" : "✗"} ${named}`));
    const words = [...details, ...claims, ...part.notes, part.link].filter(Boolean).join("\n");
    return element("li", "", button, element("div", "details", words));
  }

  #isReady(at) {
    const page = this.sheet.parts.findLastIndex(({ kind }, i) => i <= at && kind === "show"); // the part that shows its page
    return page < 0 || this.state.ready.includes(page);
  }

  #next() {
    const { vote, part } = this.state;
    if (!vote || vote.task.result) this.#goTo(part + 1);
    else if (!vote.task.counts) this.#send({ do: "show" });
    else this.#do("reveal");
  }

  #goTo(i) {
    const part = this.sheet?.parts[i];
    if (!part) return;
    this.#makePlace();
    this.#send({ do: "part", part: i });
    if (part.kind === "learn") this.#send({ do: "ask question", key: part.words });
    if (!this.#isReady(i)) return; // the room goes on once it is
    if (part.kind === "step") this.#moveTo(part.step);
    if (part.kind !== "vote") return;
    this.#moveTo(Math.max(part.step, this.state.furthest)); // followers have already seen earlier decisions
    this.#send({ do: "ask" });
  }

  #moveTo(step) {
    this.picture?.follow({ ...this.display, step, playing: false, lit: null });
    this.#report();
  }

  // The next step would reveal the answer.
  #pause() {
    const display = this.picture?.display;
    if (!display?.playing) return;
    this.picture.follow({ ...display, playing: false, lit: null });
    this.#report();
  }

  #key(event) {
    const by = { PageDown: 1, PageUp: -1 }[event.key];
    if (!by || !this.sheet || this.hasEnded || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (by > 0) this.#next();
    else this.#goTo(this.state.part - 1);
  }

  #drawRun() {
    const { sheet, state } = this;
    this.find(".run").hidden = !sheet;
    if (!sheet) return;
    const { part, elapsed } = state;
    const action = following(state, sheet.parts, this.names);
    if (this.drawnState !== state) this.began = Date.now() - elapsed * 1000;
    this.drawnState = state;
    const next = this.find(".next");
    next.textContent = action ? `Next: ${action}` : "The end";
    next.disabled = !action;
    this.find(".previous").disabled = part < 1;
    [...this.find(".parts").children].forEach(({ firstChild }, i) => (firstChild.ariaCurrent = i === part ? "step" : null));
    const isShown = this.#isReady(part);
    const words = timeInWords(sheet.parts, part, this.began);
    if (!isShown) words.push(state.problem || "loading …");
    if (state.vote) this.votedIn = part;
    if (sheet.parts[part]?.kind === "vote" && this.votedIn !== part && isShown && !state.canAsk) words.push(NO_VOTE);
    const text = part < 0 ? "" : words.join(" · ");
    if (this.find(".minute").textContent !== text) this.find(".minute").textContent = text;
  }

  // ---- the window with the notes, which has no connection to the server

  #tellNotes() {
    const { state, sheet, began, names } = this;
    if (!state) return;
    const { part, vote, followers, answer } = state;
    this.notes.postMessage({ part, vote, followers, answer, parts: sheet?.parts, began, names });
  }

  // ---- the step

  #report() {
    const display = this.content && this.picture?.display;
    const message = JSON.stringify({ ...display, content: this.content?.number });
    if (!display || message === this.reported) return;
    this.reported = message;
    this.reportAgain = Date.now() + REPORT_EVERY;
    this.#send(JSON.parse(message));
  }

  #isAway() {
    const own = this.content && !this.data.isLeader ? this.picture?.display : null;
    return Boolean(own) && (own.step !== this.display.step || own.playing !== this.display.playing);
  }

  #moved() {
    if (!this.#isAway()) return;
    this.away = true;
    this.#draw();
  }

  #return() {
    this.away = false;
    this.picture?.follow(this.display);
    this.#draw();
  }

  // ---- drawing

  #draw() {
    const { state, content, away } = this;
    if (!state) return;
    const { isLeader } = this.data;
    const { unit, vocabSizes } = content?.player ?? {};
    const at = (step) => (unit && !state.vote?.isAlone ? `: ${unit} ${formatCount(vocabSizes?.[step] ?? step)}` : "");
    const { step, playing, speed } = this.display;
    const plays = playing ? `, playing at ${speed}×` : "";
    const follows = `${away ? "Looking around. Leader" : "Following the leader"}${at(step)}${plays}`;
    this.find(".where").textContent = isLeader ? counted(state.followers, "follower") : this.#ofFollower(follows);
    this.find(".back").hidden = !away;
    this.find(".first").hidden = !state.isBeforeVotes;
    if (isLeader) {
      this.#drawJoin(state);
      this.#drawRun();
    }
    const { vote } = state;
    if (isLeader && vote && vote.number !== this.ballot.vote?.number) {
      this.#pause();
      this.#makePlace();
    }
    this.find(".room").classList.toggle("voting", Boolean(vote));
    this.ballot.update(vote, state.followers);
    this.on("vote", !vote ? "" : vote.isAlone ? "alone" : "above");
    this.#drawTask(vote, this.stage);
    // At the beginning, the race is that of the first decision.
    this.on("hidden", !step || Boolean(state.vote?.task.isLed && !state.vote.task.result));
  }

  /** Return what a follower reads. follows: whether the page is that of the leader, and its step. */
  #ofFollower(follows) {
    const { canVote, vote } = this.state;
    if (vote && !canVote) return NO_COOKIES;
    return this.content ? follows : vote ? "" : "Wait for the leader.";
  }

  #drawJoin({ join, canAsk, vote, sums, furthest }) {
    const details = this.find(".join");
    if (join) {
      const { qr, address, word, notes } = join;
      this.invitation = join.invitation;
      details.hidden = false;
      this.#beside();
      this.find(".qr").hidden = !qr;
      this.find(".qr").src = qr;
      this.find(".address").replaceChildren(...address.split(/(?=\/room\/)/).flatMap((words) => [words, element("wbr")]));
      this.find(".code").textContent = `Room ${this.data.letters}`;
      this.find(".word").hidden = !word;
      this.find(".word b").textContent = word;
      this.find(".notes").textContent = notes;
    }
    const ask = this.find("[data-do=ask]");
    ask.hidden = !this.content?.player;
    ask.disabled = !canAsk || Boolean(vote);
    const toFurthest = "Go to the furthest step that followers have seen";
    ask.title = canAsk ? "Ask which step comes next, before you play it" : this.display.step < furthest ? toFurthest : NO_VOTE;
    this.find(".sums").textContent = sums;
  }

  // How to join is beside the picture, or on narrow screens above it.
  #beside() {
    const { open, hidden } = this.find(".join");
    this.on("beside", open && !hidden && !this.hasEnded);
  }

  // The picture needs the place, unless the screen is wide.
  #makePlace() {
    if (innerWidth < 1200) this.find(".join").open = false;
  }

  async #invite() {
    const isCopied = await copyText(Promise.resolve(this.invitation), this.root);
    this.find(".invite").textContent = isCopied ? "Copied" : "Not copied: select the address above";
    if (!isCopied) this.find(".address").textContent = this.invitation;
  }

  /**
   * @param {{title: string, questions: Object<string, string>}[]} chapters the names of questions by their keys
   */
  #offerQuestions(chapters) {
    const choice = this.find(".questions");
    const optionsOf = (questions) => Object.entries(questions).map(([key, name]) => new Option(name, key));
    const groups = chapters.map(({ title, questions }) => element("optgroup", { label: title }, ...optionsOf(questions)));
    this.names = namesOf(chapters);
    choice.replaceChildren(new Option("Ask from Learn …", ""), ...groups);
    choice.hidden = this.find(".ask").hidden = !chapters.length;
    if (this.sheet) this.#drawSheet();
    this.#tellNotes();
  }

  // ---- files

  // The file is fetched at once: the server may have stopped by the time a follower saves it.
  async #offerFile() {
    const { number } = this.content;
    const isNew = !this.kept.has(number);
    this.kept.set(number, this.content);
    if (isNew) store(this.#name("kept"), JSON.stringify([...this.kept]), "sessionStorage"); // the others are complete
    if (this.file) return;
    this.file = fetch(`${this.data.room}/file`, { priority: "low" }).then((response) => response.text());
    await this.file.catch(() => (this.file = null));
    this.find(".keep").hidden = !this.file;
  }

  // Its contents are those that were drawn, so none is later than the leader's furthest step.
  async #keep() {
    const furthest = new Map(); // of what was shown several times
    for (const one of this.kept.values()) {
      const name = JSON.stringify([one.title, one.settings, (one.player?.views[0] ?? one.score).text]);
      if (!(furthest.get(name)?.player?.last > one.player?.last)) furthest.set(name, one);
    }
    const shown = JSON.stringify([...furthest.values()]).replaceAll("<", "\\u003c");
    const page = (await this.file).replace('id="data">', (start) => start + shown);
    saveFile(new Blob([page], { type: "text/html" }), `room-${this.data.letters}.html`);
  }
}

export const mount = component(Room);

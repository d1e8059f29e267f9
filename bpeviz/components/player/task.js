// A task on the stage: choose a pair, place boundaries, set the stop line, change ids, or type a text.
// Before an answer, the payload has no later step; the server then appends those that show the answer. In a room,
// answers are counted, and nothing is judged before its leader reveals the answer.

import { element, moveFocus, newButton, setClasses, tokenLabel } from "../shared/dom.js";
import { drawMessage, drawRows, messageInWords } from "../shared/message.js";
import { spoken, spokenLabel } from "../shared/spoken.js";
import { Ids } from "./ids.js";

const CHECKS = { pair: "Merge this pair", boundaries: "Check my boundaries", stop: "Stop here" };
const VERDICTS = { right: "Right.", near: "Close.", wrong: "Not quite.", shown: "The answer.", again: "Not yet.", draft: "" };
const LEGEND = { right: "right", extra: "yours, not a boundary", missing: "missed" };
const PAUSE = 350; // milliseconds without a key until a typed text is checked
const COUNTS_HEIGHT = 30; // pixels
const TICK_NAME = 26; // pixels between the numbers of two ticks
const NEXT_LINE = 1e4; // pixels to the right that a place on another line counts as

/**
 * @typedef {object} TaskPayload the payload from Python (`bpeviz.ui.learn.base.Question.payload`)
 * @property {string} of identifies the question
 * @property {"pair" | "boundaries" | "stop" | "type" | "ids" | "belief" | null} act what the user does, null
 *   if nothing is left; a belief needs no text
 * @property {import("../shared/message.js").MessagePart[]} prompt
 * @property {import("../shared/message.js").MessageRow[]} rows what is listed below the prompt
 * @property {number[]} places the atoms after which a pair meets, or a boundary may stand
 * @property {import("../shared/message.js").MessagePart[]} pieces the ids that the user changes, with their tokens
 * @property {boolean} isLive whether each boundary or pair is sent at once, and none is wrong
 * @property {boolean} canShow whether the right answer can be shown
 * @property {number | null} longest the most characters of a typed text
 * @property {number | string | number[] | null} given the last answer: of boundaries, a bit for each place
 * @property {number[] | null} right the indices of the right places, or the right options, once they are known
 * @property {{kind: string, message: import("../shared/message.js").MessagePart[], note: string} | null} result
 * @property {boolean} [isTitled] whether the title of the page is the prompt
 * @property {boolean} [isVote] whether a room counts the answers
 * @property {boolean} [isClosed] whether none is taken: on its leader's page, and after the vote
 * @property {boolean} [isLed] whether the stage is what the room shows, and its leader moves the step
 * @property {{value: number, tokens: [string, number][], words: string, ids: number[]}[]} [options] pairs
 *   to choose from, in place of places of the text: at an atom, or with ids
 * @property {number[] | null} [counts] the answers with each place, option or step
 * @property {number[] | null} [earlier] those before “discuss, then vote again”
 */

/** Return the indices of the bits of a number, in rising order. A whole number has up to 53. */
export const bitsOf = (number) => Array.from({ length: 53 }, (_, i) => i).filter((i) => Math.floor(number / 2 ** i) % 2);

/**
 * Return the index of the place nearest to a point, those on its line first, or -1.
 * @param {{x: number, top: number, bottom: number}[]} edges
 * @param {number} x
 * @param {number} y
 */
export function nearestPlace(edges, x, y) {
  const away = (edge) => NEXT_LINE * Math.max(0, edge.top - y, y - edge.bottom) + Math.abs(edge.x - x);
  return edges.reduce((best, edge, i) => (best < 0 || away(edge) < away(edges[best]) ? i : best), -1);
}

const isRevealed = ({ isVote, result, places }) => Boolean(isVote && result && !places.length);
// Whether the sentences about the step say all that the result does, or nothing is to be said.
const isTold = ({ isLed, result }) => result?.kind === "shown" && (isLed || !result.message.length);

export class Task {
  /**
   * @param {any} root
   * @param {any} player the `Player`, or for questions without a text their "section"
   * @param {AbortSignal} signal
   */
  constructor(root, player, signal) {
    this.player = player;
    [this.prompt, this.rows, this.box, this.told, this.typed, this.check, this.show, this.options, this.ticks] = [
      ".prompt", ".rows", ".task", ".told", ".typed", ".check", ".show", ".options", ".ticks",
    ].map((name) => root.querySelector(name));
    this.bars = []; // buttons of the options
    this.hasSent = false; // after a reload, the server takes the stored answers
    /** @type {any} */
    this.data = null;
    this.chosen = []; // indices of places
    this.edges = [];
    this.gaps = element("div", "gaps");
    this.ids = new Ids(root.querySelector(".pieces"), (ids) => this.#send(ids), signal);
    const on = (target, name, listener) => target.addEventListener(name, listener, { signal });
    on(this.check, "click", () => this.#commit(this.value));
    on(this.show, "click", () => this.#commit(null));
    on(this.typed, "keydown", ({ key }) => key === "Enter" && !this.check.hidden && this.check.click());
    on(this.typed, "input", () => {
      this.hasTyped = true;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.#send(this.typed.value), PAUSE);
    });
    on(this.gaps, "keydown", (event) => moveFocus(event, this.buttons));
    on(this.gaps, "focusin", ({ target }) => this.#ring(this.buttons.indexOf(target)));
    on(this.gaps, "focusout", () => this.#ring(-1));
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /** Whether the pointer and keys choose places of the text. */
  get takesPlaces() {
    const { data, step, playback } = this.player;
    const isAny = this.data?.isLive && (playback.isPlaying || this.data.act === "boundaries");
    return Boolean(this.buttons?.length) && (isAny || (!playback.isPlaying && step === data.last));
  }

  /** Whether the answer is right, or was shown; in a room, it is shown to all. */
  get isSolved() {
    const { result, isVote } = this.data ?? {};
    return Boolean(result) && (isVote || ["right", "near", "shown"].includes(result.kind));
  }

  /** The pixels below each line for the answers with each place. */
  get below() {
    return this.data?.counts && this.data.places.length ? COUNTS_HEIGHT : 0;
  }

  /** The answer as it stands, or null. */
  get value() {
    if (this.data.act === "stop") return this.player.step;
    if (this.data.act === "boundaries") return this.chosen.reduce((bits, i) => bits + 2 ** i, 0);
    if (!this.chosen.length) return null;
    const { options, places } = this.data;
    return options?.length ? options[this.chosen[0]].value : places[this.chosen[0]];
  }

  /**
   * @param {TaskPayload | undefined} data
   * @param {(name: string, value: any) => void} on
   */
  update(data, on) {
    this.on = on;
    this.box.hidden = !data;
    this.prompt.hidden = !data || Boolean(data.isTitled);
    this.rows.hidden = !data?.rows.length;
    if (!data) {
      this.ids.update(null);
      this.clear();
    }
    this.#nameState(data);
    const words = JSON.stringify(data ?? null);
    if (!data || words === this.drawn) return;
    this.drawn = words;
    const isNew = this.data?.of !== data.of || (data.given === null && this.data.given !== null); // or again
    this.data = data;
    this.prompt.replaceChildren(...drawMessage(data.prompt));
    if (this.player.stage && isRevealed(data)) this.prompt.hidden = true; // the answer says what was asked
    drawRows(this.rows, data.rows);
    if (isNew) this.hasChosen = false;
    const isGiven = !this.hasChosen || (data.isLive && data.result?.kind === "shown");
    const options = data.options ?? [];
    if (isGiven) this.chosen = data.act === "boundaries" ? bitsOf(data.given) : options.flatMap(({ value }, i) => (value === data.given ? [i] : []));
    this.check.textContent = data.isVote ? "Send" : CHECKS[data.act] ?? "";
    this.check.hidden = !CHECKS[data.act] || data.isLive || Boolean(data.isClosed);
    this.show.hidden = !data.canShow;
    this.typed.hidden = data.act !== "type" || Boolean(data.isClosed);
    this.typed.ariaLabel = messageInWords(data.prompt);
    if (!this.typed.hidden) {
      this.typed.maxLength = data.longest;
      this.hasTyped &&= !isNew; // what users type now is not at the server yet
      if (!this.hasTyped) this.typed.value = data.given ?? "";
    }
    if (isNew) this.ids.forget();
    this.ids.update(data.act === "ids" ? data.pieces : null);
    this.#drawOptions();
    this.#drawPlaces();
    this.#drawTicks();
    this.#tell();
    this.place();
  }

  // Classes, since a rule with `:has()` would be matched anew at each change of the text.
  #nameState(data) {
    const { act, isLive, rows, counts, isClosed, options, places, result } = data ?? {};
    const isPlaced = act === "boundaries";
    const isOpen = (isPlaced || act === "pair") && !isClosed && places.length;
    const hasOptions = Boolean(options?.length);
    const isOver = result && result.kind !== "again";
    setClasses(this.player.section, {
      tasked: data,
      titled: data?.isTitled,
      listed: rows?.length,
      typing: act === "type",
      choosing: isOpen,
      placing: isPlaced && !isLive,
      fencing: isPlaced && isLive,
      counted: counts,
      offering: hasOptions && !isOver,
      revealed: data && isRevealed(data),
      offered: hasOptions && isOver && !isTold(data),
    });
  }

  #tell() {
    const { result, right, act } = this.data;
    this.told.hidden = !result || isTold(this.data);
    this.told.className = `told ${result?.kind ?? ""}`;
    this.told.replaceChildren();
    if (!result) return;
    const verdict = result.kind === "shown" && this.data.isLive ? "For example:" : VERDICTS[result.kind]; // there are others
    this.told.append(element("b", "", verdict), " ", ...drawMessage(result.message), element("span", "mark", result.note));
    const kinds = right && !act ? Object.keys(LEGEND).filter((kind) => this.gaps.querySelector(`.${kind}`)) : [];
    this.told.append(...kinds.map((kind) => element("span", "swatched", element("span", `swatch ${kind}`), LEGEND[kind])));
    const words = messageInWords([`${verdict} `, ...result.message, ` ${result.note.replace(/[●◐○]/, "")}`]);
    this.told.ariaLabel = words;
    if (this.data.isLive) setTimeout(() => this.player.announcer.say(words)); // after the step
    if (!this.committed) return;
    this.committed = false;
    this.told.focus({ preventScroll: true }); // screen readers say it; the button that had the focus may be gone
    this.told.scrollIntoView({ block: "nearest" });
  }

  // ---- votes

  /** Return a count, after that before the discussion; "" for none. */
  #count(i) {
    const { counts, earlier } = this.data;
    if (!counts || !(counts[i] || earlier?.[i])) return "";
    return earlier ? `${earlier[i]} → ${counts[i]}` : String(counts[i]);
  }

  // Bars like those of the race, without counts until the answers are counted.
  #drawOptions() {
    const { options = [], counts, right, isClosed, of } = this.data;
    const key = JSON.stringify([of, options]);
    if (key !== this.drawnOptions) {
      this.drawnOptions = key; // buttons stay, so that they keep the focus
      this.bars = options.map(({ tokens, words }, i) => {
        const bar = newButton("bar", "", () => this.choose(i), words);
        const name = tokens.length ? tokens.map(([label, color]) => tokenLabel(label, color)) : [words];
        bar.append(element("span", tokens.length ? "pair" : "pair plain", ...name), element("b", "value"), element("span", "length"));
        bar.onfocus = bar.onpointerenter = () => this.#ring(i);
        bar.onblur = bar.onpointerleave = () => this.#ring(-1);
        return bar;
      });
      this.options.replaceChildren(...this.bars);
    }
    this.options.hidden = !options.length;
    const most = Math.max(1, ...(counts ?? []));
    this.bars.forEach((bar, i) => {
      const isRight = Boolean(right?.includes(options[i].value));
      bar.ariaDisabled = String(Boolean(isClosed));
      bar.classList.toggle("wins", isRight);
      bar.querySelector(".value").textContent = `${isRight ? "✓ " : ""}${counts ? this.#count(i) || 0 : ""}`;
      bar.ariaDescription = bar.querySelector(".value").textContent;
      bar.style.setProperty("--share", counts ? counts[i] / most : 0);
    });
  }

  // The answers with each step, below the track.
  #drawTicks() {
    const { counts, options, places } = this.data;
    const isCounted = Boolean(counts) && !options?.length && !places.length;
    this.ticks.hidden = !isCounted;
    if (!isCounted) return;
    const most = Math.max(1, ...counts);
    const named = []; // of close ones only the largest, or two would read as one number
    const apart = (TICK_NAME * (counts.length - 1)) / (this.ticks.clientWidth || 1);
    for (const i of counts.map((_, i) => i).sort((one, other) => counts[other] - counts[one]))
      if (this.#count(i) && named.every((other) => Math.abs(other - i) > apart)) named.push(i);
    const style = (i) => `left: ${(100 * i) / (counts.length - 1)}%; --share: ${counts[i] / most}`;
    const ticks = counts.map((_, i) => element("span", { style: style(i) }, named.includes(i) ? this.#count(i) : ""));
    this.ticks.replaceChildren(...ticks.filter((_, i) => this.#count(i)));
  }

  // ---- places

  get #view() {
    return this.player.views[0];
  }

  /** Return the tokens that meet after an atom. */
  #pairAt(atom) {
    return [atom, atom + 1].map((at) => this.#view.timeline.token(at, this.player.data.last));
  }

  #nameOf(i) {
    if (this.data.act === "pair") return this.#pairAt(this.data.places[i]).map(({ id }) => spokenLabel(this.#view.style(id).label)).join(" and ");
    const { cells, cellOf } = this.#view.cells;
    const atom = this.data.places[i];
    const name = (at) => spoken(cells[cellOf[at]].text.replaceAll("\u00a0", " ")); // a drawn space
    return `${this.data.isLive ? "Fence" : "Boundary"} between ${[atom, atom + 1].map(name).join(" and ")}`;
  }

  #drawPlaces() {
    const { act, given, places, right, isClosed } = this.data;
    const isOpen = (act === "pair" || act === "boundaries") && !isClosed;
    const isBits = (act === "boundaries" || right) && typeof given === "number"; // that of a pair is a place
    const mine = isBits ? bitsOf(given) : [];
    const focused = this.buttons?.indexOf(this.gaps.getRootNode().activeElement) ?? -1;
    const atom = this.atoms?.[focused];
    this.atoms = places;
    this.gaps.replaceChildren(
      ...places.map((_, i) => {
        if (isOpen) return newButton("gap", "", () => this.choose(i), this.#nameOf(i));
        const isMine = mine.includes(i);
        const kind = right?.includes(i) ? (isMine || given === null ? "right" : "missing") : !isMine ? "" : right ? "extra" : "mine";
        return element("i", `gap ${kind}`, element("b", "count", this.#count(i)));
      }),
    );
    this.buttons = isOpen ? [...this.gaps.children] : [];
    const at = isOpen && focused >= 0 ? Math.max(0, places.findLastIndex((place) => place <= atom)) : 0;
    this.buttons.forEach((button, i) => (button.tabIndex = i === at ? 0 : -1));
    if (focused >= 0) (this.buttons[at] ?? this.told).focus({ preventScroll: true });
    this.#mark();
  }

  /** Put the places where the text has them now. */
  place() {
    const { score } = this.player.stage ?? {};
    if (!this.data || !score?.lines.length) return;
    const { host, rows } = score;
    if (this.gaps.parentNode !== host) host.append(this.gaps);
    const origin = host.getBoundingClientRect();
    const [left, top] = [origin.left + host.clientLeft - host.scrollLeft, origin.top + host.clientTop - host.scrollTop];
    this.edges = this.data.places.map((atom) => {
      const edge = rows[0].edgeAfter(atom);
      const end = score.lines[rows[0].lineOf(atom)].element.getBoundingClientRect().bottom;
      return { x: edge.x - left, top: edge.top - top, bottom: edge.bottom - top, end: end - edge.bottom };
    });
    this.edges.forEach((edge, i) => {
      this.gaps.children[i].style.cssText = `left:${edge.x}px;top:${edge.top}px;height:${edge.bottom - edge.top}px;--end:${edge.end}px`;
    });
  }

  #at({ clientX, clientY }) {
    const { host } = this.player.stage.score;
    const { left, top } = host.getBoundingClientRect();
    return nearestPlace(this.edges, clientX - left - host.clientLeft + host.scrollLeft, clientY - top - host.clientTop + host.scrollTop);
  }

  hover(event) {
    const at = this.#at(event);
    this.#ring(at);
    if (this.data.act !== "boundaries") return;
    this.buttons.forEach((button, i) => button.classList.toggle("near", i === at)); // what a click would choose
  }

  click(event) {
    if (event.target.localName !== "button") this.choose(this.#at(event)); // a key presses the buttons
  }

  leave() {
    this.#ring(-1);
    this.buttons?.forEach((button) => button.classList.remove("near"));
  }

  /** Choose the pair at a place or an option, or set or remove a boundary there. */
  choose(i) {
    if (i < 0 || this.data.isClosed) return;
    const { act, isLive } = this.data;
    const { playback } = this.player;
    if (playback?.isPlaying) {
      playback.stop();
      this.player.show(this.player.data.last);
    }
    this.hasChosen = true;
    if (act !== "boundaries") this.chosen = [i];
    else this.chosen = this.chosen.includes(i) ? this.chosen.filter((at) => at !== i) : [...this.chosen, i];
    this.#mark();
    if (!isLive && act !== "belief") return;
    this.clear();
    this.#send(this.value);
  }

  #mark() {
    const { act, given } = this.data;
    [...this.buttons, ...this.bars].forEach((button, i) => (button.ariaPressed = String(this.chosen.includes(i))));
    const isSame = act !== "stop" && given !== null && this.value === given;
    this.check.disabled = this.value === null || isSame;
    this.#ring(-1);
  }

  /** Outline all places of the pair at a place, or of the chosen one. */
  #ring(i) {
    if (this.data?.act !== "pair" || !(this.buttons.length + this.bars.length) || this.player.playback.isPlaying) return;
    const at = i < 0 ? (this.chosen[0] ?? -1) : i;
    if (this.ringed === at) return;
    this.#outline(false);
    this.ringed = at;
    this.#outline(true);
  }

  /** Return the ids of the pair of an option, or at a place. */
  #idsOf(i) {
    const { options = [], places } = this.data;
    const { value = places[i], ids = [] } = options[i] ?? {};
    return ids.length || value === undefined ? ids : this.#pairAt(value).map(({ id }) => id);
  }

  #outline(on) {
    const wanted = this.ringed >= 0 ? this.#idsOf(this.ringed) : [];
    if (!wanted.length) return;
    const { places } = this.data;
    const tokens = [...this.#view.tokens()];
    tokens.forEach(({ start, end }, i) => {
      const run = tokens.slice(i, i + wanted.length);
      if (run.map(({ id }) => id).join() !== wanted.join() || (places.length && !places.includes(end - 1))) return;
      this.#view.outline({ start, end: run.at(-1).end }, on);
    });
  }

  /** Take the rings away before tokens change. */
  clear() {
    if (this.data?.act === "pair") this.#outline(false);
    this.ringed = -1;
  }

  // ---- answers

  /** Send an answer, null to be shown it. */
  #commit(value) {
    this.committed = !this.data.isVote;
    this.hasTyped = false;
    this.ids.forget();
    clearTimeout(this.timer);
    this.clear();
    this.#send(value);
  }

  #send(value) {
    this.hasSent = true;
    this.on("answer", { of: this.data.of, value });
  }
}

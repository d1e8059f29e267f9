// A vote on a member's page: the question, the answers to give or their counts, and the result in words.

import { largestFitting } from "../player/fit.js";
import { element, tokenLabel } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";
import { drawMessage, drawRows, messageInWords } from "../shared/message.js";

/**
 * @typedef {object} VotePayload the payload from Python (`bpeviz.room.votes.Vote.state`)
 * @property {number | string} number of the vote, or the key of a question that is not asked yet
 * @property {import("../shared/message.js").MessagePart[]} prompt
 * @property {import("../shared/message.js").MessageRow[]} see
 * @property {boolean} isAlone whether it is shown without the player or the score
 * @property {boolean} isAboutStep whether the next step reveals the answer
 * @property {string} name
 * @property {{low: number, high: number, unit: string, bins: number} | null} numbers
 * @property {string[]} pieces the text between the places for boundaries: an answer has a bit for each place
 * @property {{value: number, tokens: [string, number][], words: string}[]} options those to choose from, or the
 *   places; of numbers, those that were answered, once the counts are shown
 * @property {boolean} isOpen
 * @property {boolean} isAgain whether it is the vote after the discussion
 * @property {number} answered
 * @property {number | null} mine the value of the follower's answer
 * @property {number[] | null} counts
 * @property {number[] | null} earlier the counts before “discuss, then vote again”
 * @property {number[] | null} right the values of the right options, once they are revealed
 * @property {import("../shared/message.js").MessagePart[]} explanation
 */

const LARGEST_ZOOM = 2;
const WITH_PICTURE = 0.45; // of the height of the page, where the player or the score are below
const BELOW = 12; // pixels

/** Return whether an answer has a boundary at a place. */
const isSet = (answer, place) => Math.floor(answer / 2 ** place) % 2 === 1;

/** Return a text with its boundaries. */
const cutUp = (pieces, hasBoundary) => pieces.map((piece, i) => (i && hasBoundary(i - 1) ? ` | ${piece}` : piece)).join("");

const sum = (counts) => counts.reduce((total, count) => total + count, 0);
const nOfM = (n, m) => `${formatCount(n)} of ${formatCount(m)}`;

/**
 * Return how a count has changed, as half a sentence.
 * @param {number} count
 * @param {number} before
 */
const change = (count, before) =>
  count === before ? "as many as before" : `${formatCount(Math.abs(count - before))} ${count > before ? "more" : "fewer"} than before`;

/**
 * Return the counts of a vote and its answer in words.
 * @param {VotePayload} vote
 * @param {boolean} isLeader
 * @returns {string} "" before the counts are shown
 */
export function resultInWords({ options, pieces, counts, earlier, answered, right }, isLeader) {
  if (!counts) return "";
  const name = (i) => options[i].words.replace(/\.$/, "");
  const result = (i, chosen = name(i)) => {
    const changed = earlier && !pieces.length ? `: ${change(counts[i], earlier[i])} the discussion (${nOfM(earlier[i], sum(earlier))})` : "";
    return `${nOfM(counts[i], answered)} chose ${chosen}${changed}.`;
  };
  if (right && pieces.length) return `Right: ${cutUp(pieces, (i) => right.includes(i))}. ${counted(answered, "answer")}.`;
  if (right?.length) {
    const i = options.findIndex(({ value }) => value === right[0]);
    return `Right: ${name(i)}. ${counts[i] || earlier?.[i] ? result(i, "it") : "Nobody chose it."}`;
  }
  const most = answered ? result(counts.indexOf(Math.max(...counts))) : "Nobody has answered.";
  return isLeader && !right ? `${most} Discuss, or reveal the answer.` : most;
}

export class Ballot {
  /**
   * @param {any} root of the component
   * @param {boolean} isLeader
   * @param {(message: any) => void} send
   */
  constructor(root, isLeader, send) {
    this.isLeader = isLeader;
    this.find = (selector) => root.querySelector(selector);
    this.section = this.find(".vote");
    this.send = (answer) => send({ answer, vote: this.vote.number });
    this.find(".foot").addEventListener("click", ({ target }) => (this.pressed = target));
    const field = this.find(".number input");
    this.find(".number").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.vote.pieces.length) return this.send(this.chosen);
      const { low, high } = this.vote.numbers;
      const typed = Number(field.value);
      if (field.value !== "" && Number.isInteger(typed) && typed >= low && typed <= high) this.send(typed);
      else this.#say(`Enter a whole number from ${formatCount(low)} to ${formatCount(high)}.`);
    });
  }

  /**
   * @param {VotePayload | null} vote
   * @param {number} followers
   * @param {boolean} isPreview whether followers do not see it yet
   */
  update(vote, followers, isPreview = false) {
    this.section.hidden = !vote;
    const isNew = vote && this.vote?.number !== vote.number;
    this.vote = vote;
    if (!vote) return;
    if (isNew) this.#begin();
    this.#drawAnswers();
    const { numbers, pieces, name, right, isOpen, counts } = vote;
    this.find(".number").hidden = !(numbers || pieces.length) || this.isLeader || !isOpen;
    const words = isPreview ? `${name}. Only this page shows it, until you ask it.` : resultInWords(vote, this.isLeader);
    this.#say(words || this.#progress(followers));
    this.find(".explanation").replaceChildren(...drawMessage(vote.explanation));
    for (const name of ["show", "again", "reveal"]) this.find(`[data-do=${name}]`).hidden = right !== null;
    this.find("[data-do=show]").hidden ||= Boolean(counts);
    if (this.pressed?.hidden) this.section.querySelector(".leads button:not([hidden])").focus();
    this.pressed = null;
    this.fit();
  }

  /** On the leader's page, for a projector: enlarge the vote as far as it leaves room for the picture. */
  fit() {
    if (!this.isLeader || !this.vote) return;
    const { style } = this.section;
    const share = this.vote.isAlone ? 1 : WITH_PICTURE;
    const fits = (eighths) => {
      style.zoom = String(eighths / 8);
      return this.section.getBoundingClientRect().bottom + scrollY <= innerHeight * share - BELOW;
    };
    style.zoom = String((largestFitting(8, 8 * LARGEST_ZOOM, fits) ?? 8) / 8);
  }

  #begin() {
    const { prompt, see, numbers, pieces, options, mine } = this.vote;
    this.chosen = mine ?? 0;
    this.find(".prompt").replaceChildren(...drawMessage(prompt));
    drawRows(this.find(".see"), see);
    this.isLong = options.some(({ words, tokens }) => !tokens.length && words.length > 24);
    this.isShort = Boolean(pieces.length || numbers?.bins); // a place or a bin has room for a number only
    this.section.classList.toggle("long", this.isLong);
    this.section.classList.toggle("word", Boolean(pieces.length));
    this.section.classList.toggle("bins", Boolean(numbers?.bins));
    this.find(".number label").hidden = this.find(".number input").disabled = !numbers;
    const question = messageInWords(prompt);
    this.section.ariaLabel = `Vote: ${question}`;
    this.find(".spoken").textContent = `Vote: ${question}`; // a part that was hidden is not announced by itself
    if (!numbers) return;
    const { low, high, unit } = numbers;
    this.find(".number span").textContent = `Your answer in ${unit}, from ${formatCount(low)} to ${formatCount(high)}`;
    this.find(".number input").value = "";
  }

  #drawAnswers() {
    const { options, pieces, counts, earlier, answered, mine, right, isOpen, number } = this.vote;
    const list = this.find(".answers");
    const key = JSON.stringify([number, options]);
    if (this.drawn !== key) {
      this.drawn = key; // buttons stay, so that they keep the focus
      list.replaceChildren(...options.map((option) => this.#option(option)));
      if (pieces.length) list.append(element("li", "part", pieces.at(-1)));
      const most = this.isLong ? 3 : 5; // in a row
      list.style.setProperty("--count", String(options.length <= most ? options.length : most - 1));
    }
    this.section.classList.toggle("counted", Boolean(counts));
    const longest = Math.max(1, ...(counts ?? []), ...(earlier ?? []));
    list.querySelectorAll(".option").forEach((option, i) => {
      const isMine = pieces.length ? isSet(this.chosen, i) : mine === options[i].value;
      const isRight = Boolean(right?.includes(options[i].value));
      if (option.localName === "button") {
        option.ariaPressed = String(isMine);
        option.disabled = !isOpen;
      }
      option.classList.toggle("mine", isMine);
      option.classList.toggle("right", isRight);
      const words = [];
      if (isRight) words.push(this.isShort ? "✓" : "✓ right");
      if (this.isShort) {
        if (earlier?.[i]) words.push(formatCount(earlier[i]), "↓");
        if (counts?.[i] || earlier?.[i]) words.push(formatCount(counts[i]));
      } else {
        if (counts) words.push(`${nOfM(counts[i], answered)}${this.isLeader ? "" : " chose it"}`);
        if (earlier) words.push(`${formatCount(earlier[i])} before`);
        if (isMine) words.push("your answer");
      }
      option.querySelector(".words").textContent = words.join(this.isShort ? "\n" : " · ");
      const bar = (name, values) => {
        const length = option.querySelector(`.length.${name}`);
        length.hidden = !values;
        length.style.setProperty("--share", String((values?.[i] ?? 0) / longest));
      };
      bar("before", earlier);
      bar("now", counts);
    });
  }

  #option({ value, tokens, words }) {
    const isButton = !this.isLeader && !this.vote.numbers;
    const option = element(isButton ? "button" : "div", "option");
    const name = element("span", tokens.length ? "name" : "name plain");
    tokens.forEach(([label, color], k) => name.append(...(k ? [" + "] : []), tokenLabel(label, color)));
    if (!tokens.length) name.textContent = words;
    option.append(name, element("span", "words"), element("span", "length before"), element("span", "length now"));
    if (isButton) {
      option.type = "button";
      option.addEventListener("click", () => this.#choose(value));
    }
    const item = element("li");
    if (this.vote.pieces.length) item.append(element("span", "part", this.vote.pieces[value]));
    item.append(option);
    return item;
  }

  /** Send an option, or set or remove a boundary. */
  #choose(value) {
    if (!this.vote.pieces.length) return this.send(value);
    this.chosen += isSet(this.chosen, value) ? -(2 ** value) : 2 ** value;
    this.#drawAnswers();
  }

  #progress(followers) {
    const { answered, isOpen, isAgain, mine, numbers, pieces } = this.vote;
    if (this.isLeader) return `${nOfM(answered, Math.max(answered, followers))} have answered${isAgain ? " again" : ""}.`;
    if (!isOpen) return "The vote is closed.";
    const change = "You can change your answer until the vote is closed.";
    const todo = pieces.length ? "Set boundaries, then send them." : numbers ? "Enter a number." : "Choose one.";
    if (mine === null) return `${isAgain ? "Talk to your neighbor, then answer again." : todo} ${change}`;
    const counted = pieces.length ? `: ${cutUp(pieces, (i) => isSet(mine, i))}` : numbers ? `: ${formatCount(mine)}` : "";
    return `Counted${counted}. ${change}`;
  }

  #say(words) {
    const said = this.find(".said");
    if (said.textContent !== words) said.textContent = words;
  }
}

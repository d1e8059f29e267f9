// A vote on a member's page: the question with its answers to give or their counts, unless it is a task
// on the stage (`player/task.js`), and the result in words.

import { largestFitting } from "../player/fit.js";
import { element, tokenLabel } from "../shared/dom.js";
import { counted, formatCount } from "../shared/format.js";
import { drawMessage, messageInWords } from "../shared/message.js";

/**
 * @typedef {object} VotePayload the payload from Python (`bpeviz.room.votes.Vote.state`)
 * @property {number | string} number of the vote, or the key of a question that is not asked yet
 * @property {boolean} isAlone whether it is shown without the player or the score
 * @property {boolean} isStaged whether it is answered on the stage
 * @property {boolean} isAboutStep whether the next step reveals the answer
 * @property {string} name
 * @property {boolean} isOpen
 * @property {boolean} isAgain whether it is the vote after the discussion
 * @property {boolean} isRevealed
 * @property {number} answered
 * @property {string} sent the follower's answer in words, or ""
 * @property {number | null} had how many answers were right, once they are revealed
 * @property {import("../shared/message.js").MessagePart[]} explanation
 * @property {import("../player/task.js").TaskPayload} task of numbers, its options are those that were answered
 */

const TO_DO = {
  pair: "Choose one, then send it.",
  boundaries: "Press between two letters, then send.",
  stop: "Move the line, then send.",
  live: "Press between two characters. Each fence is sent at once.",
};
const LARGEST_ZOOM = 2;
const WITH_PICTURE = 0.45; // of the height of the page, where the player or the score are below
const BELOW = 12; // pixels

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
export function resultInWords({ isStaged, isRevealed, answered, had, task }, isLeader) {
  const { options, counts, earlier, right } = task;
  if (!counts) return "";
  if (isStaged) return isRevealed ? (answered ? `${nOfM(had, answered)} had it.` : "Nobody has answered.") : `${counted(answered, "answer")}.${isLeader ? " Discuss, or reveal the answer." : ""}`;
  const name = (i) => options[i].words.replace(/\.$/, "");
  const result = (i, chosen = `“${name(i)}”`) => {
    const changed = earlier ? `: ${change(counts[i], earlier[i])} the discussion (${nOfM(earlier[i], sum(earlier))})` : "";
    return `${nOfM(counts[i], answered)} chose ${chosen}${changed}.`;
  };
  if (right?.length) {
    const i = options.findIndex(({ value }) => value === right[0]);
    return `Right: ${name(i)}. ${counts[i] || earlier?.[i] ? result(i, "it") : "Nobody chose it."}`;
  }
  const most = Math.max(...counts);
  const isTied = counts.filter((count) => count === most).length > 1;
  const tied = task.numbers ? `${counted(answered, "answer")}.` : "Several answers have the most votes.";
  const words = !answered ? "Nobody has answered." : isTied ? tied : result(counts.indexOf(most));
  return isLeader && !isRevealed ? `${words} Discuss, or reveal the answer.` : words;
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
      const { low, high } = this.vote.task.numbers;
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
    const { name, isOpen, isStaged, isRevealed, task, explanation } = vote;
    this.find(".number").hidden = !task.numbers || this.isLeader || !isOpen;
    const words = isPreview ? `${name}. Only this page shows it, until you ask it.` : resultInWords(vote, this.isLeader);
    this.#say(words || this.#progress(followers));
    this.find(".explanation").replaceChildren(...drawMessage(isStaged ? [] : explanation));
    for (const name of ["show", "again", "reveal"]) this.find(`[data-do=${name}]`).hidden = isRevealed;
    this.find("[data-do=show]").hidden ||= Boolean(task.counts);
    if (this.pressed?.hidden) this.section.querySelector(".leads button:not([hidden])").focus();
    this.pressed = null;
    this.fit();
  }

  /** On the leader's page, for a projector: enlarge the vote as far as it leaves room for the picture. */
  fit() {
    if (!this.isLeader || !this.vote) return;
    const { style } = this.section;
    const share = this.vote.isAlone && !this.vote.isStaged ? 1 : WITH_PICTURE;
    const fits = (eighths) => {
      style.zoom = String(eighths / 8);
      return this.section.getBoundingClientRect().bottom + scrollY <= innerHeight * share - BELOW;
    };
    style.zoom = String(this.vote.isStaged ? 1 : (largestFitting(8, 8 * LARGEST_ZOOM, fits) ?? 8) / 8);
  }

  #begin() {
    const { isStaged, task } = this.vote;
    const { prompt, numbers, options } = task;
    this.find(".prompt").replaceChildren(...drawMessage(prompt));
    this.isLong = options.some(({ words, tokens }) => !tokens.length && words.length > 24);
    this.section.classList.toggle("long", this.isLong);
    this.find(".prompt").hidden = this.find(".answers").hidden = isStaged; // they are on the stage
    this.find(".number input").disabled = !numbers;
    const question = messageInWords(prompt);
    this.section.ariaLabel = `Vote: ${question}`;
    this.find(".spoken").textContent = `Vote: ${question}`; // a part that was hidden is not announced by itself
    if (!numbers) return;
    const { low, high, unit } = numbers;
    this.find(".number span").textContent = `Your answer in ${unit}, from ${formatCount(low)} to ${formatCount(high)}`;
    this.find(".number input").value = "";
  }

  #drawAnswers() {
    const { answered, isOpen, number, task } = this.vote;
    const { options, counts, earlier, given, right } = task;
    const list = this.find(".answers");
    const key = JSON.stringify([number, options]);
    if (this.drawn !== key) {
      this.drawn = key; // buttons stay, so that they keep the focus
      list.replaceChildren(...options.map((option) => this.#option(option)));
      const most = this.isLong ? 3 : 5; // in a row
      list.style.setProperty("--count", String(options.length <= most ? options.length : most - 1));
    }
    const longest = Math.max(1, ...(counts ?? []), ...(earlier ?? []));
    list.querySelectorAll(".option").forEach((option, i) => {
      const isMine = given === options[i].value;
      const isRight = Boolean(right?.includes(options[i].value));
      if (option.localName === "button") {
        option.ariaPressed = String(isMine);
        option.disabled = !isOpen;
      }
      option.classList.toggle("mine", isMine);
      option.classList.toggle("right", isRight);
      const words = [];
      if (isRight) words.push("✓ right");
      if (counts) words.push(`${nOfM(counts[i], answered)}${this.isLeader ? "" : " chose it"}`);
      if (earlier) words.push(`${formatCount(earlier[i])} before`);
      if (isMine) words.push("your answer");
      option.querySelector(".words").textContent = words.join(" · ");
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
    const isButton = !this.isLeader && !this.vote.task.numbers;
    const option = element(isButton ? "button" : "div", "option");
    const name = element("span", tokens.length ? "name" : "name plain");
    tokens.forEach(([label, color], k) => name.append(...(k ? [" + "] : []), tokenLabel(label, color)));
    if (!tokens.length) name.textContent = words;
    option.append(name, element("span", "words"), element("span", "length before"), element("span", "length now"));
    if (isButton) {
      option.type = "button";
      option.addEventListener("click", () => this.send(value));
    }
    const item = element("li");
    item.append(option);
    return item;
  }

  #progress(followers) {
    const { answered, isOpen, isAgain, isStaged, sent, task } = this.vote;
    if (this.isLeader) return `${nOfM(answered, Math.max(answered, followers))} have answered${isAgain ? " again" : ""}.`;
    if (!isOpen) return "The vote is closed.";
    const change = "You can change your answer until the vote is closed.";
    if (sent) return `Sent: ${sent}. ${change}`;
    const todo = isStaged ? TO_DO[task.isLive ? "live" : task.act] : task.numbers ? "Enter a number." : "Choose one.";
    return `${isAgain ? "Talk to your neighbor, then answer again." : todo} ${change}`;
  }

  #say(words) {
    const said = this.find(".said");
    if (said.textContent !== words) said.textContent = words;
  }
}

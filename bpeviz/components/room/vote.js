// A vote on a member's page: its task, unless that is on the stage, how many have answered, and the leader's buttons.

import { largestFitting } from "../player/fit.js";
import { Task } from "../player/task.js";
import { counted, formatCount } from "../shared/format.js";
import { messageInWords } from "../shared/message.js";

/**
 * @typedef {object} VotePayload the payload from Python (`bpeviz.room.votes.Vote.state`)
 * @property {number} number of the vote
 * @property {boolean} isAlone whether it is shown without the player or the score
 * @property {boolean} isStaged whether it is answered on the stage
 * @property {string} name
 * @property {boolean} isAgain whether it is the vote after the discussion
 * @property {number} answered
 * @property {string} sent the follower's answer in words, or ""
 * @property {number | null} had how many answers were right, once that is revealed
 * @property {import("../player/task.js").TaskPayload} task
 */

const TO_DO = {
  pair: "Choose one, then send it.",
  boundaries: "Press between two letters, then send.",
  stop: "Move the line, then send.",
  live: "Press between two characters. Each fence is sent at once.",
  belief: "Choose one.",
};
const LARGEST_ZOOM = 2;
const WITH_PICTURE = 0.36; // of the height of the page, where the player or the score are below
const BELOW = 12; // pixels

const nOfM = (n, m) => `${formatCount(n)} of ${formatCount(m)}`;

/**
 * Return how far a vote is, in words.
 * @param {VotePayload} vote
 * @param {boolean} isLeader
 * @param {number} followers
 */
export function progressInWords({ answered, had, isAgain, sent, task }, isLeader, followers) {
  const { act, counts, isClosed, isLive, result } = task;
  if (result && had !== null) return answered ? `${nOfM(had, answered)} had it.` : "Nobody has answered.";
  if (counts) return `${counted(answered, "answer")}.${isLeader && !result ? " Discuss, or reveal the answer." : ""}`;
  if (isLeader) return `${nOfM(answered, Math.max(answered, followers))} have answered${isAgain ? " again" : ""}.`;
  if (isClosed) return "The vote is closed.";
  const todo = TO_DO[isLive ? "live" : act];
  const words = sent ? `Sent: ${sent}.` : isAgain ? "Talk to your neighbor, then answer again." : todo;
  return `${words} You can change your answer until the vote is closed.`;
}

export class Ballot {
  /**
   * @param {any} root of the component
   * @param {boolean} isLeader
   * @param {(name: string, value: any) => void} on receives an answer that is not given on the stage
   * @param {AbortSignal} signal
   */
  constructor(root, isLeader, on, signal) {
    this.isLeader = isLeader;
    this.on = on;
    this.find = (selector) => root.querySelector(selector);
    this.section = this.find(".vote");
    this.task = new Task(this.section, { section: this.section }, signal);
    this.find(".foot").addEventListener("click", ({ target }) => (this.pressed = target));
  }

  /**
   * @param {VotePayload | null} vote
   * @param {number} followers
   */
  update(vote, followers) {
    this.section.hidden = !vote;
    const isNew = vote && this.vote?.number !== vote.number;
    this.vote = vote;
    if (!vote) return;
    const { isStaged, task } = vote;
    this.task.update(isStaged ? undefined : task, this.on);
    if (isNew) this.find(".spoken").textContent = this.section.ariaLabel = `Vote: ${messageInWords(task.prompt)}`;
    const words = progressInWords(vote, this.isLeader, followers);
    const said = this.find(".said");
    if (said.textContent !== words) said.textContent = words;
    for (const name of ["show", "again", "reveal"]) this.find(`[data-do=${name}]`).hidden = Boolean(task.result);
    this.find("[data-do=show]").hidden ||= Boolean(task.counts);
    if (this.pressed?.hidden) this.section.querySelector(".leads button:not([hidden])").focus();
    this.pressed = null;
    this.fit();
  }

  /** On the leader's page, for a projector: enlarge the vote as far as it leaves room for the picture. */
  fit() {
    if (!this.isLeader || !this.vote) return;
    const { style } = this.section;
    const { isAlone, isStaged } = this.vote;
    const fits = (eighths) => {
      style.zoom = String(eighths / 8);
      return this.section.getBoundingClientRect().bottom + scrollY <= innerHeight * (isAlone ? 1 : WITH_PICTURE) - BELOW;
    };
    style.zoom = String(isStaged ? 1 : (largestFitting(8, 8 * LARGEST_ZOOM, fits) ?? 8) / 8);
  }
}

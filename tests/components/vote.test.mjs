// How far a vote is, in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { progressInWords } from "../../bpeviz/components/room/vote.js";

const vote = ({ task = {}, ...fields } = {}) => ({
  ...{ answered: 2, had: null, isAgain: false, sent: "" },
  ...fields,
  task: { act: "belief", counts: null, isClosed: false, isLive: false, result: null, ...task },
});
const ofFollower = (fields) => progressInWords(vote(fields), false, 3);
const ofLeader = (fields) => progressInWords(vote(fields), true, 3);

test("a follower reads what to do, what was sent, and that the vote is closed", () => {
  const change = "You can change your answer until the vote is closed.";
  assert.equal(ofFollower(), `Choose one. ${change}`);
  assert.match(ofFollower({ task: { act: "boundaries", isLive: true } }), /Each fence is sent at once/);
  assert.equal(ofFollower({ sent: "It reads" }), `Sent: It reads. ${change}`);
  assert.equal(ofFollower({ isAgain: true }), `Talk to your neighbor, then answer again. ${change}`);
  assert.equal(ofFollower({ task: { isClosed: true } }), "The vote is closed.");
});

test("the leader reads how many have answered, also more than follow now", () => {
  assert.equal(ofLeader(), "2 of 3 have answered.");
  assert.equal(ofLeader({ answered: 4, isAgain: true }), "4 of 4 have answered again.");
  assert.equal(ofLeader({ task: { counts: [2, 0] } }), "2 answers. Discuss, or reveal the answer.");
});

test("both read how many were right once that is revealed, if one is", () => {
  const task = { counts: [2, 0], result: { kind: "shown" } };
  for (const read of [ofFollower, ofLeader]) {
    assert.equal(read({ had: 1, task }), "1 of 2 had it.");
    assert.equal(read({ had: 0, answered: 0, task }), "Nobody has answered.");
    assert.equal(read({ task }), "2 answers.");
  }
});

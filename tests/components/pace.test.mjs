// The pace of playback, for trainings of any length.

import assert from "node:assert/strict";
import { test } from "node:test";

import { MAX_JUMPS, Opening, Playback, REST, beatOf, duration, endOf, secondsBetween, stepAt } from "../../bpeviz/components/player/pace.js";

const LENGTHS = [1, 2, 5, 13, 14, 170, 1000, 32_000];
const FRAME = 1 / 60;

/** Play to the end; return the seconds that it took, and the seconds and the step of each change. */
function play(last, { speed = 1, frame = FRAME, from = 0, ...options } = {}) {
  const playback = new Playback(from, last, options);
  const changes = [];
  let seconds = 0;
  for (let shown = from; !playback.isOver; seconds += frame) {
    const step = playback.advance(seconds ? frame : 0, speed);
    if (step !== shown) changes.push({ seconds, step });
    shown = step;
  }
  return { seconds, changes };
}

test("a whole training takes 1.5 seconds a merge, at most 20 seconds", () => {
  assert.deepEqual([1, 2, 13, 14, 170, 32_000].map(duration), [1.5, 3, 19.5, 20, 20, 20]);
  for (const last of LENGTHS)
    for (const speed of [0.5, 1, 4, 16]) {
      const { seconds, changes } = play(last, { speed });
      assert.ok(Math.abs(seconds - duration(last) / speed) < 3 * FRAME, `${last} at ${speed}×: ${seconds} s`);
      assert.equal(changes.at(-1).step, last);
    }
});

test("the first merge is shown at once, and early ones last longest", () => {
  for (const last of LENGTHS) {
    const { changes } = play(last);
    assert.equal(changes[0].step, 1);
    assert.equal(changes[0].seconds, 0);
    if (last > 1) assert.ok(Math.abs(changes[1].seconds - 1.5) < 2 * FRAME);
  }
  // Up to 13 merges, all take the same time.
  const { changes } = play(13);
  changes.forEach(({ seconds, step }, i) => {
    assert.equal(step, i + 1);
    assert.ok(Math.abs(seconds - 1.5 * i) < 2 * FRAME);
  });
});

test("the time of a step and the step at a time are inverse", () => {
  for (const last of LENGTHS) {
    assert.ok(Math.abs(endOf(last, last) - duration(last)) < 1e-6);
    for (const step of [0, 1, 2, last >> 1, last - 1]) if (step < last) assert.equal(stepAt(endOf(step, last), last), step + 1);
  }
});

test("at most three changes a second, at any speed and length", () => {
  for (const last of LENGTHS)
    for (const speed of [0.5, 1, 4, 16]) {
      const { changes } = play(last, { speed });
      for (let i = 1; i < changes.length - 1; i++)
        assert.ok(changes[i].seconds - changes[i - 1].seconds > REST - 1e-9, `${last} at ${speed}×, change ${i}`);
    }
});

test("the time of a step is known when it begins, and short ones are not told in order", () => {
  for (const last of LENGTHS)
    for (const speed of [0.5, 1, 4]) {
      const playback = new Playback(0, last);
      const { changes } = play(last, { speed });
      changes.slice(0, -1).forEach(({ seconds, step }, i) => {
        playback.step = step;
        if (changes[i + 1].step === step + 1) assert.ok(Math.abs(changes[i + 1].seconds - seconds - playback.restOf(speed)) < REST);
      });
    }
  assert.deepEqual([REST, 0.399, 0.6, 1.5, 2.5].map((rest) => Math.round(1000 * beatOf(rest))), [0, 0, 50, 125, 208]);
});

test("with reduced motion, a whole training makes at most 40 jumps", () => {
  for (const last of [39, 40, 41, 170, 32_000])
    for (const speed of [0.5, 1, 16]) {
      const { changes } = play(last, { speed, reducedMotion: true });
      assert.ok(changes.length <= MAX_JUMPS, `${last} at ${speed}×: ${changes.length}`);
      if (speed === 1) assert.ok(changes.length > 25);
    }
});

test("playback from a step goes on with the next one, and a replay shows the start first", () => {
  const { changes, seconds } = play(170, { from: 100 });
  assert.deepEqual(changes[0], { seconds: 0, step: 101 });
  assert.ok(Math.abs(seconds - (20 - endOf(100, 170))) < 3 * FRAME);
  const replay = play(170, { replay: true });
  assert.ok(replay.changes[0].seconds >= 0.5 - FRAME && replay.changes[0].step === 1);
  assert.ok(Math.abs(replay.seconds - 20) < 3 * FRAME);
});

test("playback follows the clock of a busy machine, but does not skip an interruption", () => {
  assert.deepEqual([16, 250, 700, 3000].map((now) => secondsBetween(0, now)), [0.016, 0.25, 0.7, 3]);
  assert.equal(secondsBetween(1000, 3_600_000), 0);
  assert.equal(secondsBetween(1000, 990), 0);
  for (const frame of [0.2, 0.7, 2]) {
    const { seconds, changes } = play(17, { frame });
    assert.ok(Math.abs(seconds - duration(17)) <= 2 * frame, `frames of ${frame} s: ${seconds} s`);
    assert.equal(changes.at(-1).step, 17);
  }
});

test("the opening shows three merges for 2.5 seconds each, and the others in 12 seconds", () => {
  for (const last of [1, 2, 3, 4, 22, 170, 1000]) {
    const opening = new Opening(last);
    const times = new Map([[opening.advance(0), 0]]);
    let seconds = 0;
    while (!opening.isOver) {
      seconds += FRAME;
      const before = opening.step;
      if (opening.advance(FRAME) !== before) times.set(opening.step, seconds);
    }
    assert.equal(opening.step, last);
    assert.ok(Math.abs(seconds - (last > 3 ? 19.5 : 2.5 * last)) < 2 * FRAME, `${last}: ${seconds} s`);
    for (const step of [1, 2, 3]) if (step <= last) assert.ok(Math.abs(times.get(step) - 2.5 * (step - 1)) < 2 * FRAME);
    const changes = [...times.values()];
    for (let i = 1; i < changes.length; i++) assert.ok(changes[i] - changes[i - 1] > REST - 2 * FRAME);
  }
});

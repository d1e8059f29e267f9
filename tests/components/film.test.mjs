// One event shows one step, in each frame of a training that plays.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shown } from "../../bpeviz/components/player/film.js";
import { Playback, beatOf } from "../../bpeviz/components/player/pace.js";

const [MERGES, FRAME] = [40, 1000 / 60];

/** Return what each frame of a playback shows, as `Player.show` and `Player.tell` do. */
function framesOf(speed) {
  const playback = new Playback(0, MERGES);
  const frames = [];
  let [film, at] = [{ from: 0, to: 0, beat: 0 }, 0];
  for (let now = 0; !playback.isOver; now += FRAME) {
    const to = playback.advance(now ? FRAME / 1000 : 0, speed);
    if (to !== film.to) {
      const isNext = to === film.to + 1;
      [film, at] = [{ from: film.to, to, beat: isNext ? 1000 * beatOf(playback.restOf(speed)) : 0 }, now];
    }
    frames.push({ ...shown(now - at, film), film });
  }
  return frames;
}

for (const speed of [1, 8])
  test(`all parts show one step, and the number comes last, at ${speed}×`, () => {
    const frames = framesOf(speed);
    for (const { step, sentence, letters, race, figure, marker, number, film } of frames) {
      assert.deepEqual([sentence, letters, race], [step, step, step]);
      assert.equal(marker, figure);
      assert.ok([film.from, film.to].includes(figure));
      assert.ok(number === figure || (number === film.from && figure === film.to));
    }
    frames.forEach(({ film, step, number }, i) => {
      if (frames[i + 1]?.film !== film) assert.equal(number, step, "an event ends with its number");
    });
    assert.equal(frames.at(-1).number, MERGES);
    const isSlow = ({ film }) => film.beat > 0;
    assert.equal(frames.some(isSlow), speed === 1);
  });

test("figures follow the color, and the number follows the figures", () => {
  const film = { from: 3, to: 4, beat: 100 };
  assert.deepEqual([0, 499, 500, 599, 600].map((time) => [shown(time, film).figure, shown(time, film).number]), [[3, 3], [3, 3], [4, 3], [4, 3], [4, 4]]);
  assert.equal(shown(0, { from: 3, to: 9, beat: 0 }).number, 9);
});

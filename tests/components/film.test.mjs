// When the figures and the number of the player follow an event.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shown } from "../../bpeviz/components/player/film.js";

test("figures follow the color, and the number follows the figures", () => {
  const film = { from: 3, to: 4, beat: 100 };
  assert.deepEqual([0, 499, 500, 599, 600].map((time) => Object.values(shown(time, film))), [[3, 3], [3, 3], [4, 3], [4, 3], [4, 4]]);
  assert.equal(shown(0, { from: 3, to: 9, beat: 0 }).number, 9);
});

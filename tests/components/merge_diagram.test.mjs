// The geometry of the merge diagram, and the tokens it holds at each step.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Geometry, changingSteps, existsAt, stepAfterKey } from "../../bpeviz/components/merge_diagram/geometry.js";
import { read } from "./fixtures.mjs";

const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

for (const { payload, tokens } of read("diagrams")) {
  const name = payload.sides.map(({ title }) => title).join(" and ");
  const geometry = new Geometry(payload, 800);
  const each = payload.sides.map((side, i) => ({ side, direction: geometry.directions[i], expected: tokens[i] }));

  test(`${name}: the tokens of a step are those of Python`, () => {
    for (const { side, expected } of each)
      expected.forEach((ofStep, step) => {
        const found = side.tokens.filter((token) => existsAt(token, step)).map(([from, to, , , id]) => [from, to, id]);
        assert.deepEqual(found.sort((a, b) => a[0] - b[0]), ofStep);
      });
  });

  test(`${name}: at any step the boxes fill the width of the text and touch the marker line`, () => {
    for (const { side, direction, expected } of each)
      for (let step = 0; step < expected.length; step++) {
        const boxes = side.tokens.filter((token) => existsAt(token, step)).map((token) => geometry.box(token, side.stepCount, direction));
        boxes.sort((a, b) => a.x - b.x);
        let x = geometry.x(0);
        for (const box of boxes) {
          near(box.x, x);
          x += box.width;
          const y = geometry.y(geometry.distance(step), direction);
          assert.ok(box.y - 1e-6 <= y && y <= box.y + box.height + 1e-6);
        }
        near(x, geometry.x(payload.columnCount));
      }
  });

  test(`${name}: a box is as high as the step that ends its token`, () => {
    for (const { side, direction } of each)
      for (const token of side.tokens) {
        const [, , since, until] = token;
        const { y, height } = geometry.box(token, side.stepCount, direction);
        const [inner, outer] = [y, y + height]
          .map((edge) => geometry.distanceAt(edge, direction))
          .sort((a, b) => a - b);
        near(inner, geometry.distance(since));
        if (until >= 0) near(outer, geometry.distance(until));
        else assert.ok(outer > geometry.distance(side.stepCount));
      }
  });

  test(`${name}: a distance is the inverse of its step`, () => {
    near(geometry.distance(0), 0);
    for (const step of [0, 1, 2, geometry.last]) near(geometry.stepAt(geometry.distance(step)), step);
    near(geometry.stepAt(-5), 0);
    near(geometry.stepAt(9999), geometry.last);
    const ticks = geometry.ticks();
    assert.deepEqual([ticks[0], ticks.at(-1)], [0, geometry.last]);
  });

  test(`${name}: keys move between the steps that change the text`, () => {
    const steps = changingSteps(payload);
    const changed = new Set([0, geometry.last]);
    for (const { expected } of each)
      expected.forEach((ofStep, step) => {
        if (step && JSON.stringify(ofStep) !== JSON.stringify(expected[step - 1])) changed.add(step);
      });
    assert.deepEqual(steps, [...changed].sort((a, b) => a - b));
    const middle = steps[Math.floor(steps.length / 2)];
    const next = steps[steps.indexOf(middle) + 1];
    assert.equal(stepAfterKey("ArrowUp", middle, steps), next);
    assert.equal(stepAfterKey("ArrowRight", next - 0.5, steps), next);
    assert.equal(stepAfterKey("ArrowDown", next, steps), middle);
    assert.equal(stepAfterKey("ArrowLeft", 0, steps), 0);
    assert.equal(stepAfterKey("ArrowUp", geometry.last, steps), geometry.last);
    assert.equal(stepAfterKey("Home", middle, steps), 0);
    assert.equal(stepAfterKey("End", middle, steps), geometry.last);
    assert.equal(stepAfterKey("PageUp", 3, steps), 7);
    assert.equal(stepAfterKey("PageDown", 7, steps), 3);
    assert.equal(stepAfterKey("a", middle, steps), undefined);
  });
}

test("columns have a least and a largest width", () => {
  const of = (columnCount, width) => new Geometry({ columnCount, sides: [{ stepCount: 5 }] }, width);
  assert.equal(of(500, 800).columnWidth, 15);
  assert.equal(of(2, 800).columnWidth, 46);
  near(of(30, 800).columnWidth, (800 - 58 - 26 - 2) / 30);
  assert.ok(of(500, 800).width > 7000); // it scrolls
});

test("the handle of the marker line is inside the visible part of a wide drawing", () => {
  const [{ payload }] = read("diagrams");
  const wide = new Geometry({ ...payload, columnCount: 60 }, 350);
  assert.ok(wide.width > 900);
  assert.equal(wide.handleX(350), 336);
  assert.equal(wide.handleX(wide.width), wide.handleX());
  assert.ok(wide.handleX() + 8 < wide.width);
});

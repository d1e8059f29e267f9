// The host of components on Streamlit's pages: when it removes one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import "./fixtures.mjs";
import { mount } from "../../bpeviz/components/host/host.js";

globalThis.location = { pathname: "/" };
document.createRange = () => ({ createContextualFragment: () => null });

/** Return a place on a page, and a function that draws data there; `calls` tells what was done. */
function newPlace() {
  const parentElement = { isConnected: true, querySelector: () => null, append: () => {} };
  const calls = [];
  const send = (name, value) => calls.push(`${name} ${value}`);
  const host = { parentElement, setStateValue: send, setTriggerValue: send };
  const module = { default: "" };
  module.mount = (root, { name }, on) => {
    module.on = on;
    calls.push(name);
    return () => calls.push("removed");
  };
  const draw = (name) => mount({ ...host, data: deflateSync(JSON.stringify({ name })) }, Promise.resolve(module), ["word"]);
  return { parentElement, calls, draw, module };
}

test("a component stays where newer data has come while it was drawn", async () => {
  const { parentElement, calls, draw } = newPlace();
  const remove = await draw("a");
  remove(); // Streamlit has the newer data, but has not called the host with it
  const removeLater = await draw("b");
  assert.deepEqual(calls, ["a", "b"]);
  parentElement.isConnected = false;
  removeLater();
  assert.deepEqual(calls, ["a", "b", "removed"]);
});

test("a component is removed also where its page is left before newer data is drawn", async () => {
  const { parentElement, calls, draw } = newPlace();
  (await draw("a"))();
  const drawing = draw("b");
  parentElement.isConnected = false;
  (await drawing)();
  assert.deepEqual(calls, ["a", "removed"]);
});

test("after a press, the last report waits until the run has ended, and its values are drawn", async (context) => {
  const { calls, draw, module } = newPlace();
  await draw("a");
  let now = performance.now();
  context.mock.method(performance, "now", () => now);
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const wait = (times) => {
    for (; times; times--) context.mock.timers.tick(50, (now += 50));
  };
  document.querySelector = () => null; // the run has not begun
  module.on("word", "b");
  module.on("report", 1);
  module.on("report", 2);
  wait(1);
  document.querySelector = () => "running";
  wait(1);
  document.querySelector = () => null;
  wait(2);
  assert.deepEqual(calls, ["a", "word b"]);
  wait(3);
  assert.deepEqual(calls, ["a", "word b", "report 2"]);
});

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
  const module = { default: "", mount: (root, { name }) => calls.push(name) && (() => calls.push("removed")) };
  const draw = (name) => mount({ data: deflateSync(JSON.stringify({ name })), parentElement }, Promise.resolve(module), []);
  return { parentElement, calls, draw };
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

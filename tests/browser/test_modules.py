"""Components whose modules are late, or cannot be loaded."""

from __future__ import annotations

import pytest
from page_helpers import expect
from playwright.sync_api import Browser, Request
from serving import OPTIONS, Server

from bpeviz import components

MOUNTED = """async () => {
  const { mount } = await import(location.href);
  const log = [];
  const module = (name) => ({
    default: `<b>${name}</b>`,
    mount: (root, data) => log.push([name, data, root.querySelectorAll("b").length]),
  });
  const place = () => document.body.appendChild(document.createElement("div"));
  const draw = (parentElement, value, loading) => {
    const json = new Blob([JSON.stringify(value)]).stream();
    return new Response(json.pipeThrough(new CompressionStream("deflate"))).arrayBuffer()
      .then((data) => () => mount({ data: new Uint8Array(data), parentElement }, loading, []));
  };
  const [late, removed] = [Promise.withResolvers(), Promise.withResolvers()];
  const [first, second, third, fourth] = [0, 1, 2, 3].map(place);
  const calls = await Promise.all([
    draw(first, "old", late.promise),
    draw(first, "new", late.promise),
    draw(second, "taken away", removed.promise),
    draw(third, "early", Promise.resolve(module("third"))),
    draw(fourth, "none", Promise.reject(new Error("lost"))),
  ]);
  const draws = calls.map((call) => call());
  second.remove();
  await new Promise((done) => setTimeout(done, 50));
  log.push("loaded");
  removed.resolve(module("second"));
  late.resolve(module("first"));
  await Promise.all(draws);
  const said = () => fourth.querySelectorAll("[role=alert] button").length;
  log.push(said());
  await (await draw(fourth, "again", Promise.resolve(module("fourth"))))();
  return [...log, said()];
}"""
"""Draws components whose modules arrive late, in another order, or not at all."""


def test_components_are_drawn_in_order_when_their_modules_are_there(
    browser: Browser, server: Server
) -> None:
    page = browser.new_page(**OPTIONS)
    page.goto(f"{server.address}/{components.PATH}/{components.module('host').file}")
    assert page.evaluate(MOUNTED) == [
        "loaded",
        ["first", "new", 1],
        ["third", "early", 1],
        1,
        ["fourth", "again", 1],
        0,
    ]
    page.close()


@pytest.mark.parametrize("name", ["player", pytest.param("host", marks=pytest.mark.thorough)])
def test_module_that_cannot_be_loaded_leaves_a_note_in_its_place(
    browser: Browser, server: Server, name: str
) -> None:
    page = browser.new_page(**OPTIONS)
    opened: list[Request] = []
    page.on("request", lambda sent: opened.append(sent) if sent.is_navigation_request() else None)
    page.route(
        f"**/{components.PATH}/{components.module(name).file}",
        lambda route: route.abort() if len(opened) == 1 else route.continue_(),
    )
    page.goto(server.address)
    note = page.get_by_role("alert").filter(has_text="This part could not be loaded")
    if name == "player":
        expect(note).to_have_count(1)
        expect(page.get_by_label("Text to use")).to_be_visible()
    note.first.get_by_role("button", name="Reload the page").click()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(note).to_have_count(0)
    page.close()

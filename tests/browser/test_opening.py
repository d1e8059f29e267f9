"""The opening of a first visit, which plays once by itself, and the ways on at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from page_helpers import Page, Player, await_run, drop_file, expect, link, with_clock

from bpeviz.corpus import samples

Open = Callable[..., Page]
FIRST = samples.by_key("seashells").text
MOVING: dict[str, Any] = {"reduced_motion": "no-preference", "prepare": with_clock}


def test_first_visit_plays_the_default_text_once(open_page: Open) -> None:
    """`pace.test.mjs` tests when each step begins."""
    page = open_page("/", **MOVING)
    player = Player(page)
    expect(player.button("Pause")).to_be_visible()
    expect(player.section.locator(".bar").first).to_be_visible()
    said = player.section.locator(".announced")
    facts = player.section.locator(".facts")
    expect(player.track).to_have_value("2")
    expect(facts).to_have_text("13 times. 151 → 138 tokens")
    tied = "9 times, tied with 2 other pairs; the earliest in the text wins."
    expect(facts).to_contain_text(tied)
    assert "merge" not in (said.text_content() or "")
    page.clock.run_for(20_000)
    expect(player.button("Replay")).to_be_visible()
    expect(player.track).to_have_value("22")
    expect(said).to_contain_text("merge 22 of 22: ")
    # Nothing loops, and a later visit opens at the end.
    page.clock.run_for(5_000)
    expect(player.button("Replay")).to_be_visible()
    page.goto(page.url)
    expect(player.track).to_have_value("22")
    page.clock.run_for(5_000)
    expect(player.button("Play")).to_be_visible()


def press_space(page: Page, player: Player) -> None:
    page.keyboard.press(" ")


def turn_the_wheel(page: Page, player: Player) -> None:
    page.mouse.wheel(0, 40)


@pytest.mark.parametrize(
    "act", [pytest.param(press_space, marks=pytest.mark.thorough), turn_the_wheel]
)
def test_any_input_stops_the_opening(open_page: Open, act: Callable[..., None]) -> None:
    page = open_page("/", **MOVING)
    player = Player(page)
    expect(player.button("Pause")).to_be_visible()
    act(page, player)
    expect(player.button("Play")).to_be_visible()
    stopped = player.step
    page.clock.run_for(3_000)
    assert player.step == stopped < 22
    player.button("Play").click()
    expect(player.button("Pause")).to_be_visible()


def test_link_opens_at_its_step_without_motion(open_page: Open) -> None:
    page = open_page(link(FIRST).replace("9999", "4"), **MOVING)
    player = Player(page)
    expect(player.last).to_have_text("22")
    page.clock.run_for(2_000)
    expect(player.track).to_have_value("4")


def test_end_leads_to_a_text_of_ones_own_and_to_other_pages(open_page: Open) -> None:
    page = open_page("/")
    player = Player(page)
    expect(player.track).to_have_value("22")
    ways = player.section.locator(".ways button")
    ways.filter(has_text="Try your own text").click()
    box = page.get_by_role("textbox", name="Text to use")
    expect(box).to_be_focused()
    assert box.evaluate("box => box.value.slice(box.selectionStart, box.selectionEnd)") == FIRST
    player.button("First").click()
    expect(ways.first).to_be_hidden()
    player.button("Last").click()
    ways.filter(has_text="Learn in 45 minutes").click()
    page.wait_for_url("**/Learn*")
    expect(page.locator("[aria-current=page]")).to_have_text("Learn")
    await_run(page)
    page.go_back()
    expect(player.track).to_have_value("22")
    ways.filter(has_text="What does GPT-4o do with it?").click()
    expect(page.get_by_role("textbox", name="Text to use")).to_have_value(FIRST)
    page.wait_for_url("**/Compare*")


EVENTS = """section => {
  window.events = [];
  const find = selector => section.querySelector(selector);
  const seen = {};
  const watch = () => {
    const merged = find(".c.merged");
    const line = merged && getComputedStyle(merged).boxShadow.split(" inset")[0];
    const now = {
      step: find(".track").value,
      winner: find(".bar.wins:not(.gone) .pair")?.textContent,
      sentence: find(".sentence .created")?.textContent,
      ring: find(".c.new.first")?.cell,
      line: line?.startsWith("rgba(0, 0, 0, 0)") ? "closed" : "open",
      count: find("[data-figure=tokens]").textContent,
    };
    for (const name in now) {
      if (now[name] !== seen[name]) events.push([name, now[name]]);
      seen[name] = now[name];
    }
    requestAnimationFrame(watch);
  };
  watch();
}"""


def test_merge_is_told_in_order_and_a_reload_returns_to_its_step(open_page: Open) -> None:
    page = open_page("/", reduced_motion="no-preference")  # with the clock of its frames
    player = Player(page)
    player.section.evaluate(EVENTS)
    page.wait_for_function("() => events.some(([name, value]) => name === 'step' && value > 3)")
    events: list[tuple[str, str]] = page.evaluate("events")
    begin = events.index(["step", "3"])
    steps = [i for i, (name, _) in enumerate(events) if name == "step"]
    told = events[begin : next(i for i in steps if i > begin)]
    order = [
        told.index([name, value])
        for name, value in (
            ("winner", "·se"),
            ("sentence", "·se"),
            ("line", "open"),
            ("line", "closed"),
            ("count", "129"),
        )
    ]
    assert order == sorted(order)
    assert told.index(["winner", None]) > order[3]  # the race changes after the lines have closed
    assert [name for name, _ in told].index("ring") > order[1]
    player.track.evaluate("track => (sessionStorage.shown = track.value, location.reload())")
    expect(player.button("Play")).to_be_visible()
    assert player.step == page.evaluate("Number(sessionStorage.shown)")


def test_newly_written_text_plays_once_and_edits_stay_at_the_last_step(open_page: Open) -> None:
    page = open_page("/", reduced_motion="no-preference")
    page.evaluate("localStorage.setItem('bpeviz-opened', 'yes')")
    page.reload()
    player = Player(page)
    expect(player.track).to_have_value("22")
    box = page.get_by_role("textbox", name="Text to use")
    box.fill("banana bandana, banana bandana")
    expect(player.button("Pause")).to_be_visible()
    expect(player.section.locator(".final")).to_have_text("→ 7")
    # Typing shows the last step, whose counts are final; the edited text does not play.
    box.press("End")
    expect(player.track).to_have_value("6")
    box.press("s")
    expect(player.section.locator(".final")).to_have_text("→ 8")
    expect(player.section.locator(".final")).to_be_hidden()  # at the last step
    page.wait_for_timeout(2_500)
    assert player.button("Play").is_visible()  # it is another text, which never played
    # Pause stays at its step, and later texts of this tab do not play.
    box.fill("tomato potato tomato potato")
    player.button("Pause").click()
    paused = player.step
    page.wait_for_timeout(1_000)
    assert player.step == paused
    box.fill("anna hannah, anna hannah")
    expect(player.button("Last")).to_be_disabled()
    page.wait_for_timeout(2_500)
    assert player.button("Play").is_visible()
    expect(player.button("Last")).to_be_disabled()


def test_dropped_table_plays_once(open_page: Open) -> None:
    page = open_page("/", **MOVING)
    page.evaluate("localStorage.setItem('bpeviz-opened', 'yes')")
    page.reload()
    player = Player(page)
    expect(player.track).to_have_value("22")
    drop_file(player.text, "t.csv", "id,text\n1,banana bandana\n2,banana bandana\n")
    expect(player.button("Pause")).to_be_visible()
    page.clock.run_for(15_000)
    expect(player.button("Replay")).to_be_visible()
    expect(player.button("Last")).to_be_disabled()

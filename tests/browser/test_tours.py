"""The guided tours in a browser: each walked by keyboard alone, and what the box does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from page_helpers import Page, expect

from bpeviz.ui.learn.tours import TOURS, Tour

Open = Callable[..., Page]

FOCUS = """() => {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active;
}"""

AROUND = f"""() => {{
  const inner = ({FOCUS})().getBoundingClientRect();
  const hosts = document.querySelectorAll(".st-key-tour *");
  const {{ shadowRoot }} = [...hosts].find((each) => each.shadowRoot);
  const outer = shadowRoot.querySelector(".ring").getBoundingClientRect();
  return outer.left <= inner.left && outer.right >= inner.right && outer.top <= inner.top;
}}"""
"""Returns whether the focus is within the ring around the mark."""

IS_AT = """(wanted) => {
  const detail = (step) => (globalThis.stepOfPlayer = step);
  document.dispatchEvent(new CustomEvent("bpeviz-step-requested", { detail }));
  return stepOfPlayer === wanted;
}"""
"""Returns whether the player is at a step."""


def at_step(page: Page, tour: Tour, number: int) -> None:
    """Wait for a step of a tour, whose mark is on the page."""
    box = page.locator(".box")
    expect(box.locator(".place")).to_contain_text(f" · Step {number} of {len(tour.steps)}")
    expect(box).to_have_attribute("data-mark", "found")
    expect(box).to_be_focused()


def press(page: Page, name: str) -> None:
    """Press a button of the box, which has the focus, by keyboard."""
    for _ in range(8):  # links of sources come before the buttons
        page.keyboard.press("Tab")
        if page.evaluate(f"({FOCUS})().textContent") == name:
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"{name} was not reached by Tab.")


TOURS_OF_PAGES = [
    pytest.param(tour, marks=pytest.mark.thorough)
    if any(other.page == tour.page for other in [*TOURS.values()][:i])
    else tour
    for i, tour in enumerate(TOURS.values())
]
"""Of the tours of a page, the first alone is not thorough."""


@pytest.mark.parametrize("tour", TOURS_OF_PAGES, ids=[*TOURS])
def test_tour_is_walked_by_keyboard_and_each_mark_is_there(open_page: Open, tour: Tour) -> None:
    page = open_page(f"{tour.page.path[5:-3]}?tour={tour.key}")
    assert tour.guess
    at_step(page, tour, 1)
    expect(page.locator(".box h2")).to_have_text("Guess first")
    press(page, tour.guess.options[tour.guess.right].words.replace("`", ""))
    expect(page.locator(".box .words")).to_contain_text("Right.")
    for number, step in enumerate(tour.steps, 1):
        at_step(page, tour, number)
        expect(page.locator(".box h2")).to_have_text(step.heading)
        if step.jump is not None:
            page.wait_for_function(IS_AT, arg=step.jump)
        if number == 2:
            press(page, "Go to this part")
            assert page.evaluate(AROUND)
            page.keyboard.press("Escape")
            expect(page.locator(".box")).to_be_focused()
        press(page, "Next" if number < len(tour.steps) else "Back to Learn")
    expect(page.locator("h1")).to_contain_text("how a model splits text")
    expect(page.locator(".box")).to_have_count(0)


def test_closed_section_opens_and_share_reload_and_end_keep_the_page(open_page: Open) -> None:
    tour = TOURS["splitting"]
    page = open_page("/Pre-tokenize?tour=splitting.2")
    at_step(page, tour, 2)
    page.get_by_role("button", name="Share").click()
    page.locator(".copy-link").click()
    expect(page.locator(".copy-link")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").endswith("&tour=splitting.2")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".st-key-closer_open summary").click()
    expect(page.locator(".box")).to_have_attribute("data-mark", "missing")
    expect(page.locator(".box .note")).to_contain_text("does not show this part")
    page.locator(".box").focus()
    press(page, "Go to this part")
    expect(page.locator(".box")).to_have_attribute("data-mark", "found")
    page.wait_for_function(f"({AROUND})()")
    box, ring = (page.locator(part).bounding_box() for part in (".box", ".ring"))
    assert box is not None
    assert ring is not None
    assert 0 <= box["x"] <= 390 - box["width"]
    assert box["y"] >= ring["y"] + ring["height"] or box["y"] + box["height"] <= ring["y"]

    page.reload()
    at_step(page, tour, 2)
    press(page, "Back")
    at_step(page, tour, 1)
    page.go_back()
    at_step(page, tour, 2)
    press(page, "End tour")
    expect(page.locator(".box")).to_have_count(0)
    assert "tour" not in page.url
    expect(page.locator(".st-key-white_space + *")).to_contain_text('"10"')

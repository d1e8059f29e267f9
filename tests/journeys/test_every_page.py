"""Each page once, in both themes: axe (WCAG 2.2 AA), heights, narrow windows, and print."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from journeys.journey import Journey
from journeys.people import (
    PHONE,
    SCREEN,
    Page,
    Stage,
    await_rest,
    await_run,
    button,
    expect,
    go_to,
    link,
)

from bpeviz.ui.registry import PAGES

STILL = """
*, *::before, *::after { transition: none !important; animation: none !important; }
[data-stale] { opacity: 1 !important; }
"""
"""Colors that are still changing, or dim while a page runs, have no contrast of their own."""

OPENED = "[role=dialog]:not([hidden]), dialog[open], [data-testid=stPopoverBody]"

OPEN_ALL = """() => {
  for (const { open, firstElementChild } of document.querySelectorAll("details"))
    if (!open) firstElementChild.click();
}"""

RESERVED = """() => [...document.querySelectorAll("[class*=st-key-]")].flatMap(element => {
  const { style } = element;
  if (!(parseFloat(getComputedStyle(element).minHeight) > 24)) return [];
  const height = element.offsetHeight;
  style.setProperty("min-height", "0", "important");
  const empty = height - element.offsetHeight;
  style.minHeight = "";
  return empty > 24 ? [`${element.className.match(/st-key-\\S+/)[0]}: ${empty} of ${height}`] : [];
})"""
"""Returns the elements of a page that reserve a line more than they fill."""

DARKNESS = """element => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  canvas.fillStyle = getComputedStyle(element).color;
  canvas.fillRect(0, 0, 1, 1);
  return canvas.getImageData(0, 0, 1, 1).data[0];
}"""
"""Returns the red part of the color of an element's text."""


def violations(page: Page, within: dict[str, Any] | None = None) -> list[str]:
    """Return the violations that axe finds on a page, or within a context of axe."""
    # The rule for the size of targets is off by default.
    rules = {"target-size": {"enabled": True}}
    options = {"resultTypes": ["violations"], "rules": rules, "preload": False}
    response = Axe().run(page, within, options).response
    return [
        f"{rule['id']}: {node['html'][:120]} ({node['failureSummary'][:200]})"
        for rule in response["violations"]
        for node in rule["nodes"]
    ]


def opened_part(page: Page) -> dict[str, Any]:
    """Wait until a dialog or popover is open; return the context of axe that contains it."""
    opened = page.locator(OPENED).last
    expect(opened).to_be_visible()
    if opened.evaluate("opened => opened.getRootNode() === document"):
        return {"include": [OPENED]}
    opened.evaluate("opened => opened.getRootNode().host.setAttribute('data-axe-host', '')")
    return {"include": [{"fromShadowDom": ["[data-axe-host]", OPENED]}]}


def assert_no_wider(page: Page) -> None:
    """Assert that nothing scrolls horizontally."""
    width = page.viewport_size["width"] if page.viewport_size else 0
    page.wait_for_function(
        """width => {
          const main = document.querySelector("main, [role=main]") ?? document.documentElement;
          return document.documentElement.scrollWidth <= width
            && main.scrollWidth <= main.clientWidth;
        }""",
        arg=width,
    )


@contextmanager
def printed(page: Page) -> Iterator[None]:
    """Emulate the media of a printer, in dark colors, which pages print inverted."""
    page.emulate_media(media="print", color_scheme="dark")
    yield
    page.emulate_media(media="screen", color_scheme="dark")


def assert_prints(page: Page) -> None:
    """Assert that a page is printed in dark ink, whole, and without controls."""
    for name in ("Share", "Play"):
        expect(button(page, name)).to_have_count(0)
    expect(page.get_by_role("navigation", name="Pages")).to_be_hidden()
    for text in page.locator(".text, .strip-line").all():
        hidden = "box => box.scrollHeight > box.clientHeight + 2 && getComputedStyle(box).overflowY"
        assert text.evaluate(hidden) in (False, "visible")
    piece = page.locator(".c, .strip-line .cell").first
    assert piece.evaluate(DARKNESS) < 140
    assert piece.evaluate("piece => getComputedStyle(piece).printColorAdjust") == "exact"
    for chart in page.get_by_test_id("stVegaLiteChart").all():  # images with a dark background
        assert chart.evaluate("chart => getComputedStyle(chart).filter") != "none"


def test_each_page_in_both_themes(journey: Journey) -> None:
    page = journey.open("/", color_scheme="dark")
    page.add_style_tag(content=STILL)
    for info in PAGES:
        with journey.step(f"{info.title}: one title, which is the largest, and no empty space"):
            if info is not PAGES[0]:
                go_to(page, info.title)
            expect(page).to_have_title(f"{info.title} · bpeviz")
            expect(page.get_by_role("heading", level=1)).to_have_count(1)
            await_rest(page)
            page.wait_for_function(f"() => !({RESERVED})().length")
            size = "all => all.map(each => parseFloat(getComputedStyle(each).fontSize))"
            (title,) = page.locator("h1").evaluate_all(size)
            assert all(title > other for other in page.locator("h2, h3").evaluate_all(size))
        if info.title != "Learn":  # it has tokens only after an answer
            with journey.step(f"{info.title}: printed"), printed(page):
                assert_prints(page)
        with journey.step(f"{info.title}: axe, dark, on a phone, where nothing is too wide"):
            page.evaluate(OPEN_ALL)
            await_run(page)
            page.set_viewport_size(PHONE)
            assert_no_wider(page)
            assert violations(page) == []
        with journey.step(f"{info.title}: axe, light, on a screen"):
            page.set_viewport_size(SCREEN)
            page.emulate_media(color_scheme="light")
            expect(page.locator(".stApp")).to_have_css("color-scheme", "light")
            assert violations(page) == []
        page.emulate_media(color_scheme="dark")


def test_what_opens_on_pages(journey: Journey) -> None:
    page = journey.open("/")
    page.add_style_tag(content=STILL)
    expect(Stage(page).last).to_have_text("22")
    for place, name in (
        ("Train", "Signs and keys"),
        ("Train", "Share"),
        ("Compare", "Open a tokenizer file"),
    ):
        with journey.step(f"axe: {name} on {place}"):
            if not page.title().startswith(place):
                go_to(page, place)
                await_rest(page)
            if place == "Compare":
                button(page, "More").first.click()
            button(page, name).first.click()
            if place == "Compare":  # its menu stays below the dialog
                expect(page.get_by_role("dialog", name="Tokenizers from files")).to_be_visible()
            opened = opened_part(page)
            await_run(page)
            assert violations(page, opened) == []
            page.keyboard.press("Escape")
            expect(page.locator(OPENED)).to_have_count(0)
            page.evaluate(
                "document.querySelector('[data-axe-host]')?.removeAttribute('data-axe-host')"
            )
    for says, path in (
        ("a text without merges", link("hello world")),
        ("many texts", link("", "/Compare", how_many_texts="many")),
        ("a tour", "/Pre-tokenize?tour=splitting.2"),
    ):
        with journey.step(f"axe: {says}"):
            page.goto(journey.server.address + path)
            page.add_style_tag(content=STILL)
            expect(page.locator("[aria-current=page]")).to_have_count(1)
            await_rest(page)
            assert violations(page) == []

"""The Learn page in a browser: a chapter by keyboard alone, a reload, and the forms of answers."""

from __future__ import annotations

import re
from collections.abc import Callable

from page_helpers import Page, expect

Open = Callable[..., Page]


def focus(page: Page, label: str, key: str = "Tab", most: int = 40) -> None:
    """Press Tab until the element of this label or text has the focus."""
    for _ in range(most):
        found: str = page.evaluate(
            """() => {
              let active = document.activeElement;
              while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
              return active?.ariaLabel ?? active?.textContent ?? "";
            }"""
        )
        if found.startswith(label):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{label} was not reached by {key}.")


def result(page: Page, number: int, words: str) -> None:
    expect(page.locator(".result").nth(number)).to_contain_text(words)


def test_chapter_is_done_by_keyboard_alone_and_survives_a_reload(open_page: Open) -> None:
    page = open_page("/Learn?chapter=first-merge")
    expect(page.locator(".pickable")).to_be_visible()
    expect(page.locator(".result:not(:empty)")).to_have_count(0)
    expect(page.locator(".check").first).to_be_disabled()

    focus(page, "Pair of neighbors")
    page.keyboard.press("End")
    expect(page.locator(".chosen")).to_have_text("Your pair: r + o")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".chosen")).to_have_text("Your pair: e + r")
    focus(page, "Check my answer")
    page.keyboard.press("Enter")
    result(page, 0, "Not quite. o + · comes 7 times")
    result(page, 0, "Yours, e + r")
    expect(page.locator(".text").first.locator(".c.new")).to_have_count(14)

    focus(page, "Number of tokens")
    page.keyboard.type("124")
    focus(page, "Check my answer")
    page.keyboard.press("Enter")
    result(page, 1, "Right. 131 tokens − 7 = 124 tokens")

    # A group of radio buttons is one tab stop; the arrow keys choose.
    expect(page.locator("input[type=radio]")).to_have_count(3)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(
            """() => {
              let active = document.activeElement;
              while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
              return active?.type === "radio";
            }"""
        ):
            break
    page.keyboard.press("ArrowDown")
    focus(page, "Check my answer")
    page.keyboard.press("Enter")
    result(page, 2, "Right.")
    bar = page.locator('button[data-chapter="first-merge"]')
    expect(bar).to_have_attribute("aria-label", "Chapter 4: The first merge, done")

    page.reload()
    expect(page.get_by_role("heading", name="The first merge")).to_be_visible()
    result(page, 0, "Yours, e + r")
    result(page, 1, "Right.")

    focus(page, "Chapter 7")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Encode and decode")).to_be_visible()
    expect(page).to_have_url(re.compile("chapter=encoding"))

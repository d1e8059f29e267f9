"""Accessibility (WCAG 2.2 AA): axe finds nothing, and a keyboard reaches Play soon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers.properties import mostly_thorough
from page_helpers import Page, expect, with_clock

from bpeviz.ui.learn.chapters import BY_KEY

Open = Callable[..., Page]

PHONE = {"width": 390, "height": 844}
SCREEN = {"width": 1366, "height": 768}

OUT_OF_REACH: dict[str, str] = {}
"""Elements inside Streamlit's widgets that axe reports, by selector, each with the reason."""

# Colors that are still changing have no contrast of their own.
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"


def violations(page: Page, within: dict[str, Any] | None = None) -> list[str]:
    """Return the violations that axe finds on the page, or within a context of axe."""
    # The rule for the size of targets is off by default.
    rules = {"target-size": {"enabled": True}}
    options = {"resultTypes": ["violations"], "rules": rules}
    found = Axe().run(page, within, options).response["violations"]
    return [
        f"{one['id']}: {node['html'][:120]} ({node['failureSummary'][:200]})"
        for one in found
        for node in one["nodes"]
        if not any(selector in str(node["target"]) for selector in OUT_OF_REACH)
    ]


@pytest.mark.parametrize("chapter", mostly_thorough([*BY_KEY], ["merge"]))
def test_axe_finds_nothing_in_any_state_of_a_chapter(open_page: Open, chapter: str) -> None:
    page = open_page(
        f"/Learn?chapter={chapter}", prepare=with_clock, viewport=PHONE, color_scheme="light"
    )
    expect(page.locator(".prompt").first).to_be_visible()
    page.add_style_tag(content=STILL)
    found = violations(page)
    gaps = page.locator("button.gap")
    if gaps.count():
        gaps.first.press("Enter")
        if page.locator(".check").first.is_visible():
            page.locator(".check").first.press("Enter")
        expect(page.locator(".told").first).to_be_visible()
        found += violations(page)  # a wrong first try
    show = page.locator(".show:visible")
    while show.count():
        # In the browser, since a button may go meanwhile.
        show.evaluate_all("(buttons) => buttons.forEach((button) => button.click())")
        page.wait_for_timeout(200)
    page.clock.run_for(60_000)
    expect(page.locator(".player.playing")).to_have_count(0)
    found += violations(page)
    for option in page.locator(".st-key-belief button").all()[:2]:
        option.press("Enter")
    found += violations(page)
    assert found == []

"""The teacher's page of Learn in a browser: pages when printed, and a question for a projector."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

MOST_PAGES = 6


@pytest.mark.parametrize("sheet", ["1", "student"])
def test_sheet_prints_on_six_pages_and_shows_a_question(
    open_page: Callable[..., Page], sheet: str
) -> None:
    page = open_page(f"/Learn?teacher={sheet}")
    expect(page.get_by_role("heading", name="Before and after")).to_be_visible()
    printed = page.pdf(format="A4")
    assert 1 < len(re.findall(rb"/Type\s*/Page\b", printed)) <= MOST_PAGES
    if sheet == "student":
        return
    # A question is shown large and answered.
    page.get_by_role("button", name="Show “2.3 Merge 3” large").click()
    expect(page.get_by_text("Merge 3 of 6: ")).to_be_visible()
    assert "large=merge" in page.url
    page.keyboard.press("p")
    page.get_by_role("button", name="Show me").click()
    expect(page.get_by_text("Merge 4 of 6: ")).to_be_visible()
    assert page.evaluate("Boolean(document.fullscreenElement)")
    page.keyboard.press("p")
    page.get_by_role("button", name="All questions").click()
    expect(page.get_by_role("heading", name="For teachers")).to_be_visible()
    page.get_by_role("button", name="To the course").click()
    expect(page.get_by_role("heading", name="0. Why")).to_be_visible()

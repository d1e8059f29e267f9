"""Accessibility (WCAG 2.2 AA): axe finds nothing, and a keyboard reaches Play soon."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from page_helpers import Page, expect

Open = Callable[..., Page]

PHONE = {"width": 390, "height": 844}
SCREEN = {"width": 1366, "height": 768}

OUT_OF_REACH: dict[str, str] = {}
"""Elements inside Streamlit's widgets that axe reports, by selector, each with the reason."""

# Colors that are still changing have no contrast of their own.
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"

OPEN_ALL = """() => {
  for (const { open, firstElementChild } of document.querySelectorAll("details"))
    if (!open) firstElementChild.click();
  document.documentElement.setAttribute("data-inputs-open", "");
}"""


def violations(page: Page) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{one['id']}: {node['html'][:120]} ({node['failureSummary'][:200]})"
        for one in found
        for node in one["nodes"]
        if not any(selector in str(node["target"]) for selector in OUT_OF_REACH)
    ]


@pytest.mark.parametrize("path", ["/", "/Compare", "/Inspect", "/Algorithms", "/Split", "/Learn"])
def test_axe_finds_nothing_in_either_theme_or_size(open_page: Open, path: str) -> None:
    page = open_page(path, color_scheme="light")
    expect(page.locator("[aria-current=page]")).to_have_count(1)
    expect(page.locator("[data-test-script-state=notRunning]")).to_have_count(1)
    page.add_style_tag(content=STILL)
    page.evaluate(OPEN_ALL)
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    assert page.locator("h1").count() == 1
    found = []
    # Colors do not depend on the size of the window.
    for scheme, size in (("light", SCREEN), ("dark", PHONE)):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator(".stApp")).to_have_css("color-scheme", scheme)
        page.set_viewport_size(size)
        found += [f"{scheme}, {size['width']}: {one}" for one in violations(page)]
    assert found == []


def test_skip_link_leads_to_play_in_few_tabs(open_page: Open) -> None:
    page = open_page()
    play = page.locator("button[data-act=play]")
    expect(play).to_be_visible()
    expect(page.locator("[aria-current=page]")).to_have_count(1)
    page.get_by_role("link", name="Skip to main content").focus()
    page.keyboard.press("Enter")
    for _ in range(6):
        page.keyboard.press("Tab")
        if play.evaluate("button => button.getRootNode().activeElement === button"):
            return
    raise AssertionError("Play is more than six tabs away.")


def test_button_unfolds_the_inputs_on_a_narrow_screen(open_page: Open) -> None:
    page = open_page(viewport={"width": 820, "height": 1180})
    toggle = page.get_by_role("button", name="Text and settings")
    inputs = page.get_by_role("region", name="Text and settings")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    expect(inputs).to_be_hidden()
    toggle.click()
    expect(inputs).to_be_visible()
    expect(toggle).to_have_attribute("aria-expanded", "true")
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.locator("[aria-current=page]")).to_have_text("Compare")
    expect(inputs).to_be_visible()  # as before the change of the page
    page.set_viewport_size(SCREEN)
    expect(toggle).to_be_hidden()
    expect(inputs).to_be_visible()

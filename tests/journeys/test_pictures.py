"""The saved picture: what is drawn on the screen, in double size."""

from __future__ import annotations

from pathlib import Path

import pytest
from journeys.journey import Journey
from journeys.people import Page, Stage, button, download, expect, link
from PIL import Image, ImageChops, ImageFilter
from playwright.sync_api import Error, Playwright

TEXT = "مرحبا بالعالم hello (123) العربية, cut 👩‍👩‍👧 हिन्दी <b>&amp;</b>"
AROUND, WIDTH = 16, 1200
"""Pixels around what is drawn, and of a stage in a picture."""
SCREEN = {"width": WIDTH + 64, "height": 768}


def assert_saved_as_drawn(page: Page, folder: Path) -> None:
    """Save the picture of the player, and assert that its text has the pixels of the page."""
    saving = button(page, "Save this picture")
    expect(saving).to_be_visible()
    player, text = (page.locator(name).bounding_box() or {} for name in (".player", ".text"))
    page.screenshot(clip=text, path=folder / "page.png")
    name, _ = download(page, "Save this picture", folder, page)
    with Image.open(folder / "page.png") as drawn, Image.open(folder / name) as picture:
        assert (name, picture.width) == ("bpeviz-picture.png", 2 * (WIDTH + 2 * AROUND))
        left, top = (round(text[axis] - player[axis]) + AROUND for axis in "xy")
        box = (left, top, left + drawn.width, top + drawn.height)
        saved = picture.reduce(2).crop(box).convert("RGB").filter(ImageFilter.BoxBlur(2))
        drawn = drawn.convert("RGB").filter(ImageFilter.BoxBlur(2))
    assert len(drawn.getcolors(10**6) or ()) > 100
    # Text may be a fraction of a pixel beside its place.
    assert ImageChops.difference(drawn, saved).convert("L").getextrema()[1] <= 90


def test_a_picture_has_the_pixels_of_the_page(journey: Journey, tmp_path: Path) -> None:
    page = journey.open(link(TEXT), viewport=SCREEN)
    with journey.step("The picture of a text in several scripts, light and dark"):
        Stage(page).await_text(TEXT)
        assert_saved_as_drawn(page, tmp_path)
        page.emulate_media(color_scheme="dark")
        assert_saved_as_drawn(page, tmp_path)
    with journey.step("A picture that is too large is refused in words"):
        page.locator(".text > *").first.evaluate("(block) => (block.style.height = '9000px')")
        button(page, "Save this picture").press("Enter")
        expect(page.get_by_role("dialog")).to_contain_text("The picture would be too large.")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    journey.close(page)


@pytest.mark.parametrize("name", ["firefox", "webkit"])
def test_a_picture_in_another_browser(
    playwright: Playwright, journey: Journey, name: str, tmp_path: Path
) -> None:
    try:
        browser = getattr(playwright, name).launch()
    except Error:
        pytest.skip(f"{name} is not installed")
    page = browser.new_page(reduced_motion="reduce", viewport=SCREEN)
    page.goto(journey.server.address + link(TEXT))
    assert_saved_as_drawn(page, tmp_path)
    browser.close()

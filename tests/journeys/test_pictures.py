"""Pictures: saved slides, animations and diagrams, and what is drawn on the screen, as pixels."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from io import BytesIO
from pathlib import Path

import pytest
from journeys.journey import Journey
from journeys.people import (
    Grid,
    Page,
    Rows,
    Stage,
    await_run,
    choose,
    close_dialog,
    download,
    expect,
    go_to,
    link,
    open_export,
    type_text,
)
from PIL import Image, ImageChops, ImageFilter
from playwright.sync_api import Browser, Error, Playwright

import bpeviz
from bpeviz import components
from bpeviz.analysis.metrics import Column
from bpeviz.views import gif, score
from bpeviz.views.stage import of_columns

SVG = "{http://www.w3.org/2000/svg}"
TEXT = "low lower lowest, the lowest of all the lower 世界 lamps"
WORDS = ("apple", "pear", "plum", "cherry", "grape", "fig", "lemon", "lime", "kiwi", "mango")

SCRIPTS = {
    "Arabic with Latin": "مرحبا بالعالم hello (123) العربية",
    "cut emoji": "a 👩‍👩‍👧 cut 🐚 and हिन्दी",
    "wrapped lines": "she sells seashells, by the\tseashore <b>&amp;</b> " * 3,
}

DRAW = """
const root = document.querySelector("#host").attachShadow({ mode: "open" });
root.append(document.querySelector("template").content.cloneNode(true));
mount(root, data, () => {});
const text = root.querySelector(".text");
text.style.cssText = `position: fixed; inset: 100px auto auto 0; width: 300px; height: auto;
  max-height: none; border: 0; overflow: visible`;
await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); // laid out
for (const block of text.children) block.style.contentVisibility = "visible";
const drawing = svg(pictureOf(text, "A title"), colorsOn(root.querySelector(".board"), "light"));
document.querySelector("#picture").innerHTML = drawing;
"""

START_AND_STOP = """start => {
  const buttons = [...start.getRootNode().querySelectorAll("button")];
  start.click();
  buttons.find(button => button.textContent === "Stop").click();
}"""
"""Presses both at once: how long an animation takes depends on the machine."""


def assert_drawn_as_saved(page: Page, text: str) -> None:
    """Assert that the picture of a text has the pixels of the text on a page."""
    tokenizer = bpeviz.train("she sells seashells, by the seashore", vocab_size=275).tokenizer()
    column = Column("A title", tokenizer, tokenizer.boundaries(text), tokenizer.steps)
    data = score.payload(of_columns([column], text))
    files = components.read("score")
    page.set_content(
        # A named font: pictures name fonts, and "monospace" is another on each machine.
        "<body><div id=host style='--st-code-font:DejaVu Sans Mono'></div>"
        "<div id=picture style='position:fixed;top:400px;left:0'></div>"
        f"<template><style>{files.css}</style>{files.html}</template></body>"
    )
    page.evaluate(f"async (data) => {{ {files.script}\n{DRAW} }}", data)
    shot = Image.open(BytesIO(page.screenshot())).convert("RGB").filter(ImageFilter.BoxBlur(2))
    box = page.locator(".text").bounding_box() or {}
    width, height = round(box["width"]), round(box["height"])
    drawn, saved = (shot.crop((0, top, width, top + height)) for top in (100, 400))
    difference = ImageChops.difference(drawn, saved).convert("L")
    # Text may be a fraction of a pixel beside its place.
    assert difference.getextrema()[1] <= 90


def test_pictures_are_saved(journey: Journey, browser: Browser, tmp_path: Path) -> None:
    with journey.step("The slide of a text is a picture of 1920 by 1080, and a drawing"):
        page = journey.open(link(TEXT))
        stage = Stage(page)
        training, _ = stage.await_text(TEXT)
        dialog = open_export(page)
        name, content = download(page, "Slide (PNG)", tmp_path)
        with Image.open(BytesIO(content)) as picture:
            assert (name[-4:], picture.size) == (".png", (1920, 1080))
            assert len(picture.getcolors(10**7) or ()) > 50
        dialog.get_by_text("Choose the slide").click()
        # Until the section is there, the buttons of its small picture have the same names.
        expect(dialog.get_by_role("button", name="Animation (GIF)")).to_be_visible()
        await_run(page)
        _, content = download(page, "Slide (SVG)", tmp_path)
        assert f" of {training.steps}</title>" in content.decode()
    with journey.step("The animation is stopped, and begun again; it has a picture for each step"):
        dialog.get_by_role("button", name="Animation (GIF)").evaluate(START_AND_STOP)
        expect(dialog).to_contain_text("Stopped.")
        name, content = download(page, "Animation (GIF)", tmp_path)
        expect(dialog).to_contain_text("Saved, ")
        assert len(content) <= gif.MOST_BYTES
        with Image.open(BytesIO(content)) as animation:
            assert (name[-4:], animation.size) == (".gif", (1280, 720))
            assert animation.n_frames == training.steps + 1
            first, last = (frame(animation, number) for number in (0, training.steps))
        assert first.getpixel((0, 0)) == last.getpixel((0, 0)) == (255, 255, 255)
        assert first.tobytes() != last.tobytes()
        close_dialog(page)
    with journey.step("The slide of a list has columns"):
        go_to(page, "Compare")
        type_text(page, "\n".join(WORDS))
        Rows(page).await_text("GPT-4o", "mango")
        open_export(page)
        _, content = download(page, "Slide (PNG)", tmp_path)
        with Image.open(BytesIO(content)) as slide:
            darkest, _ = slide.convert("L").crop((1600, 430, 1900, 640)).getextrema()
        assert darkest < 100  # the last word is in the fourth column
        close_dialog(page)
    with journey.step("Two mirrored merge diagrams are a drawing without scripts or links"):
        page.emulate_media(color_scheme="dark")
        go_to(page, "Inspect")
        grid = Grid(page)
        choose(page, "Tokenizer", "GPT-4 (cl100k)")
        text = "naïve <b>&amp;</b> 世 👍"
        type_text(page, text)
        grid.await_ids(bpeviz.load("cl100k_base").encode(text))
        grid.closer("Merge diagram")
        choose(page, "Compare with (mirrored below)", "GPT-2")
        expect(grid.diagram).to_contain_text("GPT-2: ")
        grid.diagram.get_by_role("button", name="Save this picture").click()
        dialog = page.get_by_role("dialog", name="Save this picture")
        expect(dialog.get_by_alt_text(re.compile("with GPT-4 .* with GPT-2"))).to_be_visible()
        name, content = download(page, "Picture (SVG)", tmp_path, dialog)
        assert name == "bpeviz-picture.svg"
        assert_plain_drawing(content.decode())
        _, content = download(page, "Picture (PNG)", tmp_path, dialog)
        assert 5_000 < len(content) <= 100_000
        with Image.open(BytesIO(content)) as image:
            assert image.size == (1200, 630)
        close_dialog(page)
        journey.close(page)
    page = browser.new_page()
    for says, text in SCRIPTS.items():
        with journey.step(f"A picture has the pixels of the page: {says}"):
            assert_drawn_as_saved(page, text)
    page.close()


@pytest.mark.parametrize("name", ["firefox", "webkit"])
def test_pictures_in_other_browsers(playwright: Playwright, name: str) -> None:
    try:
        other = getattr(playwright, name).launch()
    except Error:
        pytest.skip(f"{name} is not installed")
    for text in SCRIPTS.values():
        assert_drawn_as_saved(page := other.new_page(), text)
        page.close()
    other.close()


def frame(animation: Image.Image, number: int) -> Image.Image:
    """Return a picture of an animation."""
    animation.seek(number)
    return animation.convert("RGB")


def assert_plain_drawing(written: str) -> None:
    """Assert that a drawing has the texts of the diagrams, and nothing of a page."""
    root = ET.fromstring(written)
    assert root.tag == f"{SVG}svg"
    assert root.get("viewBox") == "0 0 1200 630"
    for foreign in ("var(--", "class=", "<script", "href", "url(", "oklch"):
        assert foreign not in written
    fills = [path.get("fill", "") for path in root.findall(f".//{SVG}path")]
    assert len(fills) > 20
    assert all(re.fullmatch(r"#[0-9a-f]{6}|none", fill) for fill in fills)
    words = [text.text or "" for text in root.findall(f".//{SVG}text")]
    assert all(sign in "".join(words) for sign in "<&世👍")
    assert words[-2:] == ["bpeviz", "Type your name: what does a model see?"]

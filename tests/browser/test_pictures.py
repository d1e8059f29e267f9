"""A picture has the pixels of what the page draws."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageChops, ImageFilter

import bpeviz
from bpeviz import components
from bpeviz.analysis.metrics import Column
from bpeviz.views import score
from bpeviz.views.stage import of_columns

if TYPE_CHECKING:
    from conftest import Tabs

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


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("مرحبا بالعالم hello (123) العربية", id="Arabic with Latin"),
        pytest.param("a 👩‍👩‍👧 cut 🐚 and हिन्दी", id="cut emoji"),
        pytest.param("she sells seashells, by the\tseashore <b>&amp;</b> " * 3, id="wrapped lines"),
    ],
)
def test_picture_has_the_pixels_of_the_page(tabs: Tabs, text: str) -> None:
    tokenizer = bpeviz.train("she sells seashells, by the seashore", vocab_size=275).tokenizer()
    column = Column("A title", tokenizer, tokenizer.boundaries(text), tokenizer.steps)
    data = score.payload(of_columns([column], text))
    files = components.read("score")
    page = tabs.open(reusable=False)
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
    page.context.close()
    difference = ImageChops.difference(drawn, saved).convert("L")
    # Text may be a fraction of a pixel beside its place.
    assert difference.getextrema()[1] <= 90

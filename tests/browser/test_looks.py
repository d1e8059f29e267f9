"""Appearance of the pages: color schemes, contrast, animation, and narrow screens."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from io import BytesIO

import numpy as np
import pytest
from page_helpers import ENGLISH, Page, Player, await_rest, expect, trained
from PIL import Image

from bpeviz.corpus import samples
from bpeviz.palette import COLORS
from bpeviz.ui.mark import MARK
from bpeviz.ui.permalink import codec

Open = Callable[..., Page]

CONTRASTS = """(text, hues) => {
  // Computed colors are oklch() or color(); a canvas converts them to RGB.
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgb = color => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const linear = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const luminance = color => {
    const [r, g, b] = rgb(color).map(linear);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const found = [];
  for (let hue = 0; hue < hues; hue++) {
    const cell = document.createElement("span");
    cell.className = `c t color${hue}`;
    cell.textContent = "x";
    const quiet = cell.appendChild(document.createElement("span"));
    quiet.className = "quiet";
    text.append(cell);
    const { color, backgroundColor } = getComputedStyle(cell);
    found.push([
      contrast(color, backgroundColor),
      contrast(getComputedStyle(quiet).color, backgroundColor),
      rgb(backgroundColor).join(),
    ]);
    cell.remove();
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrasts_with_every_token_color(english_page: Page, scheme: str) -> None:
    english_page.emulate_media(color_scheme=scheme)
    expect(english_page.locator(".stApp")).to_have_css("color-scheme", scheme)
    player = Player(english_page)
    player.await_text(ENGLISH)
    dark = player.section.evaluate(
        """section => {
          const sum = name => getComputedStyle(section)[name]
            .match(/\\d+/g).slice(0, 3).reduce((total, part) => total + Number(part), 0);
          return sum("backgroundColor") < sum("color");
        }"""
    )
    assert dark == (scheme == "dark")
    found = player.text.evaluate(CONTRASTS, COLORS)
    assert len({color for *_, color in found}) == COLORS
    for contrast, quiet, _ in found:
        assert contrast >= 4.5
        assert quiet >= 3  # stand-ins have less contrast than text, but remain visible


NO_LINES = ".c { box-shadow: none !important; --line: transparent }"
NO_INK = f"{NO_LINES} .text * {{ color: transparent !important; --dot: none !important }}"


def ink_of_lines(page: Page, player: Player) -> float:
    """Return the ink of the lines on the stage relative to that of its letters.

    Ink is the sum of the differences of gray values between the stage as it is, without lines, and
    without both. Rings of a merge are lines; the dots of spaces are letters.
    """
    style = player.text.evaluate_handle(
        "text => text.getRootNode().appendChild(document.createElement('style'))"
    )
    images = []
    for css in ("", NO_LINES, NO_INK):
        style.evaluate("(style, css) => { style.textContent = css; }", css)
        image = Image.open(BytesIO(player.text.screenshot())).convert("L")
        images.append(np.asarray(image).astype(float))
    style.evaluate("style => style.remove()")
    whole, no_lines, nothing = images
    return float(np.abs(whole - no_lines).sum() / np.abs(no_lines - nothing).sum())


FULLEST = {"english-prose": (1, 2), "source-code": (12, 20)}
"""The steps whose lines have the most ink."""


@pytest.mark.parametrize(
    "sample", ["english-prose", pytest.param("source-code", marks=pytest.mark.thorough)]
)
def test_lines_have_less_ink_than_letters_at_every_step(open_page: Open, sample: str) -> None:
    page = open_page(f"/?s={codec.pack({'text_sample': sample})}&step=0")
    player = Player(page)
    steps = trained(samples.by_key(sample).text)[0].steps
    expect(player.last).to_have_text(f"{steps:,}")
    await_rest(page)  # what is loaded below it moves nothing between pictures
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        # The theme of the page follows after that of the browser.
        page.wait_for_function(
            """([text, isDark]) => {
              const isLight = parseFloat(getComputedStyle(text).color.match(/[\\d.]+/)) > 128;
              return document.fonts.status === "loaded" && isDark === isLight;
            }""",
            arg=[player.text.element_handle(), scheme == "dark"],
        )
        inks = {}
        for step in (0, *FULLEST[sample]):
            player.go(step)
            inks[step] = ink_of_lines(page, player)
        assert max(inks.values()) <= 0.45, (scheme, inks)
        assert inks[0] > 0.1, "ticks are drawn"


def test_mark_is_the_favicon_and_stands_in_the_header(english_page: Page) -> None:
    page = english_page
    mark = page.locator(".st-key-top img")
    expect(mark).to_be_visible()
    # Both are allowed by the content security policy, and drawn.
    assert mark.evaluate("async (it) => { await it.decode(); return it.naturalWidth; }") > 0
    icon = page.locator("link[rel~=icon]").get_attribute("href") or ""
    source = icon.removeprefix("data:image/svg+xml;base64,")
    assert b64decode(source).decode() == MARK

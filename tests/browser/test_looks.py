"""Appearance of the pages: color schemes, contrast, animation, and narrow screens."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from io import BytesIO
from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
from page_helpers import ENGLISH, Page, Player, Score, await_rest, expect, trained
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


def test_new_token_is_animated_unless_reduced_motion_is_set(english_page: Page) -> None:
    count_animations = """(section, action) => {
      const root = section.getRootNode();
      const isToken = ({ effect, playState }) =>
        playState === "running" && effect.target.closest(".text");
      section.querySelector(`[data-act=${action}]`).click();
      return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
        () => done(root.getAnimations().filter(isToken).length))));
    }"""
    preferences: tuple[tuple[Literal["no-preference", "reduce"], bool], ...] = (
        ("no-preference", True),
        ("reduce", False),
    )
    for motion, animated in preferences:
        english_page.emulate_media(reduced_motion=motion)
        player = Player(english_page)
        player.await_text(ENGLISH)
        player.go(2)  # " t", which is frequent in the first lines
        assert (player.section.evaluate(count_animations, "forward") > 0) == animated, motion
        # The step changes in both cases.
        expect(player.track).to_have_value("3")
        player.section.evaluate(
            """section => Promise.allSettled(
              section.getRootNode().getAnimations().map(({ finished }) => finished))"""
        )
        # Many merges at once are not animated.
        assert player.section.evaluate(count_animations, "last") == 0


def test_phone_layout_has_no_horizontal_scrolling_and_large_buttons(open_page: Open) -> None:
    phone = {"width": 390, "height": 844}
    page = open_page(viewport=phone, has_touch=True, is_mobile=True)
    player = Player(page)
    player.await_text(ENGLISH)

    def no_wider() -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        main = page.get_by_role("main")
        assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0

    no_wider()
    player.go(5)
    for name in ("First", "Step back", "Play", "Step forward", "Last"):
        box = player.button(name).bounding_box()
        assert min(box["width"], box["height"]) >= 40, name
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["y"] + box["height"] <= 844, name  # without scrolling
    player.button("First").tap()
    player.button("Play").tap()
    expect(player.button("Pause")).to_be_visible()
    player.button("Pause").tap()
    assert player.step > 0
    # The header has two rows: the name of the product, the inputs and “Share”; and all pages.
    buttons = [page.get_by_role("button", name=name) for name in ("Text and settings", "Share")]
    links = page.get_by_role("navigation", name="Pages").get_by_role("link").all()
    assert len(links) == 6
    for row, bottom in (([page.get_by_text("bpeviz", exact=True), *buttons], 48), (links, 82)):
        boxes = [part.bounding_box() for part in row]
        for box, after in pairwise([*boxes, {"x": 390}]):
            assert box["y"] + box["height"] <= bottom
            assert box["x"] + box["width"] <= after["x"]
    page.get_by_role("link", name="Compare").tap()
    for title in ("Your tokenizer", "GPT-2", "GPT-4 (cl100k)"):
        Score(page).await_text(title, "river")
    no_wider()
    cross = page.get_by_role("button", name="Remove GPT-2").bounding_box()
    assert min(cross["width"], cross["height"]) >= 24
    # The rows are below one another.
    tops = [
        Score(page).row(title).first.bounding_box()
        for title in ("Your tokenizer", "GPT-2", "GPT-4 (cl100k)")
    ]
    assert all(box is not None for box in tops)
    assert sorted({round(box["y"]) for box in tops if box}) == [
        round(box["y"]) for box in tops if box
    ]


def test_help_opens_from_the_label(english_page: Page) -> None:
    page = english_page
    label = page.locator("label", has_text="Algorithm").first
    label.hover(position={"x": 8, "y": 8})
    expect(page.get_by_role("tooltip")).to_be_visible()


def test_page_reserves_height_of_charts_and_tables_below_player(
    share_page: Callable[[str], Page],
) -> None:
    page = share_page("/")
    below = page.locator(".st-key-following")
    expect(below.get_by_role("grid").first).to_be_visible()
    expect(below.get_by_text("Click the curve or a row of the table")).to_be_attached()
    for width in (1366, 820):
        page.set_viewport_size({"width": width, "height": 768})
        page.wait_for_function(
            """() => {
              const below = document.querySelector(".st-key-following");
              const part = parseFloat(getComputedStyle(below).minHeight) / below.scrollHeight;
              return part > 0.9 && part <= 1;
            }"""
        )


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


@pytest.mark.parametrize(
    "path", ["/", "/Compare", "/Inspect", "/Algorithms", "/Pre-tokenize", "/Learn"]
)
def test_no_page_reserves_more_height_than_it_fills(
    share_page: Callable[[str], Page], path: str
) -> None:
    page = share_page(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    await_rest(page)
    page.wait_for_function(f"() => !({RESERVED})().length")


def test_mark_is_the_favicon_and_stands_in_the_header(english_page: Page) -> None:
    page = english_page
    mark = page.locator(".st-key-top img")
    expect(mark).to_be_visible()
    # Both are allowed by the content security policy, and drawn.
    assert mark.evaluate("async (it) => { await it.decode(); return it.naturalWidth; }") > 0
    icon = page.locator("link[rel~=icon]").get_attribute("href") or ""
    source = icon.removeprefix("data:image/svg+xml;base64,")
    assert b64decode(source).decode() == MARK

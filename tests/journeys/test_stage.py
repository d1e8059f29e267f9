"""The stage as it is drawn: its curve, its lines, the merges on the letters of a short text."""

from __future__ import annotations

from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from journeys.journey import Journey
from journeys.people import (
    FIRST,
    PARAGRAPH,
    SCREEN,
    Stage,
    at_rest,
    await_equal,
    await_rest,
    expect,
    link,
    trained,
)
from PIL import Image

from bpeviz.ui.mark import MARK

NO_LINES = ".c { box-shadow: none !important; --line: transparent }"
NO_INK = f"{NO_LINES} .text * {{ color: transparent !important; --dot: none !important }}"
PLACES = "text => [...text.querySelectorAll('.c')].map(c => c.getBoundingClientRect().toJSON())"
HANDLE = """line => [
  line.getBoundingClientRect().x,
  parseFloat(getComputedStyle(line, "::after").top),
]"""
IS_DARK = """([text, isDark]) => {
  const isLight = parseFloat(getComputedStyle(text).color.match(/[\\d.]+/)) > 128;
  return document.fonts.status === "loaded" && isDark === isLight;
}"""
"""Returns whether a text has the theme, which follows after that of the browser."""


def ink_of_lines(stage: Stage) -> float:
    """Return the ink of the lines on the stage relative to that of its letters.

    Ink is the sum of the differences of gray values between the stage as it is, without lines, and
    without both. Rings of a merge are lines; the dots of spaces are letters.
    """
    style = stage.text.evaluate_handle(
        "text => text.getRootNode().appendChild(document.createElement('style'))"
    )
    images = []
    for css in ("", NO_LINES, NO_INK):
        style.evaluate("(style, css) => { style.textContent = css; }", css)
        image = Image.open(BytesIO(stage.text.screenshot())).convert("L")
        images.append(np.asarray(image).astype(float))
    style.evaluate("style => style.remove()")
    whole, no_lines, nothing = images
    return float(np.abs(whole - no_lines).sum() / np.abs(no_lines - nothing).sum())


def test_stage_draws_what_happens(journey: Journey) -> None:
    with journey.step("The mark is in the header, and in the browser's tab"):
        page = journey.open("/")
        stage = Stage(page)
        training, boundaries = stage.await_text(FIRST)
        # Both are allowed by the content security policy, and drawn.
        mark = page.locator("img").first
        assert mark.evaluate("async it => { await it.decode(); return it.naturalWidth; }") > 0
        icon = page.locator("link[rel~=icon]").get_attribute("href") or ""
        source = icon.removeprefix("data:image/svg+xml;base64,")
        assert b64decode(source).decode() == MARK
    with journey.step("The track is the curve of the number of tokens; a press goes there"):
        counts, steps = boundaries.token_counts.tolist(), training.steps
        course = stage.section.locator(".course")
        expect(course.locator(".start")).to_have_text(str(counts[0]))
        expect(course.locator(".ends")).to_have_text(str(counts[-1]))
        box = at_rest(stage.track)
        width, heights = box["width"] - 16, []
        for step in (0, steps // 3, steps):
            place = box["x"] + 8 + width * step / steps
            page.mouse.click(place, box["y"] + 20)
            stage.await_step(step)
            expect(stage.track).to_have_attribute("aria-valuetext", f"merge {step} of {steps}")
            left, top = course.locator(".here").evaluate(HANDLE)
            assert left == pytest.approx(place, abs=2)
            heights.append(top)
        first, middle, end = heights
        saved = [count - counts[-1] for count in counts]
        share = saved[steps // 3] / saved[0]
        assert (end - middle) / (end - first) == pytest.approx(share, abs=0.02)
    with journey.step("In both themes, lines have less ink than letters at each step"):
        page.goto(journey.server.address + link(PARAGRAPH))
        expect(stage.last).to_have_text(f"{trained(PARAGRAPH)[0].steps:,}")
        await_rest(page)  # what is loaded below it moves nothing between pictures
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            text = stage.text.element_handle()
            page.wait_for_function(IS_DARK, arg=[text, scheme == "dark"])
            inks = []
            for step in (0, 1, 2):  # those whose lines have the most ink
                stage.go(step)
                inks.append(ink_of_lines(stage))
            assert 0.1 < inks[0] <= 0.3, (scheme, inks)  # ticks are drawn
            assert max(inks) <= 0.5, (scheme, inks)  # with the rings of the merge
    with journey.step("The merges of a short text are blocks as wide as their letters"):
        page.emulate_media(color_scheme="light")
        page.goto(journey.server.address + link("banana bandana, banana bandana"))
        stage.await_text("banana bandana, banana bandana")
        blocks = stage.section.locator(".merge-block")
        names = blocks.locator("bdi")
        merges = {"an", "ana", "ban", "·ban", "·band", "·bandana"}
        await_equal(lambda: {*names.all_text_contents()}, merges)
        block = blocks.filter(has=page.get_by_text("ana", exact=True)).first.bounding_box()
        assert block
        ends = block["x"], block["x"] + block["width"]
        tokens = [(place["left"], place["right"]) for place in stage.text.evaluate(PLACES)]
        assert any(ends == pytest.approx(token, abs=3) for token in tokens)
    with journey.step("Later blocks are absent"):
        stage.go(1)
        expect(blocks).to_have_count(8)
        await_equal(lambda: {*names.all_text_contents()}, {"an"})
        stage.button("Last").click()
        now = stage.section.locator(".merge-block.now bdi")
        await_equal(lambda: {*now.all_text_contents()}, {"·bandana"})
    with journey.step("Where a remark stands, controls and sentences are whole in a small window"):
        page.set_viewport_size({"width": 1024, "height": 576})
        page.goto(journey.server.address + link("مرحبا بالعالم"))
        expect(stage.sentence.locator("> *")).not_to_have_count(0)
        main = stage.button("Play").or_(stage.button("Replay"))
        expect(main).to_be_in_viewport(ratio=0.9)
        hidden = "box => [box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight]"
        await_equal(lambda: stage.sentence.evaluate(hidden), [0, 0])
        page.set_viewport_size(SCREEN)

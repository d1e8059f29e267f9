"""Take the README's picture and animation: `python tests/picture.py [ADDRESS]`.

It needs Chromium, and the app running. The default address is http://localhost:8501.
"""

from __future__ import annotations

import re
import sys
import time
from io import BytesIO
from pathlib import Path

from browser.serving import FLAGS, chromium
from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

PICTURE = Path(__file__).with_name("picture.png")
ANIMATION = Path(__file__).with_name("merges.gif")
PLAY = re.compile("^(Play|Replay)$")
WIDTH = 860
COLORS = 160
FIRST, FAST, LAST = 1.5, 0.6, 4.0
"""How long step 0, each merge after the slow ones, and the last one are shown, in seconds."""

SLOW = 3
"""The first merges, which are played and told in order."""


def main(address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(
            viewport={"width": 1366, "height": 768}, reduced_motion="reduce", device_scale_factor=1
        )
        page.goto(address)
        expect(page.get_by_role("button", name=PLAY)).to_be_visible(timeout=30_000)
        expect(page.get_by_label("Vocabulary size")).to_be_visible(timeout=30_000)
        page.wait_for_timeout(3_000)  # the race, charts and fonts settle
        page.screenshot(path=PICTURE)
        page.emulate_media(reduced_motion="no-preference")
        page.reload()
        expect(page.get_by_role("button", name=PLAY)).to_be_visible(timeout=30_000)
        page.wait_for_timeout(3_000)
        animate(page)
        browser.close()


def animate(page: Page) -> None:
    """Write the steps of the player, from the text to the curve of tokens."""
    step = page.get_by_label("Merge number")
    last = int(step.input_value())
    top = page.get_by_label("Player: ").bounding_box()
    bottom = page.get_by_role("button", name=PLAY).bounding_box()
    assert top, "the page has no player"
    assert bottom, "the page has no controls"
    clip = {
        "x": top["x"] - 8,
        "y": top["y"] - 4,
        "width": 1366 - top["x"] - 12,
        "height": bottom["y"] - top["y"] - 2,
    }
    frames: list[Image.Image] = []
    seconds: list[float] = []

    def take(duration: float) -> None:
        with Image.open(BytesIO(page.screenshot(clip=clip))) as image:
            height = round(WIDTH * image.height / image.width)
            frame = image.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS)
        if frames and frame == frames[-1]:
            seconds[-1] += duration
        else:
            frames.append(frame)
            seconds.append(duration)

    def go(number: int) -> None:
        step.fill(str(number))
        step.press("Enter")
        page.get_by_role("heading", level=1).click()  # removes the focus from the player
        page.wait_for_timeout(500)

    go(0)
    take(FIRST)
    page.get_by_label("Speed").select_option("0.5")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("heading", level=1).hover()
    before = time.monotonic()
    while int(step.input_value()) <= SLOW:
        take(0)
        before, seconds[-1] = (now := time.monotonic()), seconds[-1] + now - before
    page.get_by_role("button", name="Pause").click()
    for number in range(SLOW + 1, last + 1):
        go(number)
        take(LAST if number == last else FAST)
    # One palette for all frames: tokens have all colors in the last one, and half their strength
    # before that.
    sheet = Image.new("RGB", (WIDTH, sum(frame.height for frame in frames)))
    for number, frame in enumerate(frames):
        sheet.paste(frame, (0, number * frame.height))
    palette = sheet.quantize(COLORS, method=Image.Quantize.MAXCOVERAGE)
    paletted = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    # Without `loop`, it plays once and rests at the last merge.
    paletted[0].save(
        ANIMATION,
        save_all=True,
        append_images=paletted[1:],
        duration=[round(1000 * duration) for duration in seconds],
        optimize=True,
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8501")

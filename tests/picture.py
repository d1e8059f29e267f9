"""Take the README's picture and animation: `python tests/picture.py [ADDRESS]`.

It needs Chromium, and the app running. The default address is http://localhost:8501.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

from browser.serving import FLAGS, chromium
from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

PICTURE = Path(__file__).with_name("picture.png")
ANIMATION = Path(__file__).with_name("merges.gif")
WIDTH = 860
COLORS = 96
SECONDS = (1.5, 2.0, 2.0, 2.0)
"""How long step 0 and the first merges are shown; the others take `FAST`, the last one `LAST`."""

FAST, LAST = 0.6, 4.0


def main(address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(
            viewport={"width": 1366, "height": 768}, reduced_motion="reduce", device_scale_factor=1
        )
        page.goto(address)
        expect(page.get_by_role("button", name="Replay")).to_be_visible(timeout=30_000)
        expect(page.get_by_role("slider", name="Vocabulary size")).to_be_visible(timeout=30_000)
        page.wait_for_timeout(3_000)  # the race, charts and fonts settle
        page.screenshot(path=PICTURE)
        animate(page)
        browser.close()


def animate(page: Page) -> None:
    """Write the steps of the player, from the sentence of the merge to the end of the stage."""
    step = page.get_by_label("Merge number")
    last = int(step.input_value())
    top = page.get_by_role("heading", level=1).bounding_box()
    bottom = page.get_by_role("button", name="Replay").bounding_box()
    assert top, "the page has no title"
    assert bottom, "the page has no controls"
    clip = {
        "x": top["x"] - 8,
        "y": top["y"] + top["height"],
        "width": 1366 - top["x"] - 12,
        "height": bottom["y"] - top["y"] - top["height"] - 30,
    }
    frames = []
    for number in range(last + 1):
        step.fill(str(number))
        step.press("Enter")
        page.get_by_role("heading", level=1).click()  # removes the focus from the player
        page.wait_for_timeout(500)
        with Image.open(BytesIO(page.screenshot(clip=clip))) as image:
            height = round(WIDTH * image.height / image.width)
            frames.append(image.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS))
    # One palette for all frames, taken from the last one, which has all colors.
    palette = frames[-1].quantize(COLORS)
    paletted = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    seconds = [*[*SECONDS, *[FAST] * last][:last], LAST]
    # Without `loop`, it plays once and rests at the last merge.
    paletted[0].save(
        ANIMATION,
        save_all=True,
        append_images=paletted[1:],
        duration=[round(1000 * one) for one in seconds],
        optimize=True,
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8501")

"""Measure the player's frames per second while it plays, in a real browser.

    python tests/benchmarks/frames.py [ADDRESS]

with the app running at ADDRESS (http://localhost:8501 by default). The text is put together from
the sample texts, repeated to the size wanted; the film is played at 30x from its first merge.
Prints the frames per second and the longest frame, with the processor as it is and slowed down
four times.
"""

from __future__ import annotations

import os
import shutil
import sys

from playwright.sync_api import Page, sync_playwright

from bpeviz.samples import SAMPLES

SECONDS = 4
SIZES = (1_000, 20_000)

COUNT = """(seconds) => new Promise((done) => {
  let frames = 0, longest = 0, before = performance.now();
  const start = before;
  const tick = (now) => {
    frames += 1;
    longest = Math.max(longest, now - before);
    before = now;
    if (now - start < seconds * 1000) requestAnimationFrame(tick);
    else done([frames / (now - start) * 1000, longest]);
  };
  requestAnimationFrame(tick);
})"""


def text_of(size: int) -> str:
    words = " ".join(sample.text for sample in SAMPLES[:1] + SAMPLES[4:5])
    return (words * (size // len(words) + 1))[:size]


def measure(page: Page, address: str, size: int, slowed: int) -> tuple[float, float]:
    page.goto(address)
    page.get_by_role("button", name="Play", exact=True).wait_for()
    page.get_by_label("Text to use").fill(text_of(size))
    page.get_by_label("Text to use").press("Control+Enter")
    page.wait_for_function(
        "size => document.querySelector('.st-key-player *')"
        " && [...document.querySelectorAll('*')].some(e => e.shadowRoot"
        " && e.shadowRoot.querySelectorAll('.c').length === size)",
        arg=size,
    )
    page.get_by_label("Speed").select_option("30")
    page.get_by_role("button", name="First", exact=True).click()
    page.wait_for_timeout(1_000)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    page.get_by_role("button", name="Play", exact=True).click()
    frames, longest = page.evaluate(COUNT, SECONDS)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    return frames, longest


def main(address: str) -> None:
    chromium = os.environ.get("BPEVIZ_CHROMIUM") or shutil.which("chromium")
    print("atoms    slowed   frames/s   longest frame")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for size in SIZES:
            for slowed in (1, 4):
                page = browser.new_page(viewport={"width": 1366, "height": 768})
                frames, longest = measure(page, address, size, slowed)
                print(f"{size:>7,}   {slowed}x      {frames:>6.1f}     {longest:>6.0f} ms")
                page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8501")

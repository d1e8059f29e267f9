"""Take the screenshot of the README: `python tests/picture.py [ADDRESS]`, with the app running.

It needs Chromium. The default address is http://localhost:8501.
"""

from __future__ import annotations

import sys
from pathlib import Path

from browser.serving import FLAGS, chromium
from playwright.sync_api import expect, sync_playwright

PICTURE = Path(__file__).with_name("picture.png")


def main(address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(address)
        expect(page.get_by_text("before merge 1.")).to_be_visible(timeout=30_000)
        step = page.get_by_label("Merge number")
        step.fill("9")
        step.press("Enter")
        page.get_by_role("heading", level=1).click()  # removes the focus from the field
        expect(page.get_by_role("slider", name="Vocabulary size")).to_be_visible(timeout=30_000)
        expect(page.get_by_role("button", name="Export")).to_be_visible(timeout=30_000)
        expect(page.get_by_text("before merge 9")).to_be_visible(timeout=30_000)
        page.wait_for_timeout(1_000)  # charts and fonts settle
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8501")

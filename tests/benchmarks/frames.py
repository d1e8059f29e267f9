"""Measure the player's frames per second while it plays 60 merges a second, in a real browser.

    python tests/benchmarks/frames.py [--seconds N] [--quick]

It needs Chromium (`BPEVIZ_CHROMIUM` sets its path) and starts its own server. The text is the
beginning of the standard library's sources. It is shown by the player alone and by the Train page,
at normal processor speed and slowed four times by the browser. A screen shows 60 frames a second.
At lower frame rates, the player applies several merges per frame and still reaches about 60 a
second. `--quick` measures only the smallest case of each, as a smoke test.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

from benchmarks import machine
from benchmarks.corpora import standard_library
from browser.serving import FLAGS, ROOT, chromium, serving
from playwright.sync_api import Browser, Page, sync_playwright

PATHS = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
PAGE = Path(__file__).with_name("player_alone.py")
SPEED = "30"
"""The value of the player's speed option: 1× is two merges a second."""

ENOUGH = 1.0
"""The shortest playback to measure, in seconds. Short texts have few merges on the Train page."""

ALONE, ON_TRAIN = (1_000, 20_000, 100_000), (1_000, 20_000)
"""Numbers of atoms shown."""

COUNT = """(seconds) => new Promise((done) => {
  const hosts = [...document.querySelectorAll('*')].map((element) => element.shadowRoot);
  const player = hosts.map((root) => root?.querySelector('.player')).find(Boolean);
  const step = () => Number(player.querySelector('.step').value);
  const first = step(), times = [];
  const tick = (now) => {
    times.push(now);
    const playing = player.classList.contains('playing');
    if (playing && now - times[0] < seconds * 1000) return requestAnimationFrame(tick);
    const spans = times.slice(1).map((time, i) => time - times[i]);
    const lasted = (now - times[0]) / 1000;
    const merges = (step() - first) / lasted;
    done([spans.length / lasted, Math.max(...spans), merges, lasted]);
  };
  requestAnimationFrame(tick);
})"""


class Measured(NamedTuple):
    """Frames per second, duration of the longest frame in ms, and merges per second."""

    frames: float
    longest: float
    merges: float


def open_alone(page: Page, address: str, atoms: int) -> None:
    page.goto(f"{address}/?atoms={atoms}")


def open_on_train(page: Page, address: str, atoms: int) -> None:
    page.goto(address)
    page.get_by_role("button", name="Play", exact=True).wait_for()
    page.get_by_label("Text to use").fill(standard_library(atoms))
    page.get_by_label("Text to use").press("Control+Enter")


def play(page: Page, atoms: int, slowed: int, seconds: float) -> Measured:
    """Wait until the player shows `atoms` atoms, then play and measure."""
    page.wait_for_function(
        "atoms => [...document.querySelectorAll('*')].some(e => e.shadowRoot"
        " && e.shadowRoot.querySelectorAll('.c').length === atoms)",
        arg=atoms,
    )
    page.get_by_label("Speed").select_option(SPEED)
    page.get_by_role("button", name="First", exact=True).click()
    page.wait_for_timeout(1_500)  # the fragments that follow the step settle
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    page.get_by_role("button", name="Play", exact=True).click()
    *found, lasted = page.evaluate(COUNT, seconds)
    if lasted < ENOUGH:
        raise SystemExit(f"Playing {atoms:,} atoms ended after {lasted:.1f} seconds.")
    return Measured(*found)


def rows(browser: Browser, seconds: float, quick: bool) -> Iterator[tuple[str, int, int, Measured]]:
    """Yield the place, number of atoms, slowdown and result of each measurement."""
    for script, where, sizes, opened in (
        (str(PAGE), "player alone", ALONE, open_alone),
        ("app.py", "Train page", ON_TRAIN, open_on_train),
    ):
        with (
            tempfile.TemporaryDirectory() as folder,
            serving(Path(folder), script, PYTHONPATH=PATHS) as server,
        ):
            for atoms in sizes[:1] if quick else sizes:
                for slowed in (1,) if quick else (1, 4):
                    page = browser.new_page(viewport={"width": 1366, "height": 768})
                    page.set_default_timeout(60_000)
                    opened(page, server.address, atoms)
                    yield where, atoms, slowed, play(page, atoms, slowed, seconds)
                    page.close()


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description="Measure the player's frames per second.")
    parser.add_argument(
        "--seconds",
        type=float,
        default=3.0,
        metavar="N",
        help="seconds per measurement (default 3)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="measure only the smallest case of each"
    )
    arguments = parser.parse_args()
    if (found := chromium(whole=True)) is None:
        raise SystemExit("Chromium not found: install it, or set BPEVIZ_CHROMIUM to its path.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        print("\n".join(machine.head(["streamlit"])))
        print(f"Chromium {browser.version}, without a graphics card.\n")
        line = "| {:<16} | {:>7} | {:<10} | {:>8} | {:>13} | {:>8} |"
        print(line.format("where", "atoms", "processor", "frames/s", "longest frame", "merges/s"))
        rules = ("-" * 16, "-" * 6 + ":", "-" * 10, "-" * 7 + ":", "-" * 12 + ":", "-" * 7 + ":")
        print(line.format(*rules))
        for where, atoms, slowed, found in rows(browser, arguments.seconds, arguments.quick):
            how = "normal" if slowed == 1 else f"{slowed} × slower"
            shown = (f"{found.frames:.1f}", f"{found.longest:.0f} ms", f"{found.merges:.0f}")
            print(line.format(where, f"{atoms:,}", how, *shown), flush=True)
        browser.close()


if __name__ == "__main__":
    main()

"""Measure the player's frames per second while it plays, in a real browser.

    python tests/benchmarks/frames.py [--seconds N] [--rounds N] [--quick]

It needs Chromium (`BPEVIZ_CHROMIUM` sets its path) and starts its own servers. The text is the
beginning of the standard library's sources. It is shown by the player alone and by the Train page,
at normal processor speed and slowed four times by the browser. A screen shows 60 frames a second.
The two play in turn, so that a busy machine slows both; the last column compares their medians.
`--quick` measures only the smallest case of each, as a smoke test.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

from benchmarks import machine
from benchmarks.corpora import standard_library
from browser.serving import FLAGS, ROOT, chromium, serving
from playwright.sync_api import Browser, Page, sync_playwright

PATHS = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
PAGE = Path(__file__).with_name("player_alone.py")
SPEED = "4"
"""The value of the player's speed option. A whole training then takes five seconds."""

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


CALM = """() => new Promise(done => {
  const start = performance.now();
  let before = start, since = start;
  const look = now => {
    if (now - before > 100) since = now;
    before = now;
    if (now - since > 1000 || now - start > 20000) done();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""
"""Waits until a second has no frame longer than 0.1 s, or for 20 seconds on a busy machine."""


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


def prepare(page: Page, atoms: int, slowed: int) -> None:
    """Wait until the player shows `atoms` atoms, then slow the processor."""
    page.wait_for_function(
        "atoms => [...document.querySelectorAll('*')].some(e => e.shadowRoot"
        " && e.shadowRoot.querySelectorAll('.c').length === atoms)",
        arg=atoms,
    )
    page.get_by_label("Speed").select_option(SPEED)
    page.wait_for_timeout(3_000)  # charts and tables are drawn
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})


def play(page: Page, atoms: int, seconds: float) -> Measured:
    """Play from the start and measure."""
    if page.get_by_role("button", name="Pause", exact=True).count():
        page.get_by_role("button", name="Pause", exact=True).click()
    if page.get_by_role("button", name="First", exact=True).is_enabled():
        page.get_by_role("button", name="First", exact=True).click()
    page.bring_to_front()
    page.wait_for_timeout(2_000)  # the server answers
    page.evaluate(CALM)  # what follows the step is drawn
    page.get_by_role("button", name="Play", exact=True).click()
    *found, lasted = page.evaluate(COUNT, seconds)
    if lasted < ENOUGH:
        raise SystemExit(f"Playing {atoms:,} atoms ended after {lasted:.1f} seconds.")
    return Measured(*found)


def rows(
    browser: Browser, seconds: float, rounds: int, quick: bool
) -> Iterator[tuple[str, int, int, Measured, float | None]]:
    """Yield the place, atoms, slowdown, medians, and the share of the player's frames alone."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                serving(
                    Path(stack.enter_context(tempfile.TemporaryDirectory())),
                    script,
                    PYTHONPATH=PATHS,
                )
            )
            for script in (str(PAGE), "app.py")
        ]
        for atoms, slowed in product(ALONE[:1] if quick else ALONE, (1,) if quick else (1, 4)):
            places = {"player alone": (open_alone, servers[0])}
            if atoms in ON_TRAIN:
                places["Train page"] = (open_on_train, servers[1])
            pages: dict[str, Page] = {}
            for where, (opened, server) in places.items():
                pages[where] = browser.new_page(viewport={"width": 1366, "height": 768})
                pages[where].set_default_timeout(120_000)
                opened(pages[where], server.address, atoms)
                prepare(pages[where], atoms, slowed)
            measured: dict[str, list[Measured]] = {where: [] for where in pages}
            for _ in range(rounds):
                for where, page in pages.items():
                    measured[where].append(play(page, atoms, seconds))
            alone = median(one.frames for one in measured["player alone"])
            for where, found in measured.items():
                middle = Measured(*(median(values) for values in zip(*found, strict=True)))
                share = None if where == "player alone" else middle.frames / alone
                yield where, atoms, slowed, middle, share
                pages[where].close()


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
        "--rounds",
        type=int,
        default=3,
        metavar="N",
        help="measurements of each, in turn; the table shows medians (default 3)",
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
        line = "| {:<12} | {:>7} | {:<10} | {:>8} | {:>13} | {:>8} | {:>8} |"
        names = ("frames/s", "longest frame", "merges/s", "of alone")
        print(line.format("where", "atoms", "processor", *names))
        rules = (
            "-" * 12,
            "-" * 6 + ":",
            "-" * 10,
            *("-" * (len(name) - 1) + ":" for name in names),
        )
        print(line.format(*rules))
        rounds = 1 if arguments.quick else arguments.rounds
        for where, atoms, slowed, found, share in rows(
            browser, arguments.seconds, rounds, arguments.quick
        ):
            how = "normal" if slowed == 1 else f"{slowed} × slower"
            shown = (f"{found.frames:.1f}", f"{found.longest:.0f} ms", f"{found.merges:.0f}")
            compared = "" if share is None else f"{share:.2f}"
            print(line.format(where, f"{atoms:,}", how, *shown, compared), flush=True)
        browser.close()


if __name__ == "__main__":
    main()

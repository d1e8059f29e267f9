"""Measure the pages in a real browser: layout shift, first useful paint, and frames.

    python tests/benchmarks/in_browser.py [--rounds N] [--quick]

Each page is opened by a cold link: a new session in a new tab of a browser that has Streamlit's
scripts. In each round, every page and an empty Streamlit page load in turn. The first useful paint
is the frame after which tokens are on the screen, or on Learn the question. Then the player plays
at 4× on Train, and with four rows on Algorithms, at normal processor speed and slowed four times by
the browser. The script needs Chromium (`BPEVIZ_CHROMIUM` sets its path) and starts its own servers.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from itertools import product
from pathlib import Path
from statistics import median

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

from benchmarks import machine
from benchmarks.corpora import standard_library
from browser.serving import FLAGS, chromium, serving
from playwright.sync_api import Browser, BrowserContext, sync_playwright

PAGES = ("", "Compare", "Inspect", "Algorithms", "Pre-tokenize", "Learn")
SIZES = {1366: 768, 820: 1180, 390: 844}
"""Widths and heights of windows in pixels."""

EMPTY = "import streamlit as st\nst.text('Empty')\n"
REST = 2_000
"""Milliseconds after a load during which charts and tables may still move something."""

ROWS = "algorithm=bpe,wordpiece,unigram,sentencepiece"

RECORD = """() => {
  const record = (window.measured = { shift: 0, paint: null });
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value } of list.getEntries())
      if (!hadRecentInput) record.shift += value;
  }).observe({ type: "layout-shift", buffered: true });
  const isDrawn = () => {
    const main = document.querySelector("[data-testid=stMainBlockContainer]");
    if (location.search === "?empty") return Boolean(main?.innerText.trim());
    const drawn = ".text .c, .grid .cell, .prompt:not(:empty)";
    return [...(main?.querySelectorAll("[data-testid^=stBidiComponent]") ?? [])]
      .some((element) => element.shadowRoot?.querySelector(drawn));
  };
  const look = () => {
    if (isDrawn()) record.paint = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
SETTLED = """() => measured.paint !== null
  && document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning" """

BRIEF = "banana bandana, banana bandana, bananas!"
"""The longest text with its merges on its letters."""

SHOWS = """atoms => [...document.querySelectorAll('*')].some(
  e => e.shadowRoot?.querySelector('.text')?.textContent.length >= atoms)"""
COUNT = """(seconds) => new Promise((done) => {
  const times = [];
  const tick = (now) => {
    times.push(now);
    if (now - times[0] < seconds * 1000) return requestAnimationFrame(tick);
    const spans = times.slice(1).map((time, i) => time - times[i]);
    done([spans.length / ((now - times[0]) / 1000), Math.max(...spans)]);
  };
  requestAnimationFrame(tick);
})"""


def load(context: BrowserContext, address: str, width: int) -> tuple[float, float]:
    """Open a page; return its layout shift and the time of its first useful paint in seconds."""
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": SIZES[width]})
    page.add_init_script(f"({RECORD})()")
    page.goto(address)
    page.wait_for_function(SETTLED)
    page.wait_for_timeout(REST)
    measured = page.evaluate("measured")
    page.close()
    return measured["shift"], measured["paint"] / 1000


def loads(context: BrowserContext, addresses: dict[str, str], rounds: int) -> None:
    """Print the layout shift and the first paint of each page."""
    for address in addresses.values():  # fill the browser's cache
        load(context, address, 1366)
    keys = [*product(addresses, SIZES)]
    measured: dict[tuple[str, int], list[tuple[float, float]]] = {key: [] for key in keys}
    for _, (name, width) in product(range(rounds), keys):
        measured[name, width].append(load(context, addresses[name], width))
    print(f"| page | {' | '.join(f'shift, {width}' for width in SIZES)} | paint | after empty |")
    print("| --- |" + " ---: |" * (len(SIZES) + 2))
    paints = {name: median(paint for _, paint in measured[name, 1366]) for name in addresses}
    for name, paint in paints.items():
        shifts = [median(shift for shift, _ in measured[name, width]) for width in SIZES]
        cells = [f"{shift:.3f}" for shift in shifts]
        cells += [f"{paint:.2f} s", f"{paint - paints['empty']:.2f} s"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def frames(browser: Browser, address: str, atoms: int, slowed: int) -> tuple[float, float]:
    """Play on a page; return the frames per second and the longest frame in milliseconds."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.set_default_timeout(120_000)
    page.goto(address)
    page.get_by_role("button", name=re.compile("^(Play|Replay)$")).wait_for()
    is_brief = atoms == len(BRIEF)
    page.get_by_label("Text to use").fill(BRIEF if is_brief else standard_library(atoms))
    page.get_by_label("Text to use").press("Control+Enter")
    page.wait_for_function(SHOWS, arg=atoms)
    page.get_by_label("Speed").select_option("4")
    page.wait_for_timeout(3_000)  # charts and tables are drawn
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    page.get_by_role("button", name="First", exact=True).click()
    page.wait_for_timeout(REST)
    page.get_by_role("button", name="Play", exact=True).click()
    measured: list[float] = page.evaluate(COUNT, 3.0)
    page.close()
    return measured[0], measured[1]


def rows_played(browser: Browser, address: str, atoms: int, slowed: int) -> tuple[float, float]:
    """Play four rows on Algorithms, as in `frames`."""
    return frames(browser, f"{address}/Algorithms?{ROWS}", atoms, slowed)


def main() -> None:
    """Measure and print two tables."""
    parser = argparse.ArgumentParser(description="Measure the pages in a browser.")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="default: 5")
    parser.add_argument("--quick", action="store_true", help="one page, as a smoke test")
    arguments = parser.parse_args()
    if (path := chromium()) is None:
        raise SystemExit("Chromium not found: install it, or set BPEVIZ_CHROMIUM to its path.")
    print("\n".join(machine.head(["streamlit"])))
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as other,
        sync_playwright() as playwright,
        serving(Path(folder)) as app,
    ):
        script = Path(other, "empty.py")
        script.write_text(EMPTY, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        print(f"Chromium {browser.version}, medians of {arguments.rounds} rounds.\n")
        context = browser.new_context()
        context.set_default_timeout(120_000)
        with serving(Path(other), str(script)) as empty:
            pages = PAGES[:1] if arguments.quick else PAGES
            addresses = {page or "Train": f"{app.address}/{page}" for page in pages}
            loads(context, {"empty": f"{empty.address}/?empty"} | addresses, arguments.rounds)
        print("\n| | atoms | processor | frames/s | longest frame |")
        print("| --- | ---: | --- | ---: | ---: |")
        shown = [("Train plays a merge diagram", frames, len(BRIEF))]
        shown += [("Train plays", frames, atoms) for atoms in (3_000, 20_000)]
        shown += [("Algorithms plays", rows_played, 3_000)]
        for (name, measure, atoms), slowed in product(shown, (1, 4)):
            found = [measure(browser, app.address, atoms, slowed) for _ in range(arguments.rounds)]
            rate, longest = (median(values) for values in zip(*found, strict=True))
            how = "normal" if slowed == 1 else f"{slowed} × slower"
            print(f"| {name} | {atoms:,} | {how} | {rate:.1f} | {longest:.0f} ms |", flush=True)
            if arguments.quick:
                break
        browser.close()


if __name__ == "__main__":
    main()

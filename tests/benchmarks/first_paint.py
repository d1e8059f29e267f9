"""Measure the layout shift and the first useful paint of each page, in a real browser.

    python tests/benchmarks/first_paint.py [--rounds N] [--page PATH] [--verbose] [--quick]

Each page is opened by a cold link: a new session in a new tab of a browser that has Streamlit's
scripts. In each round, every page and an empty Streamlit page load in turn, at each width. The
first useful paint is the frame after which tokens are on the screen, or on Learn the question. The
layout shift is the sum over the whole load. It needs Chromium (`BPEVIZ_CHROMIUM` sets its path)
and starts its own servers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

sys.path.extend(str(folder) for folder in Path(__file__).resolve().parents[1:3])

from benchmarks import machine
from browser.serving import FLAGS, chromium, serving
from playwright.sync_api import Browser, BrowserContext, sync_playwright

PAGES = {
    "/": "Train",
    "/Compare": "Compare",
    "/Inspect": "Inspect",
    "/Algorithms": "Algorithms",
    "/Pre-tokenize": "Pre-tokenize",
    "/Learn": "Learn",
}
SIZES = {1366: 768, 820: 1180, 390: 844}
"""Widths and heights of windows in pixels."""

TARGET_SHIFT, TARGET_DELAY = 0.15, 0.7

RECORD = """() => {
  const record = (window.measured = { shift: 0, shifts: [], paint: null });
  const box = ({ x, y, width, height }) => [x, y, width, height].map(Math.round);
  const name = (node) => node?.dataset?.testid || node?.className || node?.nodeName || "?";
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value, startTime, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      record.shift += value;
      const moved = sources.map(({ node, previousRect, currentRect }) =>
        `${name(node)} ${box(previousRect)} to ${box(currentRect)}`);
      record.shifts.push({ value, startTime, moved });
    }
  }).observe({ type: "layout-shift", buffered: true });
  const drawn = ".text .c, .grid .cell, .prompt:not(:empty)";
  const isDrawn = (empty) => {
    const main = document.querySelector("[data-testid=stMainBlockContainer]");
    if (empty) return Boolean(main?.innerText.trim());
    for (const element of main?.querySelectorAll("[data-testid^=stBidiComponent]") ?? [])
      if (element.shadowRoot?.querySelector(drawn)) return true;
    return false;
  };
  const look = () => {
    if (isDrawn(location.search === "?empty")) record.paint = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""

SETTLED = """() => measured.paint !== null
  && document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning" """
REST = 2_000
"""Milliseconds after a load during which charts and tables may still move something."""


def load(
    context: BrowserContext, address: str, size: tuple[int, int], *, verbose: bool
) -> tuple[float, float]:
    """Open a page; return its layout shift and the time of its first useful paint in seconds."""
    page = context.new_page()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.add_init_script(f"({RECORD})()")
    page.goto(address)
    page.wait_for_function(SETTLED)
    page.wait_for_timeout(REST)
    found: dict[str, Any] = page.evaluate("measured")
    page.close()
    for one in found["shifts"] if verbose else ():
        if one["value"] > 0.003:
            print(
                f"    {one['value']:.3f} at {one['startTime']:.0f} ms:",
                *one["moved"],
                sep="\n      ",
            )
    return found["shift"], found["paint"] / 1000


def measure(
    browser: Browser, pages: list[str], sizes: dict[int, int], rounds: int, *, verbose: bool
) -> dict[tuple[str, int], list[tuple[float, float]]]:
    """Return the measurements of each page and width; the page "" is the empty one."""
    found: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "empty").mkdir()
        empty = stack.enter_context(
            serving(folder / "empty", str(Path(__file__).with_name("empty_page.py")))
        )
        app = stack.enter_context(serving(folder))
        context = browser.new_context()
        context.set_default_timeout(120_000)
        addresses = {"": f"{empty.address}/?empty"} | {path: app.address + path for path in pages}
        for address in addresses.values():  # fill the browser's cache
            load(context, address, next(iter(sizes.items())), verbose=False)
        for _ in range(rounds):
            for size, path in product(sizes.items(), addresses):
                if verbose:
                    print(f"  {PAGES.get(path, 'empty')}, {size[0]}")
                one = load(context, addresses[path], size, verbose=verbose)
                found[path, size[0]].append(one)
        context.close()
    return found


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description="Measure layout shift and first useful paint.")
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="loads of each page (default 5)"
    )
    parser.add_argument(
        "--page", action="append", choices=PAGES, help="measure only this page; repeatable"
    )
    parser.add_argument("--verbose", action="store_true", help="print what shifts")
    parser.add_argument("--quick", action="store_true", help="load one page once, as a smoke test")
    arguments = parser.parse_args()
    if (path := chromium()) is None:
        raise SystemExit("Chromium not found: install it, or set BPEVIZ_CHROMIUM to its path.")
    pages = arguments.page or list(PAGES)
    sizes, rounds = SIZES, arguments.rounds
    if arguments.quick:
        pages, sizes, rounds = pages[:1], {390: SIZES[390]}, 1
    print("\n".join(machine.head(["streamlit"])))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        print(f"Chromium {browser.version}, medians of {rounds} loads.\n")
        found = measure(browser, pages, sizes, rounds, verbose=arguments.verbose)
        browser.close()
    widths = list(sizes)
    heads = [f"shift, {width}" for width in widths] + ["first paint", "after empty"]
    print(f"| {'page':<12} | " + " | ".join(f"{one:>11}" for one in heads) + " |")
    print(f"| {'-' * 12} | " + " | ".join("-" * 10 + ":" for _ in heads) + " |")
    missed = False
    empty = median(paint for _, paint in found["", widths[0]])
    for path in ("", *pages):
        shifts = [median(shift for shift, _ in found[path, width]) for width in widths]
        paint = median(paint for _, paint in found[path, widths[0]])
        figures = [f"{one:.3f}" for one in shifts] + [f"{paint:.2f} s", f"{paint - empty:.2f} s"]
        print(
            f"| {PAGES.get(path, 'empty'):<12} | "
            + " | ".join(f"{one:>11}" for one in figures)
            + " |"
        )
        missed |= bool(path) and (max(shifts) > TARGET_SHIFT or paint - empty > TARGET_DELAY)
    if missed:
        print(f"\nA page shifts by more than {TARGET_SHIFT} or paints over {TARGET_DELAY} s later.")


if __name__ == "__main__":
    main()

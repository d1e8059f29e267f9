"""Measure the processor time of the server, and what it sends, for each action of one user.

    python tests/benchmarks/cost.py [FOLDER …] [--rounds 5] [--times 30]

Each folder is a checkout, by default this one. In each round, a server of each starts in turn, and
one user edits the text, moves the slider, steps, and opens each page and new tabs. The script
prints the median of the rounds in milliseconds and in kilobytes per action, and the ratio of each
checkout to the first. Kilobytes are those of the websocket, before compression. Times include the
thread that sends messages, not the processes that train. Use an idle machine: ratios within one run
vary by a tenth there, and by a quarter on a busy one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COOKIE = "bpeviz_user=cost"
PAGES = ("Compare", "Inspect", "Pre-tokenize", "Algorithms", "Train")


async def measure(address: str, process: int, times: int) -> dict[str, tuple[float, float]]:
    """Return the milliseconds of processor time and the kilobytes per action, by action."""
    import load
    import psutil

    measured, draw = load.Measured(), random.Random(1)
    server = psutil.Process(process)
    costs: dict[str, tuple[float, float]] = {}

    def used() -> float:
        of_process = server.cpu_times()
        return 1000 * (of_process.user + of_process.system)

    async def repeat(label: str, action: Callable[[], Awaitable[None]]) -> None:
        before, received = used(), measured.received
        for _ in range(times):
            await action()
        kilobytes = (measured.received - received) / 1000
        costs[label] = (used() - before) / times, kilobytes / times

    async def open_tab() -> None:
        async with load.connected(address, measured, COOKIE) as user:
            await user.load()

    async with load.connected(address, measured, COOKIE) as user:
        await user.load()
        for page in PAGES:
            await user.open(page)
        await repeat("edit", lambda: user.edit(load.sentences(draw, draw.randint(200, 4000))))
        await repeat("slide", lambda: user.slide(draw))
        await repeat("step", lambda: user.step(draw))
        for page in PAGES:
            await repeat(page, lambda page=page: user.open(page))
    await repeat("load", open_tab)
    if measured.errors:
        raise RuntimeError(measured.errors[0])
    return costs


def measure_checkout(times: int) -> dict[str, tuple[float, float]]:
    """Start the server of the checkout in the working folder, and measure it."""
    folder = Path.cwd()
    sys.path[:0] = map(str, (folder / "tests" / "benchmarks", folder / "tests", folder))
    from browser.serving import serving

    with tempfile.TemporaryDirectory() as place, serving(Path(place)) as server:
        return asyncio.run(measure(server.address, server.process, times))


def run_in(folder: Path, times: int) -> dict[str, tuple[float, float]]:
    """Measure a checkout in a process of its own, which imports that checkout alone."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-P", __file__, "--one", f"--times={times}"]
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    costs: dict[str, tuple[float, float]] = json.loads(done.stdout.splitlines()[-1])
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure_checkout(arguments.times)))
        return
    folders: list[Path] = arguments.folders
    rounds = [
        [run_in(folder, arguments.times) for folder in folders] for _ in range(arguments.rounds)
    ]
    header = [
        *map(str, range(1, len(folders) + 1)),
        *(f"{i}/1" for i in range(2, len(folders) + 1)),
    ]
    for unit, title in enumerate(("ms per action", "kB per action")):
        print(f"{title:14}" + "".join(f"{name:>9}" for name in header))
        for action in rounds[0][0]:
            costs = [
                statistics.median(of[i][action][unit] for of in rounds) for i in range(len(folders))
            ]
            ratios = "".join(f"{cost / costs[0]:9.2f}" for cost in costs[1:])
            print(f"{action:14}" + "".join(f"{cost:9.1f}" for cost in costs) + ratios)


if __name__ == "__main__":
    main()

"""The benchmark scripts run, print every row, and mark wrong results. No time is asserted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import speed
from browser.serving import chromium

pytestmark = pytest.mark.slow

SPEED = Path(speed.__file__)
TEXT = SPEED.parents[2] / "sample_texts" / "english-prose.txt"


def cells(printed: str) -> list[list[str]]:
    rows = [line for line in printed.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]


@pytest.mark.thorough
def test_speed_prints_a_figure_of_every_contender() -> None:
    printed = output_of("speed.py", TEXT, "--quick", "--rounds=1")
    for what in ("Measured on 20", "core", "CPython", "rustbpe 0", "sentencepiece 0"):
        assert what in "".join(printed[:2])
    rows = cells("\n".join(printed))
    assert {row[0] for row in rows} >= {name for kind in speed.CONTENDERS.values() for name in kind}
    for row in rows:
        if row[0] == speed.BPEVIZ:
            assert all(re.fullmatch(r"[\d.e-]+ s", cell) for cell in row[1:])


@pytest.mark.parametrize("digests", [("other", "other"), ("same", "other")])
def test_cell_marks_wrong_results(digests: tuple[str, str]) -> None:
    ours = [{"figure": 2.0, "digest": "same"}, {"figure": 4.0, "digest": "same"}]
    theirs = [{"figure": 6.0, "digest": digest} for digest in digests]
    results = {"bpeviz": ours, "tiktoken": theirs, "tokenizers": theirs}
    assert speed.cell("bpeviz", results) == "3 s"
    assert speed.cell("tiktoken", results) == "WRONG"
    assert speed.cell("tokenizers", results) == "2.25"  # median of 3 and 1.5


def output_of(script: str, *arguments: str | Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, SPEED.with_name(script), *arguments],
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.thorough
def test_load_runs_without_errors_beside_an_attack() -> None:
    how = ("--users=3", "--think=0.5", "--seconds=4", "--no-training", "--attack=texts")
    printed = output_of("load.py", *how)
    assert any(re.fullmatch("[1-9][0-9]* attacks", line) for line in printed)
    (all_actions,) = [line for line in printed if line.startswith("all actions")]
    assert int(all_actions.split()[2]) > 3
    assert "Errors: 0" in printed
    assert printed[-1].startswith("Memory of the server: ")


@pytest.mark.thorough
def test_cost_prints_time_and_size_per_action() -> None:
    lines = output_of("cost.py", "--rounds=1", "--times=1")
    half = len(lines) // 2
    for unit, (header, *rows) in (("ms", lines[:half]), ("kB", lines[half:])):
        assert header.split() == [unit, "per", "action", "1"]
        assert {row.split()[0] for row in rows} >= {"edit", "slide", "step", "Compare", "load"}
        assert all(float(row.split()[1]) > 0 for row in rows)


@pytest.mark.thorough
def test_room_loses_no_follower() -> None:
    if chromium() is None:
        pytest.skip("Chromium not found.")
    assert "after it: 1 of 1" in "\n".join(output_of("room.py", "--quick", "--followers=6"))


@pytest.mark.thorough
def test_browser_measures_a_page_and_the_player() -> None:
    if chromium() is None:
        pytest.skip("Chromium not found.")
    rows = cells("\n".join(output_of("in_browser.py", "--quick", "--rounds=1")))
    heads = ["page", "---", "empty", "Train", "", "---", "Train plays a merge diagram"]
    assert [row[0] for row in rows] == heads
    for _, shift, *_, paint, _ in rows[2:4]:
        assert 0 <= float(shift) < 2
        assert float(paint.removesuffix(" s")) > 0.05
    assert float(rows[-1][3]) > 0

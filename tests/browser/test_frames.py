"""The measurement of the player's frames runs. How fast it is is asserted nowhere."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from serving import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_the_measurement_of_frames_runs(browser: Browser) -> None:
    done = subprocess.run(
        [sys.executable, "tests/benchmarks/frames.py", "--quick", "--seconds=1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line for line in done.stdout.splitlines() if "1,000" in line]
    assert len(rows) == 2
    assert all("as it is" in row and " ms " in row for row in rows)

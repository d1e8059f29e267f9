"""Wait for child processes, and ask whether they run."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 60.0
"""Seconds that nothing here takes, even on a busy machine."""


def eventually(happened: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.005)


def runs(process: int) -> bool:
    """Return whether a process has not ended, even if nobody has asked for its exit code."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def children() -> set[int]:
    """Return the child processes of this one."""
    listed: set[int] = set()
    for of_thread in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that has ended
            listed |= {*map(int, of_thread.read_text(encoding="utf-8").split())}
    return listed

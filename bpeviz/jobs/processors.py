"""The number of processors that this process may use."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


@cache
def available(cgroup: Path = _CGROUP) -> int:
    """Return the number of processors that this process may use, at least 1.

    `os.cpu_count` returns the processors of the machine. It ignores the affinity of the process and
    the limit of a container.
    """
    if hasattr(os, "sched_getaffinity"):
        number = len(os.sched_getaffinity(0))
    else:
        number = os.cpu_count() or 1
    try:
        # "max 100000" without a limit
        quota, period = (cgroup / "cpu.max").read_text("utf-8").split()
        number = min(number, int(quota) // int(period))
    except (OSError, ValueError):
        pass
    return max(1, number)

"""The machine, date and package versions of a measurement."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def processor() -> str:
    """Return the processor's name, if the system provides it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory() -> int:
    """Return the machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def head(packages: Iterable[str]) -> list[str]:
    """Return lines with the date, the machine and the versions of packages."""
    found = []
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} is not installed")
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0]
    return [
        f"Measured on {date.today().isoformat()}: {processor()}, {cores} "
        f"core{'s' if cores > 1 else ''}, {memory() / 1e9:.0f} GB, {platform.system()} "
        f"{platform.machine()}; load average at the start: {load:.1f}.",
        f"{platform.python_implementation()} {platform.python_version()}; {', '.join(found)}.",
    ]

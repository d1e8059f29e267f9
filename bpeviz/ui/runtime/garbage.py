"""Garbage collection in a server that imports much and keeps large caches.

Python's garbage collector repeatedly scans all objects. If it scans the imported modules and the
caches of all users, everybody on a busy server waits for a fifth of a second every few seconds
(`tests/benchmarks/load.py`). For the same reason, `.streamlit/config.toml` turns off
`runner.postScriptGC`, with which Streamlit collects after every run.
"""

from __future__ import annotations

import gc
from functools import cache

THRESHOLDS = (2_000, 10, 100)
"""The thresholds of Python's three generations (`gc.set_threshold`), by default 700, 10 and 10.

A page run leaves some 1,000 objects that refer to each other, most of them Streamlit's. A
larger first threshold collects them later: with 10,000, a hundred users took 200 MB more. Memory of
users who left is collected sooner (`bpeviz.ui.server.memory`).
"""


@cache
def collect_less_often() -> None:
    """Exempt the modules imported so far from garbage collection, and set `THRESHOLDS`, once."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)

"""Garbage collection in a server that imports much and keeps large caches.

Python's garbage collector repeatedly scans all objects. If it scans the imported modules too, all
users of a busy server wait for a tenth of a second every few seconds
(`tests/benchmarks/load.py`). For the same reason, `.streamlit/config.toml` turns off
`runner.postScriptGC`, with which Streamlit collects after every run.
"""

from __future__ import annotations

import gc
from functools import cache


@cache
def freeze_imports() -> None:
    """Exempt the modules imported so far from garbage collection, once."""
    gc.collect()
    gc.freeze()

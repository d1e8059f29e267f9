"""Garbage collection in a server that imports much and keeps large caches.

Python's collector passes through all objects again and again. With the imported modules among
them, everybody waits for a tenth of a second every few seconds when the server is full
(`tests/benchmarks/load.py`). `runner.postScriptGC` is off in `.streamlit/config.toml` for the same
reason: Streamlit would collect after every run.
"""

from __future__ import annotations

import gc
from functools import cache


@cache
def freeze_imports() -> None:
    """Exempt the modules imported so far from garbage collection, once."""
    gc.collect()
    gc.freeze()

"""Release the memory of ended sessions to the system.

Streamlit 1.67 removes the session of a user who left only when another session ends. Python frees
objects that refer to each other only after many others were created. The C library keeps memory
that was freed: between values that are still in use, and in each of its arenas.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from streamlit import runtime
from streamlit.runtime.caching.ttl_cache import TTLCache

INTERVAL = 30.0
"""Seconds between two checks of the sessions."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
"""Parameters of `mallopt` (malloc.h of glibc)."""

_ARENAS = 2
"""The arenas that threads allocate from; by default, glibc makes eight per processor. With two, a
server needs up to a quarter less memory after attacks (`tests/benchmarks/hostile.py`)."""

_LARGE = 4 << 20
"""Bytes from which a value is outside the arenas, so that its memory is released once it is freed.
By default, glibc raises this limit up to 32 MB as such values are freed. The arenas then grew to
700 MB with texts of 10 MB, and contained 180 MB of values after the users had left. For arrays of
this size, NumPy asks for large pages; without these, new memory is slow."""

_FREE_AT_END = 32 << 20
"""Free bytes at the end of the first arena that are kept; by default, glibc raises this as well."""


def limit_arenas() -> None:
    """Let the C library allocate from few arenas, and large values outside of them."""
    options = {
        _M_ARENA_MAX: _ARENAS,
        _M_MMAP_THRESHOLD: _LARGE,
        _M_TRIM_THRESHOLD: _FREE_AT_END,
    }
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            library = ctypes.CDLL(None)
            for option, value in options.items():
                library.mallopt(option, value)


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Release the memory of ended sessions while the app runs."""
    task = asyncio.create_task(_watch())
    try:
        yield
    finally:
        task.cancel()


async def _watch() -> None:
    before: set[str] = set()
    had_ended = False
    while True:
        await asyncio.sleep(INTERVAL)
        now = sessions()
        have_ended = bool(before - now)
        # At the first check, runs of ended sessions may still use memory.
        if have_ended or had_ended:
            await asyncio.to_thread(free)
        before, had_ended = now, have_ended


def sessions() -> set[str]:
    """Return the ids of all sessions; remove those of users who left long ago."""
    manager = getattr(runtime.get_instance(), "_session_mgr", None)
    stored = getattr(getattr(manager, "_session_storage", None), "_cache", None)
    if isinstance(stored, TTLCache):
        stored.expire()
    return {one.session.id for one in manager.list_sessions()} if manager is not None else set()


def free() -> None:
    """Free objects that refer to each other, and release the memory to the system."""
    gc.collect()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)

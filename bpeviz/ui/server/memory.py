"""Release the memory of ended sessions to the system.

Streamlit 1.67 removes the session of a user who left only when another session ends. Python frees
objects that refer to each other only after many others were created. The C library keeps memory
that was freed, the more arenas its threads allocate from.
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
"""Seconds between two looks at the sessions."""

_M_ARENA_MAX = -8
"""The parameter of `mallopt` for the number of arenas (malloc.h of glibc)."""

_ARENAS = 2
"""The arenas that threads allocate from; by default, glibc makes eight per processor. With two, a
server needs up to a quarter less memory after attacks (`tests/benchmarks/hostile.py`)."""


def limit_arenas() -> None:
    """Let the C library allocate from few arenas, which it then fills before it grows."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


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
        # At the first look, runs of ended sessions may still use memory.
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

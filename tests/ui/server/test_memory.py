"""The memory of sessions that have ended."""

from __future__ import annotations

import asyncio
import gc
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from asgi import run
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from bpeviz.ui.server import memory

ROOT = Path(__file__).resolve().parents[3]

needs_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")


class Session:
    """A stand-in of a session that refers to itself."""

    def __init__(self, name: str, ended: list[str]) -> None:
        self.id, self.ended, self.itself = name, ended, self

    def __del__(self) -> None:
        self.ended.append(self.id)


def test_expired_sessions_are_removed_and_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    storage = MemorySessionStorage()
    cache: Any = storage._cache
    cache._ttl, cache._timer = 10, lambda: now
    manager = WebsocketSessionManager(storage, *(MagicMock() for _ in range(3)))
    monkeypatch.setattr(
        memory.runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=manager)
    )
    ended: list[str] = []
    for name in ("left", "late"):
        session: Any = Session(name, ended)
        storage.save(SessionInfo(client=None, session=session, script_run_count=1))
        now += 5
    del session
    now = 9
    assert memory.sessions() == {"left", "late"}
    now = 11
    assert memory.sessions() == {"late"}
    gc.disable()
    try:
        assert ended == []
        memory.free()
    finally:
        gc.enable()
    assert ended == ["left"]


def test_memory_is_returned_twice_after_sessions_end(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [{"a"}, {"a", "b"}, {"b"}, {"b"}, set[str]()]
    counts, freed = iter(seen), list[int]()
    left = len(seen)

    def sessions() -> set[str]:
        nonlocal left
        left = max(0, left - 1)
        return next(counts, set())

    monkeypatch.setattr(memory, "INTERVAL", 0.001)
    monkeypatch.setattr(memory, "sessions", sessions)
    monkeypatch.setattr(memory, "free", lambda: freed.append(left))

    async def until_all_have_left() -> None:
        end = time.monotonic() + 60
        async with memory.lifespan(None):
            while left or len(freed) < 4:
                assert time.monotonic() < end
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.05)  # some further looks

    run(until_all_have_left())
    assert freed == [2, 1, 0, 0]


ALLOCATING = """
import ctypes, threading

from bpeviz.ui.server import memory

memory.limit_arenas()
together = threading.Barrier(20)

def allocate():
    together.wait()
    held = [bytearray(5_000) for _ in range(100)]
    together.wait()

threads = [threading.Thread(target=allocate) for _ in range(20)]
for one in threads:
    one.start()
for one in threads:
    one.join()
ctypes.CDLL(None).malloc_stats()
"""


LARGE = """
import ctypes

from bpeviz.ui.server import memory

memory.limit_arenas()
larger = bytearray(20_000_000)
del larger  # by default, blocks below this size are in arenas from now on
large = bytearray(10_000_000)
ctypes.CDLL(None).malloc_stats()
"""


def malloc_stats(script: str) -> str:
    """Return what glibc prints at the end of a script."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stderr


@needs_glibc
def test_threads_allocate_from_few_arenas() -> None:
    assert 1 < malloc_stats(ALLOCATING).count("Arena ") <= 3


@needs_glibc
def test_large_values_are_outside_of_arenas() -> None:
    *arenas, total = map(int, re.findall(r"in use bytes +=\s*(\d+)", malloc_stats(LARGE)))
    assert arenas
    assert total - sum(arenas) >= 10_000_000

"""The memory of sessions that have ended."""

from __future__ import annotations

import asyncio
import gc
import time
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from asgi import run
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from bpeviz.ui.server import memory


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


def test_memory_is_returned_once_after_sessions_end(monkeypatch: pytest.MonkeyPatch) -> None:
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
            while left or len(freed) < 2:
                assert time.monotonic() < end
                await asyncio.sleep(0.001)

    run(until_all_have_left())
    assert freed == [2, 0]

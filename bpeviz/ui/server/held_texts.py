"""The memory that the texts of all sessions take, which is limited together."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import monotonic
from typing import Any

from streamlit import runtime

from bpeviz import limits

LARGE = 1_000_000
"""The smallest size in bytes of a request or message for which the texts are measured."""

_MEASURED = 1.0
"""The least seconds between two measurements. One takes milliseconds with hundreds of sessions."""


def has_room(size: int) -> bool:
    """Return whether the server may receive a request or message of `size` bytes."""
    return size < LARGE or _total.bytes() + size <= limits.ALL_TEXTS * 1_000_000


class _Total:
    """The size of the texts of all sessions, measured now and then."""

    def __init__(self) -> None:
        self._bytes, self._until = 0, 0.0

    def bytes(self) -> int:
        now = monotonic()
        if now >= self._until:
            self._bytes, self._until = measure(), now + _MEASURED
        return self._bytes


_total = _Total()


def measure() -> int:
    """Return the size of the texts in all sessions, also of users who left moments ago."""
    manager = getattr(runtime.get_instance(), "_session_mgr", None)
    sizes: dict[int, int] = {}  # a text is in several places of its session
    for one in manager.list_sessions() if manager is not None else ():
        client = getattr(one.session, "_client_state", None)  # the last message of the browser
        sizes[id(client)] = client.ByteSize() if client is not None else 0
        state = getattr(one.session, "session_state", None)
        for name in ("_old_state", "_new_session_state"):
            # Scripts change them meanwhile in other threads.
            for text in _texts([*getattr(state, name, {}).values()]):
                sizes[id(text)] = sys.getsizeof(text)
    return sum(sizes.values())


def _texts(values: list[Any] | tuple[Any, ...]) -> Iterator[str | bytes]:
    for value in values:
        if isinstance(value, str | bytes):
            yield value
        elif isinstance(value, list | tuple):
            yield from _texts(value)
        elif isinstance(value, dict):
            yield from _texts([*value.values()])

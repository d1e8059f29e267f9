"""How far long work has come: said where it is done, heard by whoever asked for it.

Trainers say it; the command line and the worker behind the pages listen. Where nobody does,
nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
"""Is told what is being done, and how much of how much is done already."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(doing: str, done: int, of: int) -> None:
    """Say that `done` of `of` is done. Cheap enough for every few milliseconds.

    >>> with listening(print):
    ...     tell("Training merges", 3, 8)
    Training merges 3 8
    """
    listener = _listener.get()
    if listener is not None:
        listener(doing, done, of)


@contextmanager
def reporting_to(listener: Listener) -> Iterator[None]:
    """Hear what is told within. What the listener raises ends the work."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)

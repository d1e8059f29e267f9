"""Progress of long work: trainers report it, the command line and the worker display it.

Without a listener, a report has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
"""Takes the name of the work, the amount done, and the total amount."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report(work: str, done: int, total: int) -> None:
    """Report that `done` of `total` is done. Cheap enough for every few milliseconds.

    >>> with reporting_to(print):
    ...     report("Training merges", 3, 8)
    Training merges 3 8
    """
    listener = _listener.get()
    if listener is not None:
        listener(work, done, total)


@contextmanager
def reporting_to(listener: Listener) -> Iterator[None]:
    """Send the reports made within to a listener. An exception that it raises ends the work."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)

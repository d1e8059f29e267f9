"""Whose turn it is: one page is computed at a time, and the others wait.

Python runs one thread at a time anyhow. Pages that are computed side by side take the interpreter
from each other at each of NumPy's many short steps, and so five of them are done later than if they
had been computed one after the other, all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, local
from time import monotonic

PATIENCE = 1.0
"""Seconds after which a page that is slow to compute loses its turn to the next one, and goes on
beside it."""


class _Turn:
    """Which thread has the turn, and since when."""

    def __init__(self) -> None:
        self._changes = Condition()
        self._holder: object = None
        self._since = 0.0

    def take(self, who: object) -> None:
        """Wait until nobody has the turn, or somebody has had it for long; then have it."""
        with self._changes:
            while self._holder is not None:
                left = self._since + PATIENCE - monotonic()
                if left <= 0:
                    break
                self._changes.wait(left)
            self._holder, self._since = who, monotonic()

    def leave(self, who: object) -> None:
        """Leave the turn to the next one, unless it has been lost."""
        with self._changes:
            if self._holder is who:
                self._holder = None
                self._changes.notify()


class _Mine(local):
    """The name under which the page that a thread computes has taken the turn."""

    name: object = None


_turn = _Turn()
_mine = _Mine()


@contextmanager
def turn() -> Iterator[None]:
    """Wait for the turn, and have it for what stands in the block, or until `give_up`.

    Within another such block this does nothing.
    """
    if _mine.name is not None:
        yield
        return
    _mine.name = object()
    _turn.take(_mine.name)
    try:
        yield
    finally:
        give_up()
        _mine.name = None


def give_up() -> None:
    """Let the next page have the turn: this one is going to wait for something."""
    _turn.leave(_mine.name)

"""Whose turn it is: one page is computed at a time, and the others wait.

Python runs one thread at a time anyhow. Pages that are computed side by side take the interpreter
from each other at each of NumPy's many short steps, and so five of them are done later than if they
had been computed one after the other, all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local

PATIENCE = 1.0
"""Seconds that a page waits at most: one that is slow to compute does not stop the others."""


class _Mine(local):
    """Of the page that a thread computes: whether it has come to its turn, and still has it."""

    came = False
    has = False


_turn = Lock()
_mine = _Mine()


@contextmanager
def turn() -> Iterator[None]:
    """Wait for the turn, and have it for what stands in the block, or until `give_up`.

    Within another such block this does nothing.
    """
    if _mine.came:
        yield
        return
    _mine.came = True
    _mine.has = _turn.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        give_up()
        _mine.came = False


def give_up() -> None:
    """Let the next page have the turn: this one is going to wait for something."""
    if _mine.has:
        _mine.has = False
        _turn.release()

"""The run lock: it serializes page runs, so that one page is computed at a time.

Streamlit computes each session in a thread of its own. Threads that compute side by side take the
interpreter from each other at each of NumPy's many short steps: five pages at once then finish
later than all five would one after the other (`tests/benchmarks/load.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, local
from time import monotonic

from bpeviz.pretokenizers import sandbox

PATIENCE = 1.0
"""Seconds after which a slow page run loses the lock to the next one and goes on beside it."""


class _RunLock:
    """A lock that expires."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._holder: object = None
        self._since = 0.0

    def acquire(self, run: object) -> None:
        """Wait until the lock is free or has expired, and take it."""
        with self._changed:
            while self._holder not in (None, run):
                remaining = self._since + PATIENCE - monotonic()
                if remaining <= 0:
                    break
                self._changed.wait(remaining)
            self._holder, self._since = run, monotonic()

    def release(self, run: object) -> None:
        """Release the lock, unless this run has lost it."""
        with self._changed:
            if self._holder is run:
                self._holder = None
                self._changed.notify()


class _ThisThread(local):
    """The page run of a thread, while it has the lock or waits outside it."""

    run: object = None


_lock = _RunLock()
_this = _ThisThread()


@contextmanager
def hold() -> Iterator[None]:
    """Hold the run lock within the block. Nested blocks do nothing."""
    if _this.run is not None:
        yield
        return
    run = _this.run = object()
    _lock.acquire(run)
    try:
        yield
    finally:
        _lock.release(run)
        _this.run = None


class _Pause(sandbox.Pause):
    """Releases the lock of the thread that creates it; another thread may begin the pause."""

    def __init__(self) -> None:
        self._run = _this.run

    def begin(self) -> None:
        if self._run is not None:
            _lock.release(self._run)

    def end(self) -> None:
        if self._run is not None:
            _lock.acquire(self._run)


sandbox.new_pause = _Pause


@contextmanager
def released() -> Iterator[None]:
    """Let other pages run within the block, which waits or lets other threads run.

    Afterwards the run takes the lock again, except where Streamlit stops it: its exceptions for
    that are not subclasses of `Exception`.
    """
    run = _this.run
    if run is None:
        yield
        return
    _lock.release(run)
    try:
        yield
    except Exception:
        _lock.acquire(run)
        raise
    _lock.acquire(run)

"""A lock that serializes page runs.

Streamlit runs each session in a thread of its own. Concurrent threads compete for the interpreter
at each of NumPy's many short calls. Five concurrent pages finish later than five pages in sequence
(`tests/benchmarks/load.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, local
from time import monotonic

from bpeviz.pretokenizers import sandbox

PATIENCE = 1.0
"""Seconds until the lock of a slow page run expires; the next page then runs concurrently."""


class _RunLock:
    """A lock that expires."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._holder: object = None
        self._since = 0.0

    def acquire(self, run: object) -> None:
        """Wait until the lock is free or has expired, and acquire it."""
        with self._changed:
            while self._holder not in (None, run):
                remaining = self._since + PATIENCE - monotonic()
                if remaining <= 0:
                    break
                self._changed.wait(remaining)
            self._holder, self._since = run, monotonic()

    def release(self, run: object) -> None:
        """Release the lock, unless another run holds it."""
        with self._changed:
            if self._holder is run:
                self._holder = None
                self._changed.notify()


class _ThisThread(local):
    """The page run of a thread, from `hold` to its end."""

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
    """Release the lock within the block, which waits, so that other pages can run.

    The run acquires the lock again at the end, unless Streamlit stops it. Streamlit does so with
    exceptions that are not subclasses of `Exception`.
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

"""A lock that serializes page runs: first come, first served.

Streamlit runs each session in a thread of its own. Concurrent threads compete for the interpreter
at each of NumPy's many short calls. Five concurrent pages finish later than five pages in sequence
(`tests/benchmarks/load.py`).

The lock expires, so a slow run delays each other run only for a moment. A run that waits, for a
worker or for a value that another run computes, holds no lock; it keeps its place in the order. The
next run of the user who held the lock last comes after those of other users. So many tabs of one
user do not delay other users.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Event, Lock, local
from time import monotonic

from bpeviz import context
from bpeviz.ui.runtime.user import current_user

LOCK_SECONDS = 0.4
"""Seconds until the lock of a slow page run expires; the next page then runs concurrently.

Most runs take less than a tenth of a second. Runs on texts of a million characters take longer.
"""

_arrivals = count()


class _Run:
    """A page run of a user, with its place in the order."""

    def __init__(self, user: str) -> None:
        self.user, self.place, self.granted = user, next(_arrivals), Event()


class _RunLock:
    """A lock that expires."""

    def __init__(self) -> None:
        self._lock = Lock()  # of the attributes below
        self._holder: _Run | None = None
        self._since = 0.0
        self._last_user = ""
        self._waiting: list[_Run] = []

    def acquire(self, run: _Run) -> None:
        """Wait until the lock is free or has expired, and acquire it."""
        with self._lock:
            if self._holder is run:
                return
            run.granted.clear()
            self._waiting.append(run)
            self._serve()
        while not run.granted.wait(max(0.001, self._since + LOCK_SECONDS - monotonic())):
            with self._lock:
                self._serve()

    def release(self, run: _Run) -> None:
        """Release the lock, unless another run holds it."""
        with self._lock:
            if self._holder is run:
                self._holder = None
                self._serve()

    def _serve(self) -> None:
        """Give the lock to the next run, if it is free or has expired."""
        if self._holder is not None and monotonic() < self._since + LOCK_SECONDS:
            return
        if self._waiting:
            run = min(
                self._waiting, key=lambda waiter: (waiter.user == self._last_user, waiter.place)
            )
            self._waiting.remove(run)
            self._holder, self._since, self._last_user = run, monotonic(), run.user
            run.granted.set()


class _RunOfThread(local):
    """The page run of a thread, from `hold` to its end, and whether it waits."""

    run: _Run | None = None
    waits = False


_pages = _RunLock()
_this = _RunOfThread()


@contextmanager
def hold() -> Iterator[None]:
    """Hold the run lock within the block. Nested blocks do nothing."""
    if _this.run is not None:
        yield
        return
    run = _this.run = _Run(context.current().user())
    _pages.acquire(run)
    try:
        yield
    finally:
        _pages.release(run)
        _this.run = None


@contextmanager
def released() -> Iterator[None]:
    """Release the lock within the block, which waits, so that other pages can run.

    The run acquires the lock again at the end, unless Streamlit stops it. Streamlit does so with
    exceptions that are not subclasses of `Exception`. Nested blocks do nothing.
    """
    run = _this.run
    if run is None or _this.waits:
        yield
        return
    _pages.release(run)
    _this.waits = True
    try:
        yield
    except Exception:
        _pages.acquire(run)
        raise
    finally:
        _this.waits = False
    _pages.acquire(run)


context.use(context.Context(current_user, released))

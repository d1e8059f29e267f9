"""A lock that serializes page runs, short ones first and fairly by user.

Streamlit runs each session in a thread of its own. Concurrent threads compete for the interpreter
at each of NumPy's many short calls. Five concurrent pages finish later than five pages in sequence
(`tests/benchmarks/load.py`).

Short runs come first: a step of the player does not wait for a page that trains three tokenizers,
unless that page has waited long. With a hundred users, the median response comes a third sooner.

Runs of a user who recently held the lock for long come after those of others. So many tabs of one
user do not delay other users.

There are three locks: for runs on short texts, for runs on long texts, and for runs that wait for
the process of short trainings (`bpeviz.jobs.short`). So at most three runs proceed at once, until
one of the locks expires. The time that a user holds any lock counts for all three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, local
from time import monotonic

from bpeviz import users
from bpeviz.jobs import fairness
from bpeviz.pretokenizers import child_process

PATIENCE = 1.0
"""Seconds until the lock of a slow page run expires; the next page then runs concurrently."""

_HALF_LIFE = 2.0
"""Seconds until the time that a user held the lock counts half, so that nobody waits long."""

_LITTLE = 1.0
"""Seconds of recent time that do not delay a run: up to this value, runs come in their order."""

_HEAD_START = 10.0
"""A run goes before one that arrived earlier by at most this many times the difference of their
usual durations."""

_LONGEST = 0.1
"""Seconds from which usual durations count the same, so that no run waits long for shorter ones."""

_RECENT = 0.1
"""The weight of the last duration in the usual one."""


@dataclass(eq=False)
class _Run:
    """A page run.

    Attributes:
        user: The user.
        kind: The page or fragment.
        lock: The lock that it uses.
        rank: Its place among those that wait: the lowest is served first. A run keeps it when it
            takes a lock again.
    """

    user: str
    kind: str
    lock: _RunLock
    rank: float = 0.0


class _RunLock:
    """A lock that expires.

    Args:
        other: A lock whose holders' time counts for this one, too.
    """

    def __init__(self, other: _RunLock | None = None) -> None:
        # The lock of shared data guards the accounts as well.
        self._lock: Lock = Lock() if other is None else other._lock
        self._holder: _Run | None = None
        self._since = 0.0
        self._waiting: dict[Event, _Run] = {}
        self._durations: dict[str, float] = {} if other is None else other._durations
        self._accounts: fairness.Accounts = (
            fairness.Accounts(_HALF_LIFE) if other is None else other._accounts
        )

    def acquire(self, run: _Run) -> None:
        """Wait until the lock is free or has expired, and acquire it."""
        granted = Event()
        with self._lock:
            if self._holder is run:
                return
            if not run.rank:
                usual = min(_LONGEST, self._durations.get(run.kind, 0.0))
                run.rank = monotonic() + _HEAD_START * usual
            self._waiting[granted] = run
            self._serve()
        while not granted.wait(max(0.001, self._since + PATIENCE - monotonic())):
            with self._lock:
                self._serve()

    def release(self, run: _Run) -> None:
        """Release the lock, unless another run holds it."""
        with self._lock:
            if self._holder is run:
                self._end()
                self._serve()

    def _serve(self) -> None:
        """Give the lock to the next run, if it is free or has expired."""
        if self._holder is not None and monotonic() < self._since + PATIENCE:
            return
        if not self._waiting:
            return
        self._end()

        def order(granted: Event) -> tuple[float, float]:
            run = self._waiting[granted]
            return self._excess(run), run.rank

        granted = min(self._waiting, key=order)
        self._holder, self._since = self._waiting.pop(granted), monotonic()
        granted.set()

    def _end(self) -> None:
        """Take the lock from its holder, and charge the user for the time."""
        if self._holder is None:
            return
        now = monotonic()
        passed, kind = now - self._since, self._holder.kind
        self._accounts.charge(self._holder.user, passed, now)
        usual = self._durations.get(kind, passed)
        self._durations[kind] = usual + _RECENT * (passed - usual)
        self._holder = None

    def has_held_long(self, run: _Run) -> bool:
        """Return whether the user of a run recently held the locks for long."""
        with self._lock:
            return self._excess(run) > 0

    def _excess(self, run: _Run) -> float:
        recent = self._accounts.used(run.user, monotonic())
        return recent if recent > _LITTLE else 0.0


class _ThisThread(local):
    """The page run of a thread, from `hold` to its end."""

    run: _Run | None = None


_short = _RunLock()
_long = _RunLock(_short)
"""The locks of runs on short texts and on long ones."""

_training = _RunLock(_short)
"""The lock of runs that train on a short text in a process of its own."""

_this = _ThisThread()


@contextmanager
def hold(kind: str = "", *, long: bool = False) -> Iterator[None]:
    """Hold the run lock within the block. Nested blocks do nothing.

    Args:
        kind: The page or fragment, whose usual duration decides how soon it is served.
        long: Whether the text is expected to be long.
    """
    if _this.run is not None:
        yield
        return
    run = _this.run = _Run(users.current(), kind, _long if long else _short)
    run.lock.acquire(run)
    try:
        yield
    finally:
        run.lock.release(run)
        _this.run = None


def text_is_long() -> None:
    """Let the run of this thread hold the lock of runs on long texts from now on."""
    run = _this.run
    if run is not None and run.lock is not _long:
        _change(run, _long)


def _change(run: _Run, lock: _RunLock) -> None:
    run.lock.release(run)
    run.lock = lock
    lock.acquire(run)


def user_has_held_long() -> bool:
    """Return whether the user of this thread's run recently held the locks for long."""
    run = _this.run
    return run is not None and run.lock.has_held_long(run)


@contextmanager
def _afterwards(action: Callable[[], None]) -> Iterator[None]:
    """Call a function after the block, also after an error, but not if Streamlit stops the run.

    Streamlit does so with exceptions that are not subclasses of `Exception`.
    """
    try:
        yield
    except Exception:
        action()
        raise
    action()


@contextmanager
def training() -> Iterator[None]:
    """Hold the lock of short trainings instead within the block. Nested blocks do nothing.

    The run acquires its lock again at the end, unless Streamlit stops it.
    """
    run = _this.run
    if run is None or run.lock is _training:
        yield
        return
    lock = run.lock
    _change(run, _training)
    with _afterwards(lambda: _change(run, lock)):
        yield


class _Pause(child_process.Pause):
    """Releases the lock of the thread that creates it; another thread may begin the pause."""

    def __init__(self) -> None:
        super().__init__()
        self._run = _this.run

    def release(self) -> None:
        if self._run is not None:
            self._run.lock.release(self._run)

    def acquire(self) -> None:
        if self._run is not None:
            self._run.lock.acquire(self._run)


child_process.new_pause = _Pause


@contextmanager
def released() -> Iterator[None]:
    """Release the lock within the block, which waits, so that other pages can run.

    The run acquires the lock again at the end, unless Streamlit stops it.
    """
    run = _this.run
    if run is None:
        yield
        return
    run.lock.release(run)
    with _afterwards(lambda: run.lock.acquire(run)):
        yield

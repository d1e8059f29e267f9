"""Run regular expressions that are not ours in child processes, which can be killed.

While `regex` compiles an expression, no other thread of its process runs: `((){50000})` would stop
a server for minutes. Compiled expressions can also be large. So expressions from users, links and
files are compiled and run in a few reused children (`bpeviz.pretokenizers.regex_worker`), within a
time limit and, where the system supports it, a memory limit. This process compiles none of them.
Word lists are applied there as well: long words that almost match take seconds.

A request that runs for longer than `QUICK` leaves its place to others that wait, and few such slow
requests run at once. A user has a share of the places. So requests of one user cannot delay those
of others by more than moments.
"""

from __future__ import annotations

import signal
import threading
from array import array
from hashlib import blake2b
from math import inf
from time import monotonic

import regex

from bpeviz import limits, users
from bpeviz.pretokenizers import child_process
from bpeviz.pretokenizers import regex_worker as worker
from bpeviz.pretokenizers.child_process import ChildPool, ChildProcess, Pause

AT_ONCE = limits.EXPRESSIONS_AT_ONCE
"""The largest number of quick requests that run at once."""

SHARE = limits.USER_EXPRESSIONS
"""The largest number of them for a user."""

SLOW_AT_ONCE = limits.SLOW_EXPRESSIONS_AT_ONCE
"""The largest number of slow requests that run beside them while others wait; one for a user."""

LATE = 0.1
"""Seconds after which `Pause.begin` is called."""

QUICK = 0.5
"""Seconds after which a request is slow."""

START = 20.0
"""Seconds that a child may take to start; it takes a twentieth of one."""

PATIENCE = float(limits.EXPRESSION_WAIT)
"""Seconds that a request waits for its turn, besides its time limit."""

REMEMBERED = 30.0
"""Seconds for which a request that took too much time or memory is refused without another try."""

_MAX_REMEMBERED = 1_000

_Key = tuple[int, bytes, bytes]
"""The operation, and the digests of the expression and the text."""

_ALARM = -signal.SIGALRM if hasattr(signal, "SIGALRM") else None
"""The exit code of a child that ended itself after its time limit, where the system has alarms."""


class InvalidExpressionError(ValueError):
    """A text is not a regular expression; the message is that of `regex`."""


class BusyError(TimeoutError):
    """Other requests take all the time.

    Attributes:
        own: Whether they are those of the same user.
    """

    def __init__(self, *, own: bool) -> None:
        super().__init__("Other requests take all the time.")
        self.own = own


class _Child(ChildProcess):
    """A child process that applies expressions."""

    def __init__(self) -> None:
        super().__init__(worker.__file__, regex.__file__)

    def ask(self, *request: bytes) -> tuple[int, bool, bytearray]:
        """Return an answer, whether the child exits after it, and its content.

        Raises:
            OSError: The child has ended.
        """
        self.write(*request)
        answer, exits, size = worker.ANSWER.unpack(self.read(worker.ANSWER.size))
        return answer, exits, self.read(size)


class _Run:
    """A request that a child works on."""

    def __init__(self, child: _Child, pause: Pause, user: str) -> None:
        self.child, self.pause, self.user = child, pause, user
        self.slow = False
        now = monotonic()
        self.late_at, self.slow_at, self.deadline = now + LATE, inf, now + START
        self.error: TimeoutError | None = None

    def begin(self, seconds: float) -> None:
        """Set the time limits of a request whose child is ready."""
        now = monotonic()
        self.slow_at, self.deadline = now + QUICK, now + seconds

    def stop(self, error: TimeoutError) -> None:
        """Kill the child; `error` is the reason."""
        self.error = error
        self.child.process.kill()


class Pool(ChildPool[_Child]):
    """Reused children, and a thread that kills those that take too long."""

    def __init__(self) -> None:
        super().__init__(AT_ONCE, SHARE)  # for quick requests
        self._attention = threading.Condition(self._lock)  # of the thread
        self._runs: list[_Run] = []  # the oldest first
        self._refused: dict[_Key, tuple[float, float, type[Exception]]] = {}
        self._watcher: threading.Thread | None = None
        self._wakes = inf  # when the thread looks at the runs again

    def run(self, operation: int, expression: str, text: str, seconds: float) -> list[int]:
        """Return the result of an operation of `bpeviz.pretokenizers.regex_worker`.

        Args:
            operation: The operation.
            expression: A regular expression.
            text: The text to apply it to.
            seconds: The time limit, which includes compiling.

        Raises:
            InvalidExpressionError: `expression` is not a regular expression.
            RecursionError: It is nested too deeply.
            TimeoutError: It took longer than the time limit.
            BusyError: Slow requests take all the time.
            MemoryError: It needs too much memory.
            OSError: No child process could be started.
        """
        raw = text.encode("utf-8", worker.ERRORS)
        pattern = expression.encode("utf-8", worker.ERRORS)
        if self._refused:
            self._check_refused(_key(operation, pattern, raw), seconds)
        pause = child_process.new_pause()
        try:
            answer, content = self._ask(pause, operation, pattern, raw, seconds)
        except (TimeoutError, MemoryError) as error:
            if not isinstance(error, BusyError):
                self._refuse(_key(operation, pattern, raw), seconds, type(error))
            raise
        finally:
            pause.end()
        if answer == worker.INVALID:
            raise InvalidExpressionError(content.decode())
        if answer == worker.NESTED:
            raise RecursionError
        found = array("q")
        found.frombytes(content)
        return found.tolist()

    def _ask(
        self, pause: Pause, operation: int, pattern: bytes, raw: bytes, seconds: float
    ) -> tuple[int, bytearray]:
        """Return the answer of a child and its content."""
        header = worker.REQUEST.pack(
            operation, seconds, limits.EXPRESSION_MEMORY << 20, len(pattern), len(raw)
        )
        user = users.current()
        self._take_place(pause, user)
        run: _Run | None = None
        try:
            run = self._new_run(pause, user)
            run.child.wait_for_start()
            self._begin(run, seconds)
            answer, exits, content = run.child.ask(header + pattern, raw)
        except BaseException as error:
            if run is None:
                self._places.release(user)
                raise
            code = self._finish(run, reuse=False)
            if not isinstance(error, OSError):
                raise
            if isinstance(run.error, BusyError):
                raise run.error from None
            # On Windows, a killed process has the same exit code as one that failed to start.
            if run.slow_at != inf and (run.error is not None or code == _ALARM):
                raise TimeoutError from None
            if code == 1 or run.slow_at == inf:
                raise OSError("its process did not start") from error
            raise MemoryError from None  # or the stack overflowed
        self._finish(run, reuse=not exits)
        if answer == worker.MEMORY:
            raise MemoryError
        return answer, content

    def _working(self) -> list[_Child]:
        return [run.child for run in self._runs]

    # ---- Turns

    def _take_place(self, pause: Pause, user: str) -> None:
        def wait() -> None:
            pause.begin()
            with self._lock:
                self._attention.notify()

        try:
            self._places.take(user, PATIENCE, wait)
        except users.NoPlaceError as error:
            raise BusyError(own=error.own) from None

    def _new_run(self, pause: Pause, user: str) -> _Run:
        with self._lock:
            if self._watcher is None:
                watcher = threading.Thread(
                    target=self._watch, name="time limits of regular expressions", daemon=True
                )
                try:
                    watcher.start()
                except RuntimeError as error:
                    raise OSError(str(error)) from error
                self._watcher = watcher
            child = self._idle.pop() if self._idle else None
        if child is not None and child.process.poll() is not None:
            child.end()
            child = None
        run = _Run(child or _Child(), pause, user)
        with self._lock:
            self._runs.append(run)
            if run.late_at < self._wakes:
                self._attention.notify()
        return run

    def _begin(self, run: _Run, seconds: float) -> None:
        with self._lock:
            run.begin(seconds)
            if run.deadline < self._wakes:
                self._attention.notify()

    def _finish(self, run: _Run, *, reuse: bool) -> int:
        """Free the place of a run; return the exit code of its child, or 0 if it is reused."""
        with self._lock:
            self._runs.remove(run)
            if not run.slow:
                self._places.release(run.user)
            if reuse and run.error is None and len(self._idle) < AT_ONCE:
                self._idle.append(run.child)
                return 0
        return run.child.end()

    def _watch(self) -> None:
        with self._attention:
            while True:
                self._check_runs(monotonic())
                now = monotonic()
                times = [
                    time for run in self._runs for time in (run.late_at, run.slow_at, run.deadline)
                ]
                self._wakes = min((time for time in times if time > now), default=inf)
                self._attention.wait(None if self._wakes == inf else self._wakes - now)

    def _check_runs(self, now: float) -> None:
        """Stop the runs that are late; while others wait, free the places of slow runs."""
        slow = [run.user for run in self._runs if run.slow]
        stopping = sum(run.error is not None and not run.slow for run in self._runs)
        needed = self._places.missing - stopping
        for run in self._runs:
            if run.error is not None:
                continue
            if now >= run.late_at:
                run.pause.begin()
            if now >= run.deadline:
                run.stop(TimeoutError())
            elif needed > 0 and not run.slow and now >= run.slow_at:
                needed -= 1
                own = bool(run.user) and run.user in slow
                if len(slow) < SLOW_AT_ONCE and not own:
                    slow.append(run.user)
                    run.slow = True
                    self._places.release(run.user)
                else:
                    run.stop(BusyError(own=own))

    # ---- Requests that took too much time or memory

    def _check_refused(self, key: _Key, seconds: float) -> None:
        with self._lock:
            until, limit, error = self._refused.get(key, (0.0, 0.0, TimeoutError))
        if monotonic() < until and seconds <= limit:
            raise error

    def _refuse(self, key: _Key, seconds: float, error: type[Exception]) -> None:
        now = monotonic()
        with self._lock:
            self._refused.pop(key, None)
            self._refused[key] = now + REMEMBERED, seconds, error
            for old, (until, _, _) in [*self._refused.items()]:
                if now >= until or len(self._refused) > _MAX_REMEMBERED:
                    del self._refused[old]


def _key(operation: int, expression: bytes, text: bytes) -> _Key:
    return operation, blake2b(expression).digest(), blake2b(text).digest()


_pool = Pool()
_pool.serve_process()


def ends(expression: str, text: str, seconds: float) -> list[int]:
    """Return the ends of the matches of an expression and of the parts between them.

    The arguments and errors are those of `Pool.run`.
    """
    return _pool.run(worker.ENDS, expression, text, seconds)


def spans(expression: str, text: str, seconds: float) -> list[int]:
    """Return the start and the end of each match of an expression, in one list.

    The arguments and errors are those of `Pool.run`.
    """
    return _pool.run(worker.SPANS, expression, text, seconds)


def word_ends(words: str, text: str, seconds: float) -> list[int]:
    """Return the ends of the pre-tokens of a text with a list of words.

    The arguments and errors are those of `Pool.run`; words: the words, with white space between.
    """
    return _pool.run(worker.WORD_ENDS, words, text, seconds)


def matches_alone(expression: str, characters: str, seconds: float) -> bool:
    """Return whether each character alone is a match of an expression.

    The arguments and errors are those of `Pool.run`.
    """
    return bool(_pool.run(worker.ALONE, expression, characters, seconds)[0])

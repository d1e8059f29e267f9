"""Trainings in workers, so that they do not block the server.

Users who request the same training share its job. When all of them have left, its worker is killed.
A training on a short text begins as soon as a worker is free. A long one waits for a place among
those that run at once. One that turns out long keeps its worker if it gets such a place; else it
leaves the worker to others, and begins again later. `bpeviz.limits` bounds the time and memory of a
training and the number of those that wait.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from time import monotonic
from typing import Any, cast

from bpeviz import limits
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.corpus.documents import Documents, characters_in
from bpeviz.jobs import processors, worker
from bpeviz.jobs.errors import SHORTEN
from bpeviz.text import counted
from bpeviz.workers import serving
from bpeviz.workers.child import Child, EndedError, StartError
from bpeviz.workers.pool import BusyError, Places, Pool, Request

INTERRUPTED = (
    "Training was interrupted: its process was ended, probably because memory ran out. Try again. "
    f"If that does not help: {SHORTEN}"
)
FAILED = "Training failed because of a mistake in bpeviz; the server's log has the details."
BUSY = "The server is too busy to start a training. Try again."
TOO_LONG = (
    f"Training took longer than {limits.JOB_SECONDS:,} seconds, the limit of this server, and was "
    f"stopped. {SHORTEN}"
)
TOO_MUCH_MEMORY = (
    f"This training needs more than {limits.JOB_MEMORY:,} MB of memory, the limit of this server. "
    f"{SHORTEN}"
)
TOO_LARGE = (
    f"The result of this training takes more than {limits.CACHE:,} MB of memory, the limit of this "
    f"server. {SHORTEN}"
)
TOO_MANY_OWN = (
    f"You already have {counted(limits.USER_WAITING, 'training')} waiting. Let one start, or close "
    "its tab."
)
TOO_MANY = (
    f"The queue is full: {counted(limits.ALL_WAITING, 'training')} waiting. Try again in a few "
    "minutes, or use a shorter text."
)

Result = tuple[Training, Boundaries]
"""A training history, and the boundaries of its text."""


@dataclass(frozen=True)
class JobError:
    """The reason why a job has no result.

    Attributes:
        message: The user-facing message.
        transient: Whether another attempt may succeed.
    """

    message: str
    transient: bool


class _LeftError(Exception):
    """All users of a job have left."""


QUICK = 0.5
"""Processor seconds after which a training is long.

For English texts of 50,000 characters, algorithms take 0.1 to 0.6 seconds, boundaries included.
For as many random Chinese characters, WordPiece takes 30 seconds.
"""

_pool = Pool(
    lambda key: Child(worker.__name__),
    Places(max(1, processors.available() - 1)),
    Places(
        max(2, processors.available()),
        limits.USER_RUNNING,
        waiting=limits.ALL_WAITING,
        own_waiting=limits.USER_WAITING,
    ),
    slow_after=4 * QUICK,  # only if it does not report that it takes long
    large=300_000_000,
)
_log = logging.getLogger("bpeviz")
_lock = threading.RLock()
_jobs: dict[Hashable, Job] = {}


class TaskProgress:
    """The progress of a task of a training."""

    def __init__(self, task: str = "Starting", done: int = 0, total: int = 0) -> None:
        self.task, self.done, self.total = task, done, total
        self._began, self._done_before = monotonic(), done

    @property
    def share(self) -> float:
        """The completed share, 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    def __str__(self) -> str:
        if not self.total:
            return f"{self.task} …"
        message = f"{self.task}: {self.done:,} of {self.total:,}"
        passed, done = monotonic() - self._began, self.done - self._done_before
        if passed > 1 and done > 0:
            message += f", about {passed * (self.total - self.done) / done:,.0f} s left"
        return message


class _WorkerTraining:
    """The training of a job, as a worker runs it."""

    def __init__(self, text: str | Documents, algorithm: str, options: dict[str, Any]) -> None:
        self.progress = TaskProgress()
        self._text, self._algorithm, self._options = text, algorithm, options
        self._began = monotonic()

    def run(self, request: Request) -> Result | JobError:
        """Return the outcome. Raises the errors of the pool."""
        quick = inf if request.slow else QUICK
        arguments = self._text, self._algorithm, self._options, quick
        with _pool.worker(request) as child:
            self._began = monotonic()
            is_result, parts = child.ask(
                worker.CALL,
                *worker.packed((worker.train, arguments, limits.CACHE * 1_000_000)),
                seconds=limits.JOB_SECONDS,
                clock=limits.JOB_SECONDS,
                memory=limits.JOB_MEMORY * 1_000_000,
                listen=partial(self._listen, request),
            )
        if is_result:
            return cast(Result, worker.unpacked(parts))
        if not parts:
            return self.stopped("size limit", TOO_LARGE)
        error, _ = worker.unpacked(parts)
        if not error.args:
            raise BusyError(own=False)
        return JobError(*error.args)

    def _listen(self, request: Request, code: int, parts: list[serving.Buffer]) -> bytes | None:
        """Answer a message of the worker, or store the progress that it reports."""
        if code == worker.IN_SERVER:
            return worker.reply(parts, request.user)
        if code == worker.LONG:
            return b"goes on" if _pool.keep_as_slow(request) else b""
        task, done, total = json.loads(bytes(parts[0]))
        if task != self.progress.task:
            self.progress = TaskProgress(task, done)
        self.progress.done, self.progress.total = done, total
        return None

    def stopped(self, reason: str, message: str, *, transient: bool = False) -> JobError:
        """Log why the training was stopped, without its text; return the error."""
        _log.warning(
            "Training stopped: %s. Algorithm %s, %s characters, after %.1f s.",
            reason,
            self._algorithm,
            f"{characters_in(self._text):,}",
            monotonic() - self._began,
        )
        return JobError(message, transient)


class Job:
    """A training that all users share who request it.

    Attributes:
        outcome: The result or the error; None until the job has ended.
    """

    def __init__(
        self,
        key: Hashable,
        text: str | Documents,
        algorithm: str,
        options: dict[str, Any],
        user: str,
    ) -> None:
        self.key = key
        self.outcome: Result | JobError | None = None
        self._training = _WorkerTraining(text, algorithm, options)
        self._request = Request(user, slow=characters_in(text) > worker.SHORT)
        self._users: list[str] = []
        self._ended = threading.Event()

    @property
    def share(self) -> float:
        """The completed share of the current task, 0 to 1."""
        return self._training.progress.share

    def message(self) -> str:
        """Return the state of the job in a few words."""
        if before := _pool.ahead(self._request):
            others = "1 other training is" if before == 1 else f"{before} other trainings are"
            return f"Waiting: {others} ahead in the queue."
        return str(self._training.progress)

    def wait(self, seconds: float) -> bool:
        """Wait at most this number of seconds; return whether the job has ended."""
        return self._ended.wait(seconds)

    def leave(self, user: str) -> None:
        """Remove a user. When the last one leaves, the worker is killed."""
        with _lock:
            self._users.remove(user)
            if self._users:
                self._request.user = self._users[0]
            elif not self._ended.is_set():
                _jobs.pop(self.key, None)
                _pool.stop(self._request, _LeftError())

    def start(self) -> None:
        """Train in a thread, which waits for a worker."""
        try:
            threading.Thread(target=self._run, daemon=True).start()
        except RuntimeError:  # the system grants no more threads
            self._end(JobError(BUSY, transient=True))

    def _run(self) -> None:
        # Any other exception is a programming error, but users must not wait forever.
        outcome: Result | JobError = JobError(FAILED, transient=True)
        with suppress(_LeftError):
            try:
                outcome = self._train()
            finally:
                self._end(outcome)

    def _end(self, outcome: Result | JobError) -> None:
        with _lock:
            self.outcome = outcome
            if _jobs.get(self.key) is self:
                del _jobs[self.key]
            self._ended.set()

    def _train(self) -> Result | JobError:
        """Train in a worker, at first in a quick place; return the result, or why there is none."""
        training = self._training
        try:
            return training.run(self._request)
        except BusyError as error:
            if self._request.slow:
                return JobError(TOO_MANY_OWN if error.own else TOO_MANY, transient=True)
        except StartError as error:
            return JobError(f"Training was stopped: {error}. Try again.", transient=True)
        except TimeoutError:
            return training.stopped("time limit", TOO_LONG, transient=True)
        except EndedError as error:
            message = FAILED if error.code == 1 else INTERRUPTED
            return training.stopped(str(error), message, transient=True)
        except MemoryError:
            return training.stopped("memory limit", TOO_MUCH_MEMORY)
        with _lock:  # it turned out long
            if not self._users:
                raise _LeftError
            self._request = Request(self._request.user, slow=True)
        return self._train()


@contextmanager
def run(
    key: Hashable, text: str | Documents, algorithm: str, options: Mapping[str, Any], user: str
) -> Iterator[Job]:
    """Provide the job of a training within the block. It runs until it ends or all its users leave.

    Args:
        key: Identifies the training.
        text: The training text, or documents.
        algorithm: A key of `TRAINERS`.
        options: The other arguments of `bpeviz.train`.
        user: Identifies the user, for an order that is fair by user.
    """
    with _lock:
        job = _jobs.get(key)
        if new := job is None:
            job = _jobs[key] = Job(key, text, algorithm, dict(options), user)
        job._users.append(user)
    if new:
        job.start()
    try:
        yield job
    finally:
        job.leave(user)


def start() -> None:
    """Start a worker before it is needed: keep one free for short texts, and one for long ones."""
    _pool.spares = 2
    _pool.start_spare()


def stop() -> None:
    """End all workers."""
    _pool.close()

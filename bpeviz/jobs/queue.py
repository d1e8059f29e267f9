"""A queue of training jobs in worker processes, so that training does not block the server.

A job is one process. Users who request the same training share its job. When all of them have
left, its process is killed. The server runs a limited number of jobs at once; the others wait, in
an order that is fair by user (`bpeviz.jobs.fairness`). `bpeviz.limits` bounds the time and memory
of a job and the number of waiting jobs.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, cast

import numpy as np

from bpeviz import limits
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.jobs import fairness, processors
from bpeviz.jobs.errors import SHORTEN

AT_ONCE = max(1, processors.available() - 1)
"""The maximum number of jobs that run at once; one processor remains for the pages.

One more may run beside them if at least one of these jobs is small (`fairness.next_job`).
"""

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
    f"{limits.USER_WAITING:,} of your trainings wait already, which is the limit. Wait until one "
    "of them starts, or close its tab. Then train again."
)
TOO_MANY = (
    f"{limits.ALL_WAITING:,} trainings wait already, which is the limit of this server. Try again "
    "in a few minutes, or use a shorter text."
)

WATCHED = sys.platform != "linux"
"""Whether the server watches the memory of workers, because the system does not limit it.

macOS ignores `RLIMIT_AS`, and Windows lacks it.
"""

_WATCH_INTERVAL = 0.5

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


_PIPE = 1_048_576
"""The size of a pipe in bytes: the largest that Linux usually grants to every user."""

_ROOT = Path(__file__).resolve().parents[2]
_log = logging.getLogger("bpeviz")
_lock = threading.RLock()
_jobs: dict[Hashable, Job] = {}
_waiting: list[Job] = []
"""The waiting jobs in the order in which they should start, as of the last change."""

_running: list[Job] = []
_accounts = fairness.Accounts()


class Job:
    """A training in a worker process.

    Attributes:
        outcome: The result or the error; None until the job has ended.
    """

    def __init__(self, key: Hashable, text: str, algorithm: str, options: dict[str, Any]) -> None:
        self.key = key
        self.outcome: Result | JobError | None = None
        self._text, self._algorithm, self._options = text.encode(), algorithm, options
        self._size = len(self._text)
        self._arrived = monotonic()
        self._charged = self._started = 0.0
        self._users: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped: JobError | None = None
        self._ended = threading.Event()
        self._task, self._done, self._total = "Starting", 0, 0
        self._start: tuple[float, int] | None = None

    @property
    def request(self) -> fairness.Request:
        """The facts that determine its place in the queue."""
        return fairness.Request(tuple(self._users), self._arrived, self._size)

    @property
    def share(self) -> float:
        """The completed share of the current task, 0 to 1."""
        return min(1.0, self._done / self._total) if self._total else 0.0

    def message(self) -> str:
        """Return the state of the job in a few words."""
        with _lock:
            if self in _waiting:
                before = _waiting.index(self) + len(_running)
                others = "1 other training is" if before == 1 else f"{before} other trainings are"
                return f"Waiting: {others} ahead in the queue."
        if not self._total:
            return f"{self._task} …"
        message = f"{self._task}: {self._done:,} of {self._total:,}"
        if self._start is not None:
            since, began = self._start
            if self._done > began and (passed := monotonic() - since) > 1:
                left = passed * (self._total - self._done) / (self._done - began)
                message += f", about {left:,.0f} s left"
        return message

    def wait(self, seconds: float) -> bool:
        """Wait at most this number of seconds; return whether the job has ended."""
        return self._ended.wait(seconds)

    def leave(self, user: str) -> None:
        """Remove a user. When the last one leaves, the process is killed."""
        with _lock:
            if self in _running:
                self._charge(monotonic())
            self._users.remove(user)
            if self._users or self._ended.is_set():
                return
            self._forget()
            if self in _waiting:
                _waiting.remove(self)
                self._ended.set()
            if self._process is not None:
                self._process.kill()
            _start_next()

    def _forget(self) -> None:
        if _jobs.get(self.key) is self:
            del _jobs[self.key]

    def _start_threads(self) -> None:
        try:
            threading.Thread(target=self._run, daemon=True).start()
            threading.Thread(target=self._watch, daemon=True).start()
        except RuntimeError:  # the system grants no more threads
            self._stop(JobError(BUSY, transient=True), "no thread could be started")
            self._end(JobError(BUSY, transient=True))

    def _run(self) -> None:
        # Any exception except OSError is a programming error, but users must not wait forever.
        outcome: Result | JobError = JobError(FAILED, transient=True)
        try:
            outcome = self._train()
        except OSError as error:
            reason = error.strerror or error
            outcome = JobError(f"Training could not start: {reason}. Try again.", transient=True)
        finally:
            self._end(outcome)

    def _watch(self) -> None:
        """Stop the job at the time limit, and at the memory limit where the system has none."""
        deadline = self._started + limits.JOB_SECONDS
        while (left := deadline - monotonic()) > 0:
            if self._ended.wait(min(left, _WATCH_INTERVAL) if WATCHED else left):
                return
            process = self._process
            if WATCHED and process and _resident(process.pid) > limits.JOB_MEMORY * 1_000_000:
                self._stop(JobError(TOO_MUCH_MEMORY, transient=False), "memory limit")
                return
        self._stop(JobError(TOO_LONG, transient=True), "time limit")

    def _stop(self, error: JobError, reason: str) -> None:
        with _lock:
            if self._ended.is_set() or self._stopped is not None:
                return
            self._stopped = error
            if self._process is not None:
                self._process.kill()
        self._report(reason)

    def _report(self, reason: str) -> None:
        """Log why the job was stopped, without its text."""
        _log.warning(
            "Training stopped: %s. Algorithm %s, %s bytes, after %.1f s.",
            reason,
            self._algorithm,
            f"{self._size:,}",
            monotonic() - self._started,
        )

    def _end(self, outcome: Result | JobError) -> None:
        with _lock:
            if self._ended.is_set():
                return
            self.outcome = outcome
            self._forget()
            if self in _running:
                self._charge(monotonic())
                _running.remove(self)
            self._ended.set()
            _start_next()

    def _charge(self, now: float) -> None:
        _accounts.charge(self.request.user, now - self._charged, now)
        self._charged = now

    def _train(self) -> Result | JobError:
        with subprocess.Popen(
            [sys.executable, "-m", "bpeviz.jobs.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=_ROOT,
        ) as process:
            with _lock:
                self._process = process
                if not self._users or self._stopped is not None:
                    process.kill()
            try:
                found = self._communicate(
                    process, cast(Any, process.stdin), cast(BufferedReader, process.stdout)
                )
                if found is not None:
                    return found
                code = process.wait()
            finally:
                process.kill()
                with contextlib.suppress(OSError):  # a rest of the request is still buffered
                    cast(Any, process.stdin).close()
        if self._stopped is not None:
            return self._stopped
        if self._users:
            self._report(f"its process ended with code {code}")
        # 1 is the code of an exception; the system ends processes with others.
        return JobError(FAILED if code == 1 else INTERRUPTED, transient=True)

    def _communicate(
        self, process: subprocess.Popen[bytes], request: BinaryIO, output: BufferedReader
    ) -> Result | JobError | None:
        """Return the outcome that the worker reports; None where it ends without one."""
        _lower_priority(process.pid)
        _enlarge(output)
        header = {
            "algorithm": self._algorithm,
            "options": self._options,
            "size": self._size,
            "memory": 0 if WATCHED else limits.JOB_MEMORY * 1_000_000,
            "largest_result": limits.CACHE * 1_000_000,
        }
        try:
            request.writelines([json.dumps(header).encode(), b"\n", self._text])
            request.flush()
            self._text = b""
            for line in output:
                message = json.loads(line)
                if "limit" in message:
                    self._report(f"{message['limit']} limit")
                    too = TOO_LARGE if message["limit"] == "size" else TOO_MUCH_MEMORY
                    return JobError(too, transient=False)
                if "error" in message:
                    return JobError(message["error"], message["transient"])
                if "size" in message:
                    return read_result(output, message)
                if message["task"] != self._task or self._start is None:
                    self._start = monotonic(), message["done"]
                self._task, self._done = message["task"], message["done"]
                self._total = message["total"]
        except (OSError, ValueError):
            # The process ended while reading the request or writing a line. Windows reports that as
            # an invalid argument, not as a broken pipe.
            pass
        return None


def read_result(output: BufferedReader, message: Mapping[str, Any]) -> Result:
    """Return the result that follows a message of a worker. Raises `OSError` if it ends early."""
    # Read the arrays into their final buffers, while other threads run.
    sizes = [message["size"], *message["arrays"]]
    result, *arrays = [np.empty(size, np.uint8).data for size in sizes]
    for part in (result, *arrays):
        if output.readinto(part) != len(part):
            raise BrokenPipeError
    # Safe to unpickle: the bytes come from our own worker.
    return cast(Result, pickle.loads(result, buffers=arrays))  # noqa: S301


def _lower_priority(process: int) -> None:
    """Lower the priority of a worker process below that of the server."""
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):  # it may have ended already
            os.setpriority(os.PRIO_PROCESS, process, 19)
    elif sys.platform == "win32":
        import psutil  # installed only where it is needed

        with contextlib.suppress(psutil.Error):
            psutil.Process(process).nice(psutil.IDLE_PRIORITY_CLASS)


def _enlarge(pipe: BufferedReader) -> None:
    """Increase the size of a pipe, if the system allows it."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl  # not on every system

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


def _resident(process: int) -> int:
    """Return the resident memory of a process in bytes, or 0 where it has ended."""
    import psutil  # installed only where it is needed

    try:
        return int(psutil.Process(process).memory_info().rss)
    except psutil.Error:
        return 0


def _start_next() -> None:
    """Order the waiting jobs, and start those that may run."""
    while True:
        now = monotonic()
        for job in _running:
            job._charge(now)
        order = fairness.in_order([job.request for job in _waiting], _accounts, now)
        _waiting[:] = [_waiting[index] for index in order]
        index = fairness.next_job(
            [job.request for job in _waiting],
            [job.request for job in _running],
            AT_ONCE,
            limits.USER_RUNNING,
        )
        if index is None:
            return
        job = _waiting.pop(index)
        job._started = job._charged = now
        _running.append(job)
        job._start_threads()


@contextlib.contextmanager
def run(
    key: Hashable, text: str, algorithm: str, options: Mapping[str, Any], user: str
) -> Iterator[Job]:
    """Provide the job of a training within the block. It runs until it ends or all its users leave.

    If too many jobs wait, its outcome is an error immediately.

    Args:
        key: Identifies the training.
        text: The training text.
        algorithm: A key of `TRAINERS`.
        options: The other arguments of `bpeviz.train`.
        user: Identifies the user, for an order that is fair by user.
    """
    with _lock:
        job = _jobs.get(key)
        if new := job is None:
            job = _jobs[key] = Job(key, text, algorithm, dict(options))
            _waiting.append(job)
        job._users.append(user)
        _start_next()
        if new and job in _waiting:
            _refuse_excess(job, user)
    try:
        yield job
    finally:
        job.leave(user)


def _refuse_excess(job: Job, user: str) -> None:
    """End a job that has just begun to wait, if too many do."""
    own = sum(other.request.user == user for other in _waiting)
    if own <= limits.USER_WAITING and len(_waiting) <= limits.ALL_WAITING:
        return
    _waiting.remove(job)
    message = TOO_MANY_OWN if own > limits.USER_WAITING else TOO_MANY
    job._end(JobError(message, transient=True))

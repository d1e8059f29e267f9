"""A queue of training jobs in worker processes, so that training does not block the server.

A job is one process. Users who request the same training share its job. When all of them have
left, its process is killed. The server runs a limited number of jobs at once; the others wait in
order of arrival.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, cast

import numpy as np

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.jobs import processors

AT_ONCE = max(1, processors.available() - 1)
"""The maximum number of jobs that run at once; one processor remains for the pages."""

INTERRUPTED = (
    "Training was interrupted: its process was ended, perhaps because memory ran out. Try again, "
    "or use a shorter text or a smaller vocabulary."
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


_PIPE = 1_048_576
"""The size of a pipe in bytes: the largest that Linux usually grants to every user."""

_ROOT = Path(__file__).resolve().parents[2]
_lock = threading.RLock()
_jobs: dict[Hashable, Job] = {}
_waiting: list[Job] = []
_running: set[Job] = set()


class Job:
    """A training in a worker process.

    Attributes:
        outcome: The result or the error; None until the job has ended.
    """

    def __init__(self, key: Hashable, request: Sequence[bytes]) -> None:
        self.key = key
        self.outcome: Result | JobError | None = None
        self._request = request
        self._users = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = threading.Event()
        self._task, self._done, self._total = "Starting", 0, 0
        self._start: tuple[float, int] | None = None

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

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the job. When its last user leaves, its process is killed."""
        with _lock:
            self._users -= 1
            if self._users or self._ended.is_set():
                return
            self._forget()
            if self in _waiting:
                _waiting.remove(self)
                self._ended.set()
            if self._process is not None:
                self._process.kill()

    def _forget(self) -> None:
        if _jobs.get(self.key) is self:
            del _jobs[self.key]

    def _start_thread(self) -> None:
        try:
            threading.Thread(target=self._run, daemon=True).start()
        except RuntimeError:  # the system grants no more threads
            self._end(JobError("The server is too busy to start a training. Try again.", True))

    def _run(self) -> None:
        # Any exception except OSError is a programming error, but users must not wait forever.
        outcome: Result | JobError = JobError(INTERRUPTED, transient=True)
        try:
            outcome = self._train()
        except OSError as error:
            reason = error.strerror or error
            outcome = JobError(f"Training could not start: {reason}. Try again.", transient=True)
        finally:
            self._end(outcome)

    def _end(self, outcome: Result | JobError) -> None:
        with _lock:
            self.outcome = outcome
            self._forget()
            _running.discard(self)
            _start_next()
        self._ended.set()

    def _train(self) -> Result | JobError:
        with subprocess.Popen(
            [sys.executable, "-m", "bpeviz.jobs.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=_ROOT,
        ) as process:
            with _lock:
                self._process = process
                if not self._users:
                    process.kill()
            try:
                return self._communicate(
                    process, cast(Any, process.stdin), cast(BufferedReader, process.stdout)
                )
            finally:
                process.kill()

    def _communicate(
        self, process: subprocess.Popen[bytes], request: BinaryIO, output: BufferedReader
    ) -> Result | JobError:
        _lower_priority(process.pid)
        _enlarge(output)
        try:
            request.writelines(self._request)
            request.flush()
            self._request = ()
            for line in output:
                message = json.loads(line)
                if "error" in message:
                    return JobError(message["error"], message["transient"])
                if "size" in message:
                    # Read the arrays into their final buffers, while other threads run.
                    sizes = [message["size"], *message["arrays"]]
                    result, *arrays = [np.empty(size, np.uint8).data for size in sizes]
                    if all(output.readinto(part) == len(part) for part in (result, *arrays)):
                        # Safe to unpickle: the bytes come from our own worker.
                        return cast(Result, pickle.loads(result, buffers=arrays))  # noqa: S301
                    break
                if message["task"] != self._task or self._start is None:
                    self._start = monotonic(), message["done"]
                self._task, self._done = message["task"], message["done"]
                self._total = message["total"]
        except (BrokenPipeError, ValueError):
            pass  # the process ended while reading the request or writing a line
        return JobError(INTERRUPTED, transient=True)


def _lower_priority(process: int) -> None:
    """Lower the priority of a worker process below that of the server."""
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):  # it may have ended already
            os.setpriority(os.PRIO_PROCESS, process, 19)


def _enlarge(pipe: BufferedReader) -> None:
    """Increase the size of a pipe, if the system allows it."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl  # not on every system

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


def _start_next() -> None:
    with _lock:
        while _waiting and len(_running) < AT_ONCE:
            job = _waiting.pop(0)
            _running.add(job)
            job._start_thread()


def run(key: Hashable, text: str, algorithm: str, options: Mapping[str, Any]) -> Job:
    """Return the job of a training. Use it in a `with` block; it runs until all users leave.

    Args:
        key: Identifies the training.
        text: The training text.
        algorithm: A key of `TRAINERS`.
        options: The other arguments of `bpeviz.train`.
    """
    with _lock:
        job = _jobs.get(key)
        if job is None:
            raw = text.encode()
            request = {"algorithm": algorithm, "options": dict(options), "size": len(raw)}
            job = _jobs[key] = Job(key, (json.dumps(request).encode(), b"\n", raw))
            _waiting.append(job)
        job._users += 1
        _start_next()
        return job

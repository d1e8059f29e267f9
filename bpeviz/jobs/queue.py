"""Long learning, in processes of their own, so that the server goes on answering everybody.

A job is one process. Whoever wants the same shares it; when nobody wants it any more, it is ended.
Only so many run at once in the whole server; the others wait in the order in which they came.
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
from io import BufferedReader
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, cast

import numpy as np

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training

AT_ONCE = max(1, (os.cpu_count() or 2) - 1)
"""How many jobs run at once: one processor is left for the pages."""

CUT_OFF = (
    "Learning was cut off: its process was ended, perhaps for want of memory. Try again, or take a "
    "shorter text or a smaller vocabulary."
)

Found = tuple[Training, Boundaries]

_PIPE = 1_048_576
"""Bytes that a pipe shall hold: as many as Linux usually lets everybody have."""

_ROOT = Path(__file__).resolve().parents[2]
_lock = threading.RLock()
_jobs: dict[Hashable, Job] = {}
_waiting: list[Job] = []
_running: set[Job] = set()


class Job:
    """Something to be learnt by another process.

    found: what was learnt and the boundaries of the text, or the sentence that says why there is
    nothing; None until then. failed: whether that sentence is about this run only, so that another
    may succeed.
    """

    def __init__(self, key: Hashable, request: Sequence[bytes]) -> None:
        self.key = key
        self.found: Found | str | None = None
        self.failed = False
        self._request = request
        self._watchers = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = threading.Event()
        self._doing, self._done, self._of = "Starting", 0, 0
        self._first: tuple[float, int] | None = None

    @property
    def share(self) -> float:
        """How much is done, 0 to 1."""
        return min(1.0, self._done / self._of) if self._of else 0.0

    def sentence(self) -> str:
        """Say in a few words how it stands."""
        with _lock:
            if self in _waiting:
                before = _waiting.index(self) + len(_running)
                others = "1 other is" if before == 1 else f"{before} others are"
                return f"Waiting for a turn to learn: {others} before this."
        if not self._of:
            return f"{self._doing} …"
        said = f"{self._doing}: {self._done:,} of {self._of:,}"
        if self._first is not None:
            since, began = self._first
            if self._done > began and (passed := monotonic() - since) > 1:
                left = passed * (self._of - self._done) / (self._done - began)
                said += f", about {left:,.0f} s left at this pace"
        return said

    def wait(self, seconds: float) -> bool:
        """Wait so long at most; tell whether it has ended."""
        return self._ended.wait(seconds)

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        """Want it no more. The process of a job that nobody wants is ended."""
        with _lock:
            self._watchers -= 1
            if self._watchers or self._ended.is_set():
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

    def _run(self) -> None:
        try:
            self.found = self._learn()
        except OSError as error:
            self.failed = True
            self.found = f"Learning could not be started: {error.strerror or error}. Try again."
        finally:
            if self.found is None:  # a mistake of ours; nobody shall wait for ever because of it
                self.failed, self.found = True, CUT_OFF
            with _lock:
                self._forget()
                _running.discard(self)
                _start_next()
            self._ended.set()

    def _learn(self) -> Found | str:
        with subprocess.Popen(
            [sys.executable, "-m", "bpeviz.jobs.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=_ROOT,
        ) as process:
            with _lock:
                self._process = process
                if not self._watchers:
                    process.kill()
            try:
                return self._talk(
                    process, cast(Any, process.stdin), cast(BufferedReader, process.stdout)
                )
            finally:
                process.kill()

    def _talk(
        self, process: subprocess.Popen[bytes], given: BinaryIO, output: BufferedReader
    ) -> Found | str:
        _lower_priority(process.pid)
        _widen(output)
        try:
            given.writelines(self._request)
            given.flush()
            self._request = ()
            for line in output:
                said = json.loads(line)
                if "error" in said:
                    return str(said["error"])
                if "size" in said:
                    # Arrays go straight to where they stay; meanwhile pages are answered.
                    sizes = [said["size"], *said["arrays"]]
                    result, *arrays = [np.empty(size, np.uint8).data for size in sizes]
                    if all(output.readinto(part) == len(part) for part in (result, *arrays)):
                        # Written by our own worker, through our own pipe.
                        return cast(Found, pickle.loads(result, buffers=arrays))  # noqa: S301
                    break
                if said["doing"] != self._doing or self._first is None:
                    self._first = monotonic(), said["done"]
                self._doing, self._done, self._of = said["doing"], said["done"], said["of"]
        except (BrokenPipeError, ValueError):
            pass  # it died while it was written to, or in the middle of a line
        self.failed = True
        return CUT_OFF


def _lower_priority(process: int) -> None:
    """Let the pages go first."""
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):  # it may have ended already
            os.setpriority(os.PRIO_PROCESS, process, 19)


def _widen(pipe: BufferedReader) -> None:
    """Let a pipe hold more, where that is possible and allowed."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl  # not everywhere

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


def _start_next() -> None:
    with _lock:
        while _waiting and len(_running) < AT_ONCE:
            job = _waiting.pop(0)
            _running.add(job)
            threading.Thread(target=job._run, daemon=True).start()


def learning(key: Hashable, text: str, algorithm: str, options: Mapping[str, Any]) -> Job:
    """Return the job that learns this, to be used in a `with`: it is wanted until that ends.

    key: tells it from all others. options: the arguments of `bpeviz.train`.
    """
    with _lock:
        job = _jobs.get(key)
        if job is None:
            raw = text.encode()
            request = {"algorithm": algorithm, "options": dict(options), "size": len(raw)}
            job = _jobs[key] = Job(key, (json.dumps(request).encode(), b"\n", raw))
            _waiting.append(job)
        job._watchers += 1
        _start_next()
        return job

"""A worker process, seen from the server: its start, requests, limits and end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, cast

from bpeviz.workers import serving

_PACKAGE = Path(__file__).resolve().parents[1]

_RUN = """import sys
from importlib import import_module
folder, package, module = sys.argv[1:]
sys.path.append(folder)
sys.modules["bpeviz"] = root = type(sys)("bpeviz")
root.__path__ = [package]
import_module(module).main()"""
"""Runs a module of bpeviz without the code and the imports of the package."""

_START = 20.0
"""Seconds that a worker may take to start; it takes a twentieth of one, or one with the package."""

_NOT_STARTED, _BUSY = "its process did not start", "this machine is busy"

LEAST = 0.2
"""The share of its processor seconds that a request has spent if its own work made it late."""

NICENESS = 10
"""The niceness of slow requests: they get a tenth of what the server gets.

With 19, the share is a seventieth, and a busy machine takes minutes to start a worker.
"""

_OUT_OF_TIME = -signal.SIGPROF if hasattr(signal, "SIGPROF") else None
"""The exit code of a worker after its time limit, where the system has timers."""

_HAS_PROC = sys.platform == "linux" and hasattr(os, "sysconf")

_PIPE = 1_048_576
"""The size of a pipe in bytes: the largest that Linux usually grants to every user."""


class StartError(TimeoutError):
    """A worker could not be started or had no time; the message is a clause with the reason."""


class OvertimeError(TimeoutError):
    """A request has used up its processor time."""


class EndedError(MemoryError):
    """A worker ended by itself, probably because native code got no memory.

    Attributes:
        code: Its exit code. 1 is that of an exception.
    """

    def __init__(self, code: int) -> None:
        super().__init__(f"its process ended with code {code}")
        self.code = code


class Child:
    """A worker process.

    Attributes:
        process: The process.
        deadline: When the server kills it; see `bpeviz.workers.pool`.
        memory: The bytes of memory that its request may take.
        info: The answer to a first request, or None before it.
    """

    def __init__(self, module: str, imports: str | None = None, **environment: str) -> None:
        """Start the process.

        Args:
            module: A module of bpeviz with a function `main`, which calls `serving.serve`.
            imports: The path of the main file of a package. The module can import the packages
                beside it, and modules of bpeviz that import nothing else. None starts Python as
                usual.
            environment: Environment variables beside those of this process.

        Raises:
            StartError: The system grants no process.
        """
        command = ["-m", module]
        if imports is not None:
            folder = os.path.dirname(os.path.dirname(os.path.abspath(imports)))
            command = ["-I", "-S", "-c", _RUN, folder, str(_PACKAGE), module]
        try:
            self.process = subprocess.Popen(  # noqa: S603, the command is our own
                [sys.executable, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if imports is None else subprocess.DEVNULL,
                bufsize=0,
                cwd=_PACKAGE.parent,
                env={**os.environ, **environment},
            )
        except OSError as error:
            raise StartError(error.strerror or str(error)) from error
        self._requests = cast(FileIO, self.process.stdin)
        self._answers = cast(FileIO, self.process.stdout)
        self._ready = False
        self.deadline, self.memory = monotonic() + _START, inf
        self.info: bytes | None = None
        self._before = inf  # the processor time before its request
        self._seconds = inf
        with suppress(ImportError, AttributeError, OSError):
            import fcntl  # not on every system

            fcntl.fcntl(self._answers, fcntl.F_SETPIPE_SZ, _PIPE)

    def ask(
        self,
        operation: int,
        *parts: bytes | memoryview,
        seconds: float,
        memory: int,
        clock: float = inf,
        listen: Callable[[int, list[serving.Buffer]], bytes | None] | None = None,
    ) -> tuple[bool, list[serving.Buffer]]:
        """Return whether a request has a result, and the parts of the answer.

        Args:
            operation: The operation.
            parts: Its arguments.
            seconds: The limit of processor seconds.
            memory: The limit of memory in bytes, beyond that of the start.
            clock: The limit in seconds of the clock, if it is less than usual.
            listen: Takes the messages before the answer; returns a reply that the worker waits for.

        Raises:
            MemoryError: The memory does not suffice.
            OSError: The process has ended.
        """
        if not self._ready:
            self.deadline = monotonic() + _START
            serving.read(self._answers)
            self._ready = True
        self.deadline = monotonic() + min(clock, serving.WORKER_CLOCK * seconds)
        self.memory = memory
        self._before, self._seconds = self._processor_time(), seconds
        serving.write(self._requests, operation, *parts, seconds=seconds, memory=memory)
        while True:
            code, content, _, _ = serving.read(self._answers)
            if code == serving.MEMORY:
                raise MemoryError
            if code in (serving.RESULT, serving.REFUSED):
                return code == serving.RESULT, content
            left, self.deadline = self.deadline - monotonic(), inf  # the server's time is not its
            reply = None if listen is None else listen(code, content)
            self.deadline = monotonic() + left
            if reply is not None:
                serving.write(self._requests, serving.RESULT, reply)

    def spent(self) -> float:
        """Return the processor seconds of its request, also of one that has just ended."""
        return self._processor_time() - self._before

    def overdue(self) -> TimeoutError:
        """Return why it is stopped at its deadline: only its own work counts against a request."""
        if not self._ready:
            return StartError(_NOT_STARTED)
        return TimeoutError() if self.spent() > LEAST * self._seconds else StartError(_BUSY)

    def _processor_time(self) -> float:
        """Return the processor seconds of the process, or 0 where it has ended."""
        if _HAS_PROC:
            return sum(map(int, self._proc("stat")[11:13])) / os.sysconf("SC_CLK_TCK")
        times = self._psutil("cpu_times")
        return float(times.user + times.system) if times else 0.0

    def resident(self) -> int:
        """Return the resident memory in bytes, or 0 where the process has ended."""
        if _HAS_PROC:
            return sum(map(int, self._proc("statm")[1:2])) * os.sysconf("SC_PAGE_SIZE")
        memory = self._psutil("memory_info")
        return int(memory.rss) if memory else 0

    def _proc(self, file: str) -> list[bytes]:
        """Return the fields in a file of Linux on the process, after the name of its program."""
        with suppress(OSError):
            return Path(f"/proc/{self.process.pid}/{file}").read_bytes().rpartition(b")")[2].split()
        return []

    def _psutil(self, method: str) -> Any:
        """Return the result of a method of psutil, or None where the process has ended."""
        import psutil  # installed only where it is needed

        with suppress(psutil.Error):
            return getattr(psutil.Process(self.process.pid), method)()
        return None

    def lower_priority(self) -> None:
        """Lower the priority of the process far below that of the server."""
        if hasattr(os, "setpriority"):
            with suppress(OSError):  # it may have ended already
                os.setpriority(os.PRIO_PROCESS, self.process.pid, os.nice(0) + NICENESS)
        elif sys.platform == "win32":
            import psutil  # installed only where it is needed

            with suppress(psutil.Error):
                psutil.Process(self.process.pid).nice(psutil.IDLE_PRIORITY_CLASS)

    def close(self) -> None:
        """Close the pipes."""
        self._requests.close()
        self._answers.close()

    def abandon(self) -> None:
        """Close the pipes in a fork, which is not the parent of the process."""
        self.close()
        self.process.returncode = 0

    def end(self) -> int:
        """Kill the process, unless it has ended; return its exit code."""
        self.process.kill()
        self.close()
        return self.process.wait()

    def failure(self) -> Exception:
        """End the process, which does not answer; return the reason."""
        code = self.end()
        if not self._ready:
            return StartError(_NOT_STARTED)
        return OvertimeError() if code == _OUT_OF_TIME else EndedError(code)

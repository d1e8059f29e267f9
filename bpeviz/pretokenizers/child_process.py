"""Child processes that answer requests over their pipes, can be killed, and are reused."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from io import FileIO
from typing import Generic, TypeVar, cast

from bpeviz import users

_RUN = """import sys
from importlib.machinery import SourceFileLoader
exec(SourceFileLoader("__main__", sys.argv[2]).get_code("__main__"))"""
"""Runs a script from its cached bytecode: Python compiles a script anew at each start."""


class ChildProcess:
    """A script in a process of its own, which imports only the packages beside one of them."""

    def __init__(self, script: str, package: str, **environment: str) -> None:
        """Start the process.

        Args:
            script: The path of the script. Its first argument is the folder of the packages.
            package: The path of the main file of a package in that folder.
            environment: Environment variables beside those of this process.
        """
        packages = os.path.dirname(os.path.dirname(os.path.abspath(package)))
        self.process = subprocess.Popen(  # noqa: S603, the command is our own
            [sys.executable, "-I", "-S", "-c", _RUN, packages, script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**os.environ, **environment},
        )
        self._requests = cast(FileIO, self.process.stdin)
        self._answers = cast(FileIO, self.process.stdout)
        self._started = False

    def wait_for_start(self) -> None:
        """Wait until the process is ready for requests. Raises `OSError` if it ends instead."""
        if not self._started:
            self.read(1)
            self._started = True

    def write(self, *parts: bytes) -> None:
        """Send a request. Raises `OSError` if the process has ended."""
        for part in parts:
            rest = memoryview(part)
            while rest:
                rest = rest[self._requests.write(rest) :]

    def read(self, size: int) -> bytearray:
        """Return the next `size` bytes of an answer. Raises `OSError` if the process has ended."""
        content = bytearray(size)
        rest = memoryview(content)
        while rest:
            read = self._answers.readinto(rest)
            if not read:
                raise BrokenPipeError
            rest = rest[read:]
        return content

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


Child = TypeVar("Child", bound=ChildProcess)


class ChildPool(ABC, Generic[Child]):
    """Reused child processes. A user has a share of those that work at once."""

    def __init__(self, most: int, share: int) -> None:
        """Start without children.

        Args:
            most: The largest number of requests at once.
            share: The largest number of them for a user.
        """
        self._places = users.Places(most, share)
        self._lock = threading.Lock()
        self._idle: list[Child] = []

    @abstractmethod
    def _working(self) -> Iterable[Child]:
        """Return the children that work on requests."""

    def serve_process(self) -> None:
        """End all children with this process, and let a fork start children of its own."""
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._restart)

    def close(self) -> None:
        """End all children."""
        with self._lock:
            children = [*self._idle, *self._working()]
            self._idle.clear()
        for child in children:
            child.end()

    def _restart(self) -> None:
        """Forget all children, which belong to the parent of this process."""
        for child in (*self._idle, *self._working()):
            child.abandon()
        type(self).__init__(self)  # type: ignore[call-arg]


class Pause:
    """A pause of the thread that waits for a child or for its turn. It begins at most once."""

    def __init__(self) -> None:
        self._begun = False

    def begin(self) -> None:
        """Let other work run."""
        if not self._begun:
            self._begun = True
            self.release()

    def end(self) -> None:
        """Wait until this thread may continue, if the pause has begun."""
        if self._begun:
            self.acquire()

    def release(self) -> None:
        """Release what other work waits for."""

    def acquire(self) -> None:
        """Wait for what `release` has released."""


new_pause: Callable[[], Pause] = Pause
"""Returns the pause of a request. `bpeviz.ui` replaces it, to release its run lock meanwhile."""

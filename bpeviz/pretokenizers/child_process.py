"""A child process that answers requests over its pipes, and can be killed."""

from __future__ import annotations

import os
import subprocess
import sys
from io import FileIO
from typing import cast


class ChildProcess:
    """A script in a process of its own, which imports only the packages beside one of them."""

    def __init__(self, script: str, package: str) -> None:
        """Start the process.

        Args:
            script: The path of the script. Its argument is the folder of the packages.
            package: The path of the main file of a package in that folder.
        """
        packages = os.path.dirname(os.path.dirname(os.path.abspath(package)))
        self.process = subprocess.Popen(  # noqa: S603, the command is our own
            [sys.executable, "-I", "-S", script, packages],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self._requests = cast(FileIO, self.process.stdin)
        self._answers = cast(FileIO, self.process.stdout)

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

"""Errors of the command line and messages on standard error."""

from __future__ import annotations

import contextlib
import sys

INTERRUPTED, BROKEN_PIPE = 130, 141
"""The exit codes of shells after Ctrl-C (SIGINT) and after a broken pipe (SIGPIPE)."""


class UsageError(Exception):
    """Inconsistent arguments; the exit code is 2."""


class CommandError(ValueError):
    """A failed command, with a user-facing message; the exit code is 1."""


def print_error(message: str) -> None:
    """Print a message to standard error, if it is open; a terminal obeys none of its characters."""
    if sys.stderr is not None:
        parts = (c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in message)
        message = "".join(parts)
        with contextlib.suppress(OSError):
            print(message, file=sys.stderr, flush=True)

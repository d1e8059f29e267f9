"""The context of the work in a process: a program, a server of pages, or a worker of jobs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any


def _call(function: Callable[..., Any], *arguments: object) -> Any:
    """Call a function in this process."""
    return function(*arguments)


@dataclass(frozen=True)
class Context:
    """Functions that differ between processes. The defaults are those of a program.

    Attributes:
        user: Returns the identity of the user whose work runs in this thread, or an empty text: a
            program has no users, and no shares.
        waiting: Returns the context manager in which a thread waits for a worker.
        call: Calls a function that uses workers and may get the user last. A worker lets the server
            call it, whose workers all users share.
    """

    user: Callable[[], str] = str
    waiting: Callable[[], AbstractContextManager[Any]] = nullcontext
    call: Callable[..., Any] = _call


_current = Context()


def current() -> Context:
    """Return the context of this process."""
    return _current


def use(context: Context) -> None:
    """Set the context of this process."""
    global _current
    _current = context

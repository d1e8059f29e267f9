"""The context of the work in a process: a program, a server of pages, or a worker of trainings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Context:
    """Functions that differ between processes. The defaults are those of a program.

    Attributes:
        user: Returns the identity of the user whose work runs in this thread, or an empty text: a
            program has no users, and no shares.
        waiting: Returns the context manager in which a thread waits for a worker.
        run_expression: Runs an expression, in place of a worker of this process.
    """

    user: Callable[[], str] = str
    waiting: Callable[[], AbstractContextManager[Any]] = nullcontext
    run_expression: Callable[[int, str, str, float], list[int]] | None = None


_current = Context()


def current() -> Context:
    """Return the context of this process."""
    return _current


def use(context: Context) -> None:
    """Set the context of this process."""
    global _current
    _current = context

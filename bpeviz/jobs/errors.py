"""Errors at limits: whether another attempt may succeed, and the advice to the user."""

from __future__ import annotations

SHORTEN = "Use a shorter text or a smaller vocabulary."


class StoppedError(Exception):
    """A worker has no result of a training.

    Its arguments are those of `JobError`; none if the training takes long and may not go on.
    """


def is_transient(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, is a lack of time or memory."""
    while error is not None:
        if isinstance(error, TimeoutError | MemoryError):
            return True
        error = error.__cause__
    return False

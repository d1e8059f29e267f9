"""Transient errors, which may not occur in another attempt."""

from __future__ import annotations


def is_transient(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, is a lack of time or memory."""
    while error is not None:
        if isinstance(error, TimeoutError | MemoryError):
            return True
        error = error.__cause__
    return False

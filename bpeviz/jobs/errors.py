"""Errors that another attempt may not meet."""

from __future__ import annotations


def is_transient(error: BaseException | None) -> bool:
    """Return whether an error, or one that caused it, is about time or memory, not about input."""
    while error is not None:
        if isinstance(error, TimeoutError | MemoryError):
            return True
        error = error.__cause__
    return False

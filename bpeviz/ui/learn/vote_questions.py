"""Questions of Learn for the votes of rooms (being rewritten)."""

from __future__ import annotations

from typing import Any

from bpeviz.room.votes import VoteQuestion


def offered() -> list[dict[str, Any]]:
    """Return the chapters whose questions a leader can ask."""
    return []


def find(key: str) -> VoteQuestion | None:
    """Return a question."""
    return None


def of_chapter(chapter: Any) -> dict[str, VoteQuestion]:
    """Return the questions of a chapter."""
    return {}

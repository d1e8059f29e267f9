"""A vote: one answer of each follower, as counts only."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bpeviz.room.shown import Option


@dataclass
class Vote:
    """A vote about the decision after a step.

    Attributes:
        number: Its number in the room.
        content: The number of the timeline.
        step: The step.
        question: The question.
        options: The answers to choose from.
        right: The index of the right one, which nobody receives before the leader plays on.
    """

    number: int
    content: int
    step: int
    question: str
    options: Sequence[Option]
    right: int
    is_open: bool = True
    is_shown: bool = False
    is_revealed: bool = False
    answers: dict[str, int] = field(default_factory=dict)
    earlier: list[int] | None = None
    """The counts before “discuss, then vote again”."""

    def answer(self, follower: str, option: int) -> None:
        """Count the answer of a follower, who may change it while the vote is open."""
        if self.is_open and 0 <= option < len(self.options):
            self.answers[follower] = option

    @property
    def counts(self) -> list[int]:
        """The number of answers of each option."""
        given = [*self.answers.values()]
        return [given.count(i) for i in range(len(self.options))]

    def again(self) -> None:
        """Open the vote again, and keep the counts so far."""
        self.earlier = self.counts
        self.answers.clear()
        self.is_open, self.is_shown = True, False

    def reveal(self) -> None:
        """Close the vote, and show the counts and the right answer."""
        self.is_open, self.is_shown, self.is_revealed = False, True, True

    def state(self, follower: str) -> dict[str, Any]:
        """Return the vote for a follower or the leader, as plain JSON values."""
        shown = self.is_shown
        return {
            "number": self.number,
            "question": self.question,
            "options": [{"tokens": one.tokens, "words": one.words} for one in self.options],
            "isOpen": self.is_open,
            "answered": len(self.answers),
            "mine": self.answers.get(follower),
            "counts": self.counts if shown else None,
            "earlier": self.earlier if shown else None,
            "right": self.right if self.is_revealed else None,
        }


def table(votes: Sequence[Vote]) -> str:
    """Return all votes as CSV: the answers of each question and their counts, no persons."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["vote", "step", "question", "answer", "first count", "count", "right"])
    for vote in votes:
        first = [str(count) for count in vote.earlier or []] or [""] * len(vote.options)
        for i, option in enumerate(vote.options):
            right = "yes" if vote.is_revealed and i == vote.right else ""
            row = [vote.number, vote.step, vote.question, option.words, first[i], vote.counts[i]]
            writer.writerow([*row, right])
    return out.getvalue()

"""A vote: one answer of each follower to a question, as counts only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bpeviz.views.table import Table

MOST_NUMBERS = 7
"""The most numbers that the results of a vote name: those with the most answers."""

MessagePart = str | Mapping[str, Any]
"""A part of a message: plain text, or the label and the color index of a token."""


@dataclass(frozen=True)
class VoteOption:
    """An answer to choose: a candidate as its tokens, or words.

    Attributes:
        tokens: Label and color index of each token.
        words: The option as text.
    """

    tokens: list[Any]
    words: str


@dataclass(frozen=True)
class Range:
    """The numbers that are answers."""

    low: int
    high: int
    unit: str


@dataclass(frozen=True)
class VoteQuestion:
    """A question with options, or one whose answer is a number.

    Attributes:
        prompt: The question.
        options: The answers to choose from, or none where a number is asked for.
        right: The index of the right option, or the right number. Nobody receives it before the
            answer is revealed.
        step: The step whose next decision it is about, or None for a question of its own.
        numbers: The numbers that are answers.
        explanation: Why the answer is right.
        see: The rows above it, as in Learn.
        is_alone: Whether it is shown without the player or the score.
        name: Its name, which tells no answer, or "".
    """

    prompt: Sequence[MessagePart]
    options: Sequence[VoteOption]
    right: int
    step: int | None = None
    numbers: Range | None = None
    explanation: Sequence[MessagePart] = ()
    see: Sequence[Mapping[str, Any]] = ()
    is_alone: bool = False
    name: str = ""

    @property
    def words(self) -> str:
        """The question as text."""
        return "".join(piece if isinstance(piece, str) else piece["label"] for piece in self.prompt)

    def accepts(self, answer: int) -> bool:
        """Return whether a number is an answer."""
        if self.numbers:
            return self.numbers.low <= answer <= self.numbers.high
        return 0 <= answer < len(self.options)


class Result(NamedTuple):
    """The result of an answer.

    Attributes:
        value: The index of the option, the number, or -1 for other numbers.
        option: The option.
        before: The count before “discuss, then vote again”.
        count: The count.
    """

    value: int
    option: VoteOption
    before: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which is not used


@dataclass
class Vote:
    """A vote on a question.

    Attributes:
        number: Its number in the room.
        question: The question.
    """

    number: int
    question: VoteQuestion
    is_open: bool = True
    is_shown: bool = False
    is_revealed: bool = False
    answers: dict[str, int] = field(default_factory=dict)
    earlier: Counter[int] | None = None
    """The counts before “discuss, then vote again”."""

    def answer(self, follower: str, answer: int) -> None:
        """Count the answer of a follower, who may change it while the vote is open."""
        if self.is_open and self.question.accepts(answer):
            self.answers[follower] = answer

    @property
    def counts(self) -> Counter[int]:
        """The number of each answer."""
        return Counter(self.answers.values())

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
        asked, revealed = self.question, self.is_revealed
        state = {
            "number": self.number,
            "prompt": list(asked.prompt),
            "see": list(asked.see),
            "isAlone": asked.is_alone,
            "isAboutStep": asked.step is not None,
            "numbers": asked.numbers and vars(asked.numbers),
            "options": [_option(i, option) for i, option in enumerate(asked.options)],
            "isOpen": self.is_open,
            "isAgain": self.earlier is not None,
            "answered": len(self.answers),
            "mine": self.answers.get(follower),
            "counts": None,
            "earlier": None,
            "right": asked.right if revealed else None,
            "explanation": list(asked.explanation) if revealed else [],
        }
        if not self.is_shown:
            return state
        results = self.results(MOST_NUMBERS)
        return state | {
            "options": [_option(result.value, result.option) for result in results],
            "counts": [result.count for result in results],
            "earlier": None if self.earlier is None else [result.before for result in results],
        }

    def results(self, most: int | None = None) -> list[Result]:
        """Return each answer. Of more than `most` numbers, those with the fewest are one answer."""
        counts, earlier, asked = self.counts, self.earlier or Counter(), self.question
        if not asked.numbers:
            options = enumerate(asked.options)
            return [Result(i, option, earlier[i], counts[i]) for i, option in options]
        values = {*counts, *earlier} | ({asked.right} if self.is_revealed else set())
        ranked = sorted(
            values,
            key=lambda value: (
                value != asked.right or not self.is_revealed,
                -counts[value],
                -earlier[value],
                value,
            ),
        )
        named = sorted(ranked[:most])
        rows = [
            Result(value, VoteOption([], f"{value:,}"), earlier[value], counts[value])
            for value in named
        ]
        if others := values.difference(named):
            before, now = (sum(counter[i] for i in others) for counter in (earlier, counts))
            rows.append(Result(-1, VoteOption([], f"{len(others):,} other numbers"), before, now))
        return rows


def _option(value: int, option: VoteOption) -> dict[str, Any]:
    return {"value": value, "tokens": option.tokens, "words": option.words}


def table(votes: Sequence[Vote]) -> str:
    """Return all votes as CSV: the answers of each question and their counts, no persons."""
    rows = []
    for number, vote in enumerate(votes, 1):
        for result in vote.results():
            first = None if vote.earlier is None else result.before
            right = "yes" if vote.is_revealed and result.value == vote.question.right else ""
            words = vote.question.step, vote.question.words, result.option.words
            rows.append((number, *words, first, result.count, right))
    names = ["vote", "step", "question", "answer", "first count", "count", "right"]
    return Table.of_rows(names, rows).csv()

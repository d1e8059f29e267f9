"""A vote: one answer of each follower to a question, as counts only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

from bpeviz.views.table import Table

MOST_NUMBERS = 7
"""The most numbers that the results of a vote name: those with the most answers."""

ROUNDS = ("before", "after")

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
    """The numbers that are answers.

    Attributes:
        low: The lowest one.
        high: The highest one.
        unit: The name of several.
        bins: The number of parts in which the results count them, or 0 to count each.
    """

    low: int
    high: int
    unit: str
    bins: int = 0

    def starts(self) -> list[int]:
        """Return the lowest number of each bin."""
        size = self.high - self.low + 1
        return [self.low - (-i * size // self.bins) for i in range(self.bins)]


@dataclass(frozen=True)
class VoteQuestion:
    """A question with options, or one whose answer is a number or a set of boundaries.

    Attributes:
        prompt: The question.
        options: The answers to choose from, or none where another answer is asked for.
        right: The right answer, or None if each is right. Nobody receives it before it is revealed.
        step: The step whose next decision it is about, or None for a question of its own.
        values: The answer that each option is; by default its index.
        numbers: The numbers that are answers.
        pieces: The text between the places for boundaries; the answer has a bit for each place.
        check: Returns whether a number is an answer, unless that follows from the above.
        explanation: Why the answer is right.
        see: The rows above it, as in Learn.
        is_alone: Whether it is shown without the player or the score.
        name: Its name, which tells no answer, or "".
        series: The number of questions that are asked before and after a course, this among them.
    """

    prompt: Sequence[MessagePart]
    options: Sequence[VoteOption]
    right: int | None
    step: int | None = None
    values: Sequence[int] = ()
    numbers: Range | None = None
    pieces: Sequence[str] = ()
    check: Callable[[int], bool] | None = None
    explanation: Sequence[MessagePart] = ()
    see: Sequence[Mapping[str, Any]] = ()
    is_alone: bool = False
    name: str = ""
    series: int = 0

    @property
    def words(self) -> str:
        """The question as text."""
        return "".join(piece if isinstance(piece, str) else piece["label"] for piece in self.prompt)

    def accepts(self, answer: int) -> bool:
        """Return whether a number is an answer."""
        if self.check:
            return self.check(answer)
        if self.numbers:
            return self.numbers.low <= answer <= self.numbers.high
        return answer in (self.values or range(len(self.options)))


class Result(NamedTuple):
    """The result of an answer.

    Attributes:
        value: The answer of the option, the number or the first one of its bin, the index of a
            place, or -1 for other numbers.
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

    @property
    def solved(self) -> int:
        """The number of right answers."""
        return sum(answer == self.question.right for answer in self.answers.values())

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
            "name": asked.name,
            "numbers": asked.numbers and vars(asked.numbers),
            "pieces": [*asked.pieces],
            "options": [] if asked.numbers else [_option(*choice) for choice in self._choices()],
            "isOpen": self.is_open,
            "isAgain": self.earlier is not None,
            "answered": len(self.answers),
            "mine": self.answers.get(follower),
            "counts": None,
            "earlier": None,
            "right": None,
            "explanation": list(asked.explanation) if revealed else [],
        }
        if not self.is_shown:
            return state
        results = self.results(MOST_NUMBERS)
        return state | {
            "options": [_option(result.value, result.option) for result in results],
            "counts": [result.count for result in results],
            "earlier": None if self.earlier is None else [result.before for result in results],
            "right": [i for i, *_ in results if self.is_right(i)] if revealed else None,
        }

    def is_right(self, value: int) -> bool:
        """Return whether the value of a result is the right answer, or a part of it."""
        asked = self.question
        if asked.right is None:
            return False
        if asked.pieces:
            return bool(asked.right >> value & 1)
        return value == self._bin(asked.right)

    def results(self, most: int | None = None) -> list[Result]:
        """Return each answer. Of more than `most` numbers, those with the fewest are one answer.

        Boundaries are counted at each place, and some numbers in bins.
        """
        asked = self.question
        earlier, counts = map(self._counted, (self.earlier or Counter(), self.counts))
        if not asked.numbers or asked.numbers.bins:
            return [Result(i, option, earlier[i], counts[i]) for i, option in self._choices()]
        values = {*counts, *earlier}
        right = asked.right if self.is_revealed else None
        if right is not None:
            values.add(right)
        ranked = sorted(
            values, key=lambda value: (value != right, -counts[value], -earlier[value], value)
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

    def _choices(self) -> list[tuple[int, VoteOption]]:
        """Return the values of results that do not depend on the answers."""
        asked, numbers = self.question, self.question.numbers
        if asked.pieces:
            names = [f"a boundary after “{piece}”" for piece in accumulate(asked.pieces[:-1])]
            return [*enumerate(VoteOption([], name) for name in names)]
        if numbers and numbers.bins:
            starts = numbers.starts()
            spans = zip(starts, [*starts[1:], numbers.high + 1], strict=True)
            return [
                (i, VoteOption([], f"{i:,}" if i + 1 == j else f"{i:,}–{j - 1:,}"))
                for i, j in spans
            ]
        return [*zip(asked.values or range(len(asked.options)), asked.options, strict=True)]

    def _bin(self, answer: int) -> int:
        numbers = self.question.numbers
        if not numbers or not numbers.bins:
            return answer
        return max(start for start in numbers.starts() if start <= answer)

    def _counted(self, answers: Counter[int]) -> Counter[int]:
        """Return the number of each value of a result."""
        counts: Counter[int] = Counter()
        for answer, count in answers.items():
            places = range(len(self.question.pieces) - 1)
            parts = [i for i in places if answer >> i & 1] if places else [self._bin(answer)]
            counts.update(dict.fromkeys(parts, count))
        return counts


def _option(value: int, option: VoteOption) -> dict[str, Any]:
    return {"value": value, "tokens": option.tokens, "words": option.words}


def _rounds(votes: Sequence[Vote]) -> list[tuple[str, list[Vote]]]:
    """Return the votes on a series of questions: the first ones, and those asked again."""
    rounds: list[dict[str, Vote]] = [{}, {}]
    for vote in votes:
        if vote.question.series and not vote.is_open:
            rounds[vote.question.name in rounds[0]][vote.question.name] = vote
    return [(name, [*asked.values()]) for name, asked in zip(ROUNDS, rounds, strict=True) if asked]


def sums(votes: Sequence[Vote]) -> str:
    """Return the right answers to a series before and after a course, in words.

    They are "" until each question was asked: the sum of a few may tell an answer.
    """
    rounds = _rounds(votes)
    if not rounds or len(rounds[0][1]) < rounds[0][1][0].question.series:
        return ""
    parts = (
        f"{name} the course {sum(vote.solved for vote in asked):,} of "
        f"{sum(len(vote.answers) for vote in asked):,}"
        for name, asked in rounds
    )
    return f"Right answers: {', '.join(parts)}."


def table(votes: Sequence[Vote]) -> str:
    """Return all votes as CSV: the answers of each question and their counts, no persons."""
    rows: list[tuple[Any, ...]] = []
    for number, vote in enumerate(votes, 1):
        for result in vote.results():
            first = None if vote.earlier is None else result.before
            right = "yes" if vote.is_revealed and vote.is_right(result.value) else ""
            words = vote.question.step, vote.question.words, result.option.words
            rows.append((number, *words, first, result.count, right))
    for name, asked in _rounds(votes):
        solved = sum(vote.solved for vote in asked)
        wrong = sum(len(vote.answers) for vote in asked) - solved
        for answer, count in (("right", solved), ("wrong", wrong)):
            rows.append((None, None, f"All questions {name} the course", answer, None, count, ""))
    names = ["vote", "step", "question", "answer", "first count", "count", "right"]
    return Table.of_rows(names, rows).csv()

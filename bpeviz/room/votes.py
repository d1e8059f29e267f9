"""A vote: one answer of each follower to a question, as counts only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bpeviz.room.payloads import VoteState
from bpeviz.views.payloads import MessagePart, Player, StageTask, Style, TaskResult, VoteChoice
from bpeviz.views.table import Table

MOST_NUMBERS = 7
"""The most numbers that the results of a vote name: those with the most answers."""

ROUNDS = ("before", "after")

Verdict = tuple[str, Sequence[MessagePart]]
"""How an answer compares with the right one ("right", "near", "wrong"), and the words about it."""


@dataclass(frozen=True)
class VoteOption:
    """An answer to choose: a candidate as its tokens, or words.

    Attributes:
        tokens: Label and color index of each token.
        words: The option as text.
        ids: The ids of the tokens in the content that the room shows, if it has them.
    """

    tokens: Sequence[Style]
    words: str
    ids: Sequence[int] = ()


class Range(NamedTuple):
    """The numbers that are answers, from the lowest to the highest, and the name of several."""

    low: int
    high: int
    unit: str


@dataclass(frozen=True)
class VoteQuestion:
    """A question with options, one whose answer is a number, or a task on the stage.

    Attributes:
        prompt: The question.
        options: The answers to choose from, or the parts of answers that are counted.
        right: The right answer, or None if each is right. Nobody receives it before it is revealed.
        step: The step whose next decision it is about, or None for a question of its own.
        values: The answer that each option is; by default its index.
        numbers: The numbers that are answers.
        has_bits: Whether an answer has a bit for each option.
        task: What a follower does on the stage: its "act", "places", and whether it "isLive".
        before: Returns the payload of the stage for an answer, or None, without a later step; None
            where the stage is what the room shows.
        after: Returns it with the steps that show the right answer.
        check: Returns whether a number is an answer, unless that follows from the above.
        judge: Returns the verdict about an answer, or None for no answer.
        answer_in_words: Returns an answer as text, where it is not an option.
        explanation: Why the answer is right.
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
    has_bits: bool = False
    task: StageTask | None = None
    before: Callable[[int | None], Player] | None = None
    after: Callable[[int | None], Player] | None = None
    check: Callable[[int], bool] | None = None
    judge: Callable[[int | None], Verdict] | None = None
    answer_in_words: Callable[[int], str] | None = None
    explanation: Sequence[MessagePart] = ()
    is_alone: bool = False
    name: str = ""
    series: int = 0

    @property
    def words(self) -> str:
        """The question as text."""
        return "".join(piece if isinstance(piece, str) else piece["label"] for piece in self.prompt)

    @property
    def choices(self) -> list[tuple[int, VoteOption]]:
        """The options and their answers, or their bits."""
        return [*zip(self.values or range(len(self.options)), self.options, strict=True)]

    def accepts(self, answer: int) -> bool:
        """Return whether a number is an answer."""
        if self.check:
            return self.check(answer)
        if self.numbers:
            return self.numbers.low <= answer <= self.numbers.high
        return answer in (self.values or range(len(self.options)))

    def verdict(self, answer: int | None) -> Verdict:
        """Return the verdict about an answer, or about the right one."""
        if self.judge:
            return self.judge(answer)
        return "right" if answer in (None, self.right) else "wrong", self.explanation

    def in_words(self, answer: int) -> str:
        """Return an answer as text."""
        if self.answer_in_words:
            return self.answer_in_words(answer)
        return f"{answer:,}" if self.numbers else dict(self.choices)[answer].words.rstrip(".")


class Result(NamedTuple):
    """The result of an answer.

    Attributes:
        value: The answer, the bit of a part, or -1 for other numbers.
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
        """The number of right answers, or of those near enough."""
        verdicts = (self.question.verdict(answer)[0] for answer in self.answers.values())
        return sum(verdict in ("right", "near") for verdict in verdicts)

    def again(self) -> None:
        """Open the vote again, and keep the counts so far."""
        self.earlier = self.counts
        self.answers.clear()
        self.is_open, self.is_shown = True, False

    def reveal(self) -> None:
        """Close the vote, and show the counts and the right answer."""
        self.is_open, self.is_shown, self.is_revealed = False, True, True

    def stage_key(self, follower: str) -> tuple[object, ...] | None:
        """Return what the stage of a follower depends on, or None without a stage of its own."""
        asked = self.question
        if asked.before is None or asked.task is None:
            return None
        depends = self.is_revealed or asked.task["isLive"]
        return self.number, self.is_revealed, self.answers.get(follower) if depends else None

    def stage(self, follower: str) -> Player | None:
        """Return the stage of a follower, or of the leader: before the reveal without the truth."""
        draw = self.question.after if self.is_revealed else self.question.before
        if draw is None:
            return None
        payload = draw(self.answers.get(follower)).copy()
        payload["key"] = payload["timelineId"] = f"vote {self.number} {self.question.name}"
        return payload

    def state(self, follower: str, *, is_leader: bool = False) -> VoteState:
        """Return the vote for a follower or the leader."""
        asked, mine = self.question, self.answers.get(follower)
        revealed = self.is_revealed
        results = self.results(MOST_NUMBERS) if self.is_shown else []
        listed = [(result.value, result.option) for result in results]
        choices = listed or ([] if asked.numbers else asked.choices)
        rights = [i for i, _ in choices if self.is_right(i)] if revealed else None
        state: VoteState = {
            "number": self.number,
            "prompt": [*asked.prompt],
            "isAlone": asked.is_alone,
            "isAboutStep": asked.step is not None,
            "name": asked.name,
            "numbers": asked.numbers and asked.numbers._asdict(),
            "options": [] if asked.task else [*map(_choice, choices)],
            "isOpen": self.is_open,
            "isAgain": self.earlier is not None,
            "answered": len(self.answers),
            "mine": mine,
            "sent": "" if mine is None else asked.in_words(mine),
            "counts": [result.count for result in results] if self.is_shown else None,
            "earlier": [result.before for result in results] if results and self.earlier else None,
            "right": rights,
            "had": self.solved if revealed and asked.right is not None else None,
            "explanation": [*asked.explanation] if revealed else [],
            "task": None,
        }
        if asked.task:
            state["task"] = self._task(asked.task, state, is_closed=is_leader or not self.is_open)
        return state

    def _task(self, task: StageTask, state: VoteState, *, is_closed: bool) -> StageTask:
        """Return the task of a member, which tells nothing about the right answer until then."""
        asked, mine = self.question, state["mine"]
        is_pair = task["act"] == "pair"
        result: TaskResult | None = None
        if self.is_revealed:
            verdict, message = asked.verdict(mine)
            had = f" {self.solved:,} of {len(self.answers):,} had it." if self.answers else ""
            kind = "shown" if mine is None else verdict
            result = {"kind": kind, "message": message, "note": had}
        return {
            "rows": [],
            **task,
            "of": str(self.number),
            "prompt": asked.prompt,
            "isVote": True,
            "isClosed": is_closed,
            "isLed": asked.before is None,
            "options": [*map(_choice, asked.choices)] if is_pair else [],
            "actions": {},
            "canShow": False,
            "longest": None,
            "given": mine,
            "counts": state["counts"],
            "earlier": state["earlier"],
            "right": state["right"] if is_pair else None,
            "result": result,
        }

    def is_right(self, value: int) -> bool:
        """Return whether the value of a result is the right answer, or a part of it."""
        asked = self.question
        if asked.right is None:
            return False
        return bool(asked.right >> value & 1) if asked.has_bits else value == asked.right

    def results(self, most: int | None = None) -> list[Result]:
        """Return each answer. Of more than `most` numbers, those with the fewest are one answer."""
        asked = self.question
        earlier, counts = map(self._counted, (self.earlier or Counter(), self.counts))
        if not asked.numbers:
            return [Result(i, option, earlier[i], counts[i]) for i, option in asked.choices]
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

    def _counted(self, answers: Counter[int]) -> Counter[int]:
        """Return the number of each value of a result."""
        counts: Counter[int] = Counter()
        for answer, count in answers.items():
            bits = [i for i in range(len(self.question.options)) if answer >> i & 1]
            counts.update(dict.fromkeys(bits if self.question.has_bits else [answer], count))
        return counts


def _choice(choice: tuple[int, VoteOption]) -> VoteChoice:
    value, option = choice
    return {"value": value, "tokens": option.tokens, "words": option.words, "ids": option.ids}


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

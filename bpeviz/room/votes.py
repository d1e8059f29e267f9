"""A vote: one answer of each follower to a question, as counts only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bpeviz.room.payloads import VoteState
from bpeviz.views.acts import Act, Judgment
from bpeviz.views.payloads import MessagePart, MessageRow, Player, StageTask, TaskResult, VoteChoice
from bpeviz.views.table import Table

ROUNDS = ("before", "after")
Judge = Callable[[int | None], Judgment[int]]


def judged(right: int | None, message: Sequence[MessagePart] = ()) -> Judge:
    """Return what judges answers of which one is right, or each if that is None."""
    return lambda given: Judgment("right" if given in (None, right) else "wrong", message, right)


@dataclass(frozen=True)
class VoteQuestion:
    """A task whose answers are counted.

    Attributes:
        prompt: The question.
        act: How it is answered, and what is counted.
        judge: Returns the result for an answer, or for None, with the right answer, or None if each
            is right. Nobody receives it before it is revealed.
        step: The step whose next decision it is about, or None for a question of its own.
        rows: What is listed below it.
        stage: Returns the payload of the stage, without a later step or with those that show the
            right answer, for an answer or None; None where the stage is what the room shows.
        is_alone: Whether it is shown without the player or the score.
        name: Its name, which tells no answer, or "".
        series: The number of questions that are asked before and after a course, this among them.
    """

    prompt: Sequence[MessagePart]
    act: Act[int]
    judge: Judge
    step: int | None = None
    rows: Sequence[MessageRow] = ()
    stage: Callable[[bool, int | None], Player] | None = None
    is_alone: bool = False
    name: str = ""
    series: int = 0

    @property
    def words(self) -> str:
        """The question as text."""
        return "".join(piece if isinstance(piece, str) else piece["label"] for piece in self.prompt)

    @property
    def right(self) -> int | None:
        """The right answer, or None if each is right."""
        return self.judge(None).right

    @property
    def right_in_words(self) -> str:
        """The right answer as text, or "" if each is right."""
        return "" if self.right is None else self.in_words(self.right)

    @property
    def is_staged(self) -> bool:
        """Whether it is answered on the stage."""
        return self.stage is not None or self.step is not None

    def in_words(self, answer: int) -> str:
        """Return an answer as text."""
        words = self.act.words(answer)
        return words.rstrip(".") if self.act.kind == "belief" else words


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
        if self.is_open and self.question.act.accepts(answer):
            self.answers[follower] = answer

    @property
    def counts(self) -> Counter[int]:
        """The number of each answer."""
        return Counter(self.answers.values())

    @property
    def solved(self) -> int:
        """The number of right answers, or of those near enough."""
        verdicts = (self.question.judge(answer).verdict for answer in self.answers.values())
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
        if self.question.stage is None:
            return None
        depends = self.is_revealed or self.question.act.is_live
        return self.number, self.is_revealed, self.answers.get(follower) if depends else None

    def stage(self, follower: str) -> Player | None:
        """Return the stage of a follower, or of the leader: before the reveal without the truth."""
        if self.question.stage is None:
            return None
        payload = self.question.stage(self.is_revealed, self.answers.get(follower)).copy()
        payload["key"] = f"vote {self.number} {self.question.name}"
        return payload

    def state(self, follower: str, *, can_vote: bool = True) -> VoteState:
        """Return the vote for a follower, or for a member who cannot vote."""
        asked, mine = self.question, self.answers.get(follower)
        truth = asked.judge(None) if self.is_revealed else None
        had = self.solved if truth and truth.right is not None else None
        return {
            "number": self.number,
            "isAlone": asked.is_alone,
            "isStaged": asked.is_staged,
            "name": asked.name,
            "isAgain": self.earlier is not None,
            "answered": len(self.answers),
            "sent": "" if mine is None else asked.in_words(mine),
            "had": had,
            "task": self._task(mine, truth, is_closed=not (can_vote and self.is_open)),
        }

    def _task(self, mine: int | None, truth: Judgment[int] | None, *, is_closed: bool) -> StageTask:
        """Return the task of a member, which tells nothing about the right answer until then."""
        asked, act = self.question, self.question.act
        results = self.results() if self.is_shown else []
        options = act.options if act.kind in ("pair", "belief") else []  # others are on the stage
        rights = [*act.values(truth.right)] if truth and truth.right is not None else []
        result: TaskResult | None = None
        if truth:
            told = asked.judge(mine)
            kind = "draft" if truth.right is None else "shown" if mine is None else told.verdict
            result = {"kind": kind, "message": told.message, "note": ""}
        is_over = truth is not None and asked.stage is not None and not act.is_live
        return {
            "of": str(self.number),
            "act": None if is_over else act.kind,
            "prompt": asked.prompt,
            "rows": asked.rows,
            "places": act.places,
            "isLive": act.is_live,
            "given": truth.right if truth and act.is_live else mine,
            "right": rights if truth and not act.is_live else None,
            "result": result,
            "isVote": True,
            "isClosed": is_closed,
            "isLed": asked.step is not None,
            "options": options,
            "counts": [now for _, _, now in results] if self.is_shown else None,
            "earlier": [before for _, before, _ in results] if results and self.earlier else None,
        }

    def results(self) -> list[tuple[VoteChoice, int, int]]:
        """Return each answer, its count before “discuss, then vote again”, and its count."""
        before, now = map(self._counted, (self.earlier or Counter(), self.counts))
        listed = ((option, option["value"]) for option in self.question.act.options)
        return [(option, before[value], now[value]) for option, value in listed]

    def _counted(self, answers: Counter[int]) -> Counter[int]:
        """Return the number of each value of a result."""
        counts: Counter[int] = Counter()
        for answer, count in answers.items():
            counts.update(dict.fromkeys(self.question.act.values(answer), count))
        return counts


def _rounds(votes: Sequence[Vote]) -> list[tuple[str, list[Vote], int]]:
    """Return the votes on a series of questions, first and asked again, and the right answers."""
    rounds: list[dict[str, Vote]] = [{}, {}]
    for vote in votes:
        if vote.question.series and not vote.is_open:
            rounds[vote.question.name in rounds[0]][vote.question.name] = vote
    listed = ((name, [*asked.values()]) for name, asked in zip(ROUNDS, rounds, strict=True))
    return [(name, asked, sum(vote.solved for vote in asked)) for name, asked in listed if asked]


def sums(votes: Sequence[Vote]) -> str:
    """Return the right answers to a series before and after a course, in words.

    They are "" until each question was asked: the sum of a few may tell an answer.
    """
    rounds = _rounds(votes)
    if not rounds or len(rounds[0][1]) < rounds[0][1][0].question.series:
        return ""
    parts = (
        f"{name} the course {solved:,} of {sum(len(vote.answers) for vote in asked):,}"
        for name, asked, solved in rounds
    )
    return f"Right answers: {', '.join(parts)}."


def table(votes: Sequence[Vote]) -> str:
    """Return all votes as CSV: the answers of each question and their counts, no persons."""
    rows: list[tuple[Any, ...]] = []
    for number, vote in enumerate(votes, 1):
        question, right = vote.question, vote.question.right if vote.is_revealed else None
        rights = [] if right is None else [*question.act.values(right)]
        for choice, before, now in vote.results():
            first = None if vote.earlier is None else before
            mark = "yes" if choice["value"] in rights else ""
            rows.append((number, question.step, question.words, choice["words"], first, now, mark))
    for name, asked, solved in _rounds(votes):
        wrong = sum(len(vote.answers) for vote in asked) - solved
        for answer, count in (("right", solved), ("wrong", wrong)):
            rows.append((None, None, f"All questions {name} the course", answer, None, count, ""))
    names = ["vote", "step", "question", "answer", "first count", "count", "right"]
    return Table.of_rows(names, rows).csv()

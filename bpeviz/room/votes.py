"""A vote: one answer of each follower to a question, as counts only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from bpeviz.room.payloads import VoteState
from bpeviz.views.acts import Judgment
from bpeviz.views.payloads import Player, StageTask, TaskResult, VoteChoice
from bpeviz.views.task import Task

ROUNDS = ("before", "after")


@dataclass
class Vote:
    """A vote: a task whose answers are counted.

    Attributes:
        number: Its number in the room.
        task: The task.
    """

    number: int
    task: Task[int]
    is_open: bool = True
    is_shown: bool = False
    is_revealed: bool = False
    answers: dict[str, int] = field(default_factory=dict)
    earlier: Counter[int] | None = None
    """The counts before “discuss, then vote again”."""

    def answer(self, follower: str, answer: int) -> None:
        """Count the answer of a follower, who may change it while the vote is open."""
        if self.is_open and self.task.act.accepts(answer):
            self.answers[follower] = answer

    @property
    def counts(self) -> Counter[int]:
        """The number of each answer."""
        return Counter(self.answers.values())

    @property
    def solved(self) -> int:
        """The number of right answers, or of those near enough."""
        return sum(map(self.task.solved, self.answers.values()))

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
        if self.task.stage is None:
            return None
        depends = self.is_revealed or self.task.act.is_live
        return self.number, self.is_revealed, self.answers.get(follower) if depends else None

    def stage(self, follower: str) -> Player | None:
        """Return the stage of a follower, or of the leader: before the reveal without the truth."""
        if self.task.stage is None:
            return None
        payload = self.task.stage(self.is_revealed, self.answers.get(follower)).copy()
        payload["key"] = f"vote {self.number} {payload['views'][0]['text']}"
        return payload

    def state(self, follower: str, *, can_vote: bool = True) -> VoteState:
        """Return the vote for a follower, or for a member who cannot vote."""
        asked, mine = self.task, self.answers.get(follower)
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
        """Return the task of a member, without the right answer until it is revealed."""
        asked, act = self.task, self.task.act
        results = self.results() if self.is_shown else []
        given, rights = mine, None
        result: TaskResult | None = None
        if truth:
            judgment = asked.judge(mine)
            kind = "draft" if truth.right is None else "shown" if mine is None else judgment.verdict
            result = {"kind": kind, "message": judgment.message, "note": ""}
            if act.is_live:
                given = truth.right
            else:
                rights = [] if truth.right is None else [*act.values(truth.right)]
        is_over = truth is not None and asked.stage is not None
        task = asked.payload(str(self.number), given, rights, result, is_over=is_over)
        return task | {
            "isVote": True,
            "isClosed": is_closed,
            "isLed": asked.step is not None,
            "counts": [now for _, _, now in results] if self.is_shown else None,
            "earlier": [before for _, before, _ in results] if results and self.earlier else None,
        }

    def results(self) -> list[tuple[VoteChoice, int, int]]:
        """Return each answer, its count before “discuss, then vote again”, and its count."""
        before, now = map(self._counted, (self.earlier or Counter(), self.counts))
        listed = ((option, option["value"]) for option in self.task.act.options)
        return [(option, before[value], now[value]) for option, value in listed]

    def _counted(self, answers: Counter[int]) -> Counter[int]:
        """Return the number of each value of a result."""
        counts: Counter[int] = Counter()
        for answer, count in answers.items():
            counts.update(dict.fromkeys(self.task.act.values(answer), count))
        return counts


def _rounds(votes: Sequence[Vote]) -> list[tuple[str, list[Vote], int]]:
    """Return the votes on a series of questions, first and asked again, and the right answers."""
    rounds: list[dict[str, Vote]] = [{}, {}]
    for vote in votes:
        if vote.task.series and not vote.is_open:
            rounds[vote.task.name in rounds[0]][vote.task.name] = vote
    listed = ((name, [*asked.values()]) for name, asked in zip(ROUNDS, rounds, strict=True))
    return [(name, asked, sum(vote.solved for vote in asked)) for name, asked in listed if asked]


def sums(votes: Sequence[Vote]) -> str:
    """Return the right answers to a series before and after a course, in words.

    They are "" until each question was asked: the sum of a few may tell an answer.
    """
    rounds = _rounds(votes)
    if not rounds or len(rounds[0][1]) < rounds[0][1][0].task.series:
        return ""
    parts = (
        f"{name} the course {solved:,} of {sum(len(vote.answers) for vote in asked):,}"
        for name, asked, solved in rounds
    )
    return f"Right answers: {', '.join(parts)}."

"""A task: a question about a stage, its act, its judge, and its stage before and after the answer.

A task is built without its right answer, and `Task.judge` computes that when somebody answers. So
before an answer, the browser receives nothing that depends on the right one. Learn marks the
answers of one user, and rooms count those of their followers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal

from bpeviz.views.acts import Act, Given, Judgment, TypeAct
from bpeviz.views.payloads import MessagePart, MessageRow, Player, StageTask, TaskResult

Mark = Literal["first", "second", "tried", "shown"]
"""How a question was answered: at the first or second try, in neither of two, or not at all."""

TRIES = 2
"""The tries before the right answer is shown."""

SIGNS: Mapping[Mark, str] = {"first": "●", "second": "◐", "tried": "○", "shown": "◌"}
MARK_WORDS: Mapping[Mark, str] = {
    "first": "first try",
    "second": "second try",
    "tried": "two tries",
    "shown": "shown",
}

IN_WORDS = ("pair", "belief")
"""The acts whose options are buttons; those of others are on the stage."""


@dataclass(frozen=True)
class Mistake(Generic[Given]):
    """A likely wrong answer.

    Attributes:
        given: The answer.
        words: What is wrong with it, without the right answer.
    """

    given: Given
    words: Sequence[MessagePart]


def judged(
    right: int | None, message: Sequence[MessagePart] = ()
) -> Callable[[int | None], Judgment[int]]:
    """Return what judges answers of which one is right, or each if that is None."""
    return lambda given: Judgment("right" if given in (None, right) else "wrong", message, right)


@dataclass(frozen=True)
class Task(Generic[Given]):
    """A question about a stage.

    Attributes:
        act: How it is answered, and what a room counts.
        judge: Returns the result for an accepted answer, or for None without one, with the right
            answer, or None if each is right.
        mistakes: Returns the likely wrong answers, computed from the text like the right one.
        rows: What is listed below it.
        prompt: The question.
        stage: Returns the payload of the stage, without a later step or with those that show the
            right answer, for an answer or None; None where the stage is what a room shows.
        step: The step whose next decision it is about, or None for a question of its own.
        is_alone: Whether a room shows it without its player or its score.
        name: Its name, which tells no answer, or "".
        series: The number of questions that are asked before and after a course, this among them.
    """

    act: Act[Given]
    judge: Callable[[Given | None], Judgment[Given]]
    mistakes: Callable[[], Sequence[Mistake[Given]]] = tuple
    rows: Sequence[MessageRow] = ()
    prompt: Sequence[MessagePart] = ()
    stage: Callable[[bool, Given | None], Player] | None = None
    step: int | None = None
    is_alone: bool = False
    name: str = ""
    series: int = 0

    @property
    def words(self) -> str:
        """The question as text."""
        return "".join(piece if isinstance(piece, str) else piece["label"] for piece in self.prompt)

    @property
    def right(self) -> Given | None:
        """The right answer, or None if each is right."""
        return self.judge(None).right

    @property
    def right_in_words(self) -> str:
        """The right answer as text, or "" if each is right."""
        return "" if (right := self.right) is None else self.in_words(right)

    @property
    def is_staged(self) -> bool:
        """Whether it is answered on the stage."""
        return self.stage is not None or self.step is not None

    def in_words(self, answer: Given) -> str:
        """Return an answer as text."""
        words = self.act.words(answer)
        return words.rstrip(".") if self.act.kind == "belief" else words

    def likely(self) -> list[Mistake[Given]]:
        """Return the likely wrong answers that are possible and wrong here, each once."""
        likely: list[Mistake[Given]] = []
        for mistake in self.mistakes():
            is_new = not any(self.act.matches(mistake.given, other.given) for other in likely)
            if is_new and self.act.accepts(mistake.given) and not self.solved(mistake.given):
                likely.append(mistake)
        return likely

    def solved(self, given: Given) -> bool:
        """Return whether an answer is right, or near enough."""
        return self.judge(given).verdict in ("right", "near")

    def reply(self, given: Given) -> list[MessagePart]:
        """Return the sentence about a likely wrong answer, without the right answer."""
        replies = (each.words for each in self.likely() if self.act.matches(given, each.given))
        return [*next(replies, ())]

    def feedback(self, given: Given) -> list[MessagePart]:
        """Return the sentence about a wrong answer, or where to look again."""
        right = self.right
        hint = [] if right is None else self.act.difference(given, right)
        return self.reply(given) or hint

    def mark(self, tries: Sequence[Given], gave_up: bool) -> Mark | None:
        """Return how it was answered, or None while a try is left."""
        if tries and self.solved(tries[-1]):
            return "first" if len(tries) == 1 or self.act.is_live else "second"
        if gave_up:
            return "shown"
        return "tried" if len(tries) >= TRIES and not self.act.is_live else None

    def result(self, tries: Sequence[Given], gave_up: bool) -> TaskResult | None:
        """Return what the stage says about the answers so far, or None before the first one."""
        if not tries and not gave_up:
            return None
        mark = self.mark(tries, gave_up)
        if mark is None and self.act.is_live:
            message = self.judge(tries[-1]).message
            return {"kind": "draft", "message": message, "note": ""}
        if mark is None:
            return {"kind": "again", "message": self.feedback(tries[-1]), "note": " One more try."}
        given = None if gave_up else tries[-1]
        judgment = self.judge(given)
        message = [*judgment.message]
        if mark == "tried":  # the second mistake is answered, too
            message = [*self.reply(tries[-1]), " ", *message]
        note = "" if self.act.is_live else f" {SIGNS[mark]} {MARK_WORDS[mark].capitalize()}"
        kind = judgment.verdict if given is not None else "shown"
        return {"kind": kind, "message": message, "note": note}

    def payload(
        self,
        of: str,
        given: Given | None,
        right: Sequence[int] | None,
        result: TaskResult | None,
        *,
        is_over: bool,
    ) -> StageTask:
        """Return the payload of its question, without the stage.

        Args:
            of: Identifies the question and what it is about.
            given: The answer.
            right: The values of the right answer once it may be seen.
            result: What the stage says about the answers.
            is_over: Whether the stage shows the right answer, and takes no other.
        """
        act = self.act
        return {
            "of": of,
            "act": None if is_over and not act.is_live else act.kind,
            "prompt": self.prompt,
            "rows": self.rows,
            "places": act.places,
            "isLive": act.is_live,
            "longest": act.longest if isinstance(act, TypeAct) else None,
            "given": given,
            "right": right,
            "result": result,
            "options": act.options if act.kind in IN_WORDS else (),
        }

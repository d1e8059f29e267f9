"""Ten beliefs, before the course and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from bpeviz.ui.learn import prose
from bpeviz.ui.learn.base import Question, question_of
from bpeviz.views.payloads import Answer

BEFORE, AFTER = TIMES = ("before", "after")
"""The beginnings of the names of the answers."""


@cache
def questions() -> Sequence[Question[int]]:
    """Return the questions, each with two options."""
    return [question_of(belief, {}) for belief in prose.read("before_after").beliefs]


def names(time: str) -> list[str]:
    """Return the names of the answers before or after the course."""
    return [f"{time}/{i}" for i in range(len(questions()))]


def sums(answers: Mapping[str, Answer]) -> dict[str, int]:
    """Return the number of right answers before and after the course, where all were given."""
    right = [question.judge(None).right for question in questions()]
    given = {time: [answers.get(name) for name in names(time)] for time in TIMES}
    return {
        time: sum(value == answer for value, answer in zip(values, right, strict=True))
        for time, values in given.items()
        if None not in values
    }


def changes(answers: Mapping[str, Answer]) -> list[str]:
    """Return each question with its answers and the right one, as Markdown."""
    times = sums(answers)
    lines = []
    for i, question in enumerate(questions()):
        result = question.judge(None)
        signs = (
            f"{time}: {'✓ right' if answers[f'{time}/{i}'] == result.right else '✗ wrong'}"
            for time in times
        )
        (reply,) = result.message
        right = "" if result.right is None else question.act.words(result.right)
        lines.append(f"{i + 1}. {question.name} **{right}** {reply} ({', '.join(signs)})")
    return lines

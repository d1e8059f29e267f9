"""Questions of Learn for the votes of rooms: about the first text of each chapter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import chain
from typing import Any, TypedDict

from bpeviz.ui.learn import prose
from bpeviz.ui.learn.base import Chapter, Exercise, belief_question
from bpeviz.ui.learn.chapters import BY_KEY
from bpeviz.views.acts import (
    BeliefAct,
    BoundariesAct,
    Judgment,
    PairAct,
    StopAct,
    parts_of,
)
from bpeviz.views.payloads import MessagePart, Player
from bpeviz.views.task import Task

PAIRS = 4
"""The options of a question about pairs: the right one, and the most frequent others."""

MOST_NAMED = 40
"""The most characters of the subject of a question in a list."""

TRANSFERS = (
    *("why/which/0", "merge/next/0", "stop/back/0", "fences/endings/0", "encode/first/0"),
    *("back/alone/0", "wrong/versions/0"),
)
"""The questions about a new text, which a room can ask at the start and at the end."""

STORED_STAGES = 64
"""The stages of a vote that are stored: those of the latest answers."""


class OfferedChapter(TypedDict):
    """A chapter, and the names of its questions by their keys."""

    title: str
    questions: dict[str, str]


def offered() -> list[OfferedChapter]:
    """Return the chapters whose questions a leader can ask.

    The names of questions may be shown by a projector.
    """
    return [
        {
            "title": f"{number}. {prose.read(group).title}",
            "questions": {key: vote.name for key, vote in of(group).items()},
        }
        for number, group in enumerate(BY_KEY)
    ]


def find(key: str) -> Task[int] | None:
    """Return the vote on a question, such as that of `merge/pair/0`, or None if there is none."""
    return of(key.partition("/")[0]).get(key)


@cache
def of(group: str) -> Mapping[str, Task[int]]:
    """Return the tasks of a chapter on which rooms can vote, by their keys."""
    entries = asked(BY_KEY[group]) if group in BY_KEY else ()
    return {key: vote for key, task in entries if (vote := _vote(key, task))}


def asked(chapter: Chapter) -> Iterator[tuple[str, Task[Any]]]:
    """Yield the tasks about the first text of a chapter by their keys, its belief last.

    A key is a name in answers, such as `merge/pair/0`. The name of a task is its key, by which run
    sheets name it, and its subject, which tells no answer.
    """
    figures, words = chapter.figures(), prose.read(chapter.key)
    for name, task_words in words.tasks.items():
        exercise = chapter.task(name)
        fill = partial(prose.fill, figures={**figures, **exercise.figures})
        prompt = parts_of(fill(task_words.question))
        for i, make in enumerate(exercise.questions):
            task, key = make(), f"{chapter.key}/{name}/{i}"
            has_words = isinstance(task.act, BeliefAct)  # its text may have the answer
            subject = fill(task_words.question) if has_words else fill(chapter.texts[name])
            title, stage = _named(key, subject.replace("`", "")), _stage(task, exercise, i)
            yield key, replace(task, prompt=prompt, stage=stage, name=title)
    belief, key = belief_question(chapter.key, figures), f"{chapter.key}/belief/0"
    yield key, replace(belief, name=_named(key, belief.words))


def _named(key: str, subject: str) -> str:
    """Return the key and the subject of a question, on a line."""
    shorter = subject if len(subject) <= MOST_NAMED else f"{subject[: MOST_NAMED - 1].rstrip()}…"
    return f"{key.removesuffix('/0')}: {shorter}"


def _vote(key: str, task: Task[Any]) -> Task[int] | None:
    """Return the task of a vote, or None if it is answered in another way.

    One on new text may be asked before and after a course.
    """

    def judge(given: int | None) -> Judgment[int]:
        judgment: Judgment[int] = task.judge(given)
        return replace(judgment, message=[*chain(*map(_message_parts, judgment.message))])

    act = task.act
    if isinstance(act, PairAct):
        likely = (mistake.given for mistake in task.likely()[: PAIRS - 1])
        offered = [place for place in (task.right, *likely) if place is not None]
        act = replace(act, offered=offered)
    elif not isinstance(act, (BeliefAct, BoundariesAct, StopAct)):
        return None
    return replace(
        task, act=act, judge=judge, is_alone=True, series=len(TRANSFERS) * (key in TRANSFERS)
    )


def _message_parts(part: MessagePart) -> Sequence[MessagePart]:
    return parts_of(part) if isinstance(part, str) else [part]


def _stage(
    task: Task[Any], exercise: Exercise[Any], number: int
) -> Callable[[bool, int | None], Player]:
    """Return the stage of a task of an exercise before and after the answer."""
    act = task.act

    @lru_cache(STORED_STAGES)
    def stage(is_revealed: bool, given: int | None) -> Player:
        if is_revealed and (act.is_live or given is None):
            given = task.right
        payload = exercise.payload(number + is_revealed, given)
        if act.kind == "stop" and given is not None and not is_revealed:
            payload["initialStep"] = given
        return payload

    return stage

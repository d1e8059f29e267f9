"""Questions of Learn for the votes of rooms: about the first text of each chapter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain
from typing import Any, NamedTuple, TypedDict

from bpeviz.room.votes import VoteQuestion
from bpeviz.ui.learn import prose
from bpeviz.ui.learn.base import Chapter, NoQuestionError, Question, Task, belief_question
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


class Asked(NamedTuple):
    """A question about the first text of a chapter.

    Attributes:
        key: Its name in answers and votes, such as `merge/pair/0`.
        prompt: The question as the stage shows it.
        question: The question.
        task: Its task, or None for a belief.
        name: Its key, by which run sheets name it, and its subject, which tells no answer.
        vote: Its vote, if rooms can vote on it.
    """

    key: str
    prompt: Sequence[MessagePart]
    question: Question[Any]
    task: Task[Any] | None
    name: str = ""
    vote: VoteQuestion | None = None


def offered() -> list[OfferedChapter]:
    """Return the chapters whose questions a leader can ask.

    The names of questions may be shown by a projector. A chapter that cannot be computed is left
    out until the next call.
    """
    titles = {key: f"{i}. {prose.read(key).title}" for i, key in enumerate(BY_KEY)}
    chapters: list[OfferedChapter] = []
    for group, title in titles.items():
        with suppress(NoQuestionError):
            names = {key: vote.name for key, vote in of(group).items()}
            chapters.append({"title": title, "questions": names})
    return chapters


def find(key: str) -> VoteQuestion | None:
    """Return the vote on a question, such as that of `merge/pair/0`, or None if there is none.

    Raises:
        NoQuestionError: It cannot be computed.
    """
    return of(key.partition("/")[0]).get(key)


@cache  # without chapters that cannot be computed
def of(group: str) -> Mapping[str, VoteQuestion]:
    """Return the votes on the questions of a chapter, by their keys."""
    entries = asked(BY_KEY[group]) if group in BY_KEY else ()
    return {entry.key: entry.vote for entry in entries if entry.vote}


def asked(chapter: Chapter) -> Iterator[Asked]:
    """Yield the questions about the first text of a chapter, its belief last.

    Raises:
        NoQuestionError: They cannot be computed.
    """
    figures, words = chapter.figures(), prose.read(chapter.key)
    for name, task_words in words.tasks.items():
        task = chapter.task(name)
        prompt = parts_of(prose.fill(task_words.question, {**figures, **task.figures}))
        for i, make in enumerate(task.questions):
            question = make()
            vote = _vote(question, prompt, _stage(question, task, i))
            key = f"{chapter.key}/{name}/{i}"
            has_words = isinstance(question.act, BeliefAct)  # its text may have the answer
            subject = task_words.question if has_words else chapter.texts[name][0]
            title = _named(key, prose.fill(subject, {**figures, **task.figures}).replace("`", ""))
            yield Asked(key, prompt, question, task, title, vote and _titled(vote, key, title))
    belief = belief_question(chapter.key, figures)
    prompt, key = parts_of(belief.name), f"{chapter.key}/belief/0"
    title, vote = _named(key, belief.name), _vote(belief, prompt)
    yield Asked(key, prompt, belief, None, title, vote and replace(vote, name=title))


def _named(key: str, subject: str) -> str:
    """Return the key and the subject of a question, on a line."""
    shorter = subject if len(subject) <= MOST_NAMED else f"{subject[: MOST_NAMED - 1].rstrip()}…"
    return f"{key.removesuffix('/0')}: {shorter}"


def _titled(vote: VoteQuestion, key: str, title: str) -> VoteQuestion:
    """Return a vote with its name; one on new text may be asked before and after a course."""
    return replace(vote, name=title, series=len(TRANSFERS) * (key in TRANSFERS))


def _vote(
    question: Question[Any],
    prompt: Sequence[MessagePart],
    stage: Callable[[bool, int | None], Player] | None = None,
) -> VoteQuestion | None:
    """Return a question for a vote, or None if it is answered in another way."""
    act = question.act

    def judge(given: int | None) -> Judgment[int]:
        judgment: Judgment[int] = question.judge(given)
        return replace(judgment, message=[*chain(*map(_parts, judgment.message))])

    vote = VoteQuestion(prompt, act, judge, rows=question.rows, stage=stage, is_alone=True)
    if isinstance(act, PairAct):
        likely = (mistake.given for mistake in question.likely()[: PAIRS - 1])
        offered = [place for place in (judge(None).right, *likely) if place is not None]
        return replace(vote, act=replace(act, offered=offered))
    return vote if isinstance(act, (BeliefAct, BoundariesAct, StopAct)) else None


def _parts(part: MessagePart) -> Sequence[MessagePart]:
    return parts_of(part) if isinstance(part, str) else [part]


def _stage(
    question: Question[Any], task: Task[Any], number: int
) -> Callable[[bool, int | None], Player]:
    """Return the stage of a question of a task before and after the answer."""
    act = question.act

    @lru_cache(STORED_STAGES)
    def stage(is_revealed: bool, given: int | None) -> Player:
        if is_revealed and (act.is_live or given is None):
            given = question.judge(None).right
        payload = task.payload(number + is_revealed, given)
        if act.kind == "stop" and given is not None and not is_revealed:
            payload["initialStep"] = given
        return payload

    return stage

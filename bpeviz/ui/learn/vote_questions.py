"""Questions of Learn for the votes of rooms: about the first text of each chapter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from bpeviz.pretrained import download
from bpeviz.room.votes import Range, Vote, VoteOption, VoteQuestion
from bpeviz.ui.learn import acts, before_after, prose
from bpeviz.ui.learn.acts import parts_of
from bpeviz.ui.learn.base import Chapter, NoQuestionError, Question, Task, belief_question
from bpeviz.ui.learn.chapters import BY_KEY
from bpeviz.views.payloads import MessagePart, MessageRow

PAIRS = 4
"""The options of a question about pairs: the right one, and the most frequent others."""

BINS = 20
"""The parts in which answers to a question about the stop line are counted."""

CURVE_EVERY = 4
"""The merges between two numbers of the curve."""

BEFORE_AFTER = "before_after"

NOTES = ("vote", "voted")
"""The notes of a chapter that are for rooms."""

MOST_MERGES = 99
"""The most merges that an answer of golf may have."""


class Asked(NamedTuple):
    """A question about the first text of a chapter.

    Attributes:
        key: Its name in answers and votes, such as `merge/pair/0`.
        prompt: The question as the stage shows it.
        question: The question.
        task: Its task, or None for a belief.
        name: Its number, by which run sheets name it, and its name; no number without a vote.
        vote: Its vote, if rooms can vote on it.
    """

    key: str
    prompt: Sequence[MessagePart]
    question: Question
    task: Task | None
    name: str = ""
    vote: VoteQuestion | None = None


def offered() -> list[dict[str, Any]]:
    """Return the chapters whose questions a leader can ask, as plain JSON values.

    Each question has its name, which a projector may show, and the vote that the leader previews.
    A chapter that cannot be computed is left out until the next call.
    """
    titles = {key: f"{i}. {prose.read(key).title}" for i, key in enumerate(BY_KEY)}
    chapters = []
    for group, title in (titles | {BEFORE_AFTER: prose.read(BEFORE_AFTER).title}).items():
        with suppress(NoQuestionError):
            listed = [
                {"key": key, "name": vote.name, "vote": Vote(0, vote).state("")}
                for key, vote in of(group).items()
            ]
            chapters.append({"title": title, "questions": listed})
    return chapters


def find(key: str) -> VoteQuestion | None:
    """Return the vote on a question, such as that of `merge/pair/0`, or None if there is none.

    Raises:
        NoQuestionError: It cannot be computed.
    """
    return of(key.partition("/")[0]).get(key)


def key_of(named: str) -> str:
    """Return the key of a question that a run sheet names, or "" if there is none.

    Args:
        named: The chapter and the index of a question, such as `merge/0`.

    Raises:
        NoQuestionError: It cannot be computed.
    """
    group, _, index = named.partition("/")
    return dict(enumerate(of(group))).get(int(index or -1), "")


@cache  # without chapters that cannot be computed
def of(group: str) -> Mapping[str, VoteQuestion]:
    """Return the votes on the questions of a chapter, or of `BEFORE_AFTER`, by their keys."""
    votes: dict[str, VoteQuestion] = {}
    if group == BEFORE_AFTER:
        questions = before_after.questions()
        for i, question in enumerate(questions):
            key = f"{BEFORE_AFTER}/{i}"
            if vote := _vote(Asked(key, parts_of(question.name), question, None)):
                votes[key] = replace(vote, name=f"{i + 1}. {vote.words}", series=len(questions))
    elif group in BY_KEY:
        votes = {entry.key: entry.vote for entry in asked(BY_KEY[group]) if entry.vote}
    return votes


def asked(chapter: Chapter) -> Iterator[Asked]:
    """Yield the questions about the first text of a chapter, its belief last.

    Raises:
        NoQuestionError: They cannot be computed.
    """
    figures, words = chapter.figures(), prose.read(chapter.key)
    place, number = [*BY_KEY].index(chapter.key), 0
    listed: list[Asked] = []
    for task, task_words in words.tasks.items():
        if not all(map(download.available, chapter.needs.get(task, ()))):
            continue
        asked = chapter.tasks[task](chapter.text)
        for i, make in enumerate(asked.questions):
            question = make()
            prompt = [*question.prompt] or parts_of(prose.fill(task_words.words, figures))
            listed.append(Asked(f"{chapter.key}/{task}/{i}", prompt, question, asked))
    belief = belief_question(chapter.key, figures)
    listed.append(Asked(f"{chapter.key}/belief/0", parts_of(belief.name), belief, None))
    for entry in listed:
        vote, name = _vote(entry, chapter.text), entry.question.name
        if vote:
            number += 1
            name = f"{place}.{number} {name or words.title}"
            more: dict[str, Any] = {"name": name}
            if entry.task and (note := words.notes.get("vote")):
                said = [*vote.explanation, f" {words.notes.get('voted', '')}".rstrip()]
                prompt = parts_of(prose.fill(note, figures))
                more |= {"prompt": prompt, "explanation": said}
            vote = replace(vote, **more)
        yield entry._replace(name=name, vote=vote)


def _vote(entry: Asked, text: str = "") -> VoteQuestion | None:
    """Return a question about a text for a vote, or None if it is answered in another way."""
    act, right = entry.question.act, entry.question.judge(None)
    if isinstance(act, acts.PairAct):
        return _pair(entry, act)
    more: dict[str, Any] = {"see": entry.question.rows, "check": act.accepts}
    if isinstance(act, acts.MergesAct):  # the number of merges
        more |= {"numbers": Range(1, MOST_MERGES, "merges"), "check": None}
    elif isinstance(act, acts.BoundariesAct):
        more |= {"pieces": act.pieces}
    elif isinstance(act, acts.StopAct):
        more |= {"numbers": Range(0, act.last, act.unit, BINS), "see": _curve(entry)}
    elif isinstance(act, acts.BeliefAct):
        more |= {"options": [VoteOption([], words) for words in act.options]}
    else:
        return None
    return VoteQuestion(
        entry.prompt,
        more.pop("options", []),
        None if isinstance(act, acts.MergesAct) else right.right,
        explanation=[part for words in right.message for part in _parts(words)],
        is_alone=True,
        **more,
    )


def _parts(part: MessagePart) -> Sequence[MessagePart]:
    return parts_of(part) if isinstance(part, str) else [part]


def _pair(entry: Asked, act: acts.PairAct) -> VoteQuestion:
    """Return a question about pairs, whose options are the most frequent ones."""
    result = entry.question.judge(None)
    places = [result.right, *(mistake.given for mistake in entry.question.likely()[: PAIRS - 1])]
    places.sort(key=act.words)  # nothing then depends on which one is right
    options = [
        VoteOption([[part["label"], part["color"]] for part in act.pairs[i]], act.words(i))
        for i in places
    ]
    first, *_ = act.pairs.values()
    text = [first[0], *(right for _, right in act.pairs.values())]
    see = [*entry.question.rows, _row("Text", [text])]
    return VoteQuestion(
        entry.prompt,
        options,
        result.right,
        values=places,
        explanation=result.message,
        see=see,
        is_alone=True,
    )


def _curve(entry: Asked) -> list[MessageRow]:
    """Return the numbers of the curve on which a stop line is set, and the new text."""
    assert entry.task  # noqa: S101 (for the type)
    (line,) = entry.task.payload(0, None)["curves"]["lines"]
    points = [*enumerate(line["values"])][::CURVE_EVERY]
    return [
        *entry.question.rows,
        _row(line["title"].capitalize(), [[f"{step}: {value:g}%"] for step, value in points]),
    ]


def _row(title: str, items: Sequence[Sequence[MessagePart]]) -> MessageRow:
    return {"title": title, "items": [*map(list, items)], "numbered": False}

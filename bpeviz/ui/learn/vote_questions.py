"""Questions of Learn for the votes of rooms: about the first text of each chapter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple, TypedDict

from bpeviz.room.votes import Range, VoteOption, VoteQuestion
from bpeviz.ui.learn import acts, before_after, prose
from bpeviz.ui.learn.acts import parts_of
from bpeviz.ui.learn.base import Chapter, NoQuestionError, Question, Task, belief_question
from bpeviz.ui.learn.chapters import BY_KEY
from bpeviz.views.payloads import MessagePart, Player, StageTask

PAIRS = 4
"""The options of a question about pairs: the right one, and the most frequent others."""

STORED_STAGES = 64
"""The stages of a vote that are stored: those of the latest answers."""

BEFORE_AFTER = "before_after"

NOTES = ("vote", "voted")
"""The notes of a chapter that are for rooms."""

MOST_MERGES = 99
"""The most merges that an answer of golf may have."""


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
        name: Its number, by which run sheets name it, and its name; no number without a vote.
        vote: Its vote, if rooms can vote on it.
    """

    key: str
    prompt: Sequence[MessagePart]
    question: Question
    task: Task | None
    name: str = ""
    vote: VoteQuestion | None = None


def offered() -> list[OfferedChapter]:
    """Return the chapters whose questions a leader can ask.

    The names of questions may be shown by a projector. A chapter that cannot be computed is left
    out until the next call.
    """
    titles = {key: f"{i}. {prose.read(key).title}" for i, key in enumerate(BY_KEY)}
    chapters: list[OfferedChapter] = []
    for group, title in (titles | {BEFORE_AFTER: prose.read(BEFORE_AFTER).title}).items():
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
        asked = chapter.task(task)
        for i, make in enumerate(asked.questions):
            question = make()
            told = {**figures, **asked.figures}
            prompt = [*question.prompt] or parts_of(prose.fill(task_words.words, told))
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
    question, act = entry.question, entry.question.act
    right = question.judge(None)
    explanation = [part for words in right.message for part in _parts(words)]
    vote = VoteQuestion(
        entry.prompt, [], right.right, check=act.accepts, explanation=explanation, is_alone=True
    )
    if isinstance(act, acts.MergesAct):  # the number of merges
        return replace(vote, right=None, check=None, numbers=Range(1, MOST_MERGES, "merges"))
    if isinstance(act, acts.BeliefAct):
        return replace(vote, options=[VoteOption([], words) for words in act.options])
    if isinstance(act, acts.PairAct):
        places = [right.right, *(mistake.given for mistake in question.likely()[: PAIRS - 1])]
        places.sort(key=act.words)  # nothing then depends on which one is right
        options = [
            VoteOption([[part["label"], part["color"]] for part in act.pairs[i]], act.words(i))
            for i in places
        ]
        return _on_stage(replace(vote, options=options, values=places, check=None), entry)
    if isinstance(act, acts.BoundariesAct):
        befores = accumulate(act.pieces[:-1])
        options = [VoteOption([], f"a boundary after “{before}”") for before in befores]
        return _on_stage(replace(vote, options=options, has_bits=True), entry)
    if isinstance(act, acts.StopAct):
        options = [VoteOption([], act.words(step)) for step in range(act.last + 1)]
        return _on_stage(replace(vote, options=options), entry)
    return None


def _parts(part: MessagePart) -> Sequence[MessagePart]:
    return parts_of(part) if isinstance(part, str) else [part]


def _on_stage(vote: VoteQuestion, entry: Asked) -> VoteQuestion:
    """Return the vote on a task, with its stage before and after the answer."""
    question, act, task = entry.question, entry.question.act, entry.task
    assert task  # noqa: S101 (for the type)
    number = int(entry.key.rpartition("/")[2])

    @lru_cache(STORED_STAGES)
    def before(given: int | None) -> Player:
        payload = task.payload(number, given)
        if act.kind == "stop" and given is not None:
            payload["initialStep"] = given
        return payload

    @lru_cache(STORED_STAGES)
    def after(given: int | None) -> Player:
        right = question.judge(None).right
        payload = task.payload(number + 1, right if act.is_live or given is None else given)
        changed: StageTask = {"given": right} if act.is_live else {"act": None}
        if isinstance(act, acts.BoundariesAct) and not act.is_live:
            changed["right"] = acts.atoms_of(act.after, right)
        payload["task"] = {**payload.get("task", {}), **changed}
        return payload

    def judge(given: int | None) -> tuple[str, Sequence[MessagePart]]:
        judgment = question.judge(given)
        return judgment.verdict, judgment.message

    static: StageTask = {
        "act": act.kind,
        "places": [*act.places],
        "isLive": act.is_live,
        "rows": [*question.rows],
    }
    return replace(
        vote, task=static, before=before, after=after, judge=judge, answer_in_words=act.words
    )

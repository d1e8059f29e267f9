"""Questions of Learn for the votes of rooms: those with choices, pairs or numbers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from bpeviz.room.votes import Range, Vote, VoteOption, VoteQuestion
from bpeviz.ui.learn import base
from bpeviz.ui.learn.forms import ChoiceForm, NumberForm, PairForm
from bpeviz.ui.learn.registry import BY_KEY, CHAPTERS
from bpeviz.ui.learn.teachers_page import asked, is_there

PAIRS = 4
"""The options of a question about pairs: the right one, and the most frequent others."""


def offered() -> list[dict[str, Any]]:
    """Return the chapters whose questions a leader can ask, as plain JSON values.

    Each question has its name, which a projector may show, and the vote that the leader previews.
    A chapter that cannot be computed, as while its worker is slow, is left out until the next call.
    """
    chapters = []
    for place, chapter in enumerate(CHAPTERS, 1):
        with suppress(base.NoQuestionError):
            votes = _votes(chapter.key) if is_there(chapter) else {}
            listed = [
                {"key": key, "name": question.name, "vote": Vote(0, question).state("")}
                for key, question in votes.items()
            ]
            if listed:
                chapters.append({"title": f"{place}. {chapter.title}", "questions": listed})
    return chapters


def find(key: str) -> VoteQuestion | None:
    """Return a question about the first text of a chapter, such as that of `first-merge/0`.

    Raises:
        NoQuestionError: It cannot be computed, as while its worker is slow.
    """
    chapter = BY_KEY.get(key.partition("/")[0])
    if chapter is None or not is_there(chapter):
        return None
    return _votes(chapter.key).get(key)


@cache  # without chapters that cannot be computed
def _votes(chapter: str) -> Mapping[str, VoteQuestion]:
    """Return the questions of a chapter for votes, by their keys."""
    votes = [*map(for_vote, asked(BY_KEY[chapter]))]
    return {f"{chapter}/{i}": vote for i, vote in enumerate(votes) if vote is not None}


def for_vote(question: base.Question) -> VoteQuestion | None:
    """Return a question of Learn for a vote, or None if it is answered in another way."""
    form, right = question.form, question.judge(None)
    more: dict[str, Any] = {
        "explanation": right.message,
        "see": [row.payload() for row in question.see],
        "is_alone": True,
        "name": question.name,
    }
    if isinstance(form, NumberForm):
        numbers = Range(form.low, form.high, form.unit)
        return VoteQuestion(question.prompt, [], right.marks["right"], numbers=numbers, **more)
    if isinstance(form, ChoiceForm):
        # In the order of their words: nothing then depends on which one is right.
        keys = sorted(form.options, key=lambda key: form.options[key].casefold())
        options = [VoteOption([], form.options[key]) for key in keys]
        return VoteQuestion(question.prompt, options, keys.index(right.marks["right"][0]), **more)
    if isinstance(form, PairForm):
        return _pair(question, form, more)
    return None


def _pair(question: base.Question, form: PairForm, more: dict[str, Any]) -> VoteQuestion:
    """Return a question about pairs, whose options are the most frequent ones."""
    merged = next(i for i in form.pairs if not _is_other(question, i))
    places = [merged, *(mistake.given for mistake in question.likely()[: PAIRS - 1])]
    places.sort(key=form.words)
    options = []
    for place in places:
        tokens = [[item["label"], item["color"]] for item in form.tokens[place : place + 2]]
        options.append(VoteOption(tokens, " + ".join(label for label, _ in tokens)))
    text = base.PictureRow("Text", [[*form.tokens]]).payload()
    more["see"] = [*more["see"], text]
    return VoteQuestion(question.prompt, options, places.index(merged), **more)


def _is_other(question: base.Question, place: int) -> bool:
    """Return whether a pair is not the one that is merged; several may be equally frequent."""
    result = question.judge(place)
    return result.verdict != "right" or bool(result.marks["given"])

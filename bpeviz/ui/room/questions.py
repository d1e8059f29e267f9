"""Questions of Learn for the votes of rooms: those with choices, pairs or numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from bpeviz.room.votes import MessagePart, Option, Question, Range
from bpeviz.ui.learn import base
from bpeviz.ui.learn.forms import ChoiceForm, NumberForm, PairForm
from bpeviz.ui.learn.registry import BY_KEY, CHAPTERS
from bpeviz.ui.learn.teachers_page import asked, is_there

PAIRS = 4
"""The options of a question about pairs: the right one, and the most frequent others."""

_KINDS = {"choice": "choices", "pair": "pairs", "number": "a number"}


def offered() -> list[dict[str, Any]]:
    """Return the chapters whose questions a leader can ask, as plain JSON values.

    The questions themselves are not among them: some tell the answer to an earlier one, and a
    projector shows the list.
    """
    found = []
    for place, chapter in enumerate(CHAPTERS, 1):
        listed = [
            {"key": f"{chapter.key}/{number}", "words": f"Question {number + 1}: {kind}"}
            for number, question in enumerate(asked(chapter) if is_there(chapter) else ())
            if (kind := _KINDS.get(question.form.kind))
        ]
        if listed:
            found.append({"title": f"{place}. {chapter.title}", "questions": listed})
    return found


def find(key: str) -> Question | None:
    """Return a question about the first text of a chapter, such as that of `first-merge/0`."""
    name, _, number = key.partition("/")
    if not (chapter := BY_KEY.get(name)) or not number.isdecimal() or not is_there(chapter):
        return None
    questions = [*asked(chapter)]
    return for_vote(questions[int(number)]) if int(number) < len(questions) else None


def for_vote(question: base.Question) -> Question | None:
    """Return a question of Learn for a vote, or None if it is answered in another way."""
    form, right = question.form, question.judge(None)
    more: dict[str, Any] = {
        "explanation": right.message,
        "see": [row.payload() for row in question.see],
        "is_alone": True,
    }
    if isinstance(form, NumberForm):
        numbers = Range(form.low, form.high, form.unit)
        return Question(question.prompt, [], right.marks["right"], numbers=numbers, **more)
    if isinstance(form, ChoiceForm):
        # In the order of their words: nothing then depends on which one is right.
        keys = sorted(form.options, key=lambda key: form.options[key].casefold())
        options = [Option([], form.options[key]) for key in keys]
        return Question(question.prompt, options, keys.index(right.marks["right"][0]), **more)
    if isinstance(form, PairForm):
        return _pair(question, form, more)
    return None


def _pair(question: base.Question, form: PairForm, more: dict[str, Any]) -> Question:
    """Return a question about pairs, whose options are the most frequent ones."""
    merged = next(i for i in form.pairs if not _is_other(question, i))
    places = [merged, *(one.given for one in question.likely()[: PAIRS - 1])]
    places.sort(key=form.words)
    options = []
    for place in places:
        tokens = [[one["label"], one["color"]] for one in form.tokens[place : place + 2]]
        options.append(Option(tokens, " + ".join(label for label, _ in tokens)))
    text = base.Row("Text", [[*form.tokens]]).payload()
    prompt = _without_form(question.prompt)
    more["see"] = [*more["see"], text]
    return Question(prompt, options, places.index(merged), **more)


def _is_other(question: base.Question, place: int) -> bool:
    """Return whether a pair is not the one that is merged; several may be equally frequent."""
    result = question.judge(place)
    return result.verdict != "right" or bool(result.marks["given"])


def _without_form(prompt: Sequence[MessagePart]) -> list[MessagePart]:
    """Return the prompt without sentences about the form: where to click, and what is below."""
    words = takewhile(lambda one: one != " Below ", prompt)
    return [re.sub(r" Click [^.]*\.", "", one) if isinstance(one, str) else one for one in words]

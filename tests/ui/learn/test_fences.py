"""Fences: known answers, the judge of every set of fences, and what the stage shows."""

from __future__ import annotations

import pytest
from helpers.properties import many
from helpers.refusals import refusal
from hypothesis import given
from hypothesis import strategies as st

from bpeviz.ui.learn import figures
from bpeviz.ui.learn.base import NoQuestionError, Question
from bpeviz.ui.learn.chapters.fences import CHAPTER, MOST_FENCES, _places
from bpeviz.views.acts import bits_of

TEXT = CHAPTER.text
MARKS = [4, 10, 16, 22, 28, 35]
RULE = figures.fences_of(TEXT)


def question(text: str = TEXT) -> Question:
    return CHAPTER.tasks["apart"](text).questions[0]()


def mask(fences: list[int], text: str = TEXT) -> int:
    return bits_of(_places(text), fences)


def test_no_fence_is_a_try() -> None:
    asked = question()
    draft = asked.result([mask([5])], False)
    assert draft
    assert draft["kind"] == "draft"
    assert asked.result([], False) is None
    assert asked.mark([mask([5])] * 2, False) is None
    assert asked.mark([mask([5]), mask(MARKS)], False) == "first"


def test_stage_has_the_merges_of_the_fences_and_keeps_its_place_and_colors() -> None:
    stage = CHAPTER.tasks["apart"](TEXT)
    states = [stage.payload(0, answer) for answer in (None, 0, mask(MARKS), mask(RULE))]
    assert len({state["key"] for state in states}) == 1
    assert states[0] == states[1]
    assert [state["views"][0]["tokenCounts"][-1] for state in states] == [16, 16, 16, 17]
    assert len({state["views"][0]["key"] for state in states}) == 3
    assert stage.payload(1, mask(RULE)) == states[3]  # nothing more once it is solved
    colors = [dict(state["views"][0]["tokenStyles"].values()) for state in states]
    for label in ("sa", "ca"):
        assert len({each[label] for each in colors}) == 1
    for label in ("rosa", "casa"):
        assert len({each[label] for each in colors[2:]}) == 1


def test_shown_fences_are_those_of_gpt2() -> None:
    judgment = question().judge(None)
    assert (judgment.verdict, judgment.right) == ("right", mask(RULE))
    figures = {"fences": 11, "free": 16, "gpt2": 17, "word": "casa"}
    cuts = {"period": "`ca` `sa.·ro`", "comma": "`ca` `sa` `,`"}
    assert CHAPTER.figures() == figures | cuts


@pytest.mark.parametrize("text", ["a", "hello", "...", " ", "你好"])
def test_text_without_a_merge_to_forbid_has_no_question(text: str) -> None:
    refusal(question, text, error=NoQuestionError)


def test_long_text_has_places_where_words_meet_marks_or_each_other() -> None:
    text = "Uno, dos, tres, cuatro, cinco, seis, siete, ocho, nueve."
    assert len(text) > MOST_FENCES + 1
    assert _places(text) == figures.fences_of(text)
    assert question(text).judge(question(text).judge(None).right).verdict == "right"
    refusal(question, text * 3, naming="52", error=NoQuestionError)


@many(30, 30)
@given(st.text("ab.' ,é1\u0301", min_size=2, max_size=70), st.data())
def test_fences_are_right_if_and_only_if_no_merge_joins(text: str, data: st.DataObject) -> None:
    try:
        asked = question(text)
    except NoQuestionError:
        return
    places = _places(text)
    assert asked.act.places == [len(text[:place].encode()) - 1 for place in places]
    assert asked.judge(asked.judge(None).right).verdict == "right"
    fences = data.draw(st.sets(st.sampled_from(places)))
    result = figures.fenced(text, fences)
    joined = any(joins for _, joins in result.merges)
    assert asked.judge(mask([*fences], text)).verdict == ("wrong" if joined else "right")
    payload = CHAPTER.tasks["apart"](text).payload(0, mask([*fences], text))
    assert payload["views"][0]["tokenCounts"][-1] == result.tokens

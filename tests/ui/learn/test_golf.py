"""The chapter Golf: merges of one's own, and texts with many tokens in real vocabularies."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.properties import many
from helpers.refusals import refusal
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.ui.learn.base import DON_QUIJOTE, NoQuestionError, Question, Task
from bpeviz.ui.learn.chapters import golf

STAGE = golf.CHAPTER.tasks["merges"](DON_QUIJOTE)
BEST: list[int] = STAGE.questions[0]().judge(None).right
UG = DON_QUIJOTE.index("ug")


def question(task: str = "merges", text: str = DON_QUIJOTE) -> Question:
    return (golf.CHAPTER.tasks | golf.EXTRAS.tasks)[task](text).questions[0]()


# ---- merges of one's own


@pytest.mark.parametrize(
    "given", [[131], [130], [-1], [0, 0], [*BEST, UG], [True], [1.0], "0", 0, None, {"0": 1}]
)
def test_only_possible_merges_up_to_the_goal_are_an_answer(given: Any) -> None:
    assert not question().act.accepts(given)


@pytest.mark.parametrize("text", ["", "a", "abc"])
def test_text_in_which_no_pair_repeats_is_refused(text: str) -> None:
    refusal(golf.holes, text, error=NoQuestionError)


@many()
@given(st.text("ab¿ ", min_size=2, max_size=12), st.lists(st.integers(0, 30), max_size=6))
def test_any_accepted_merges_have_a_payload(text: str, places: list[int]) -> None:
    try:
        stage = golf.CHAPTER.tasks["merges"](text)
    except NoQuestionError:
        return
    asked = stage.questions[0]()
    if asked.act.accepts(places):
        data = stage.payload(0, places)
        assert data["views"][0]["tokenCounts"] == golf.token_counts(text, places)
        for place in data["task"]["places"]:
            assert asked.act.accepts([*places, place])


# ---- real vocabularies


def test_examples_of_typed_texts_are_right_and_fit() -> None:
    for task in ("more", "dense"):
        asked = question(task)
        right = asked.judge(None).right
        assert asked.act.accepts(right)
        assert asked.solved(right)
        assert not asked.act.accepts("a" * (golf.LONGEST + 1))


def test_typed_text_is_in_a_row_for_each_vocabulary_in_its_tokens() -> None:
    stage: Task = golf.EXTRAS.tasks["more"]("")
    views = stage.payload(0, "1000 €")["views"]
    assert [view["title"] for view in views] == ["GPT-2", "GPT-4o (o200k)"]
    for view, name in zip(views, golf.TWO, strict=True):
        tokens = bpeviz.load(name).tokens("1000 €")
        assert view["tokenCounts"] == [len(tokens)]
        starts = [i for i in view["changes"]["ids"] if i >= 0]
        assert starts == [token.id for token in tokens]
        assert [view["tokenStyles"][i][0] for i in starts] == [token.label for token in tokens]
    assert [view["tokenCounts"] for view in stage.payload(0, None)["views"]] == [[0], [0]]

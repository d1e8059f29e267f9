"""The chapter “Why” with the stored part of GPT-4o's vocabulary."""

from __future__ import annotations

import pytest

from bpeviz.pretrained import download
from bpeviz.ui.learn import engine, stored
from bpeviz.ui.learn.chapters.why import AFTER_SPACE, CHAPTER
from bpeviz.ui.learn.figures import PASSAGE_TOKENS
from bpeviz.views.acts import atoms_of, bits_of


@pytest.fixture(autouse=True)
def _without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "available", lambda name: False)


def test_strawberry_has_three_tokens_and_one_after_a_space() -> None:
    (ask,) = CHAPTER.task("letters").questions
    question = ask()
    right = question.judge(None).right
    assert atoms_of(question.act.places, right) == [1, 4]  # st raw berry
    assert question.judge(right).verdict == "right"
    assert [part.label for part in stored.o200k().tokens(AFTER_SPACE)] == ["·strawberry"]


def test_each_wrong_answer_gets_words_without_the_right_one() -> None:
    question = CHAPTER.task("letters").questions[0]()
    every = (1 << len(question.act.places)) - 1
    for given in (0, every, 1, 0b10010001):
        assert question.judge(given).verdict == "wrong"
        assert question.feedback(given)
    assert question.feedback(0) != question.feedback(every) != question.feedback(1)


def test_two_words_get_a_reply_of_their_own_and_the_answer_has_ids() -> None:
    question = CHAPTER.task("letters").questions[0]()
    (words,) = question.feedback(bits_of(question.act.places, [4]))
    assert "pieces are not words" in str(words)
    parts = [part for part in question.judge(None).message if not isinstance(part, str)]
    assert [(part["label"], part.get("id")) for part in parts] == [
        ("st", 302),
        ("raw", 1618),
        ("berry", 19772),
    ]


def test_stage_has_no_ranks_which_a_later_chapter_explains() -> None:
    payload = CHAPTER.task("letters").payload(1, None)
    assert payload["isPlain"]
    assert not payload["views"][0]["steps"]["notes"]


def test_payload_before_the_answer_has_no_merge() -> None:
    stage = CHAPTER.task("letters")
    (view,) = stage.payload(0, None)["views"]
    assert view["last"] == 0
    assert not view["steps"]["id"]
    assert view["tokenCounts"] == [len(CHAPTER.text)]
    after = stage.payload(1, None)
    assert after["views"][0]["tokenCounts"][-1] == 3
    assert after["key"] == stage.payload(0, None)["key"]


def test_burmese_costs_three_times_as_much() -> None:
    assert CHAPTER.figures() == PASSAGE_TOKENS | {"times": "3.0"}


@pytest.mark.parametrize(
    ("word", "is_asked"),
    [("internationalization", True), ("Donaudampfschifffahrt", True), ("a" * 40, False)],
)
def test_long_words_are_guessed_or_played(word: str, is_asked: bool) -> None:
    """A tokenizer of single bytes: where a token ends does not matter for the number of places."""
    task = engine.cut_task(word, stored.o200k().at_step(0), "tokens")
    assert bool(task.questions) == is_asked
    if not is_asked:
        assert task.payload(0, None)["plays"]

"""The chapter “Why” with the stored part of GPT-4o's vocabulary."""

from __future__ import annotations

import pytest

from bpeviz.pretrained import download
from bpeviz.ui.learn import engine, stored
from bpeviz.ui.learn.chapters.why import CHAPTER
from bpeviz.ui.learn.figures import PASSAGE_TOKENS
from bpeviz.views.acts import bits_of


@pytest.fixture(autouse=True)
def _without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "available", lambda name: False)


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

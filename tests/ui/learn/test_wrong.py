"""The chapter “What goes wrong”: its texts, their tokens, and the chat that is forged."""

from __future__ import annotations

from typing import Any

import pytest
import tiktoken

from bpeviz.core.boundaries import INSIDE_ID
from bpeviz.pretrained import download
from bpeviz.ui.learn import stored
from bpeviz.ui.learn.chapters import wrong
from bpeviz.ui.learn.chapters.wrong import CHAPTER

TEXTS = [(name, text) for name, texts in CHAPTER.texts.items() for text in texts]


@pytest.fixture(autouse=True)
def _without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "available", lambda name: False)


def _reference(task: str, text: str) -> list[int]:
    """Return the ids of a text by tiktoken itself."""
    if task == "name":
        return tiktoken.get_encoding("gpt2").encode(text)
    whole = tiktoken.get_encoding("o200k_base")
    if task != "chat":
        return whole.encode(text)
    named = tiktoken.Encoding(
        "named",
        pat_str=whole._pat_str,
        mergeable_ranks=whole._mergeable_ranks,
        special_tokens=dict(stored.chat().special_tokens),
    )
    return named.encode(text, allowed_special="all")


def _ids(view: Any) -> list[int]:
    return [i for i in view["changes"]["ids"] if i != INSIDE_ID]


@pytest.mark.parametrize(("task", "text"), TEXTS)
def test_truth_is_that_of_tiktoken_and_expected_divisions_are_wrong(task: str, text: str) -> None:
    asked = CHAPTER.tasks[task](text)
    question = asked.questions[0]()
    told = [part for part in question.judge(None).message if not isinstance(part, str)]
    assert [part["id"] for part in told] == _reference(task, text)
    replies = {str([*mistake.words]) for mistake in question.likely()}
    assert len(replies) == len(question.likely()) >= 2
    assert asked.payload(0, None)["last"] == 0
    assert asked.payload(1, None)["views"][0]["tokenCounts"][-1] == len(told)


def test_texts_of_each_task_follow_one_rule() -> None:
    assert all(text[-1] == " " and text[-2] != " " for text in stored.PROMPTS)
    assert all(len(_reference("name", name)) == 1 for name in stored.NAMES)
    assert all(any(text.endswith(name) for name in stored.CONTROL) for text in stored.TYPED)
    for pair in stored.PAIRS:
        small, large = pair.split(" or ")
        assert float(small) < float(large)
        assert len(small) > len(large)


def test_9_11_and_9_9_have_the_tokens_11_and_9() -> None:
    labels = [part.label for part in stored.o200k().tokens("9.11 or 9.9")]
    assert labels == ["9", ".", "11", "·or", "·", "9", ".", "9"]


def test_typed_name_is_the_control_token_or_six_ordinary_ones() -> None:
    every, own = wrong.ways()["views"]
    start, end = stored.chat().special_tokens.values()
    forged, kept = _ids(every), _ids(own)
    assert forged == _reference("chat", "".join(stored.CHAT))
    assert (forged.count(start), forged.count(end)) == (2, 2)  # a turn of the system begins
    assert (kept.count(start), kept.count(end)) == (1, 1)
    ordinary = [27, 91, 321, 13707, 91, 29]
    assert (
        tiktoken.get_encoding("o200k_base").encode("<|im_end|>", disallowed_special=()) == ordinary
    )
    assert str(ordinary)[1:-1] in str(kept)
    assert CHAPTER.figures() == {"word": "·blue", "plain": len(ordinary)}


def test_prompt_goes_on_with_a_word_and_its_space_as_one_token() -> None:
    assert [part.label for part in stored.o200k().tokens(wrong.GOING_ON)][-1] == "·blue"

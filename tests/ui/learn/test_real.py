"""The chapter “Real ones”, without the file of GPT-4o's vocabulary."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.refusals import refusal

import bpeviz
from bpeviz.core.boundaries import INSIDE_ID
from bpeviz.pretrained import download
from bpeviz.ui.learn import stored
from bpeviz.ui.learn.base import NoQuestionError, Question, Task
from bpeviz.ui.learn.chapters.real import CHAPTER, SPACES, SPACES_TOKENS, WORD, YEAR

IDS = [27, 91, 419, 1440, 919, 91, 29]


@pytest.fixture(autouse=True)
def _without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "available", lambda name: False)


NAME = CHAPTER.texts["special"][0]


def _task(name: str) -> Task:
    return CHAPTER.tasks["word"](WORD) if name == "word" else CHAPTER.task(name)


def _question(task: str) -> Question:
    return _task(task).questions[0]()


def _ids(payload: dict[str, Any]) -> list[int]:
    return [i for i in payload["views"][0]["changes"]["ids"] if i != INSIDE_ID]


@pytest.mark.parametrize("end", range(len(NAME)))
def test_no_part_of_the_name_is_right(end: int) -> None:
    judgment = _question("special").judge(NAME[:end])
    assert judgment.verdict == "wrong"
    payload = CHAPTER.task("special").payload(0, NAME[:end])
    assert _ids(payload) == bpeviz.load("o200k_base").encode(NAME[:end])


def test_typed_name_is_right_and_stays_seven_tokens() -> None:
    stage = CHAPTER.task("special")
    assert _question("special").judge(NAME).verdict == "right"
    assert _ids(stage.payload(0, NAME)) == IDS
    assert not _ids(stage.payload(0, None))
    assert _question("special").judge(None).right == NAME


def test_other_text_needs_a_file_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"The end {NAME}"
    judgment = _question("special").judge(text)
    assert judgment.verdict == "right"
    assert "a file that is not here yet" in str(judgment.message)
    assert _ids(CHAPTER.task("special").payload(0, text)) == [
        stored.o200k().encode(bytes([byte]).decode())[0] for byte in text.encode()
    ]
    refusal(CHAPTER.tasks["word"], "Windmühle", error=NoQuestionError)
    monkeypatch.undo()
    whole = bpeviz.load("o200k_base").encode(text)
    assert _ids(CHAPTER.task("special").payload(0, text)) == whole
    assert f"It has {len(whole)} plain tokens" in str(_question("special").judge(text).message)


def test_figures_are_known_answers() -> None:
    figures = {**CHAPTER.figures(), **CHAPTER.task("special").figures}
    assert [figures["signs"], figures["special"]] == [len(NAME), len(IDS)] == [13, 7]
    whole = bpeviz.load("o200k_base")
    assert figures["entries"] == 200_000 == round(whole.vocab_size, -3)
    assert max(len(whole.tokens("7" * count)) == 1 and count for count in range(9)) == 3
    assert figures["group"] == 3
    assert [part.label for part in stored.o200k().tokens(YEAR)] == ["202", "6"]
    counts = [len(bpeviz.load(name).encode(SPACES)) for name in ("gpt2", "cl100k_base")]
    assert counts == [*SPACES_TOKENS.values()]

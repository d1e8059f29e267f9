"""The chapter “Real ones”, without the file of GPT-4o's vocabulary."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import pytest

import bpeviz
from bpeviz.core.boundaries import INSIDE_ID
from bpeviz.pretrained import download
from bpeviz.ui.learn import stored
from bpeviz.ui.learn.base import NoQuestionError, Question, Task
from bpeviz.ui.learn.chapters import real
from bpeviz.ui.learn.chapters.real import CHAPTER, SPACES, SPACES_TOKENS, WORD, YEAR
from bpeviz.views.acts import atoms_of

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


@pytest.mark.parametrize(
    ("task", "cuts"),
    [
        ("word", [1, 4]),  # un bel ievable
        ("digits", [2, 5]),  # 123 456 7
    ],
)
def test_boundaries_are_known_answers(task: str, cuts: list[int]) -> None:
    question = _question(task)
    right = question.judge(None).right
    assert atoms_of(question.act.places, right) == cuts
    assert question.judge(right).verdict == "right"
    assert question.judge(0).verdict == "wrong"
    before, after = (_task(task).payload(done, None) for done in (0, 1))
    assert [before["last"], before["key"]] == [0, after["key"]]
    assert not before["views"][0]["steps"]["id"]
    assert after["views"][0]["tokenCounts"][-1] == 3


def _words(parts: Any) -> str:
    return "".join(part if isinstance(part, str) else part["label"] for part in parts)


def test_next_merge_is_the_one_of_lowest_rank_that_fits() -> None:
    """Compared with the whole vocabulary, merge by merge."""
    ranks = bpeviz.load("o200k_base")._ranks
    parts = [letter.encode() for letter in WORD]
    asked = CHAPTER.tasks["next"](WORD)
    for number, make in enumerate(asked.questions):
        question = make()
        ends = [*accumulate(map(len, parts))]
        pairs = {
            end - 1: ranks.get(left + right)
            for end, (left, right) in zip(ends, pairwise(parts), strict=False)
        }
        assert [*question.act.places] == [*pairs]
        lowest = min(rank for rank in pairs.values() if rank is not None)
        for place, rank in pairs.items():
            assert question.judge(place).verdict == ("right" if rank == lowest else "wrong")
            assert rank is None or rank == lowest or f"{rank:,}" in _words(question.feedback(place))
        assert f"has the rank {lowest:,}, the first that fits." in _words(
            question.judge(None).message
        )
        at = question.judge(None).right
        left = ends.index(at + 1)
        parts[left : left + 2] = [parts[left] + parts[left + 1]]
        assert asked.payload(number, None)["last"] == number
    assert number == real.MERGES_ASKED - 1
    last = asked.payload(number + 1, None)["views"][0]
    assert (last["tokenCounts"][-1], len(last["steps"]["id"])) == (3, 9)


def test_list_has_the_merges_of_the_word_and_as_many_that_do_not_fit() -> None:
    listed = [_words(item) for item in _question("next").rows[0]["items"]]
    assert listed[:6] == ["al 280", "le 282", "as 288", "el 296", "tr 371", "un 373"]
    ranks = bpeviz.load("o200k_base")._ranks
    assert all(
        ranks[name.encode()] == int(rank.replace(",", "")) for name, rank in map(str.split, listed)
    )
    names = [entry.split()[0] for entry in listed]
    fits = ["le", "el", "un", "ab", "ie", "able", "bel", "iev", "ievable"]
    assert [name for name in names if name in WORD] == fits
    assert [name for name in names if name not in WORD] == [
        "al",
        "as",
        "tr",
        "us",
        "pt",
        "erry",
        "stra",
        "tal",
    ]


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
    with pytest.raises(NoQuestionError, match="not on this machine yet"):
        CHAPTER.tasks["word"]("Windmühle")
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

"""The chapter “Words, letters or bytes?”."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import pytest

from bpeviz.core.boundaries import DROPPED_ID, INSIDE_ID, UNKNOWN_ID
from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import Question, Task
from bpeviz.ui.learn.chapters import units
from bpeviz.ui.learn.chapters.units import CHAPTER, WORDS, rows
from bpeviz.views.acts import Judgment
from tests.helpers.difficult import DIFFICULT


def _stage(name: str) -> Task:
    return CHAPTER.task(name)


def _question(name: str) -> Question:
    return _stage(name).questions[0]()


def _words(judgment: Judgment) -> str:
    return "".join(part if isinstance(part, str) else part["label"] for part in judgment.message)


def _timelines(text: str) -> Sequence[Any]:
    """Return the timelines of the rows of a text."""
    return engine.still(rows(text))["views"]


def _pieces(view: dict[str, Any]) -> list[tuple[int, str]]:
    """Return the ids and texts of the tokens of a row."""
    ids, raw = view["changes"]["ids"], view["text"].encode()
    starts = [at for at, token_id in enumerate(ids) if token_id != INSIDE_ID]
    ends = [*starts[1:], len(raw)][: len(starts)]
    return [(ids[i], raw[i:j].decode(errors="replace")) for i, j in zip(starts, ends, strict=True)]


def test_the_list_has_the_words_of_don_quijote_and_is_listed() -> None:
    assert WORDS[:6] == ["En", "un", "lugar", "de", "la", "Mancha"]
    assert len(WORDS) == len({*WORDS}) == 22
    (listed,) = _question("unknown").rows
    assert [word for (word,) in listed["items"]] == WORDS


@pytest.mark.parametrize(
    "text", ["a", "caterpillar", "Lugar", "LUGAR", "lugares", "niño", "你好", "मैं", "😃", "de x"]
)
def test_any_word_outside_of_the_list_is_right(text: str) -> None:
    judgment = _question("unknown").judge(text)
    assert judgment.verdict == "right"
    assert "[UNK]" in _words(judgment)


@pytest.mark.parametrize("text", ["", "  ", "lugar", "en un lugar, ", "vivía"])
def test_words_of_the_list_are_not_right(text: str) -> None:
    result = _question("unknown").result([text], gave_up=False)
    assert result is not None
    assert result["kind"] == "draft"
    assert result["message"]


def test_new_word_is_unknown_and_has_as_many_letters_as_bytes() -> None:
    assert "11 letters or as 11 bytes" in _words(_question("unknown").judge("caterpillar"))
    judgment = _question("unknown").judge(None)
    assert (judgment.verdict, judgment.right) == ("right", "caterpillar")


def test_rows_have_words_letters_and_bytes() -> None:
    words, letters, single = _timelines("lugar niño,")
    assert _pieces(words) == [
        (WORDS.index("lugar"), "lugar"),
        (DROPPED_ID, " "),
        (UNKNOWN_ID, "niño"),
        (WORDS.index(","), ","),
    ]
    assert [text for _, text in _pieces(letters)] == [*"lugar niño,"]
    assert [token_id for token_id, _ in _pieces(single)] == [*"lugar niño,".encode()]
    assert [row["tokenCounts"] for row in (words, letters, single)] == [[3], [11], [12]]


@pytest.mark.parametrize("text", DIFFICULT)
def test_rows_cover_difficult_texts(text: str) -> None:
    for row in _timelines(text):
        assert "".join(piece for _, piece in _pieces(row)) == text or row["title"] == "Bytes"
        assert len(row["changes"]["ids"]) == len(text.encode())
        assert {i for i, _ in _pieces(row) if i >= 0} <= {*row["tokenStyles"]}


def test_before_a_text_is_typed_the_stage_is_empty() -> None:
    for name in CHAPTER.tasks:
        assert {view["text"] for view in _stage(name).payload(0, None)["views"]} == {""}
        assert _question(name).judge(_question(name).judge(None).right).verdict == "right"


@pytest.mark.parametrize(
    "text", ["你好😃", "😃😃é", "éé你你", "你你你a", "👍🏽é", "e\u0301e\u0301你a"]
)
def test_ten_bytes_in_four_characters_are_right(text: str) -> None:
    assert len(text.encode()) == 10
    judgment = _question("weights").judge(text)
    assert judgment.verdict == "right"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "0 bytes in 0 characters: 10 bytes to go."),
        ("你你", "6 bytes in 2 characters: 4 bytes to go."),
        ("caterpillar", "11 bytes in 11 characters: 1 byte and 7 characters too many."),
        ("aaaaaaaaaa", "10 bytes in 10 characters: 6 characters too many."),
        ("aaaaaa", "6 bytes in 6 characters: 4 bytes to go and 2 characters too many."),
        ("😃😃😃", "12 bytes in 3 characters: 2 bytes too many."),
        ("👍🏽", "8 bytes in 1 character: 2 bytes to go."),
    ],
)
def test_draft_tells_bytes_and_characters(text: str, words: str) -> None:
    judgment = _question("weights").judge(text)
    assert (judgment.verdict, _words(judgment)) == ("wrong", words)


def test_figures_are_known_answers() -> None:
    figures = CHAPTER.figures()
    assert [figures["smile"], figures["smile_bytes"]] == [128_515, 4]
    assert [*"😃".encode()] == [240, 159, 152, 131]
    assert [len(sign.encode()) for sign in "aé你"] == [1, 2, 3]
    assert figures["ascii"] == sum(len(chr(point).encode()) == 1 for point in range(0x500))
    kinds = map(unicodedata.category, map(chr, range(0x40000)))
    assert sum(kind not in ("Cn", "Cs", "Co", "Cc") for kind in kinds) > units.CHARACTERS


def test_own_text_is_only_seen() -> None:
    stage = CHAPTER.tasks["unknown"]("hello world")
    assert not stage.questions
    assert [view["title"] for view in stage.payload(0, None)["views"]] == [
        "Words",
        "Letters",
        "Bytes",
    ]

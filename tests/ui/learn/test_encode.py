"""The chapter “Encode and decode”, with the merges of the opening of Don Quijote."""

from __future__ import annotations

from typing import Any

import pytest

from bpeviz.ui.learn import engine
from bpeviz.ui.learn.base import Question
from bpeviz.ui.learn.chapters import encode
from bpeviz.ui.learn.chapters.encode import CHAPTER, tokenizer

NEXT = CHAPTER.tasks["next"]
TEXT = CHAPTER.text


def _questions(text: str = TEXT) -> list[Question]:
    return [ask() for ask in NEXT(text).questions]


def _words(parts: list[Any]) -> str:
    return "".join(part if isinstance(part, str) else part["label"] for part in parts)


def _tokens(view: dict[str, Any]) -> int:
    return int(view["tokenCounts"][-1])


def test_the_list_has_all_merges_in_their_order() -> None:
    for question in _questions():
        (listed,) = question.rows
        assert listed["numbered"]
        assert len(listed["items"]) == encode.MERGES
        assert [_words(parts) for parts in listed["items"][:4]] == ["o·", "e·", "n·", "de·"]


def test_replies_to_mistakes_do_not_tell_the_right_merge() -> None:
    for question in _questions():
        right = _words([*question.judge(None).message]).split(" is ")[0]
        for mistake in question.likely():
            assert right not in _words([*mistake.words])


def test_own_text_plays_all_merges_after_the_last_question() -> None:
    stage = NEXT("Como de la Mancha en un lugar de lanza")
    assert len(stage.questions) == encode.ROUNDS
    assert stage.payload(3, None)["last"] == 3
    whole = stage.payload(4, None)
    assert _tokens(whole["views"][0]) == len(tokenizer().encode(whole["views"][0]["text"]))


def test_the_two_ways_come_apart_at_abc() -> None:
    rows = encode.both_ways()["views"]
    labels = [[row["tokenStyles"][i][0] for i in row["changes"]["ids"] if i >= 0] for row in rows]
    assert labels == [["a", "bc"], ["ab", "c"]]


def _ids() -> tuple[Question, Any]:
    task = CHAPTER.task("ids")
    return task.questions[0](), task.payload


def test_ids_are_decoded_as_they_stand() -> None:
    question, payload = _ids()
    start = [67, 111, 109, 256, 101, 115, 116, 195, 161, 115, 63]
    assert tokenizer().encode("Como estás?") == start
    for ids in (start, [195], [161, 195], [195, 161], [115, 195], start[::-1], []):
        assert question.act.accepts(ids)
        data = payload(0, ids)
        (view,) = data["views"]
        assert view["text"] == bytes(
            byte for i in ids for byte in tokenizer().token_bytes(i)
        ).decode(errors="replace")
        assert [part["id"] for part in data["task"]["pieces"]] == ids
        assert [*data["task"]["actions"].values()] == ([] if ids == start else [start])
    assert payload(0, None)["views"][0]["text"] == "Como estás?"


def test_only_the_two_ids_of_a_letter_are_right() -> None:
    question, _ = _ids()
    assert question.judge(None).right == [195, 161]
    assert _words([*question.judge([195, 161]).message]) == (
        "⟨C3⟩ ⟨A1⟩ are the 2 bytes of á. Each one alone is �."
    )
    for ids, said in {
        (195,): "1 id decodes to “�”: � stands",
        (161, 195): "2 ids decode to “��”: � stands",
        (111, 195, 161): "3 ids decode to “oá”.",
        (): "No id is left.",
    }.items():
        judgment = question.judge([*ids])
        assert judgment.verdict == "wrong"
        assert _words([*judgment.message]).startswith(said)


@pytest.mark.parametrize("value", [None, 195, "195", [True], [67, 67], [0], [195, "161"]])
def test_other_values_are_no_ids_of_the_text(value: Any) -> None:
    assert not _ids()[0].act.accepts(value)


@pytest.mark.parametrize("cuts", [(1, 2, 3), (2, 5, 6), (3, 9), (9,)])
def test_pieces_of_decoded_bytes_end_where_characters_do(cuts: tuple[int, ...]) -> None:
    raw = "aé😃".encode() + b"\x80\xf0\x9f"
    starts = [0, *cuts]
    parts = [raw[i:j] for i, j in zip(starts, [*cuts, len(raw)], strict=True)]
    row = engine.decoded_row([({"label": "", "color": 0}, part) for part in parts])
    assert row.text == raw.decode(errors="replace")

"""Descriptions of what a normalization changes in a text."""

from __future__ import annotations

import unicodedata

import pytest

import bpeviz
from bpeviz.analysis import normalization, trace
from bpeviz.text import Normalized
from bpeviz.views import inspection
from bpeviz.views.parts import parts as parts_of


@pytest.mark.parametrize(
    ("text", "characters", "clauses"),
    [
        ("aé", ["a", "e"], ["é lost its accent"]),
        ("éö", ["e", "o"], ["é and ö lost their accents"]),
        ("Ab", ["a", "b"], ["A became lower case"]),
        ("É", ["e"], ["É became lower case and lost its accent"]),
        ("a   b", ["a", "", "", " ", "b"], ["three spaces became one"]),
        (" a  ", ["", "a", "", ""], ["a space was removed", "two spaces were removed"]),
        ("a\nb", ["a", " ", "b"], ["a line break became a space"]),
        ("ﬁﬁ", ["fi", "fi"], ["ﬁ became fi (two characters), 2 times"]),
        ("e\u0301", ["\u00e9", ""], ["e\u0301 is written with other code points"]),
        ("a\0", ["a", ""], ["⟨0000⟩ was removed"]),
        ("a b", ["a", "▁", "b"], ["spaces are written as ▁"]),
        ("ab", ["▁a", "b"], ["a ▁ that is not in the text was added"]),
        (" a", ["▁▁", "a"], ["spaces are written as ▁", "a ▁ that is not in the text was added"]),
        ("T", ["▁t"], ["T became lower case", "a ▁ that is not in the text was added"]),
        ("a▁ b", ["a", "▁", "▁", "b"], ["spaces are written as ▁"]),
        ("world", [*"world"], []),
    ],
)
def test_changes_are_described_in_words(
    text: str, characters: list[str], clauses: list[str]
) -> None:
    found = normalization.units(text, Normalized.of(characters))
    assert normalization.describe(found) == clauses


def test_long_lists_of_changes_are_shortened() -> None:
    text = "ÀÈÌÒÙ①②③④⑤⑥"
    characters = [unicodedata.normalize("NFKD", one)[0] for one in text]
    first, *others = normalization.describe(normalization.units(text, Normalized.of(characters)))
    assert first == "À, È, Ì, Ò and 1 other lost their accents"
    assert others[-1] == "2 other changes"
    assert len(others) == 5


@pytest.mark.parametrize(
    ("options", "row"),
    [
        (
            {"algorithm": "sentencepiece"},
            [
                [0, 1, "▁A", "a ▁ that is not in the text was added"],
                [1, 2, "▁", "spaces are written as ▁"],
                [2, 4, "É", ""],
                [4, 5, "↵", ""],
                [5, 6, "▁b", "a ▁ that is not in the text was added"],
            ],
        ),
        (
            {"algorithm": "wordpiece", "case": "lower"},
            [
                [0, 1, "a", "A became lower case"],
                [1, 2, "·", ""],
                [2, 4, "é", "É became lower case"],
                [4, 5, "↵", ""],
                [5, 6, "b", ""],
            ],
        ),
        ({"algorithm": "bpe"}, None),
    ],
)
def test_grid_has_a_row_only_where_the_text_changes(
    options: dict[str, str], row: list[list[object]] | None
) -> None:
    tokenizer = bpeviz.train("A É b", merges=2, **options).tokenizer()
    found = trace.inspect("A É\nb", tokenizer)
    (part,) = parts_of(found.text, found.cuts, 100)
    assert inspection.grid(found, part)["normalized"] == row


def test_special_tokens_are_not_normalized() -> None:
    tokenizer = bpeviz.train(
        "a b", merges=1, algorithm="wordpiece", case="lower", special_tokens=("<S>",)
    ).tokenizer()
    found = trace.inspect("A<S>B", tokenizer, ["<S>"])
    assert found.normalized == Normalized("a<S>b", [0, 1, 2, 3, 4])

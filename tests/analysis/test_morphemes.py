"""Token boundaries inside words, beside the ends of morphemes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.analysis.metrics import Column
from bpeviz.analysis.morphemes import Morphemes, Word, compare, read, text_of
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.views import tables


def compared(words: list[Word], tokenizer: Tokenizer) -> Morphemes:
    boundaries = tokenizer.boundaries(text_of(words))
    return compare(words, Column("A", tokenizer, boundaries, boundaries.steps))


def trained(corpus: str | dict[str, int], merges: int) -> Tokenizer:
    return bpeviz.train(corpus, merges=merges).tokenizer()


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("jump + s\nun + happi + ness", [("jump", "s"), ("un", "happi", "ness")]),
        ("jump+s un+happi+ness", [("jump", "s"), ("un", "happi", "ness")]),
        ("jump +s,low;", [("jump", "s"), ("low",)]),
        ("+ a ++ b +", [("a", "b")]),
        (" \n, + ,", []),
    ],
)
def test_typed_words_are_read_in_any_notation(typed: str, words: list[Word]) -> None:
    assert read(typed) == words


def test_boundaries_are_at_ends_of_morphemes_or_elsewhere() -> None:
    tokenizer = trained({"jump": 9, "low": 5}, 4)  # ju, jum, jump, lo
    words = read("jump + s, un + low, jum + p")
    found = compared(words, tokenizer)
    assert found.words == ("jump + s", "u | n + lo | w", "jump")
    assert (found.boundaries, found.ends, found.common) == (4, 3, 2)
    table = tables.morphemes(words, [found])
    assert table.rows[:3] == [
        ("precision", "50% (2 of 4)"),
        ("recall", "67% (2 of 3)"),
        ("jump + s", "jump + s"),
    ]


def test_words_of_one_token_have_no_precision_and_without_morphemes_no_recall() -> None:
    tokenizer = trained(" low low low", 3)
    found = compared([("low",)], tokenizer)
    assert found.words == ("low",)
    assert [row[1] for row in tables.morphemes([("low",)], [found]).rows[:2]] == ["–", "–"]


def test_boundary_inside_a_character_is_no_end_of_a_morpheme() -> None:
    found = compared([("é", "s")], trained("x", 0))
    assert found.words == ("⟨C3⟩ | ⟨A9⟩ + s",)


@pytest.mark.parametrize("algorithm", ["sentencepiece", "wordpiece", "unigram"])
def test_other_atoms_and_dropped_spaces_keep_the_places(algorithm: str) -> None:
    tokenizer = bpeviz.train("low lower jumps jumped " * 5, algorithm, vocab_size=300).tokenizer()
    words = read("jump + s, low + er, un + known")
    for word, shown in zip(words, compared(words, tokenizer).words, strict=True):
        assert shown.replace(" + ", "").replace(" | ", "") == "".join(word)


@given(st.lists(st.lists(st.text("abcé", min_size=1), min_size=1).map(tuple), max_size=5))
def test_characters_as_tokens_find_all_ends(words: list[Word]) -> None:
    tokenizer = bpeviz.train("abcé", merges=0, atoms="characters").tokenizer()
    found = compared(words, tokenizer)
    characters = [len("".join(word)) for word in words]
    assert found.common == found.ends == sum(len(word) - 1 for word in words)
    assert found.boundaries == sum(characters) - len(words)
    assert read(" , ".join(" + ".join(word) for word in words)) == words

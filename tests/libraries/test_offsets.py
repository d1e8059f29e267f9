"""Offsets of characters that BPE drops or spells in bytes equal those of a slow reference."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import tokenizers
from helpers.properties import many
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers

from bpeviz.libraries.worker import HuggingFace

LETTERS = "abBïé\u0301世 x"
NORMALIZERS = {
    "lower": normalizers.Lowercase(),
    "NFD": normalizers.NFD(),
    "accents": normalizers.StripAccents(),
    "without x": normalizers.Replace("x", ""),
    "strip": normalizers.Strip(),
}
_Character = tuple[str, int]
"""A character, and the place in the text that it comes from."""


def normalized(characters: list[_Character], name: str) -> list[_Character]:
    """Return the characters after one normalizer."""
    if name == "lower":
        return [(letter.lower(), i) for letter, i in characters]
    if name == "NFD":
        return [(part, i) for one, i in characters for part in unicodedata.normalize("NFD", one)]
    if name == "strip":
        kept = [k for k, (letter, _) in enumerate(characters) if letter != " "]
        return characters[min(kept) : max(kept) + 1] if kept else []
    if name == "without x":
        return [one for one in characters if one[0] != "x"]
    return [one for one in characters if unicodedata.category(one[0]) != "Mn"]


def reference(
    text: str,
    names: Sequence[str],
    vocabulary: dict[str, int],
    merges: Sequence[tuple[str, str]],
    marks: tuple[str, str],
    fallback: bool,
) -> list[tuple[int, set[int]]]:
    """Return each token with the places in the text that it comes from: none for marks."""
    characters = [(letter, i) for i, letter in enumerate(text)]
    for name in names:
        characters = normalized(characters, name)
    words: list[list[_Character]] = [[]]
    for one in characters:
        if one[0] == " ":
            words.append([])
        else:
            words[-1].append(one)
    tokens = []
    for word in words:
        symbols: list[tuple[str, set[int]]] = []
        for k, (letter, place) in enumerate(word):
            parts = [marks[0] * (k > 0), letter, marks[1] * (k == len(word) - 1)]
            if "".join(parts) in vocabulary:
                symbols.append(("".join(parts), {place}))
            elif fallback:
                for part in parts:
                    places = {place} if part is parts[1] else set()
                    symbols += [(f"<0x{byte:02X}>", places) for byte in part.encode()]
            elif "<unk>" in vocabulary:
                symbols.append(("<unk>", {place}))
        for left, right in merges:
            k = 0
            while k < len(symbols) - 1:
                (first, before), (second, after) = symbols[k : k + 2]
                if (first, second) == (left, right):
                    symbols[k : k + 2] = [(left + right.removeprefix(marks[0]), before | after)]
                k += 1
        tokens += [(vocabulary[spelling], places) for spelling, places in symbols]
    return tokens


@many()
@given(
    st.text(LETTERS, max_size=10),
    st.lists(st.sampled_from([*NORMALIZERS]), max_size=3, unique=True),
    st.sets(st.sampled_from(LETTERS)),
    st.lists(st.tuples(*[st.sampled_from(LETTERS)] * 2), max_size=4, unique=True),
    st.sampled_from([("", ""), ("##", ""), ("", "</w>")]),
    st.booleans(),
    st.booleans(),
)
def test_offsets_of_bpe_equal_those_of_a_slow_reference(
    text: str,
    names: list[str],
    missing: set[str],
    pairs: list[tuple[str, str]],
    marks: tuple[str, str],
    has_unknown: bool,
    fallback: bool,
) -> None:
    spellings = [f"<0x{byte:02X}>" for byte in range(256)] * fallback + ["<unk>"] * has_unknown
    known = [letter for letter in LETTERS if letter not in missing]
    spellings += [f"{before}{letter}" for letter in known for before in {"", marks[0]}]
    spellings += [f"{letter}{marks[1]}" for letter in known[1:] if marks[1]]
    merges = [(left, marks[0] + right) for left, right in pairs if {left, right} <= {*known}]
    spellings += [left + right.removeprefix(marks[0]) for left, right in merges]
    vocabulary = {spelling: i for i, spelling in enumerate(dict.fromkeys(spellings))}
    options = {"continuing_subword_prefix": marks[0], "end_of_word_suffix": marks[1]}
    options |= {"unk_token": "<unk>" * has_unknown}
    given_options = {name: value for name, value in options.items() if value}
    made = tokenizers.Tokenizer(
        models.BPE(vocabulary, merges, byte_fallback=fallback, **given_options)
    )
    made.normalizer = normalizers.Sequence([NORMALIZERS[name] for name in names])
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    expected = reference(text, names, vocabulary, merges, marks, fallback)
    ids, starts, ends = HuggingFace(made.to_str().encode()).encode(text.encode())
    assert ids == [token_id for token_id, _ in expected]
    for start, end, (_, places) in zip(starts, ends, expected, strict=True):
        if places:
            assert (start, end) == (min(places), max(places) + 1)
        else:
            assert start == end <= len(text)

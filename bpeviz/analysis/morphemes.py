"""Morphemes: whether the tokens of words end where their morphemes do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from bpeviz.analysis.metrics import Column
from bpeviz.text import label

Word = tuple[str, ...]
"""The morphemes of a word."""


@dataclass(frozen=True)
class Morphemes:
    """The token boundaries of a tokenizer inside words, beside the ends of their morphemes.

    Attributes:
        title: The title of the tokenizer.
        words: Each word with its boundaries: `+` where a morpheme ends, `|` elsewhere.
        boundaries: The number of token boundaries.
        ends: The number of ends of morphemes.
        common: The number of token boundaries where a morpheme ends.
    """

    title: str
    words: tuple[str, ...]
    boundaries: int
    ends: int
    common: int


def read(typed: str) -> list[Word]:
    """Return the morphemes of each word. `+` separates morphemes, spaces and commas words.

    >>> read("jump + s, un+happi+ness low")
    [('jump', 's'), ('un', 'happi', 'ness'), ('low',)]
    """
    joined = re.sub(r"\s*\+\s*", "+", typed)
    words = (tuple(filter(None, word.split("+"))) for word in re.split(r"[\s,;]+", joined))
    return [word for word in words if word]


def text_of(words: Sequence[Word]) -> str:
    """Return a text of the words, each after a space, as in running text."""
    return "".join(f" {''.join(word)}" for word in words)


def compare(words: Sequence[Word], column: Column) -> Morphemes:
    """Compare the token boundaries inside words with the ends of their morphemes.

    Args:
        words: The words.
        column: The tokenizer with its boundaries of `text_of(words)`.
    """
    boundaries = {*column.inner_boundaries.tolist()}
    written: list[str] = []
    number = ends = common = position = 0
    for word in words:
        position += 1  # the space
        raw = "".join(word).encode()
        morphemes = {*accumulate(len(morpheme.encode()) for morpheme in word[:-1])}
        inside = [at for at in range(1, len(raw)) if position + at in boundaries]
        pieces = [label(raw[start:end]) for start, end in pairwise((0, *inside, len(raw)))]
        marks = [" + " if at in morphemes else " | " for at in inside]
        written.append(
            "".join(f"{piece}{mark}" for piece, mark in zip(pieces, [*marks, ""], strict=True))
        )
        number += len(inside)
        ends += len(morphemes)
        common += len(morphemes.intersection(inside))
        position += len(raw)
    return Morphemes(column.title, tuple(written), number, ends, common)

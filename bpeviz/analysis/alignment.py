"""Aligned spans: the smallest pieces of a text at whose ends all of several tokenizers end a token.

Distillation and speculative decoding between vocabularies, and a change of the tokenizer, go from
one such end to the next. See Minixhofer et al. 2025 (arXiv 2503.20083).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpeviz.analysis.metrics import Column, common_ends
from bpeviz.core.boundaries import DROPPED_ID
from bpeviz.text import label


class AlignedPiece(NamedTuple):
    """A piece of text that tokenizers divide in different ways.

    Attributes:
        text: The piece, readable.
        times: The number of aligned spans with this text.
        tokens: The label and the id of each token of its first occurrence, under each tokenizer.
    """

    text: str
    times: int
    tokens: Sequence[Sequence[tuple[str, int]]]


def tokens_of_spans(columns: Sequence[Column]) -> NDArray[np.int64]:
    """Return the number of tokens in each aligned span [columns, spans]."""
    ends = common_ends(columns)
    counts = []
    for column in columns:
        before = np.append(0, np.cumsum(column.ids != DROPPED_ID))
        until_end = before[np.searchsorted(column.cuts, ends, "right")]
        counts.append(np.diff(until_end, prepend=0))
    return np.array(counts, np.int64)


def most_different(text: str, columns: Sequence[Column], most: int = 10) -> list[AlignedPiece]:
    """Return the pieces with the largest difference in tokens, and of equal ones with the most.

    Pieces that are one token everywhere are left out.
    """
    raw, counts, ends = text.encode(), tokens_of_spans(columns), common_ends(columns)
    starts, largest = np.append(0, ends)[:-1], counts.max(0, initial=0)
    divided = np.flatnonzero(largest > 1)
    spread = largest - counts.min(0, initial=len(raw))
    ranked = divided[np.lexsort((-largest[divided], -spread[divided]))]
    contents = [raw[starts[i] : ends[i]] for i in ranked]
    times = Counter(contents)
    first = dict(zip(reversed(contents), reversed(ranked.tolist()), strict=True))
    return [
        AlignedPiece(
            label(content),
            times[content],
            [_tokens(raw, column, starts[i], ends[i]) for column in columns],
        )
        for content in [*times][:most]
        for i in [first[content]]
    ]


def _tokens(raw: bytes, column: Column, start: int, end: int) -> list[tuple[str, int]]:
    """Return label and id of the tokens between two places in bytes, which are ends of tokens."""
    first, last = np.searchsorted(column.cuts, (start, end), "right").tolist()
    cuts = column.cuts[first:last].tolist()
    spans = zip([start, *cuts[:-1]], cuts, column.ids[first:last].tolist(), strict=True)
    return [(label(raw[begin:cut]), i) for begin, cut, i in spans if i != DROPPED_ID]


def sentence(column: Column, other: Column) -> str:
    """Return how many token boundaries of a column another one has, too, in words."""
    name, other_name = column.name or column.title, other.name or other.title
    boundaries = f"{column.tokens:,} token {'boundary' if column.tokens == 1 else 'boundaries'}"
    agreed = f"{len(common_ends([column, other])):,} of the {boundaries}"
    return f"{name} and {other_name} share {agreed} of {name}."

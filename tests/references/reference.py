"""Encoding and splitting by their definitions, slow and simple.

Tests compare encoders and boundaries with these loops, and trainers with the definition of BPE in
`bpeviz.trainers.bpe`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import regex

from bpeviz.trainers.bpe import Pair, merge


def encode(ids: Sequence[int], rank: dict[Pair, int]) -> list[int]:
    """Replace the pair of the lowest rank everywhere, until no pair has a rank."""
    ids = list(ids)
    while True:
        present = [rank[pair] for pair in pairwise(ids) if pair in rank]
        if not present:
            return ids
        lowest = min(present)
        pair = next(pair for pair, new in rank.items() if new == lowest)
        ids = merge(ids, pair, lowest)


def segment(ids: Sequence[int], merges: Sequence[Pair], first_id: int) -> list[tuple[int, int]]:
    """Apply each merge once, in order; return the id and the number of atoms of each token."""
    sizes = dict.fromkeys(ids, 1)
    row = list(ids)
    for new, pair in enumerate(merges, first_id):
        row = merge(row, pair, new)
        sizes[new] = sizes.get(pair[0], 1) + sizes.get(pair[1], 1)
    return [(token, sizes[token]) for token in row]


def split_by_expression(expression: str, text: str) -> list[str]:
    """Split a text into the matches of an expression and the parts between them."""
    places = {0, len(text)}
    end = 0
    for match in regex.compile(expression, cache_pattern=False).finditer(text):
        for place in match.span():
            if place > end:
                end = place
                places.add(place)
    return [text[start:stop] for start, stop in pairwise(sorted(places))]

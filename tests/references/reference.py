"""Encoding and splitting by their definitions, slow and simple.

Tests compare encoders and boundaries with these loops, and trainers with the definition of BPE in
`bpeviz.trainers.bpe`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import regex
import tiktoken

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


@cache
def known_to_both() -> frozenset[str]:
    """Return the characters that `regex` and tiktoken's Rust assign to the same classes.

    Their Unicode tables differ in version, so pre-tokenization differs for newer characters.
    """
    every = "".join(chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF)
    single_bytes = {bytes([i]): i for i in range(256)}
    differing: set[str] = set()
    categories = [rf"\p{{{name}}}" for name in ("L", "N", "M", "Lu", "Lt", "Ll", "Lm", "Lo")]
    for pattern in (*categories, r"\s", r"\w"):
        rust = tiktoken.Encoding(
            pattern, pat_str=pattern, mergeable_ranks=single_bytes, special_tokens={}
        )
        of_rust = set(rust.decode(rust.encode_ordinary(every)))
        differing |= of_rust ^ set(regex.findall(pattern, every))
    return frozenset(every) - differing


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

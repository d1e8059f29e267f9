"""Byte-pair encoding by its definition, slow and simple.

It shares no code with `bpeviz`. Tests compare trainers, encoders and boundaries with these loops.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import regex
import tiktoken

Pair = tuple[int, int]


class Step(NamedTuple):
    """A merge of the naive trainer, with the fields of `bpeviz.Merge`, in its order."""

    left: int
    right: int
    new_id: int
    count: int
    applied: int
    ties: int


def replace_all(ids: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Replace a pair from left to right."""
    out: list[int] = []
    i = 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def first_of(tied: Sequence[Pair], names: Sequence[Any] | Mapping[int, Any], ties: str) -> Pair:
    """Return the pair that a tie rule puts first: "first", "smallest", "bytes" or "largest".

    Args:
        tied: The pairs, in the order in which they were first seen.
        names: The spelling of each token, by id. Strings are in the order of their UTF-8 bytes.
        ties: The tie rule.
    """
    if ties == "first":
        return tied[0]
    if ties == "smallest":
        return min(tied)
    named = {pair: (names[pair[0]], names[pair[1]]) for pair in tied}
    extreme = min(named.values()) if ties == "bytes" else max(named.values())
    return min(pair for pair in tied if named[pair] == extreme)


def count_pairs(pre_tokens: Sequence[tuple[Sequence[int], int]]) -> dict[Pair, int]:
    """Count neighbors, overlaps included. Pairs are in first-seen order."""
    counts: dict[Pair, int] = {}
    for ids, weight in pre_tokens:
        for i in range(len(ids) - 1):
            pair = ids[i], ids[i + 1]
            counts[pair] = counts.get(pair, 0) + weight
    return counts


def train(
    pre_tokens: Sequence[tuple[Sequence[int], int]],
    symbols: Sequence[str],
    limit: int,
    ties: str = "first",
    min_count: int = 1,
) -> tuple[list[Step], str]:
    """Train: count all pairs, choose the most frequent, replace it everywhere, repeat.

    Args:
        pre_tokens: Rows of atom ids, each with its count.
        symbols: The symbol of each atom, by id.
        limit: The largest number of merges.
        ties: The tie rule: "first", "smallest", "bytes" or "largest".
        min_count: Pairs with a lower count are not merged.

    Returns:
        The merges, and why training ended: "full", "no pair" or "rare".
    """
    rows = [(list(ids), weight) for ids, weight in pre_tokens]
    names = list(symbols)
    steps: list[Step] = []
    while len(steps) < limit:
        counts = count_pairs(rows)
        highest = max(counts.values(), default=0)
        if not counts:
            return steps, "no pair"
        if highest < min_count:
            return steps, "rare"
        tied = [pair for pair, count in counts.items() if count == highest]
        pair = first_of(tied, names, ties)
        new = len(names)
        names.append(names[pair[0]] + names[pair[1]])
        merged = [(replace_all(ids, pair, new), weight) for ids, weight in rows]
        applied = sum(
            (len(before) - len(after)) * weight
            for (before, weight), (after, _) in zip(rows, merged, strict=True)
        )
        steps.append(Step(*pair, new, highest, applied, len(tied) - 1))
        rows = merged
    return steps, "full"


def encode(ids: Sequence[int], rank: dict[Pair, int]) -> list[int]:
    """Replace the pair of the lowest rank everywhere, until no pair has a rank."""
    ids = list(ids)
    while True:
        present = [rank[pair] for pair in pairwise(ids) if pair in rank]
        if not present:
            return ids
        lowest = min(present)
        pair = next(pair for pair, new in rank.items() if new == lowest)
        ids = replace_all(ids, pair, lowest)


def segment(ids: Sequence[int], merges: Sequence[Pair], first_id: int) -> list[tuple[int, int]]:
    """Apply each merge once, in order; return the id and the number of atoms of each token."""
    sizes = dict.fromkeys(ids, 1)
    row = list(ids)
    for new, pair in enumerate(merges, first_id):
        row = replace_all(row, pair, new)
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

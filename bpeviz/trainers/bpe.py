"""Byte-pair encoding: merge the most frequent pair of neighbors repeatedly.

Sources: Gage, "A New Algorithm for Data Compression", C Users Journal, 1994; Sennrich, Haddow
and Birch, 2016, arXiv:1508.07909 (over characters, with an end-of-word mark). Over bytes it is
called byte-level BPE: Wang, Cho and Gu, 2019, arXiv:1909.03341.

`definition` is for reading. `train_by_definition` has all tie rules, too: the tests compare it with
`bpe_loop`, which makes the same merges fast. `core.merging` encodes a text with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from bpeviz.core.merges import Merge
from bpeviz.core.training import Stopped


def definition(rows: Rows, n_atoms: int, n_merges: int) -> list[Pair]:
    """Return the pairs that BPE merges, in order: merge i makes the id n_atoms + i.

    The rows are pre-tokens with their counts: no merge may cross from one into the next. In chapter
    6.5 of the course of Hugging Face, u + g comes first (20 times), then u + n (16), h + ug (15):

    >>> definition([(b"hug", 10), (b"pug", 5), (b"pun", 12), (b"bun", 4), (b"hugs", 5)], 256, 3)
    [(117, 103), (117, 110), (104, 256)]
    """
    merges: list[Pair] = []
    while len(merges) < n_merges:
        counts = count(rows)  # anew, since the last merge took neighbors from other pairs
        if not counts:  # each row is a single token
            break
        pair = max(counts, key=counts.__getitem__)  # the first of the most frequent, as in minbpe
        new_id = n_atoms + len(merges)
        # The new token is a neighbor like any other, so later merges can make longer ones of it.
        rows = [(merge(ids, pair, new_id), weight) for ids, weight in rows]
        merges.append(pair)
    return merges


Pair = tuple[int, int]
Rows = Sequence[tuple[Sequence[int], int]]
"""Distinct pre-tokens as atom ids, each with its count, in first-seen order."""


def count(rows: Rows) -> dict[Pair, int]:
    """Return the weighted count of each pair of neighbors, in the order of the text.

    Overlapping pairs count, too: 1 1 1 has (1, 1) twice, though a merge replaces one of the two.

    >>> count([([1, 2, 3, 1, 2], 1)]), count([([1, 1, 1], 10)])
    ({(1, 2): 2, (2, 3): 1, (3, 1): 1}, {(1, 1): 20})
    """
    counts: dict[Pair, int] = {}
    for ids, weight in rows:
        for pair in pairwise(ids) if weight else ():  # a pair that counts 0 is not merged
            counts[pair] = counts.get(pair, 0) + weight
    return counts


def merge(ids: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Replace a pair of neighbors by a new token, from left to right.

    >>> merge([1, 2, 3, 1, 2], (1, 2), 4), merge([1, 1, 1], (1, 1), 4)
    ([4, 3, 4], [4, 1])
    """
    merged: list[int] = []
    left = None  # the previous token, unless it is already merged
    for token_id in ids:
        if (left, token_id) == pair:
            merged[-1], left = new_id, None
        else:
            merged.append(token_id)
            left = token_id
    return merged


TieRule = Literal["first", "smallest", "bytes", "largest"]
"""The pair to merge among pairs of the same count.

"first" is the pair that occurs first in the text, and "smallest" the pair with the smallest ids.
"bytes" is the lexicographically smallest pair by the bytes of its tokens, and "largest" the largest
one: the left tokens are compared first. Tokens of characters are compared as strings, since code
points have the order of their UTF-8 bytes. Among pairs of the same bytes, the smallest ids win.
"""

AnyTieRule = TieRule | Literal["shortest"]
"""Also SentencePiece's rule: the pair with the shorter, then lexicographically smaller string."""


def train_by_definition(
    rows: Rows,
    symbols: Sequence[str],
    limit: int,
    ties: AnyTieRule = "first",
    min_count: int = 1,
    allowed: Callable[[str], bool] = lambda name: True,
) -> tuple[list[Merge], Stopped]:
    """Return the merges, and why there are not more, by the definition with all of its options.

    Args:
        rows: The pre-tokens.
        symbols: The string of each atom.
        limit: The most merges.
        ties: The tie rule.
        min_count: The lowest count of a pair that is merged.
        allowed: Returns whether a pair may be merged into this string.
    """
    names, merges = [*symbols], list[Merge]()
    while len(merges) < limit:
        counts = {pair: n for pair, n in count(rows).items() if allowed(spell(pair, names))}
        highest = max(counts.values(), default=0)
        if highest < max(1, min_count):
            return merges, "rare" if highest else "no pair"
        tied = [pair for pair in counts if counts[pair] == highest]
        pair, new_id = choose(tied, names, ties), len(names)
        before, rows = rows, [(merge(ids, pair, new_id), weight) for ids, weight in rows]
        applied = n_tokens(before) - n_tokens(rows)
        merges.append(Merge(*pair, new_id, highest, applied, len(tied) - 1))
        names.append(spell(pair, names))
    return merges, "full"


def spell(pair: Pair, names: Sequence[Any] | Mapping[int, Any]) -> Any:
    """Return the string or the bytes of a pair."""
    return names[pair[0]] + names[pair[1]]


def choose(
    tied: Sequence[Pair],
    names: Sequence[Any] | Mapping[int, Any],
    ties: AnyTieRule = "first",
) -> Pair:
    """Return the pair that a tie rule puts first.

    Args:
        tied: Pairs in the order of their first occurrence.
        names: The string or the bytes of each token, by id.
        ties: The tie rule.
    """
    if ties == "first":
        return tied[0]
    if ties == "smallest":
        return min(tied)
    if ties == "shortest":
        return min(tied, key=lambda pair: (len(spell(pair, names)), spell(pair, names), pair))
    named = {pair: (names[pair[0]], names[pair[1]]) for pair in tied}
    first = min(named.values()) if ties == "bytes" else max(named.values())
    return min(pair for pair in tied if named[pair] == first)


def n_tokens(rows: Rows) -> int:
    """Return the weighted number of tokens."""
    return sum(len(ids) * weight for ids, weight in rows)

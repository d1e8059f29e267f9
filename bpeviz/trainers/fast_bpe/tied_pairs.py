"""The order in which pairs of the same count are merged."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpeviz.trainers.fast_bpe.pairs import Pairs


class TiedOrder(NamedTuple):
    """Which of several tied pairs are merged, and in which order. Pairs are given by index.

    Attributes:
        runs: Pairs merged one after the other: (a, b), then (ab, c), then (abc, d), …
        losses: For each pair that is no longer as frequent, the number (from 0) of the first merge
            that took one of its occurrences.
        undecided: The pairs left, in order, from the first one that overlaps with itself.
    """

    runs: list[list[int]]
    losses: list[int]
    undecided: list[int]


def order_tied(
    pairs: Pairs, owner: NDArray[np.int32], follower: NDArray[Any], none: int, limit: int
) -> TiedOrder:
    """Return the order in which tied pairs are merged if the one that occurs first wins.

    No pair is more frequent than these. So a new pair is as frequent only if every occurrence of
    (a, b) has the same neighbor, say c on its right. Then (b, c) is tied with (a, b) and always
    follows it. The new pair (ab, c) begins where (a, b) did, before all others, so it is merged
    next: the two form a run.

    Two pairs that share a token at only some of their occurrences exclude each other: merging one
    makes the other rarer. Only the ends of a run have such neighbors, because within a run each
    token is shared at all occurrences.

    Args:
        pairs: All pairs of the highest count, none of which has lost an occurrence.
        owner: Index of the pair of each position.
        follower: For each position, index of the pair that begins with the second token of this
            occurrence, or `none`.
        none: Marks a position without a follower.
        limit: Number of merges after which to stop.
    """
    next_of, before, after = _neighbors(pairs, owner, follower, none)
    waiting = [True] * pairs.n_pairs
    runs: list[list[int]] = []
    losses: list[int] = []
    n_merges = 0
    by_position = np.argsort(pairs.positions[pairs.starts]).tolist()
    for rank, head in enumerate(by_position):
        if not waiting[head]:
            continue
        run = [head]
        pair = next_of[head]
        while pair >= 0 and waiting[pair]:
            run.append(pair)
            pair = next_of[pair]
        followers = after.get(run[-1], ())
        if head in followers:  # the run overlaps with itself, as in "abab": a b, b a
            return TiedOrder(runs, losses, [i for i in by_position[rank:] if waiting[i]])
        for pair in run:
            waiting[pair] = False
        for pair in before.get(head, ()):
            if waiting[pair]:
                waiting[pair] = False
                losses.append(n_merges)
        if n_merges + len(run) >= limit:
            runs.append(run[: limit - n_merges])
            break
        runs.append(run)
        n_merges += len(run)
        for pair in followers:
            if waiting[pair]:
                waiting[pair] = False
                losses.append(n_merges - 1)
    return TiedOrder(runs, losses, [])


def _neighbors(
    pairs: Pairs, owner: NDArray[np.int32], follower: NDArray[Any], none: int
) -> tuple[list[int], dict[int, list[int]], dict[int, list[int]]]:
    """Return how tied pairs share tokens; for the arguments see `order_tied`.

    Returns:
        For each pair the pair that follows all its occurrences, or -1. For each pair the pairs
        that come before some of its occurrences, and those that come after some.
    """
    starts = pairs.starts
    first_follower = follower[starts]
    always = np.logical_and.reduceat(follower == first_follower[owner], starts)
    # A pair that follows always has no other occurrences: it would be more frequent.
    always &= first_follower != none
    next_of = np.where(always, first_follower.astype(np.int64), -1).tolist()
    sometimes = (follower != none) & ~always[owner]
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    touching = zip(owner[sometimes].tolist(), follower[sometimes].tolist(), strict=True)
    for left, right in dict.fromkeys(touching):
        after.setdefault(left, []).append(right)
        before.setdefault(right, []).append(left)
    return next_of, before, after

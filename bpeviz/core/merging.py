"""Merging of neighbors one pair at a time, the lowest rank first and from the left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeVar

Part = TypeVar("Part")


Event = tuple[int, int, int]
"""The rank of a merge, and the atoms at which its left and its right part begin."""


def merge_by_rank(
    atoms: Sequence[Part],
    rank_of: Callable[[tuple[Part, Part]], int | None],
    merged: Callable[[Part, Part, int], Part],
    drops: Callable[[], bool] | None = None,
) -> tuple[list[Part], list[Event]]:
    """Merge neighbors until no two have a rank.

    O(n log n), since a pre-token may have any length.

    Args:
        atoms: The parts at first.
        rank_of: Returns the rank of a pair of neighbors, or None if they are not merged.
        merged: Returns the part that two neighbors of a rank make.
        drops: Returns whether to leave out a merge until another one was made.

    Returns:
        The remaining parts, and the merges in their order.
    """
    parts: list[Part | None] = [*atoms, None]  # at their first atom; None elsewhere
    following = [*range(1, len(parts) + 1)]
    preceding = [*range(-1, len(parts) - 1)]
    events: list[Event] = []
    dropped: list[tuple[int, int]] = []
    # The possible merges, and some that are no longer possible.
    possible = [
        (rank, i) for i, pair in enumerate(pairwise(atoms)) if (rank := rank_of(pair)) is not None
    ]
    heapify(possible)
    while possible:
        rank, i = heappop(possible)
        j = following[i]
        left, right = parts[i], parts[j]
        if left is None or right is None or rank_of((left, right)) != rank:
            continue  # an earlier merge used one of the two
        if drops is not None and drops():
            dropped.append((rank, i))
            continue
        events.append((rank, i, j))
        new = merged(left, right, rank)
        parts[i], parts[j] = new, None
        following[i] = k = following[j]
        preceding[k] = i
        if (after := parts[k]) is not None and (newer := rank_of((new, after))) is not None:
            heappush(possible, (newer, i))
        h = preceding[i]
        before = None if h < 0 else parts[h]
        if before is not None and (newer := rank_of((before, new))) is not None:
            heappush(possible, (newer, h))
        while dropped:
            heappush(possible, dropped.pop())
    return [part for part in parts if part is not None], events

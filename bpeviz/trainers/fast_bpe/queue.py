"""Pairs that wait to be merged, in buckets by an upper bound of their count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpeviz.trainers.fast_bpe.pairs import Entry, Pairs


class SortedPairs:
    """Pairs in descending order of count; those of the highest count are removed together.

    Attributes:
        count: The highest count left, 0 if none is.
        n_tied: Number of pairs with that count.
    """

    def __init__(self, pairs: Pairs, counts: NDArray[np.int64]) -> None:
        """Sort pairs by their counts, each 1 or more."""
        order = (-counts).argsort(kind="stable")
        # Positions are sorted at the first `pop_pairs`: for most pairs that never happens.
        self._pairs, self._starts, self._order = pairs, pairs.starts, order
        self._ends: list[int] = []
        self._counts: list[int] = counts.take(order).tolist()
        self._counts.append(0)
        self._next = 0
        self._advance(0)

    def _advance(self, by: int) -> int:
        """Move past `by` pairs and return the index of the first of them."""
        before = self._next
        self._next = end = before + by
        counts = self._counts
        self.count = count = counts[end]
        while count and counts[end] == count:
            end += 1
        self.n_tied = end - self._next
        return before

    def pop_pairs(self) -> Pairs:
        """Remove and return the pairs of the highest count, as arrays."""
        if not self._ends:
            self._pairs = self._pairs.take(self._order[self._next :])
            self._starts = self._pairs.starts
            self._ends = [0, *self._pairs.lengths.cumsum().tolist()]
            self._counts = self._counts[self._next :]
            self._next = 0
        start = self._advance(self.n_tied)
        end = self._next
        lefts, rights, lengths, positions = self._pairs
        of_pairs = positions[self._ends[start] : self._ends[end]]
        return Pairs(lefts[start:end], rights[start:end], lengths[start:end], of_pairs)

    def pop_entries(self, first: bool, names: Sequence[str] | None) -> list[Entry]:
        """Remove and return the pairs of the highest count, as entries (`Pairs.entries`)."""
        start = self._advance(self.n_tied)
        indices: Iterable[int] = range(start, self._next)
        if not self._ends:
            indices = self._order[start : self._next].tolist()
        return self._pairs.entries(indices, self._starts, first, names)


class PairQueue:
    """A priority queue of pairs by an upper bound of their count, then by the tie rule.

    Counts only fall during a training, so there is a bucket for each count and only the top
    bucket is ordered. The pairs that one merge creates with NumPy stay in one `SortedPairs`,
    which waits in the bucket of its highest count.

    Attributes:
        count: Count of the top bucket, 0 before the first.
        tied: Entries of the top bucket, a heap.
        weights: Weight of each position of the row, or None where all are 1.
        min_count: Pairs with a lower count are dropped.
        first: Whether the pair that occurs first wins a tie, not the one with the smallest ids.
        names: The string of each token if the smallest strings win a tie, or None.
    """

    def __init__(
        self,
        weights: NDArray[Any] | None,
        min_count: int,
        first: bool,
        names: Sequence[str] | None = None,
    ) -> None:
        self.weights, self.min_count, self.first, self.names = weights, min_count, first, names
        self.count = 0
        self.tied: list[Entry] = []
        self._buckets: dict[int, list[Entry]] = {}
        self._groups: dict[int, list[SortedPairs]] = {}
        self._counts: list[int] = []  # of all buckets, negative: a heap

    def __bool__(self) -> bool:
        """Return whether pairs wait below the top bucket."""
        return bool(self._counts)

    def push(self, count: int, entry: Entry) -> None:
        """Add a pair whose count is at most `count`."""
        if count == self.count:
            heappush(self.tied, entry)
        elif count >= self.min_count:
            bucket = self._buckets.get(count)
            if bucket is None:
                self._buckets[count] = [entry]
                heappush(self._counts, -count)
            else:
                bucket.append(entry)

    def push_pairs(self, pairs: Pairs) -> None:
        """Add pairs with their counts at all their positions."""
        counts = pairs.counts(self.weights)
        frequent = counts >= self.min_count
        if np.count_nonzero(frequent) < len(frequent):
            pairs, counts = pairs.select(frequent), counts[frequent]
        group = SortedPairs(pairs, counts)
        if group.count == self.count:
            for entry in group.pop_entries(self.first, self.names):
                heappush(self.tied, entry)
        self._push_group(group)

    def _push_group(self, group: SortedPairs) -> None:
        count = group.count
        if count:
            if count not in self._buckets:
                self._buckets[count] = []
                heappush(self._counts, -count)
            self._groups.setdefault(count, []).append(group)

    def open_bucket(self) -> tuple[int, list[SortedPairs]]:
        """Make the next bucket the top one.

        Returns:
            The number of pairs in it, and the groups among them, for `take_entries` or
            `take_pairs`.
        """
        self.count = count = -heappop(self._counts)
        self.tied = self._buckets.pop(count)
        groups = self._groups.pop(count, [])
        tied = sum([group.n_tied for group in groups])  # noqa: C419 (a list is faster)
        return len(self.tied) + tied, groups

    def take_entries(self, groups: list[SortedPairs]) -> None:
        """Move the groups' pairs of the top count to the heap."""
        for group in groups:
            self.tied += group.pop_entries(self.first, self.names)
            self._push_group(group)
        heapify(self.tied)

    def take_pairs(self, groups: list[SortedPairs]) -> Pairs:
        """Remove and return all pairs of the top bucket: the groups' and the heap's."""
        parts = []
        for group in groups:
            parts.append(group.pop_pairs())
            self._push_group(group)
        if self.tied:
            parts.append(Pairs.from_entries(self.tied))
            self.tied = []
        return Pairs.concatenate(parts)

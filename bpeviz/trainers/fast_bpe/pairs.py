"""Token pairs with the positions of all their occurrences, stored as flat arrays.

The fast BPE trainer recounts, sorts and merges many pairs at once in this form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Entry = tuple[Any, int, int, Any]
"""A single pair in a heap: rank among ties, left id, right id, positions (a list or an array)."""


class Pairs(NamedTuple):
    """Token pairs and their positions.

    Pair i is (lefts[i], rights[i]) and owns the next lengths[i] values of `positions`.

    Attributes:
        lefts: Ids [pairs].
        rights: Ids [pairs].
        lengths: int64 [pairs], positions of each pair, 1 or more.
        positions: int32, where the left token of each occurrence begins; ascending within a pair.
    """

    lefts: NDArray[Any]
    rights: NDArray[Any]
    lengths: NDArray[np.int64]
    positions: NDArray[np.int32]

    @classmethod
    def from_entries(cls, entries: Sequence[Entry]) -> Pairs:
        """Return the pairs of at least one heap entry."""
        _, lefts, rights, positions = zip(*entries, strict=True)
        lists = [some if type(some) is list else some.tolist() for some in positions]
        lengths = np.array([*map(len, lists)], np.int64)
        flat = np.fromiter(chain.from_iterable(lists), np.int32, int(lengths.sum()))
        return cls(np.array(lefts, np.int32), np.array(rights, np.int32), lengths, flat)

    @classmethod
    def concatenate(cls, parts: Sequence[Pairs]) -> Pairs:
        """Return the pairs of all parts, one part after the other."""
        return parts[0] if len(parts) == 1 else cls(*map(np.concatenate, zip(*parts, strict=True)))

    @classmethod
    def combine(
        cls, blocks: Iterable[Pairs], weights: NDArray[Any] | None = None, min_count: int = 1
    ) -> Pairs:
        """Join the positions that the same pair has in consecutive blocks of the row.

        Args:
            blocks: The pairs of each block, in the order of the row.
            weights: See `counts`.
            min_count: Pairs with a lower count over all blocks are dropped.
        """
        parts = [*blocks]
        if len(parts) == 1:
            return parts[0]
        part_keys = [part.lefts.astype(np.int64) << 32 | part.rights for part in parts]
        keys, key_of = np.unique(np.concatenate(part_keys), return_inverse=True)
        lengths, counts = np.zeros((2, len(keys)), np.int64)
        np.add.at(lengths, key_of, np.concatenate([part.lengths for part in parts]))
        np.add.at(counts, key_of, np.concatenate([part.counts(weights) for part in parts]))
        frequent = counts >= min_count
        index_of = frequent.cumsum() - 1  # of a key among the frequent ones
        keys, lengths = keys[frequent], lengths[frequent]
        positions = np.empty(int(lengths.sum()), np.int32)
        free = lengths.cumsum() - lengths  # where the next positions of each pair are written
        for part in parts:
            of_part, key_of = key_of[: part.n_pairs], key_of[part.n_pairs :]
            kept = part.select(frequent[of_part])
            pair = index_of[of_part[frequent[of_part]]]
            targets = np.repeat(free[pair] - kept.starts, kept.lengths)
            targets += np.arange(len(targets))
            positions[targets] = kept.positions
            free[pair] += kept.lengths
        lefts, rights = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
        return cls(lefts, rights, lengths, positions)

    @property
    def n_pairs(self) -> int:
        """The number of pairs."""
        return len(self.lefts)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Return where in `positions` those of each pair start."""
        return self.lengths.cumsum() - self.lengths

    def counts(self, weights: NDArray[Any] | None) -> NDArray[np.int64]:
        """Return the count of each pair.

        Args:
            weights: Weight of each position of the row, or None where all are 1.
        """
        if weights is None or not self.n_pairs:
            return self.lengths
        return np.add.reduceat(weights.take(self.positions), self.starts, dtype=np.int64)

    def select(self, mask: NDArray[np.bool_]) -> Pairs:
        """Return the pairs that a mask [pairs] selects."""
        positions = self.positions.compress(np.repeat(mask, self.lengths))
        return Pairs(self.lefts[mask], self.rights[mask], self.lengths[mask], positions)

    def keep_positions(self, mask: NDArray[np.bool_]) -> Pairs:
        """Return the pairs with only the masked positions; drop pairs that have none left."""
        lengths = np.add.reduceat(mask, self.starts, dtype=np.int64)
        left = lengths > 0
        positions = self.positions.compress(mask)
        return Pairs(self.lefts[left], self.rights[left], lengths[left], positions)

    def take(self, indices: NDArray[np.int64]) -> Pairs:
        """Return the pairs with these indices, in that order."""
        lengths = self.lengths[indices]
        ends = lengths.cumsum()
        sources = np.repeat(self.starts[indices] - ends + lengths, lengths)
        sources += np.arange(len(sources))
        positions = self.positions.take(sources)
        return Pairs(self.lefts[indices], self.rights[indices], lengths, positions)

    def entries(
        self,
        indices: Iterable[int],
        starts: NDArray[np.int64],
        first: bool,
        names: Sequence[str] | None = None,
    ) -> list[Entry]:
        """Return heap entries of the pairs with these indices.

        Args:
            indices: The pairs.
            starts: The property `starts`, which callers compute once.
            first: Whether the rank is the first position.
            names: The string of each token, if the rank is those of the pair. Without either, it
                is 0 and ids break ties.
        """
        lefts, rights, lengths, positions = self
        entries = []
        for i in indices:
            start = starts.item(i)
            of_pair = positions[start : start + lengths.item(i)]
            left, right = lefts.item(i), rights.item(i)
            rank: Any = positions.item(start) if first else 0
            if names is not None:
                rank = names[left], names[right]
            entries.append((rank, left, right, of_pair))
        return entries


def stable_argsort(keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices that sort keys (0 or more) stably.

    Sorts by 16 bits at a time: NumPy uses a radix sort for 16-bit integers only.
    """
    order = keys.astype(np.uint16, copy=False).argsort(kind="stable")
    if keys.itemsize > 2:
        for bits in range(16, int(keys.max(initial=0)).bit_length(), 16):
            digits = (keys.take(order) >> bits).astype(np.uint16)
            order = order.take(digits.argsort(kind="stable"))
    return order


def group_starts(*keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices at which at least one of several parallel key arrays changes."""
    starts = np.ones(len(keys[0]), np.bool_)
    np.not_equal(keys[0][1:], keys[0][:-1], out=starts[1:])
    for key in keys[1:]:
        starts[1:] |= key[1:] != key[:-1]
    return starts.nonzero()[0]


def group_lengths(starts: NDArray[np.int64], end: int) -> NDArray[np.int64]:
    """Return the length of each group, the last of which reaches to `end`."""
    lengths = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
    lengths[-1:] = end - starts[-1:]
    return lengths

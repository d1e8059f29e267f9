"""Pre-tokens laid out in one row of token ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class TokenRow:
    """Distinct pre-tokens in first-seen order, with a gap before, between and after them.

    Training takes both arrays, so that their memory is free after a round.

    Attributes:
        ids: uint16 or int32 [positions], token ids; the largest value of the type is a gap.
        weights: Integers [positions], how often the pre-token of each position occurs, or None
            where every pre-token occurs once.
    """

    ids: NDArray[Any]
    weights: NDArray[Any] | None

    def release(
        self, dtype: type[np.uint16 | np.int32]
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return both arrays, the ids in a type that can hold them, and keep neither."""
        ids, weights = self.ids, self.weights
        self.ids, self.weights = ids[:0].copy(), None
        if ids.dtype != dtype:
            gaps = ids == ids[0]
            ids = ids.astype(dtype)
            ids[gaps] = gap_of(dtype)
        return ids, weights

    @classmethod
    def from_pre_tokens(cls, pre_tokens: Sequence[tuple[Sequence[int], int]]) -> TokenRow:
        """Lay out pre-tokens, each given as atom ids and a count."""
        ids = np.fromiter(chain.from_iterable(ids for ids, _ in pre_tokens), np.uint32)
        lengths = np.fromiter((len(ids) for ids, _ in pre_tokens), np.int64, len(pre_tokens))
        counts = np.fromiter((count for _, count in pre_tokens), np.int64, len(pre_tokens))
        return cls.from_arrays(ids, lengths.cumsum(), counts)

    @classmethod
    def from_arrays(
        cls, atom_ids: NDArray[Any], ends: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> TokenRow:
        """Lay out pre-tokens from flat arrays.

        Args:
            atom_ids: Unsigned [atoms], the atoms of all pre-tokens.
            ends: [pre-tokens], where each ends in `atom_ids`.
            counts: [pre-tokens], how often each occurs.
        """
        lengths = np.diff(ends, prepend=0) + 1
        copies, weights = _spread_weights(counts, lengths)
        copied = [atom_ids[ends[i] + 1 - lengths[i] : ends[i]] for i in copies]
        lengths = np.append(lengths, lengths[copies])
        # Small types here and below: arrays with a value per position dominate the memory.
        dtype = np.uint16 if atom_ids.itemsize <= 2 else np.int32
        ids = np.full(1 + lengths.sum(), gap_of(dtype), dtype)
        is_atom = np.ones(len(ids), np.bool_)
        is_atom[0] = False
        is_atom[lengths.cumsum()] = False
        end = 1 + len(atom_ids) + len(ends)
        ids[:end][is_atom[:end]] = atom_ids
        if copied:
            ids[end:][is_atom[end:]] = np.concatenate(copied)
        return cls(ids, weights)


def gap_of(dtype: type[np.uint16 | np.int32]) -> int:
    """Return the id of a gap: above every token id, so `id < x` is false for it."""
    return int(np.iinfo(dtype).max)


def _spread_weights(
    counts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[list[int], NDArray[Any] | None]:
    """Return a weight per position in the smallest integer type that is worthwhile.

    A pre-token whose count exceeds the type is laid out several times, and its copies share the
    count. This changes no decision: copies are merged alike, and the first one keeps its place.

    Args:
        counts: [pre-tokens], how often each occurs.
        lengths: [pre-tokens], positions of each, with the gap after it.

    Returns:
        The indices of the copies that follow after all pre-tokens, and the weights of all positions
        (None if every count is 1).
    """
    if (counts == 1).all():
        return [], None
    for dtype in (np.uint8, np.uint16, np.uint32, np.int64):
        most = int(np.iinfo(dtype).max)
        n_copies = np.maximum(counts - 1, 0) // most
        if (n_copies.astype(np.float64) * lengths).sum() <= lengths.sum() // 8:
            break
    copies = np.repeat(np.arange(len(counts)), n_copies)
    small = np.append(counts - n_copies * most, np.full(len(copies), most)).astype(dtype)
    all_lengths = np.append(lengths, lengths[copies])
    weights = np.repeat(np.append(dtype(0), small), np.append(1, all_lengths))
    return copies.tolist(), weights

"""The row of tokens that one training round merges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpeviz.trainers.fast_bpe import limits
from bpeviz.trainers.fast_bpe.layout import TokenRow, gap_of
from bpeviz.trainers.fast_bpe.pairs import Pairs, group_lengths, group_starts, stable_argsort


class RoundRow:
    """A row of tokens, the merge step of each boundary, and the size of each token.

    A token that covers positions s … e has its id at s and at e. So the neighbors of a token at p
    are at p - 1 and p + size. Positions in between are undefined, but contain no pair that may
    still be recounted.

    Attributes:
        ids: uint16 or int32 [positions], token ids and gaps.
        merged_at: uint16 or int32 [positions], step at which the boundary after each position is
            merged, or `unmerged`.
        weights: [positions], or None where all weights are 1.
        id_view, merged_view, weight_view: The same memory for plain loops, because NumPy needs a
            microsecond for each single value.
        sizes: Number of atoms (positions) in each token, by id.
        size_array: The same as int32, with room for the ids of the whole round.
        gap: Id of a gap, above every token id.
        unmerged: Value of `merged_at` for a boundary that is not merged.
    """

    def __init__(self, row: TokenRow, vocab_size: int, limit: int, min_count: int) -> None:
        """Reuse the memory of the row for a round of at most `limit` merges."""
        # NumPy sorts and searches 16-bit ids faster.
        dtype = np.uint16 if vocab_size + limit < gap_of(np.uint16) else np.int32
        self.ids, self.weights, self.gap = row.convert(dtype), row.weights, gap_of(dtype)
        # `merged_at` temporarily stores indices of tied pairs, too: at most total // min_count.
        weights = self.weights
        total = len(self.ids) if weights is None else float(weights.sum(dtype=np.float64))
        small = dtype is np.uint16 and total // min_count < 0xFFFF
        step_dtype = np.uint16 if small else np.int32
        self.unmerged = int(np.iinfo(step_dtype).max)
        self.merged_at = np.full(len(self.ids), self.unmerged, step_dtype)
        self.id_view, self.merged_view = self.ids.data, self.merged_at.data
        self.weight_view = None if weights is None else weights.data
        self.sizes = [1] * vocab_size
        self.size_array = np.ones(vocab_size + limit, np.int32)

    def count(self, positions: Any) -> int:
        """Return the sum of the weights at a list or an array of positions."""
        if type(positions) is not list:
            weights = self.weights
            return len(positions) if weights is None else int(weights.take(positions).sum())
        weight_view = self.weight_view
        if weight_view is None:
            return len(positions)
        return sum(map(weight_view.__getitem__, positions))

    def occurrences(self, left: int, right: int, positions: Any) -> Any:
        """Return those of a pair's positions, a list or an array, where it still occurs."""
        if len(positions) > limits.LOOP_LIMIT:
            mask = self._is_at(left, right, positions)
            return positions if mask.all() else positions.compress(mask)
        if type(positions) is not list:
            positions = positions.tolist()
        ids, left_size = self.id_view, self.sizes[left]
        return [p for p in positions if ids[p] == left and ids[p + left_size] == right]

    def _is_at(self, left: int, right: int, positions: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return for each position whether the pair still occurs there."""
        ids, rights = self.ids, self.ids[self.sizes[left] :]
        masks = []
        for block in blocks_of(positions):
            mask = ids.take(block) == left
            mask &= rights.take(block) == right
            masks.append(mask)
        return masks[0] if len(masks) == 1 else np.concatenate(masks)

    def occur(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Return for each position of several pairs whether its pair still occurs there."""
        lefts = np.repeat(pairs.lefts, pairs.lengths)
        rights = np.repeat(pairs.rights, pairs.lengths)
        mask: NDArray[np.bool_] = self.ids.take(pairs.positions) == lefts
        mask &= self.ids.take(pairs.positions + self.size_array.take(lefts)) == rights
        return mask

    def first_loss(self, left: int, right: int, positions: Any, since: int) -> int:
        """Return the first merge that took an occurrence of a pair, or `unmerged`.

        Args:
            left: The left token of the pair.
            right: The right token of the pair.
            positions: All its positions, a list or an array.
            since: Of merges before this one, any is returned.
        """
        if len(positions) > limits.LOOP_LIMIT:
            positions = positions.compress(~self._is_at(left, right, positions))
        if type(positions) is not list:
            positions = positions.data  # not a list: usually the first position decides
        ids, merged, weights = self.id_view, self.merged_view, self.weight_view
        left_size = self.sizes[left]
        size = left_size + self.sizes[right]
        loss = self.unmerged
        for p in positions:
            if (ids[p] != left or ids[p + left_size] != right) and (weights is None or weights[p]):
                # An occurrence is gone once any of its three boundaries is merged.
                loss = min(loss, merged[p - 1], merged[p + left_size - 1], merged[p + size - 1])
                if loss < since:
                    break
        return loss

    def new_pairs(
        self,
        begins: NDArray[np.intp],
        ends: NDArray[np.intp],
        ids: NDArray[np.int64],
        index_of: NDArray[np.int64] | None = None,
    ) -> Pairs:
        """Return the pairs that new tokens form with their neighbors.

        Args:
            begins: First position of each new token.
            ends: First position of its right neighbor.
            ids: The new ids, ascending.
            index_of: Index in `ids` of each new token; None where there is only one id.
        """
        left_ids, right_ids = self.ids.take(begins - 1), self.ids.take(ends)
        # Of two adjacent new tokens only the left one records the pair.
        with_left = (left_ids < ids.item(0)).nonzero()[0]
        with_right = (right_ids != self.gap).nonzero()[0]
        left_ids = left_ids.take(with_left)
        neighbors = keys = np.concatenate((left_ids, right_ids.take(with_right)))
        if index_of is not None:
            index_of = np.concatenate((index_of.take(with_left), index_of.take(with_right)))
            keys = index_of * len(self.size_array) + neighbors
        # For each key: first the pairs with the neighbor on the left, then on the right.
        order = stable_argsort(keys)
        starts = group_starts(keys.take(order), order < len(left_ids))
        sample = order.take(starts)  # one occurrence of each pair
        neighbor, is_left = neighbors.take(sample).astype(np.int32), sample < len(left_ids)
        new = ids if index_of is None else ids.take(index_of.take(sample))
        before = begins.take(with_left) - self.size_array.take(left_ids)
        positions = np.concatenate((before, begins.take(with_right))).astype(np.int32)
        return Pairs(
            np.where(is_left, neighbor, new),
            np.where(is_left, new, neighbor),
            group_lengths(starts, len(order)),
            positions.take(order),
        )

    def has_pair(self) -> bool:
        """Return whether any pair with a positive count is left."""
        for begin in range(0, len(self.ids), limits.BLOCK):
            rights = self.ids[begin + 1 : begin + 1 + limits.BLOCK]
            block = slice(begin, begin + len(rights))
            has_pair = self.merged_at[block] == self.unmerged
            has_pair &= (self.ids[block] != self.gap) & (rights != self.gap)
            if self.weights is not None:
                has_pair &= self.weights[block] > 0
            if has_pair.any():
                return True
        return False

    def compact(self) -> int:
        """Move tokens forward so that each has one position; return how many positions remain."""
        arrays = [self.ids] if self.weights is None else [self.ids, self.weights]
        end = 1
        for begin in range(1, len(self.ids), limits.BLOCK):
            boundary = self.merged_at[begin - 1 : begin - 1 + limits.BLOCK]
            is_start = boundary[: len(self.ids) - begin] == self.unmerged
            for array in arrays:
                tokens = array[begin : begin + limits.BLOCK][is_start]
                array[end : end + len(tokens)] = tokens
            end += len(tokens)
        return end


def blocks_of(positions: NDArray[np.int32]) -> Iterator[NDArray[np.intp]]:
    """Yield positions in blocks, in the integer type that NumPy would convert to at each use."""
    for begin in range(0, len(positions), limits.BLOCK):
        yield positions[begin : begin + limits.BLOCK].astype(np.intp)


def without_overlaps(positions: Any, size: int) -> Any:
    """Return the positions at which a pair (x, x) is merged from left to right.

    Args:
        positions: All positions of the pair, a list or an array.
        size: Number of atoms in the pair.

    Returns:
        Every other position of each run of overlapping ones, of the same type.
    """
    if type(positions) is list:
        kept, free = [], 0
        for p in positions:
            if p >= free:
                kept.append(p)
                free = p + size
        return kept
    parts = []
    carried = 0  # length of the run of overlapping positions at the end of the last block
    for begin in range(0, len(positions), limits.BLOCK):
        part = positions[begin : begin + limits.BLOCK]
        index_in_run = np.arange(len(part), dtype=np.int32)
        run_start = index_in_run.copy()
        run_start[1:][part[1:] - part[:-1] == size // 2] = -len(positions)
        if begin and part[0] - positions[begin - 1] == size // 2:
            run_start[0] = -carried
        np.maximum.accumulate(run_start, out=run_start)
        index_in_run -= run_start
        parts.append(part.compress(index_in_run % 2 == 0))
        carried = index_in_run.item(-1) + 1
    return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else positions

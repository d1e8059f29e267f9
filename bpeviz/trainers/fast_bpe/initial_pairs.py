"""The pairs with which a training round starts, counted in a row with one position per token.

TokenRow are processed in blocks, so that a long text needs little more memory than its row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.merges import Merge
from bpeviz.trainers.fast_bpe import limits
from bpeviz.trainers.fast_bpe.layout import TokenRow
from bpeviz.trainers.fast_bpe.pairs import Pairs, group_lengths, group_starts, stable_argsort
from bpeviz.trainers.fast_bpe.round_row import without_overlaps


@dataclass(frozen=True)
class PairTable:
    """Number of positions and count of every possible pair of a row.

    A pair's key is left * vocab_size + right, and its index in both arrays.

    Attributes:
        row: The row.
        vocab_size: Number of ids in use.
        left: If not None, only pairs with this left token are counted, and their key is `right`.
        lengths: int64 [keys], number of positions.
        counts: int64 [keys], sum of their weights.
    """

    row: TokenRow
    vocab_size: int
    left: int | None
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def count(cls, row: TokenRow, vocab_size: int, left: int | None = None) -> PairTable:
        """Count the pairs of a row."""
        n_keys = vocab_size**2 if left is None else vocab_size
        lengths, counts = np.zeros((2, n_keys), np.int64)
        table = cls(row, vocab_size, left, lengths, lengths if row.weights is None else counts)
        for keys, positions in table.blocks():
            lengths += np.bincount(keys, minlength=n_keys)
            if row.weights is not None:
                weights = row.weights.take(positions)
                counts += np.bincount(keys, weights, n_keys).astype(np.int64)
        return table

    def blocks(self) -> Iterator[tuple[NDArray[Any], NDArray[np.int32]]]:
        """Yield the keys and positions of the pairs in each block of the row."""
        low, high = (0, None) if self.left is None else (self.left, self.left + 1)
        for begin in range(0, len(self.row.ids), limits.BLOCK):
            keys, positions = _pair_keys(self.row, self.vocab_size, begin, low, high)
            keys -= keys.dtype.type(low * self.vocab_size)
            yield keys, positions

    def pairs(self, min_count: int) -> Pairs:
        """Return the pairs of at least this count with their positions."""
        wanted = (self.counts >= min_count) & (self.lengths > 0)
        wanted_keys = wanted.nonzero()[0]
        lengths = self.lengths[wanted_keys]
        all_positions = np.empty(int(lengths.sum()), np.int32)
        free = np.zeros(len(wanted), np.int64)  # where the next positions of each pair are written
        free[wanted_keys] = lengths.cumsum() - lengths
        for keys, positions in self.blocks():
            mask = wanted.take(keys)
            keys, positions = keys.compress(mask), positions.compress(mask)
            order = stable_argsort(keys)
            keys = keys.take(order)
            starts = group_starts(keys)
            block_keys, block_lengths = keys.take(starts), group_lengths(starts, len(keys))
            targets = np.repeat(free.take(block_keys) - starts, block_lengths)
            targets += np.arange(len(targets))
            all_positions[targets] = positions.take(order)
            free[block_keys] += block_lengths
        lefts, rights = np.divmod(wanted_keys.astype(np.int32), self.vocab_size)
        return Pairs(lefts + (self.left or 0), rights, lengths, all_positions)

    def run(self, head: int, tied: list[int]) -> list[int]:
        """Return the keys of pairs (a, b), (b, c), (c, d), … that are merged one after the other.

        The run continues while every b has an a before it and a c after it. Then (ab, c) is as
        frequent and occurs first, and the other pairs remain tied with it (`order_tied`).

        Args:
            head: Key of (a, b), which occurs first of the tied pairs.
            tied: Keys of all pairs of the highest count.
        """
        if len(tied) == 1:
            return [head]
        tokens = _token_counts(self.row, self.vocab_size)
        length = self.lengths[head]
        run, left = [head], head // self.vocab_size
        if tokens[left] > length and any(key % self.vocab_size == left for key in tied):
            return run  # a tied pair (z, a) loses occurrences to (a, b)
        next_of = {key // self.vocab_size: key for key in tied if self.lengths[key] == length}
        while len(run) < len(tied):
            middle = run[-1] % self.vocab_size
            if middle not in next_of or tokens[middle] > length:
                break
            run.append(next_of[middle])
        return run

    def first_of(self, keys: list[int]) -> int:
        """Return which of several keys occurs first. Raise `ValueError` if none occurs."""
        wanted = np.zeros(len(self.counts), np.bool_)
        wanted[keys] = True
        for block_keys, _ in self.blocks():
            wanted_keys = block_keys.compress(wanted.take(block_keys))
            if len(wanted_keys):
                return int(wanted_keys[0])
        raise ValueError("None of these pairs occurs.")


def _pair_keys(
    row: TokenRow, vocab_size: int, begin: int, low: int = 0, high: int | None = None
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the keys (left * vocab_size + right) of the pairs in a block, and their positions.

    Args:
        row: The row.
        vocab_size: Number of ids in use.
        begin: First position of the block.
        low: Only pairs with left >= low are returned.
        high: Only pairs with left < high are returned; None for all.
    """
    dtype = np.min_scalar_type(max(0, vocab_size**2 - 1))
    rights = row.ids[begin + 1 : begin + 1 + limits.BLOCK]
    lefts = row.ids[begin : begin + len(rights)]
    wanted = (rights < vocab_size) & (lefts < (vocab_size if high is None else high))
    if low:
        wanted &= lefts >= low
    positions = wanted.nonzero()[0]
    keys = lefts.take(positions).astype(dtype)
    keys *= dtype.type(vocab_size)
    keys += rights.take(positions).astype(dtype)
    positions += begin
    return keys, positions.astype(np.int32)


def _token_counts(row: TokenRow, vocab_size: int) -> NDArray[np.int64]:
    """Return the number of positions of each id."""
    counts = np.zeros(vocab_size, np.int64)
    for begin in range(0, len(row.ids), limits.BLOCK):
        block = row.ids[begin : begin + limits.BLOCK]
        counts += np.bincount(block[block < vocab_size], minlength=vocab_size)
    return counts


def merge_oversized(
    table: PairTable,
    limit: int,
    *,
    first: bool,
    min_count: int,
    names: Sequence[str] | None = None,
) -> list[Merge]:
    """Merge the most frequent pair if its positions exceed `limits.MAX_POSITIONS`.

    Pairs that always follow it are merged with it (`PairTable.run`). The row of the table is
    rewritten, and no positions are stored.

    Args:
        table: The counts of all pairs.
        limit: Largest number of merges.
        first: Whether the pair that occurs first wins a tie, not the one with the smallest ids.
        min_count: Pairs with a lower count are not merged.
        names: The string of each token if the smallest strings win a tie, or None.

    Returns:
        The merges; none if the positions fit.
    """
    vocab_size = table.vocab_size
    count = int(table.counts.max(initial=0))
    tied = (table.counts == count).nonzero()[0].tolist()
    if not limit or count < min_count or table.lengths[tied].sum() <= limits.MAX_POSITIONS:
        return []
    if first:
        run = table.run(table.first_of(tied), tied)
    elif names is None:
        run = tied[:1]
    else:
        run = [min(tied, key=lambda key: tuple(names[i] for i in divmod(key, vocab_size)))]
    if len(tied) > limits.MAX_TIED * len(run):
        return []
    left, right = divmod(run[0], vocab_size)
    others = [key % vocab_size for key in run[1:limit]]
    applied = _rewrite(table.row, left, right, vocab_size + len(others), len(others))
    merges = [Merge(left, right, vocab_size, count, applied, len(tied) - 1)]
    for other in others:
        last = merges[-1]
        merges.append(Merge(last.new_id, other, last.new_id + 1, count, applied, last.ties - 1))
    return merges


def _rewrite(row: TokenRow, left: int, right: int, new: int, n_followers: int) -> int:
    """Replace a pair, with the tokens that always follow it, by one token, and drop the rest.

    Args:
        row: The row, which becomes shorter.
        left: The left token of the pair.
        right: The right token of the pair.
        new: Id of the token that replaces it.
        n_followers: Number of tokens after the pair that become part of it.

    Returns:
        The sum of the weights of all replacements.
    """
    ids, weights = row.ids, row.weights
    applied = end = taken = 0  # taken: positions of a block that an earlier block has merged
    for begin in range(0, len(ids), limits.BLOCK):
        block = ids[begin : begin + limits.BLOCK].copy()
        rights = ids[begin + 1 : begin + 1 + limits.BLOCK]
        positions = ((block[: len(rights)] == left) & (rights == right)).nonzero()[0]
        if left == right:
            positions = without_overlaps(positions[positions >= taken], 2)
        kept = np.ones(len(block) + 1 + n_followers, np.bool_)
        kept[:taken] = False
        for offset in range(1, n_followers + 2):
            kept[positions + offset] = False
        taken = int(np.count_nonzero(~kept[len(block) :]))
        kept = kept[: len(block)]
        block[positions] = new
        block = block[kept]
        ids[end : end + len(block)] = block
        if weights is None:
            applied += len(positions)
        else:
            block_weights = weights[begin : begin + limits.BLOCK]
            applied += int(block_weights[positions].sum(dtype=np.int64))
            weights[end : end + len(block)] = block_weights[kept]
        end += len(block)
    row.cut(end)
    return applied


def frequent_pairs(
    row: TokenRow, vocab_size: int, min_count: int, table: PairTable | None
) -> tuple[Pairs, int]:
    """Return the most frequent pairs of a row, as many as `limits.MAX_POSITIONS` allows.

    Args:
        row: The row.
        vocab_size: Number of ids in use.
        min_count: Pairs with a lower count are dropped.
        table: The counts of all pairs, if they are known.

    Returns:
        The pairs, and the lowest count of which all pairs are included (min_count or more).
    """
    if table is not None:
        lowest = _lowest_count(table.lengths, table.counts, min_count)
        return table.pairs(lowest), lowest
    if len(row.ids) <= limits.MAX_POSITIONS:
        return _sorted_pairs(row, vocab_size, 0, vocab_size), min_count

    # Too many possible pairs for a table: they are sorted in ranges of left tokens, and after each
    # range the rarest pairs found so far are dropped.
    left_lengths = _token_counts(row, vocab_size)
    large = (left_lengths > limits.MAX_POSITIONS // 2).nonzero()[0]
    full = np.diff(left_lengths.cumsum() // limits.BLOCK).nonzero()[0] + 1
    edges = np.unique(np.concatenate(([0, vocab_size], full, large, large + 1))).tolist()
    lowest = min_count
    kept: list[tuple[Pairs, NDArray[np.int64]]] = []
    for low, high in pairwise(edges):
        if left_lengths[low] > limits.MAX_POSITIONS // 2:
            left_table = PairTable.count(row, vocab_size, low)
            lengths = np.concatenate([left_table.lengths, *(pairs.lengths for pairs, _ in kept)])
            counts = np.concatenate([left_table.counts, *(counts for _, counts in kept)])
            lowest = max(lowest, _lowest_count(lengths, counts, min_count))
            range_pairs = left_table.pairs(lowest)
        else:
            range_pairs = _sorted_pairs(row, vocab_size, low, high)
        kept.append((range_pairs, range_pairs.counts(row.weights)))
        lengths = np.concatenate([pairs.lengths for pairs, _ in kept])
        counts = np.concatenate([counts for _, counts in kept])
        lowest = max(lowest, _lowest_count(lengths, counts, min_count))
        kept = [(pairs.select(of >= lowest), of[of >= lowest]) for pairs, of in kept]
    return Pairs.concatenate([pairs for pairs, _ in kept]), lowest


def _lowest_count(lengths: NDArray[np.int64], counts: NDArray[np.int64], min_count: int) -> int:
    """Return the lowest count such that the positions of all pairs with it or a higher one fit."""
    descending = np.argsort(-counts, kind="stable")
    last = lengths[descending].cumsum().searchsorted(limits.MAX_POSITIONS, side="right")
    if last == len(counts):
        return min_count
    highest, too_low = counts[descending[0]], counts[descending[last]]
    return max(min_count, int(min(highest, too_low + 1)))


def _sorted_pairs(row: TokenRow, vocab_size: int, low: int, high: int) -> Pairs:
    """Return the pairs whose left token is in low … high - 1, found by sorting."""
    blocks = [
        _pair_keys(row, vocab_size, begin, low, high)
        for begin in range(0, max(1, len(row.ids)), limits.BLOCK)
    ]
    keys, positions = map(np.concatenate, zip(*blocks, strict=True))
    order = stable_argsort(keys)
    keys = keys.take(order)
    starts = group_starts(keys)
    lefts, rights = np.divmod(keys.take(starts), max(1, vocab_size))
    lengths = group_lengths(starts, len(keys))
    return Pairs(lefts.astype(np.int32), rights.astype(np.int32), lengths, positions.take(order))

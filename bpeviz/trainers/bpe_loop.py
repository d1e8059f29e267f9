"""The merges of BPE, fast: pairs are counted in rounds, and each merge updates only its neighbors.

`MergeLoop` makes the merges of `bpe.train_by_definition`, ties included; the tests compare them.
The distinct pre-tokens lie in one row of ids with a gap between them (`layout`). A position's
weight is the count of its pre-token. A token has its id at its first and its last position, so its
neighbors are found without a linked list. The algorithm:

1. **Rounds.** A round counts all pairs with NumPy and tracks those whose count is at least its
   level, a fraction of the highest count. A merge raises no count, and a new pair is at most as
   frequent as the merged one, so every other pair is merged after these. Then the row is compacted
   to one position per token, and the next round has a lower level.
2. **Buckets.** The pairs of a round lie in buckets by count. When a bucket is opened, its pairs
   are counted again: those that are rarer by now move down, the others are tied. A merge takes
   occurrences from its neighbors; tied pairs among them are counted again at once. So the number of
   tied pairs is exact at each merge.
3. A pair is merged by NumPy at many positions, and by a loop over the same memory at few. At a
   single position, all pairs of its pre-token are tied.
4. **Pairs that occur once**, if the first one wins a tie, are merged from the left to the right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpeviz import progress
from bpeviz.core.merges import Merge
from bpeviz.core.training import Stopped
from bpeviz.trainers.bpe import AnyTieRule, Pair, Rows
from bpeviz.trainers.layout import TokenRow, gap_of

Ids = NDArray[Any]
"""Token ids (or their weights) by position, in the smallest type that is worthwhile."""
Positions = Any
"""Where the occurrences of a pair begin, ascending: a list if they are few, else an array."""

PROGRESS = "Training merges"
REPORT_EVERY = 16
"""Merges between two reports of progress."""

# Sizes at which the method changes, as measured. Tests lower them, so that short texts reach all.
FEW_POSITIONS = 48
"""Positions of a pair up to which a loop is faster than NumPy."""
FEW_PAIRS = 16
"""Pairs of a bucket up to which a loop counts them faster than NumPy."""
POSITIONS_AT_ONCE = 1 << 20
"""Positions of the row that are counted at once, which bounds temporary memory."""
MAX_TABLE = 1 << 22
"""Entries of the table in which the pairs of a long row are counted; a power of two."""
MAX_POSITIONS = 1 << 23
"""Positions with which a round starts, unless the most frequent pair alone has more."""
KEY_BITS = 63
"""Bits into which a pair and a position are packed, to sort them as one number."""


class MergeLoop:
    """The merges of a row, one after the other.

    A *round* counts all pairs of the row at once, and tracks those whose count is at least its
    *level*, a fraction of the highest count: no count rises, so all others are merged later. A
    *bucket* has the tracked pairs of one count, as last counted: merges since may have lowered it.
    The bucket of the highest count is opened first, and its pairs are counted again: those that are
    rarer by now move to a lower bucket, the others are *tied*.
    """

    def __init__(
        self,
        row: TokenRow | Rows,
        symbols: Sequence[str],
        limit: int,
        *,
        ties: AnyTieRule = "first",
        min_count: int = 1,
        allowed: Callable[[str], bool] | None = None,
    ) -> None:
        """Count the pairs of the first round.

        Args:
            row: The distinct rows of atom ids, each with its count, in first-seen order; or these
                laid out, whose arrays it takes.
            symbols: The string of each atom by id. Merge i creates the id len(symbols) + i.
            limit: The largest number of merges.
            ties: The tie rule.
            min_count: Pairs with a lower count are not merged.
            allowed: Returns whether a pair may be merged into this string.
        """
        row = row if isinstance(row, TokenRow) else TokenRow.from_pre_tokens(row)
        names: list[str] = [*map(Reversed if ties == "largest" else str, symbols)]

        def spell(pair: Pair) -> str:
            return names[pair[0]] + names[pair[1]]

        ranks: dict[str, Callable[[Pair], Any] | None] = {
            "first": None,  # by position
            "smallest": lambda pair: pair,
            "shortest": lambda pair: (len(name := spell(pair)), name),
        }
        self._rank = ranks.get(ties, lambda pair: (names[pair[0]], names[pair[1]]))
        self._may_merge = None if allowed is None else lambda pair: allowed(spell(pair))
        needs_names = allowed is not None or ties not in ("first", "smallest")
        self._names = names if needs_names else None
        self._n_ids, self._limit, self._n_merges = len(symbols), limit, 0
        self._min_count = max(1, min_count)
        is_small = self._n_ids + min(limit, len(row.ids)) < gap_of(np.uint16)
        ids, weights = row.release(np.uint16 if is_small else np.int32)
        if weights is not None:
            ids[weights == 0] = ids[0]  # a gap, since these pairs are not counted
        self._start_round(ids, weights, None)

    def __iter__(self) -> Iterator[Merge]:
        """Merge the best pair and yield the merge, again and again."""
        names = self._names
        most = min(self._limit, len(self._round.ids))
        while self._n_merges < self._limit:
            if not self._n_merges % REPORT_EVERY:
                progress.report(PROGRESS, self._n_merges, most)
            if (pair := self._best()) is None:
                break
            if names is not None:
                left, right = map(names.__getitem__, pair)
                names.append(type(left)(left + right))
            self._n_ids, self._n_merges = self._n_ids + 1, self._n_merges + 1
            yield self._round.merge(pair, self._n_ids - 1)

    def train(self) -> tuple[list[Merge], Stopped]:
        """Return all merges, and why there are not more: the limit, no pair, or only rare ones."""
        merges = [*self]
        return merges, "full" if len(merges) == self._limit else self._stopped()

    def next_count(self) -> int:
        """Return the count of the pair that is merged next, 0 if none is left."""
        return 0 if self._best() is None else self._round.count

    def _stopped(self) -> Stopped:
        """Return why no pair of the minimum count is left."""
        if self._min_count > 1:
            ids, _ = self._round.compact()
            for keys, _ in _pairs_in_blocks(ids, self._n_ids):
                pairs = (divmod(key, self._n_ids) for key in np.unique(keys).tolist())
                if any(self._may_merge is None or self._may_merge(pair) for pair in pairs):
                    return "rare"
        return "no pair"

    def _best(self) -> Pair | None:
        """Return the pair to merge next, if need be of a new round."""
        while (pair := self._round.best()) is None and self._round.level > self._min_count:
            highest = self._round.level - 1
            ids, weights = self._round.compact()
            del self._round  # its memory
            self._start_round(ids, weights, highest)
        return pair

    def _start_round(self, ids: Ids, weights: Ids | None, highest: int | None) -> None:
        rules = self._rank, self._may_merge
        if highest == 1 and rules == (None, None):
            self._round: _Round = _SinglePairs(ids, self._n_ids)
        else:
            self._round = _Round(ids, weights, self._n_ids, self._min_count, highest, *rules)


class Reversed(str):
    """A string that is less than another where it comes after it, since heaps return the least."""

    __slots__ = ()
    __lt__ = str.__gt__


def _level_of(count: int) -> int:
    """Return the level of a round with this highest count."""
    return count // 4 if count > 16 else (count + 1) // 2 if count > 2 else count


# --- Counting the pairs of a row ------------------------------------------------------------------


def _count_pairs(
    ids: Ids, weights: Ids | None, n_ids: int, min_count: int, highest: int | None
) -> tuple[int, list[NDArray[np.int64]], NDArray[Any]]:
    """Count all pairs of a row with one position per token, and return the most frequent ones.

    Args:
        ids: The row.
        weights: The weight of each position, or None where all are 1.
        n_ids: The number of ids.
        min_count: The lowest level.
        highest: The highest count of a pair that may still be merged, if it is known.

    Returns:
        The level; of the pairs that have it, by falling count: the key (left * number of ids +
        right), the start and the end of their part of the positions, and the count; the positions.
    """
    if highest is None or len(ids) > POSITIONS_AT_ONCE:
        counts, lengths = _count_in_table(ids, weights, n_ids)
        level = _choose_level(counts, lengths, min_count, highest)
        is_kept = counts >= level
        keys, at = _collect(ids, n_ids, int(lengths[is_kept].sum()), is_kept)
        del counts, lengths, is_kept
    else:
        level = max(min_count, _level_of(highest))
        ((keys, at),) = _pairs_in_blocks(ids, n_ids)
    keys, at = _sort(keys, at)
    starts, ends, sums = _groups(keys, at, weights, level)
    columns = keys[starts], starts, ends, sums
    order = np.argsort(-sums, kind="stable")
    return level, [column[order] for column in columns], at


def _pairs_in_blocks(ids: Ids, n_ids: int) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """Yield the keys and the positions of the pairs of a row with one position per token."""
    for start in range(0, max(1, len(ids) - 1), POSITIONS_AT_ONCE):
        block = ids[start : start + POSITIONS_AT_ONCE + 1]
        is_token = block < n_ids
        at = (is_token[:-1] & is_token[1:]).nonzero()[0]
        keys = block.take(at) * np.int64(n_ids)
        keys += block.take(at + 1)
        at += start
        yield keys, at


def _count_in_table(
    ids: Ids, weights: Ids | None, n_ids: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the counts and the numbers of positions of all pairs, by the remainder of the key.

    If there are more pairs than entries, some share one.
    """
    size = min(MAX_TABLE, 1 << (n_ids**2).bit_length())
    counts = np.zeros(size, np.int64)
    lengths = counts if weights is None else counts.copy()
    for keys, at in _pairs_in_blocks(ids, n_ids):
        keys &= size - 1
        np.add.at(lengths, keys, 1)
        if weights is not None:
            np.add.at(counts, keys, weights.take(at).astype(np.int64))  # exact also over 2^53
    return counts, lengths


def _choose_level(
    counts: NDArray[np.int64], lengths: NDArray[np.int64], min_count: int, highest: int | None
) -> int:
    """Return the level of a round, given the counts and the numbers of positions of its pairs."""
    top = int(counts.max()) if highest is None else min(highest, int(counts.max()))
    level = max(min_count, _level_of(top))
    frequent = (counts >= level).nonzero()[0]
    if lengths[frequent].sum() > MAX_POSITIONS:
        frequent = frequent[np.argsort(-counts[frequent])]
        n_fitting = int(np.searchsorted(lengths[frequent].cumsum(), MAX_POSITIONS, "right"))
        level = max(level, min(top, int(counts[frequent[n_fitting]]) + 1))
    return level


def _collect(
    ids: Ids, n_ids: int, size: int, is_kept: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the keys and positions of the pairs whose entry in the table is kept: `size` ones."""
    all_keys = np.empty(size, np.int64)
    all_at = np.empty(size, np.int32 if len(ids) < 1 << 31 else np.int64)
    done = 0
    for keys, at in _pairs_in_blocks(ids, n_ids):
        mask = is_kept.take(keys & (len(is_kept) - 1))
        end = done + int(np.count_nonzero(mask))
        keys.compress(mask, out=all_keys[done:end])
        all_at[done:end] = at.compress(mask)
        done = end
    return all_keys, all_at


def _sort(keys: NDArray[np.int64], at: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Sort keys and their ascending positions, in place if possible; positions rise in a key."""
    if not len(at):
        return keys, at
    bits = int(at[-1]).bit_length()
    if int(keys.max()).bit_length() + bits > KEY_BITS:
        order = np.lexsort((at, keys))
        return keys[order], at[order]
    keys <<= bits
    keys |= at
    keys.sort()  # faster than the indices that sort
    np.bitwise_and(keys, (1 << bits) - 1, out=at, casting="unsafe")
    keys >>= bits
    return keys, at


def _groups(
    keys: NDArray[np.int64], at: NDArray[Any], weights: Ids | None, level: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return start, end and count of each group of equal keys whose count is at least the level."""
    if not len(keys):
        return (np.zeros(0, np.int64),) * 3
    is_edge = np.ones(len(keys) + 1, np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_edge[1:-1])
    edges = is_edge.nonzero()[0]
    if weights is None:
        counts = edges[1:] - edges[:-1]
    else:
        counts = np.add.reduceat(weights.take(at), edges[:-1], dtype=np.int64)
    kept = (counts >= level).nonzero()[0]
    return edges[kept], edges[kept + 1], counts[kept]


# --- Merging the pairs of a round -----------------------------------------------------------------


class _Round:
    """The pairs of at least a level in a row with one position per token, and their merges.

    Attributes:
        ids: The row.
        level: The level.
        count: The highest count.
    """

    def __init__(
        self,
        ids: Ids,
        weights: Ids | None,
        n_ids: int,
        min_count: int,
        highest: int | None,
        rank: Callable[[Pair], Any] | None,
        may_merge: Callable[[Pair], bool] | None,
    ) -> None:
        self.level, columns, self._at = _count_pairs(ids, weights, n_ids, min_count, highest)
        self.count = 0
        self.ids, self._weights, self._n_atoms = ids, weights, n_ids
        self._rank, self._may_merge = rank, may_merge
        # Loops read and write the same memory.
        self._cells, self._gap = ids.data, gap_of(ids.dtype.type)
        self._weight_cells: Any = None if weights is None else weights.data
        # Where the right half of a merged pair began.
        self._is_inner = np.zeros(len(ids), np.bool_)
        self._inner_cells = self._is_inner.data
        self._sizes = [1] * n_ids
        self._tied: dict[Pair, Positions] = {}  # the pairs of the highest count
        self._order: list[tuple[Any, Pair]] = []  # a heap of the tied pairs
        # The pairs of the round's start are looked up when their bucket is opened.
        self._columns = columns[:3]
        distinct, first = np.unique(-columns[3], return_index=True)
        ends = [*first.tolist(), len(columns[3])]
        self._counts: list[int] = distinct.tolist()  # of all buckets, negative: a heap
        self._at_start = dict(zip(self._counts, pairwise(ends), strict=True))
        self._buckets: dict[int, list[tuple[Pair, Positions]]] = {-c: [] for c in self._counts}

    def best(self) -> Pair | None:
        """Return the pair to merge next, or None if no pair of the level is left."""
        while not self._tied:
            if not self._counts:
                return None
            self._open(-heappop(self._counts))
        while self._order[0][1] not in self._tied:
            heappop(self._order)
        return self._order[0][1]

    def _open(self, count: int) -> None:
        """Count the pairs of a bucket again: those that still have its count are the tied ones."""
        self.count, self._order = count, []
        for pair, at in self._buckets.pop(count):
            self._recount(pair, at)
        start, end = self._at_start.pop(-count, (0, 0))
        keys, starts, ends = (column[start:end] for column in self._columns)
        if len(keys) > FEW_PAIRS and count <= FEW_POSITIONS:  # a pair has no more positions
            self._recount_many(keys, starts, ends - starts)
            return
        for key, first, last in zip(keys.tolist(), starts.tolist(), ends.tolist(), strict=True):
            pair = divmod(key, self._n_atoms)
            if self._may_merge is None or self._may_merge(pair):
                self._recount(pair, _as_few(self._at[first:last]))

    def _recount_many(
        self, keys: NDArray[np.int64], starts: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> None:
        """Add pairs of the start of the round with those positions where they still occur."""
        shifts = np.repeat(starts - lengths.cumsum() + lengths, lengths)
        at = self._at[shifts + np.arange(len(shifts))]
        # The round started with one position per token, so the right one began at the next one.
        occurs = (self.ids.take(at) < self._n_atoms) & (self.ids.take(at + 1) < self._n_atoms)
        keys, at = np.repeat(keys, lengths)[occurs], at[occurs]
        first, last, counts = _groups(keys, at, self._weights, self.level)
        positions = at.tolist()
        columns = (*np.divmod(keys[first], self._n_atoms), first, last, counts)
        for left, right, i, j, count in zip(*(column.tolist() for column in columns), strict=True):
            self._push_allowed(count, (left, right), positions[i:j])

    def _push_allowed(self, count: int, pair: Pair, at: Positions) -> None:
        """Add a pair if it may be merged."""
        if self._may_merge is None or self._may_merge(pair):
            self._push(count, pair, at)

    def _push(self, count: int, pair: Pair, at: Positions) -> None:
        """Put a pair into the bucket of its count, or among the tied ones."""
        if count == self.count:
            self._tied[pair] = at
            heappush(self._order, (int(at[0]) if self._rank is None else self._rank(pair), pair))
        elif count in self._buckets:
            self._buckets[count].append((pair, at))
        else:
            self._buckets[count] = [(pair, at)]
            heappush(self._counts, -count)

    def _recount(self, pair: Pair, at: Positions) -> None:
        """Add a pair again with those of its positions where it still occurs."""
        left, right = pair
        size = self._sizes[left]
        if type(at) is list:
            cells = self._cells
            now: Positions = [p for p in at if cells[p] == left and cells[p + size] == right]
        else:
            is_left = self.ids.take(at) == left
            now = _as_few(at.compress(is_left & (self.ids.take(at + size) == right)))
        count = self._total(now)
        if count >= self.level:
            self._push(count, pair, now)

    def _total(self, at: Positions) -> int:
        """Return the sum of the weights at positions."""
        if self._weights is None:
            return len(at)
        if type(at) is list:
            return sum(map(self._weight_cells.__getitem__, at))
        return int(self._weights.take(at).sum(dtype=np.int64))

    def merge(self, pair: Pair, new: int) -> Merge:
        """Replace a tied pair by a new token."""
        left, right = pair
        at, n_tied = self._tied.pop(pair), len(self._tied)
        applied = self.count
        self._sizes.append(self._sizes[left] + self._sizes[right])
        if len(at) == 1:
            self._merge_single(left, right, new, int(at[0]))
            return Merge(left, right, new, applied, applied, n_tied)
        if left == right:
            at = _as_few(_without_overlaps(at, self._sizes[new]))
            applied = self._total(at)
        if type(at) is list:
            self._merge_few(left, right, new, at)
        else:
            self._merge_many(left, right, new, at)
        return Merge(left, right, new, self.count, applied, n_tied)

    def _merge_single(self, left: int, right: int, new: int, p: int) -> None:
        """Merge a pair at its only position, where each neighboring pair is tied with it.

        The pair's count is the weight of this position. A neighboring pair is at least as frequent,
        and no pair is more frequent. So it has the same count, and occurs only here, too.
        """
        cells, sizes, tied, gap = self._cells, self._sizes, self._tied, self._gap
        middle, end = p + sizes[left], p + sizes[new]
        cells[middle] = gap  # no longer the start of a token
        self._inner_cells[middle] = True
        cells[p] = cells[end - 1] = new
        before, after = cells[p - 1], cells[end]
        if before != gap:
            tied.pop((before, left), None)  # absent if it may not be merged
            self._push_allowed(self.count, (before, new), [p - sizes[before]])
        if after != gap:
            tied.pop((right, after), None)
            self._push_allowed(self.count, (new, after), [p])

    def _merge_few(self, left: int, right: int, new: int, at: list[int]) -> None:
        """Merge a pair at a few positions, by a loop, and track the pairs of the new token."""
        cells, is_inner, sizes, gap = self._cells, self._inner_cells, self._sizes, self._gap
        left_size, size = sizes[left], sizes[new]
        last = size - 1
        for p in at:
            cells[p + left_size] = gap  # no longer the start of a token
            is_inner[p + left_size] = True
            cells[p] = cells[p + last] = new
        before: defaultdict[int, list[int]] = defaultdict(list)  # positions of (other, new)
        after: defaultdict[int, list[int]] = defaultdict(list)  # positions of (new, other)
        for p in at:
            other = cells[p - 1]
            if other != gap:
                before[other].append(p - sizes[other])
            other = cells[p + size]
            if other != gap and other != new:  # of (new, new), the right one adds the pair
                after[other].append(p)
        new_pairs = [
            ((right if other == new else other, left), (other, new), group)
            for other, group in before.items()
        ]
        new_pairs += [((right, other), (new, other), group) for other, group in after.items()]
        tied, level, weights = self._tied, self.level, self._weight_cells
        add = self._push if self._may_merge is None else self._push_allowed
        for lost, pair, group in new_pairs:
            if lost in tied:
                self._recount(lost, tied.pop(lost))
            count = len(group) if weights is None else sum(map(weights.__getitem__, group))
            if count >= level:
                add(count, pair, group)

    def _merge_many(self, left: int, right: int, new: int, at: NDArray[Any]) -> None:
        """Merge a pair at many positions by NumPy, and count the pairs beside it anew."""
        ids, left_size, size = self.ids, self._sizes[left], self._sizes[new]
        blocks = [
            slice(start, start + POSITIONS_AT_ONCE)
            for start in range(0, len(at), POSITIONS_AT_ONCE)
        ]
        for block in blocks:
            begin = at[block].astype(np.intp)
            middle = begin + left_size
            ids.put(middle, self._gap)  # no longer the start of a token
            self._is_inner.put(middle, True)
            ids.put(begin, new)
            ids.put(begin + (size - 1), new)
        for lost in [pair for pair in self._tied if pair[1] == left or pair[0] == right]:
            self._recount(lost, self._tied.pop(lost))
        before, after = np.empty((2, len(at)), ids.dtype)
        for block in blocks:
            begin = at[block].astype(np.intp)
            ids.take(begin - 1, out=before[block], mode="wrap")  # "raise" would buffer
            ids.take(begin + size, out=after[block], mode="wrap")
        after[after == new] = self._gap  # of (new, new), the right one adds the pair
        self._add_neighbors(before, at, new, before=True)
        self._add_neighbors(after, at, new, before=False)

    def _add_neighbors(self, others: Ids, at: NDArray[Any], new: int, *, before: bool) -> None:
        """Add the pairs of a new token with its neighbors on one side."""
        mask = others != self._gap
        if len(at) > len(self._sizes):  # most neighbors are too rare, and need not be sorted
            others, at = others.compress(mask), at.compress(mask)
            counts = np.zeros(len(self._sizes), np.int64)
            weights = 1 if self._weights is None else self._weights.take(at).astype(np.int64)
            np.add.at(counts, others, weights)
            mask = (counts >= self.level).take(others)
        keys, at = _sort(others.compress(mask).astype(np.int64), at.compress(mask))
        groups = (column.tolist() for column in _groups(keys, at, self._weights, self.level))
        for first, last, count in zip(*groups, strict=True):
            other = keys.item(first)
            group = at[first:last] - (self._sizes[other] if before else 0)
            self._push_allowed(count, (other, new) if before else (new, other), _as_few(group))

    def compact(self) -> tuple[Ids, Ids | None]:
        """Return the row with one position per token, and its weights; this ends the round."""
        kept = np.logical_not(self._is_inner, out=self._is_inner)
        # Unlike `compress`, a mask needs no indices of 8 bytes for each position.
        return self.ids[kept], None if self._weights is None else self._weights[kept]


def _as_few(at: Positions) -> Positions:
    """Return positions as a list if they are few."""
    return at.tolist() if type(at) is not list and len(at) <= FEW_POSITIONS else at


def _without_overlaps(at: Positions, size: int) -> Positions:
    """Return every other position of each run of overlapping ones of a pair (x, x)."""
    if type(at) is list:
        kept, free = [], 0
        for p in at:
            if p >= free:
                kept.append(p)
                free = p + size
        return kept
    place = np.arange(len(at), dtype=at.dtype)  # first in `at`, then in the run; in little memory
    start = place.copy()
    start[1:][at[1:] - at[:-1] == size // 2] = 0
    place -= np.maximum.accumulate(start, out=start)
    place &= 1
    return at.compress(place == 0)


class _SinglePairs(_Round):
    """A row in which each pair occurs once: the first one is merged, and begins the next one."""

    def __init__(self, ids: Ids, n_ids: int) -> None:
        self.ids, self.level, self.count = ids, 1, 1
        is_token = ids < n_ids
        self._n_pairs = int(np.count_nonzero(is_token[:-1] & is_token[1:]))
        self._rest = iter(ids.tolist())
        self._left = self._gap = next(self._rest)
        self._pair = self._next()

    def _next(self) -> Pair | None:
        left, gap = self._left, self._gap
        for right in self._rest:
            if left != gap and right != gap:
                return left, right
            left = right
        return None

    def best(self) -> Pair | None:
        return self._pair

    def merge(self, pair: Pair, new: int) -> Merge:
        self._n_pairs, self._left = self._n_pairs - 1, new
        self._pair = self._next()
        return Merge(*pair, new, 1, 1, self._n_pairs)

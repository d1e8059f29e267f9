"""Train BPE with NumPy: the merges of `bpeviz.trainers.bpe.train_merges`, faster.

Both make the same decisions, ties included; the tests compare them. The algorithm:

1. **Pre-tokens** (`layout`, `row`). The distinct pre-tokens lie in one row of token ids, in
   first-seen order with a gap between them. Each position has a weight: how often its pre-token
   occurs. A token writes its id at its first and its last position, so its neighbors are found
   without a linked list.
2. **Pair occurrences** (`pairs`). The positions of a pair are stored once, when the newer of its
   two tokens is created. From then on a pair can only lose occurrences.
3. **Lazy counts.** So the count of a pair at its creation is an upper bound. Counts are not kept up
   to date: a pair is recounted only when no other pair has a higher bound.
4. **Buckets by count** (`queue`). No new pair is more frequent than the pair just merged. So the
   highest count never rises, and only the pairs of the top bucket must be ordered (by the tie
   rule).
5. **One pair** at many positions is merged by NumPy, at few positions by a loop over the same
   memory. A loop has less overhead per call, NumPy less per position.
6. **Batches of tied pairs** (`tied_pairs`). If the pair that occurs first wins a tie, the merge
   order of many tied pairs follows from their positions, and NumPy merges them all at once. Most
   merges of a large vocabulary are made this way.
7. **Number of ties.** A merge records how many other pairs had its count. If a bound is too high,
   `merged_at` gives the merge that took the pair's first occurrence; until then it was tied.
8. **Rounds** (`initial_pairs`). Positions of all pairs of a long text would take many times its
   memory. So a round starts with only the most frequent pairs that fit, and ends when no pair is
   left above their lowest count. Then the row is compacted to one position per token, and the next
   round treats these tokens as atoms. If even the most frequent pair does not fit, it is merged
   while the row is rewritten, without storing its positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop
from itertools import accumulate, chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.merges import Merge
from bpeviz.core.training import Stopped
from bpeviz.trainers.fast_bpe import layout, limits
from bpeviz.trainers.fast_bpe.initial_pairs import PairTable, frequent_pairs, merge_oversized
from bpeviz.trainers.fast_bpe.pairs import Pairs
from bpeviz.trainers.fast_bpe.queue import PairQueue, SortedPairs
from bpeviz.trainers.fast_bpe.round_row import RoundRow, blocks_of, without_overlaps
from bpeviz.trainers.fast_bpe.tied_pairs import TiedOrder, order_tied

REPORT_EVERY = 16
"""Merges between two progress reports."""


def train_merges(
    row: layout.TokenRow,
    symbols: Sequence[str],
    limit: int,
    *,
    ties: Literal["first", "smallest", "bytes"] = "first",
    min_count: int = 1,
    report: Callable[[int, int], None] = lambda done, limit: None,
) -> tuple[list[Merge], Stopped]:
    """Train up to `limit` merges.

    Args:
        row: The pre-tokens; their memory is overwritten.
        symbols: The string of each atom by id. Merge i creates the id len(symbols) + i.
        limit: Largest number of merges.
        ties: Whether the pair that occurs first wins a tie, or the one with the smallest ids or
            bytes.
        min_count: Pairs with a lower count are not merged.
        report: Called now and then with the number of merges so far and `limit`.

    Returns:
        The merges and why there are not more: the limit, no pair left, or only rare pairs left.
    """
    merges: list[Merge] = []
    names = [*symbols] if ties == "bytes" else None
    limit = min(limit, len(row.ids))
    min_count = max(1, min_count)
    while True:
        done = len(merges)
        new, stopped = _train_round(
            row,
            len(symbols) + done,
            limit - done,
            ties == "first",
            names,
            min_count,
            lambda more, done=done: report(done + more, limit),  # type: ignore[misc]
        )
        merges += new
        if stopped is not None:
            return merges, stopped
        row.pack()


def _train_round(
    row: layout.TokenRow,
    vocab_size: int,
    limit: int,
    first: bool,
    names: list[str] | None,
    min_count: int,
    report: Callable[[int], None],
) -> tuple[list[Merge], Stopped | None]:
    """Train the merges of one round (see `train_merges`), and add their strings to `names`.

    Returns:
        The merges, and why the training ends, or None if another round must follow on the row.
    """
    table = None
    if len(row.ids) > limits.MAX_POSITIONS and vocab_size**2 <= limits.MAX_TABLE:
        table = PairTable.count(row, vocab_size)
        report(0)
        merges = merge_oversized(table, limit, first=first, min_count=min_count, names=names)
        if merges:
            if names is not None:
                names += [names[merge.left] + names[merge.right] for merge in merges]
            return merges, "full" if len(merges) == limit else None
    pairs, lowest_count = frequent_pairs(row, vocab_size, min_count, table)
    del table
    is_last, round_limit = lowest_count == min_count, limit
    if not is_last and vocab_size < 0xFFFE:
        round_limit = min(limit, 0xFFFE - vocab_size)  # so that ids fit into 16 bits
    next_round = Round(row, vocab_size, round_limit, first, names, lowest_count)
    next_round.queue.push_pairs(pairs)
    del pairs
    stopped = next_round.run(report)
    merges = next_round.merges()
    if is_last or len(merges) == limit:
        return merges, stopped
    row.cut(next_round.row.compact())
    return merges, None


class Round:
    """One round of training: take the best pair or a batch of tied pairs, merge, record new pairs.

    Attributes:
        row: The tokens.
        queue: The pairs that wait to be merged, by upper bounds of their counts.
        vocab_size: Number of ids in use before the round.
        limit: Largest number of merges in this round.
        names: The string of each token if the smallest strings win a tie, or None.
    """

    def __init__(
        self,
        row: layout.TokenRow,
        vocab_size: int,
        limit: int,
        first: bool,
        names: list[str] | None,
        min_count: int,
    ) -> None:
        self.row = RoundRow(row, vocab_size, limit, min_count)
        self.queue = PairQueue(row.weights, min_count, first, names)
        self.vocab_size, self.limit, self.names = vocab_size, limit, names
        self._decisions: list[tuple[int, int, int, int, int]] = []  # first fields of each `Merge`
        # How many more pairs have the top count at each merge than at the merge before it.
        self._tie_changes = [0] * (limit + 2)
        self._bucket_step = 0  # first merge of the top bucket
        self._bucket_fits = False  # whether its positions may be looked at all at once
        # Positions of weight 0 would keep a pair's count while it loses occurrences.
        weights = row.weights
        self._batches_allowed = first and (weights is None or bool(weights[1:].all()))
        self._batch_from = 0  # merge before which no batch is tried
        self._pause = 1  # merges to wait after the next batch that decides too little

    def run(self, report: Callable[[int], None]) -> Stopped:
        """Merge until the limit or until no pair is left; return why it ended."""
        queue, decisions = self.queue, self._decisions
        while len(decisions) < self.limit:
            groups: list[SortedPairs] = []
            if not queue.tied:
                if not queue:
                    return "rare" if self.row.has_pair() else "no pair"
                groups = self._open_bucket()
            if self._is_batch(len(queue.tied)) or groups:
                report(len(decisions))
                self._merge_batch(queue.take_pairs(groups))
                continue
            pair = self._pop_pair()
            if pair is not None:
                if not len(decisions) % REPORT_EVERY:
                    report(len(decisions))
                self._merge_pair(*pair)
        return "full"

    def merges(self) -> list[Merge]:
        """Return the merges of the round with their numbers of ties."""
        for _, left, right, positions in self.queue.tied:
            self._end_tie(left, right, positions)
        self.queue.tied = []
        tied = accumulate(self._tie_changes)
        return [Merge(*decision, n - 1) for decision, n in zip(self._decisions, tied, strict=False)]

    # ---- choose

    def _is_batch(self, n_tied: int) -> bool:
        return (
            n_tied >= limits.BATCH_MIN
            and self._batches_allowed
            and self._bucket_fits
            and len(self._decisions) >= self._batch_from
        )

    def _open_bucket(self) -> list[SortedPairs]:
        """Open the next bucket; return its groups if its pairs are to be merged as a batch."""
        queue = self.queue
        n_tied, groups = queue.open_bucket()
        self._bucket_step = step = len(self._decisions)
        self._tie_changes[step] += n_tied
        self._bucket_fits = queue.count * n_tied <= limits.MAX_POSITIONS
        if groups and self._is_batch(n_tied):
            return groups
        queue.take_entries(groups)
        return []

    def _pop_pair(self) -> tuple[int, int, Any] | None:
        """Remove the best pair of the top bucket and return it with its positions.

        Pairs whose bound is too high move to a lower bucket. Return None if all do.
        """
        row, queue = self.row, self.queue
        tied, occurrences = queue.tied, row.occurrences
        while tied:
            rank, left, right, positions = heappop(tied)
            remaining = occurrences(left, right, positions)
            if len(remaining) == len(positions):
                return left, right, remaining
            count = row.count(remaining)
            if queue.first and count:
                rank = int(remaining[0])
            if count < queue.count:
                self._end_tie(left, right, positions)
            queue.push(count, (rank, left, right, remaining))
        return None

    def _end_tie(self, left: int, right: int, positions: Any) -> None:
        """Record from which merge on a pair no longer has the top count, if it has lost any."""
        start = self._bucket_step
        if len(self._decisions) == start:  # no merge since the bucket was opened
            self._tie_changes[start] -= 1
            return
        loss = self.row.first_loss(left, right, positions, start)
        if loss != self.row.unmerged:
            self._tie_changes[max(start, loss + 1)] -= 1

    def _end_ties(self, pairs: Pairs) -> None:
        """Do the same for several pairs, all of which have lost occurrences."""
        start = self._bucket_step
        if len(self._decisions) == start:
            self._tie_changes[start] -= pairs.n_pairs
            return
        for _, left, right, positions in pairs.entries(range(pairs.n_pairs), pairs.starts, True):
            self._end_tie(left, right, positions)

    # ---- merge one pair

    def _merge_pair(self, left: int, right: int, positions: Any) -> None:
        """Merge a pair at all its positions and record the new pairs."""
        row, queue = self.row, self.queue
        step = len(self._decisions)
        new = self.vocab_size + step
        size = row.sizes[left] + row.sizes[right]
        row.sizes.append(size)
        row.size_array[new] = size
        if self.names is not None:
            self.names.append(self.names[left] + self.names[right])
        applied = queue.count
        if left == right:
            positions = without_overlaps(positions, size)
            applied = row.count(positions)
        if type(positions) is not list and len(positions) <= limits.LOOP_LIMIT:
            positions = positions.tolist()
        n_tied = len(queue.tied)
        if type(positions) is list:
            self._replace_by_loop(left, new, positions, step)
            self._record_by_loop(new, positions)
        else:
            self._replace_by_numpy(left, right, new, positions, step)
            self._record_by_numpy(new, positions)
        self._decisions.append((left, right, new, queue.count, applied))
        self._tie_changes[step + 1] += len(queue.tied) - n_tied - 1

    def _replace_by_loop(self, left: int, new: int, positions: list[int], step: int) -> None:
        row = self.row
        ids, merged_at, gap = row.id_view, row.merged_view, row.gap
        left_size, last = row.sizes[left], row.sizes[new] - 1
        boundary = left_size - 1
        for p in positions:
            # The start of the right half must no longer look like the start of a token.
            ids[p + left_size] = gap
            ids[p] = ids[p + last] = new
            merged_at[p + boundary] = step

    def _record_by_loop(self, new: int, positions: list[int]) -> None:
        row = self.row
        ids, sizes, gap, size = row.id_view, row.sizes, row.gap, row.sizes[new]
        before: dict[int, list[int]] = {}  # positions of the pair (id, new), by id
        after: dict[int, list[int]] = {}  # positions of the pair (new, id), by id
        for p in positions:
            other = ids[p - 1]
            if other != gap:
                if other in before:
                    before[other].append(p - sizes[other])
                else:
                    before[other] = [p - sizes[other]]
            other = ids[p + size]
            if other != gap and other != new:  # of (new, new), the right one has recorded it
                if other in after:
                    after[other].append(p)
                else:
                    after[other] = [p]
        push, first, names = self.queue.push, self.queue.first, self.names
        count = len if row.weight_view is None else row.count
        if names is not None:
            for other, starts in before.items():
                push(count(starts), ((names[other], names[new]), other, new, starts))
            for other, starts in after.items():
                push(count(starts), ((names[new], names[other]), new, other, starts))
            return
        for other, starts in before.items():
            push(count(starts), (starts[0] if first else 0, other, new, starts))
        for other, starts in after.items():
            push(count(starts), (starts[0] if first else 0, new, other, starts))

    def _replace_by_numpy(
        self, left: int, right: int, new: int, positions: NDArray[np.int32], step: int
    ) -> None:
        row = self.row
        ids, left_size, size = row.ids, row.sizes[left], row.sizes[new]
        for begins in blocks_of(positions):
            row.merged_at[left_size - 1 :].put(begins, step)
            if row.sizes[right] > 1:
                ids[left_size:].put(begins, row.gap)
            ids.put(begins, new)
            ids[size - 1 :].put(begins, new)

    def _record_by_numpy(self, new: int, positions: NDArray[np.int32]) -> None:
        row, queue, ids = self.row, self.queue, np.array([new])
        size = row.sizes[new]
        blocks = (row.new_pairs(begins, begins + size, ids) for begins in blocks_of(positions))
        queue.push_pairs(Pairs.combine(blocks, row.weights, queue.min_count))

    # ---- merge tied pairs together

    def _merge_batch(self, pairs: Pairs) -> None:
        """Merge all pairs of the top bucket, up to the first that overlaps with itself."""
        row = self.row
        exact = np.logical_and.reduceat(row.occur(pairs), pairs.starts)
        changed = []
        if not exact.all():
            rarer, pairs = pairs.select(~exact), pairs.select(exact)
            changed.append(rarer)
            self._end_ties(rarer)
        if pairs.n_pairs:
            changed += self._merge_exact(pairs)
        if len(self._decisions) < self.limit:
            waiting = Pairs.concatenate(changed)
            self.queue.push_pairs(waiting.keep_positions(row.occur(waiting)))

    def _merge_exact(self, pairs: Pairs) -> list[Pairs]:
        """Merge tied pairs whose bounds are exact.

        Returns:
            The pairs that became rarer, and the pairs of the new tokens.
        """
        row, step = self.row, len(self._decisions)
        # The boundary inside each occurrence temporarily stores the index of its pair, so that the
        # occurrence on its left finds the following pair.
        owner = np.repeat(np.arange(pairs.n_pairs, dtype=np.int32), pairs.lengths)
        boundary = pairs.positions + (row.size_array[pairs.lefts] - 1).take(owner)
        row.merged_at.put(boundary, owner)
        follower = row.merged_at.take(boundary + row.size_array[pairs.rights].take(owner))
        order = order_tied(pairs, owner, follower, row.unmerged, self.limit - step)
        new_ids = self._decide(pairs, order)

        steps = np.full(pairs.n_pairs, row.unmerged, row.merged_at.dtype)
        steps[[*chain.from_iterable(order.runs)]] = np.arange(step, len(self._decisions))
        step_of = steps.take(owner)
        row.merged_at.put(boundary, step_of)
        rarer = steps == row.unmerged
        rarer[order.undecided] = False
        # Undecided pairs are in order, so this list is a heap.
        self.queue.tied = pairs.entries(order.undecided, pairs.starts, self.queue.first)
        self._schedule_batch(len(self._decisions) - step, len(order.undecided))
        if not order.runs:
            return [pairs.select(rarer)]
        row.ids.put(boundary.compress(step_of != row.unmerged) + 1, row.gap)
        heads = pairs.take(np.array([run[0] for run in order.runs]))
        return [pairs.select(rarer), self._write_runs(heads, np.array(new_ids))]

    def _decide(self, pairs: Pairs, order: TiedOrder) -> list[int]:
        """Record the merges of each run; return the id of the token that each run makes."""
        decisions, sizes, count = self._decisions, self.row.sizes, self.queue.count
        lefts, rights = pairs.lefts.tolist(), pairs.rights.tolist()
        start = len(decisions)
        new_ids = []
        for run in order.runs:
            left = lefts[run[0]]
            for i in run:
                new = self.vocab_size + len(decisions)
                sizes.append(sizes[left] + sizes[rights[i]])
                decisions.append((left, rights[i], new, count, count))
                self._tie_changes[len(decisions)] -= 1
                left = new
            new_ids.append(left)
        for loss in order.losses:
            self._tie_changes[start + loss + 1] -= 1
        begin = self.vocab_size + start
        self.row.size_array[begin : begin + len(decisions) - start] = sizes[begin:]
        return new_ids

    def _schedule_batch(self, n_merged: int, n_undecided: int) -> None:
        """Set when the next batch is tried: the longer, the less the last one decided."""
        # A batch looks at all tied pairs again, so it must decide a good part of them.
        self._pause = 1 if 4 * n_merged >= n_undecided else 4 * self._pause
        self._batch_from = len(self._decisions) + (self._pause if n_undecided else 0)

    def _write_runs(self, heads: Pairs, new_ids: NDArray[np.int64]) -> Pairs:
        """Write the token of each run where its first pair begins; return the new pairs."""
        row = self.row
        index_of = np.repeat(np.arange(len(new_ids)), heads.lengths)
        ids = new_ids.take(index_of)
        ends = heads.positions + row.size_array.take(ids)
        row.ids.put(heads.positions, ids)
        row.ids.put(ends - 1, ids)
        return row.new_pairs(heads.positions.astype(np.intp), ends, new_ids, index_of)

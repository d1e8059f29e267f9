"""The merges of `bpeviz.learners.bpe.learn_merges`, decided faster by NumPy.

It follows the same idea, and decides the same to the last tie; the tests hold the two against each
other. How it differs from the one that is meant to be read:

- No count is kept up. A pair's places are written down when it is born; from then on it can only
  lose some, and the count that it had then is a bound. What has the highest bound is counted again
  before it is believed.
- Bounds stand in buckets, one for each count, since no pair is ever more frequent than the one that
  was merged last: only the pairs of the highest bucket have to be in order.
- What is done at many places is done by NumPy, at few places by a plain loop over the same memory.
  Of the pairs that a merge with many places makes, only the best waits in a bucket.
- When a bound turns out to be too high, it is looked up which merge took the first of the pair's
  places: until then the pair was tied with those that were merged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate, chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bpeviz.boundaries import NEVER
from bpeviz.merging import Merge

GAP = -1

_YES = np.array([True])

FEW = 48
"""Up to so many places, a plain loop is faster than NumPy."""

_TOLD_EVERY = 256
"""Merges between two reports."""

Stopped = Literal["full", "no pair", "rare"]
Entry = tuple[int, int, int, Any, Any]
"""What waits in a bucket: its rank among equals, the pair, its places, and its group if any."""


@dataclass(frozen=True)
class Rows:
    """Distinct chunks, one behind the other, with a gap before, between and behind them.

    ids: int32 [places]: atoms and `GAP`. weights: int64 [places], how often each place counts, or
    None where each counts once.
    """

    ids: NDArray[np.int32]
    weights: NDArray[np.int64] | None

    @classmethod
    def of(cls, chunks: Sequence[tuple[Sequence[int], int]]) -> Rows:
        """Lay out rows of atom ids, each with its weight, in first-seen order."""
        lengths = np.fromiter((len(row) + 1 for row, _ in chunks), np.int64, len(chunks))
        times = np.fromiter((times for _, times in chunks), np.int64, len(chunks))
        ids = np.fromiter(chain.from_iterable((*row, GAP) for row, _ in chunks), np.int32)
        return cls._with(ids, lengths, times)

    @classmethod
    def of_bytes(cls, blob: bytes, ends: NDArray[np.int64], times: NDArray[np.int64]) -> Rows:
        """Lay out chunks of bytes, which are the ids.

        blob: all chunks; ends: where in it each ends; times: how often each comes.
        """
        lengths = np.diff(ends, prepend=0) + 1
        ids = np.full(len(blob) + len(ends), GAP, np.int32)
        solid = np.ones(len(ids), np.bool_)
        solid[np.cumsum(lengths) - 1] = False
        ids[solid] = np.frombuffer(blob, np.uint8)
        return cls._with(ids, lengths, times)

    @classmethod
    def _with(
        cls, ids: NDArray[np.int32], lengths: NDArray[np.int64], times: NDArray[np.int64]
    ) -> Rows:
        row = np.concatenate((np.array([GAP], np.int32), ids))
        if (times == 1).all():
            return cls(row, None)
        return cls(row, np.concatenate((np.zeros(1, np.int64), np.repeat(times, lengths))))


class _Group:
    """Pairs that were born together, the best first, of which one at a time waits in a bucket.

    Entry i is the pair (lefts[i], rights[i]), which comes counts[i] times, at
    places[starts[i]:ends[i]]; `next` is the entry that comes next.
    """

    __slots__ = ("born", "counts", "ends", "firsts", "lefts", "next", "places", "rights", "starts")

    def __init__(
        self,
        lefts: NDArray[Any] | int,
        rights: NDArray[Any] | int,
        keys: NDArray[Any],
        places: NDArray[np.int32],
        weights: NDArray[np.int64] | None,
        rarest: int,
        first: bool,
        born: int,
    ) -> None:
        """Group places, which ascend, by the pairs that stand there.

        lefts, rights: of the pairs; keys: in the order of the pairs; born: before which merge.
        """
        order = _order(keys)
        keys, places = keys[order], places[order]
        starts = np.flatnonzero(np.concatenate((_YES, keys[1:] != keys[:-1])))
        ends = np.concatenate((starts[1:], [len(keys)]))
        counts = ends - starts if weights is None else np.add.reduceat(weights[places], starts)
        firsts = places[starts]
        best = np.lexsort((firsts, -counts)) if first else np.argsort(-counts, kind="stable")
        if rarest > 1 or weights is not None:
            best = best[counts[best] >= rarest]
        examples = order[starts[best]]
        self.next, self.born = 0, born
        self.places = places
        self.starts, self.ends = starts[best].tolist(), ends[best].tolist()
        self.counts, self.firsts = counts[best].tolist(), firsts[best].tolist()
        self.lefts = lefts if isinstance(lefts, int) else lefts[examples].tolist()
        self.rights = rights if isinstance(rights, int) else rights[examples].tolist()


def learn_merges(
    rows: Rows,
    atoms: int,
    limit: int,
    *,
    ties: Literal["first", "smallest"] = "first",
    min_count: int = 1,
    tell: Callable[[int, int], None] = lambda done, limit: None,
) -> tuple[list[Merge], Stopped]:
    """Learn up to `limit` merges, and say why there are no more.

    atoms: how many there are; merge i makes the id atoms + i. tell: is told now and then how many
    merges of how many are learnt.
    """
    first = ties == "first"
    rarest = max(1, min_count)
    limit = min(limit, len(rows.ids))
    weights = rows.weights
    # Small numbers, where they are enough, are sorted and found faster. A gap is then the largest.
    row: NDArray[Any] = rows.ids.astype(np.uint16 if atoms + limit < 0xFFFF else np.int32)
    gap = int(row[0])
    vanishes = np.full(len(row), NEVER, np.int32)
    # The same memory for plain loops, where NumPy takes a microsecond for each single value.
    cells, fades = row.data, vanishes.data
    times = None if weights is None else weights.data
    size = [1] * atoms
    sizes = np.ones(atoms + limit, np.int32)

    buckets: dict[int, list[Entry]] = {}
    levels: list[int] = []  # the counts that have a bucket, negative: a heap
    best: list[Entry] = []  # the pairs of the highest count: a heap
    level, since = 0, 0  # that count, and the merge that was the first of it
    found: list[tuple[int, int, int, int, int]] = []
    # How many more pairs of the highest count there are before a merge than before the last one.
    more = [0] * (limit + 2)

    def put(count: int, entry: Entry) -> None:
        if count == level:
            heappush(best, entry)
            more[len(found) + 1] += 1
        elif count >= rarest:
            bucket = buckets.get(count)
            if bucket is None:
                buckets[count] = [entry]
                heappush(levels, -count)
            else:
                bucket.append(entry)

    def put_next(group: _Group) -> None:
        i = group.next
        if i < len(group.counts):
            group.next = i + 1
            places = group.places[group.starts[i] : group.ends[i]]
            rank = group.firsts[i] if first else 0
            left = group.lefts if isinstance(group.lefts, int) else group.lefts[i]
            right = group.rights if isinstance(group.rights, int) else group.rights[i]
            entry = (rank, left, right, places, group)
            if group.counts[i] == level:
                heappush(best, entry)
                more[max(since, group.born)] += 1
            else:
                put(group.counts[i], entry)

    def lost(left: int, right: int, places: Any, stands: Any = None) -> None:
        """Note until when a pair was as frequent as it had been, if some of its places are gone."""
        reach = size[left]
        whole = reach + size[right]
        if type(places) is not list:
            if stands is None:
                stands = (row[places] == left) & (row[places + reach] == right)
            places = places[~stands]
            if weights is not None:
                places = places[weights[places] > 0]
            if len(places):
                # Mostly the first of them tells already that it was long ago.
                p = int(places[0])
                places = [p] if min(fades[p - 1], fades[p + reach - 1]) < since else places.tolist()
        until = NEVER
        for p in places:
            if cells[p] == left and cells[p + reach] == right:
                continue
            if times is None or times[p]:
                until = min(until, fades[p - 1], fades[p + reach - 1], fades[p + whole - 1])
                if until < since:
                    break
        if until != NEVER:
            more[max(since, until + 1)] -= 1

    def most_frequent() -> tuple[int, int, Any] | None:
        """Take out the pair that comes next, with all its places."""
        nonlocal best, level, since
        while True:
            while not best:
                if not levels:
                    return None
                level, since = -heappop(levels), len(found)
                best = buckets.pop(level)
                more[since] += len(best)
                heapify(best)
            rank, left, right, places, group = heappop(best)
            if group is not None:
                put_next(group)
            stands = None
            if len(places) <= FEW:
                if type(places) is not list:
                    places = places.tolist()
                reach = size[left]
                alive = [p for p in places if cells[p] == left and cells[p + reach] == right]
                if len(alive) == len(places):
                    return left, right, places
                count = len(alive) if times is None else sum([times[p] for p in alive])
            else:
                stands = (row[places] == left) & (row[places + size[left]] == right)
                alive = places[stands]
                if len(alive) == len(places):
                    return left, right, places
                count = len(alive) if weights is None else int(weights[alive].sum())
            now = int(alive[0]) if first and count else 0
            if count < level:
                lost(left, right, places, stands)
                put(count, (now, left, right, alive, None))
            elif now == rank:
                return left, right, alive
            else:
                heappush(best, (now, left, right, alive, None))

    inside = np.flatnonzero((row[:-1] != gap) & (row[1:] != gap)).astype(np.int32)
    if len(inside):
        lefts, rights = row[inside], row[inside + 1]
        keys = lefts.astype(np.int64) * atoms + rights.astype(np.int64)
        put_next(_Group(lefts, rights, keys, inside, weights, rarest, first, 0))
        del lefts, rights, keys
    del inside

    stopped: Stopped = "full"
    while len(found) < limit:
        pair = most_frequent()
        if pair is None:
            left_over = (vanishes == NEVER)[:-1] & (rows.ids[:-1] != GAP) & (rows.ids[1:] != GAP)
            if weights is not None:
                left_over &= weights[:-1] > 0
            stopped = "rare" if left_over.any() else "no pair"
            break
        left, right, places = pair
        step = len(found)
        new = atoms + step
        reach, right_size = size[left], size[right]
        whole = reach + right_size
        size.append(whole)
        sizes[new] = whole
        if left == right:
            places = _apart(places, whole)
        if type(places) is not list and len(places) <= FEW:
            places = places.tolist()
        if type(places) is list:
            for p in places:
                # The start of the right half may no longer be taken for the start of a token.
                cells[p + reach] = gap
                cells[p] = cells[p + whole - 1] = new
                fades[p + reach - 1] = step
            before: dict[int, list[int]] = {}
            behind: dict[int, list[int]] = {}
            for p in places:
                other = cells[p - 1]
                if other != gap:
                    if other in before:
                        before[other].append(p - size[other])
                    else:
                        before[other] = [p - size[other]]
                other = cells[p + whole]
                if other != gap and other != new:
                    if other in behind:
                        behind[other].append(p)
                    else:
                        behind[other] = [p]
            if times is None:
                applied = len(places)
                for other, at in before.items():
                    put(len(at), (at[0] if first else 0, other, new, at, None))
                for other, at in behind.items():
                    put(len(at), (at[0] if first else 0, new, other, at, None))
            else:
                applied = sum([times[p] for p in places])
                for other, at in before.items():
                    count = times[at[0]] if len(at) == 1 else sum([times[p] for p in at])
                    put(count, (at[0] if first else 0, other, new, at, None))
                for other, at in behind.items():
                    count = times[at[0]] if len(at) == 1 else sum([times[p] for p in at])
                    put(count, (at[0] if first else 0, new, other, at, None))
        else:
            row[places + reach] = gap
            row[places] = new
            row[places + (whole - 1)] = new
            vanishes[places + (reach - 1)] = step
            applied = len(places) if weights is None else int(weights[places].sum())
            others = row[places - 1]
            there = others != gap
            if there.any():
                others = others[there]
                at = places[there] - sizes[others]
                put_next(_Group(others, new, others, at, weights, rarest, first, step + 1))
            others = row[places + whole]
            there = (others != gap) & (others != new)
            if there.any():
                others = others[there]
                put_next(
                    _Group(new, others, others, places[there], weights, rarest, first, step + 1)
                )
        found.append((left, right, new, level, applied))
        more[step + 1] -= 1
        if not step % _TOLD_EVERY:
            tell(step, limit)
    while best:  # those that are left of the last count
        _, left, right, places, group = heappop(best)
        if group is not None:
            put_next(group)
        lost(left, right, places)
    tied = accumulate(more)
    return [Merge(*one, others - 1) for one, others in zip(found, tied, strict=False)], stopped


def _apart(places: Any, whole: int) -> Any:
    """Return those of a pair (x, x)'s places at which it is merged, from the left: of those that
    overlap, every other one."""
    if type(places) is list:
        kept, free = [], 0
        for p in places:
            if p >= free:
                kept.append(p)
                free = p + whole
        return kept
    begins = np.concatenate(([True], places[1:] - places[:-1] != whole // 2))
    number = np.arange(len(places))
    start = np.maximum.accumulate(np.where(begins, number, 0))
    return places[(number - start) % 2 == 0]


def _order(keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return the order in which keys (0 or more) ascend, as a stable sort finds it.

    By 16 bits at a time: of such small numbers NumPy sorts many times more in a second.
    """
    order = np.argsort(keys.astype(np.uint16, copy=False), kind="stable")
    if keys.itemsize > 2:
        for bits in range(16, int(keys.max(initial=0)).bit_length(), 16):
            order = order[np.argsort((keys[order] >> bits).astype(np.uint16), kind="stable")]
    return order

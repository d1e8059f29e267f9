"""Chunks laid out in a row of tokens, the pairs in it, and how a row is written anew.

`bpeviz.learners.bpe_numpy` learns with them. What is done here for every place of a row is done in
blocks: so a long text takes little more memory than its row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpeviz.learners.pairs import Pairs, ascending, beginnings, distances
from bpeviz.merging import Merge

BLOCK = 1 << 20
"""Places of a text whose pairs are sorted at once."""

ROOM = 1 << 23
"""Places of pairs with which a round begins at most."""

TABLE = 1 << 22
"""Up to so many pairs that there may be, they are counted in a table; more are sorted."""

TIED = 64
"""From more equally frequent pairs on, it would take too long to write the row anew for each."""


@dataclass
class Rows:
    """Distinct chunks, one behind the other, with a gap before, between and behind them.

    ids: uint16 or int32 [places]: atoms, and as a gap the largest number there is.
    weights: whole numbers [places], how often each place counts, or None where each counts once.

    Learning writes both anew, shorter and shorter.
    """

    ids: NDArray[Any]
    weights: NDArray[Any] | None

    def cut(self, end: int) -> None:
        """Leave only the first places. The memory of the others is kept until `pack`."""
        self.ids = self.ids[:end]
        self.weights = None if self.weights is None else self.weights[:end]

    def pack(self) -> None:
        """Give back the memory of places that were cut off, if nothing else holds it."""
        self.ids = self.ids.copy()
        self.weights = None if self.weights is None else self.weights.copy()

    def as_kind(self, kind: type[np.uint16 | np.int32]) -> NDArray[Any]:
        """Hold the ids as numbers of another kind, which must be large enough. Return them."""
        if self.ids.dtype != kind:
            gaps = self.ids == self.ids[0]
            self.ids = self.ids.astype(kind)
            self.ids[gaps] = gap_of(kind)
        return self.ids

    @classmethod
    def of(cls, chunks: Sequence[tuple[Sequence[int], int]]) -> Rows:
        """Lay out rows of atom ids, each with its weight, in first-seen order."""
        lengths = np.fromiter((len(row) + 1 for row, _ in chunks), np.int64, len(chunks))
        times = np.fromiter((times for _, times in chunks), np.int64, len(chunks))
        again, weights = _weights(times, lengths)
        rows = chain((row for row, _ in chunks), (chunks[i][0] for i in again))
        gap = gap_of(np.int32)
        cells = chain.from_iterable((*row, gap) for row in rows)
        return cls(np.fromiter(chain((gap,), cells), np.int32), weights)

    @classmethod
    def of_array(
        cls, cells: NDArray[Any], ends: NDArray[np.int64], times: NDArray[np.int64]
    ) -> Rows:
        """Lay out chunks of atom ids.

        cells: unsigned [atoms], all chunks; ends: where in it each ends; times: how often each
        comes.
        """
        lengths = np.diff(ends, prepend=0) + 1
        again, weights = _weights(times, lengths)
        copies = [cells[ends[i] + 1 - lengths[i] : ends[i]] for i in again]
        lengths = np.append(lengths, lengths[again])
        # Here and below, what is made for every place decides how much memory a long text takes.
        kind = np.uint16 if cells.itemsize <= 2 else np.int32
        ids = np.full(1 + lengths.sum(), gap_of(kind), kind)
        solid = np.ones(len(ids), np.bool_)
        solid[0] = False
        solid[lengths.cumsum()] = False
        first = 1 + len(cells) + len(ends)
        ids[:first][solid[:first]] = cells
        if copies:
            ids[first:][solid[first:]] = np.concatenate(copies)
        return cls(ids, weights)


def gap_of(kind: type[np.uint16 | np.int32]) -> int:
    """Return what stands for a gap: more than any id, so `x < id` holds for no gap."""
    return int(np.iinfo(kind).max)


def _weights(
    times: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[list[int], NDArray[Any] | None]:
    """Return which chunks stand again behind the others, once or more; and how often each place
    of them all counts, with the gap before them.

    times: how often each chunk comes; lengths: how many places it has, with the gap behind it. A
    chunk that comes very often is laid out several times, so that small numbers tell how often
    each of its copies counts. It is decided on like a single one, since all its copies are cut
    alike, and the first of them stands where it stood.
    """
    if (times == 1).all():
        return [], None
    for kind in (np.uint8, np.uint16, np.uint32, np.int64):
        most = int(np.iinfo(kind).max)
        more = np.maximum(times - 1, 0) // most
        if more.astype(np.float64) @ lengths <= lengths.sum() // 8:
            break
    again = np.repeat(np.arange(len(times)), more)
    small = np.append(times - more * most, np.full(len(again), most)).astype(kind)
    of_places = np.append(lengths, lengths[again])
    return again.tolist(), np.repeat(np.append(kind(0), small), np.append(1, of_places))


def _keys(
    rows: Rows, atoms: int, begin: int, low: int = 0, high: int | None = None
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the pairs of a block, each as one number, left * atoms + right, and where they stand.

    low, high: only those whose left token is one of these, without `high` itself.
    """
    row = rows.ids
    number = np.min_scalar_type(max(0, atoms * atoms - 1))
    rights = row[begin + 1 : begin + 1 + BLOCK]
    lefts = row[begin : begin + len(rights)]
    wanted = (rights < atoms) & (lefts < (atoms if high is None else high))
    if low:
        wanted &= lefts >= low
    places = wanted.nonzero()[0]
    keys = lefts.take(places).astype(number)
    keys *= number.type(atoms)
    keys += rights.take(places).astype(number)
    places += begin
    return keys, places.astype(np.int32)


@dataclass(frozen=True)
class Table:
    """How many places each pair of a row has, by its number (see `_keys`), and how often it comes.

    left: None, or the only token whose pairs are counted: of these, the numbers are those of their
    right tokens. lengths, counts: int64, for each number.
    """

    rows: Rows
    atoms: int
    left: int | None
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Rows, atoms: int, left: int | None = None) -> Table:
        lengths, counts = np.zeros((2, atoms * atoms if left is None else atoms), np.int64)
        table = cls(rows, atoms, left, lengths, lengths if rows.weights is None else counts)
        for keys, places in table.blocks():
            lengths += np.bincount(keys, minlength=len(lengths))
            if rows.weights is not None:
                of_places = rows.weights.take(places)
                counts += np.bincount(keys, of_places, len(counts)).astype(np.int64)
        return table

    def blocks(self) -> Iterator[tuple[NDArray[Any], NDArray[np.int32]]]:
        """Yield the numbers of the pairs of each block, and where they stand."""
        low, high = (0, None) if self.left is None else (self.left, self.left + 1)
        for begin in range(0, len(self.rows.ids), BLOCK):
            keys, places = _keys(self.rows, self.atoms, begin, low, high)
            keys -= keys.dtype.type(low * self.atoms)
            yield keys, places

    def pairs(self, rarest: int) -> Pairs:
        """Return the pairs that come so often, with their places."""
        wanted = (self.counts >= rarest) & (self.lengths > 0)
        these = wanted.nonzero()[0]
        lengths = self.lengths[these]
        all_places = np.empty(int(lengths.sum()), np.int32)
        free = np.zeros(len(wanted), np.int64)  # where in them the next of each pair will stand
        free[these] = lengths.cumsum() - lengths
        for keys, places in self.blocks():
            some = wanted.take(keys)
            keys, places = keys.compress(some), places.compress(some)
            order = ascending(keys)
            keys = keys.take(order)
            begins = beginnings(keys)
            here, numbers = keys.take(begins), distances(begins, len(keys))
            to = np.repeat(free.take(here) - begins, numbers)
            to += np.arange(len(to))
            all_places[to] = places.take(order)
            free[here] += numbers
        lefts, rights = np.divmod(these.astype(np.int32), self.atoms)
        return Pairs(lefts + (self.left or 0), rights, lengths, all_places)

    def run(self, head: int, tied: list[int]) -> list[int]:
        """Return the pairs (a, b), (b, c), (c, d), … that are merged one behind the other.

        head: (a, b), which stands first of those that are equally frequent, `tied`. They go on as
        long as each b has an a before it and a c behind it: then (ab, c) is as frequent, stands
        first, and the others are tied with it as before (`bpeviz.learners.pairs.runs`).
        """
        if len(tied) == 1:
            return [head]
        tokens = np.zeros(self.atoms, np.int64)
        for begin in range(0, len(self.rows.ids), BLOCK):
            block = self.rows.ids[begin : begin + BLOCK]
            tokens += np.bincount(block[block < self.atoms], minlength=self.atoms)
        places = self.lengths[head]
        found, left = [head], head // self.atoms
        if tokens[left] > places and any(key % self.atoms == left for key in tied):
            return found  # (z, a) is tied now, but no longer after (a, b)
        next_of = {key // self.atoms: key for key in tied if self.lengths[key] == places}
        while len(found) < len(tied):
            middle = found[-1] % self.atoms
            if middle not in next_of or tokens[middle] > places:
                break
            found.append(next_of[middle])
        return found

    def first_of(self, some: list[int]) -> int:
        """Return which of some pairs, of which each has a place, stands first."""
        wanted = np.zeros(len(self.counts), np.bool_)
        wanted[some] = True
        for keys, _ in self.blocks():
            found = keys.compress(wanted.take(keys))
            if len(found):
                return int(found[0])
        raise ValueError("None of these pairs has a place.")


def merge_crowded(table: Table, limit: int, *, first: bool, rarest: int) -> list[Merge]:
    """Merge the most frequent pair if there is no room for its places; else nothing.

    With it those that always stand behind it (`Table.run`). Return the merges: up to `limit`. The
    rows of the table are written anew. first: of equals, the one that stands first is merged, not
    the one of the smallest ids.
    """
    atoms = table.atoms
    count = int(table.counts.max(initial=0))
    tied = (table.counts == count).nonzero()[0].tolist()
    if not limit or count < rarest or table.lengths[tied].sum() <= ROOM:
        return []
    run = table.run(table.first_of(tied), tied) if first else tied[:1]
    if len(tied) > TIED * len(run):
        return []
    left, right = divmod(run[0], atoms)
    others = [key % atoms for key in run[1:limit]]
    applied = _merge(table.rows, left, right, atoms + len(others), len(others))
    merges = [Merge(left, right, atoms, count, applied, len(tied) - 1)]
    for other in others:
        last = merges[-1]
        merges.append(Merge(last.new_id, other, last.new_id + 1, count, applied, last.ties - 1))
    return merges


def _merge(rows: Rows, left: int, right: int, new: int, more: int) -> int:
    """Merge a pair in a row in which each token has one place. None of its places is kept.

    more: how many tokens that always follow become part of `new`, too. Return how often it is
    merged.
    """
    row, weights = rows.ids, rows.weights
    applied = end = taken = 0  # taken: how many places of a block belong to what was merged before
    for i in range(0, len(row), BLOCK):
        block, behind = row[i : i + BLOCK].copy(), row[i + 1 : i + 1 + BLOCK]
        places = ((block[: len(behind)] == left) & (behind == right)).nonzero()[0]
        if left == right:
            places = apart(places[places >= taken], 2)
        stays = np.ones(len(block) + 1 + more, np.bool_)
        stays[:taken] = False
        for j in range(1 + more):
            stays[places + 1 + j] = False
        taken = int(np.count_nonzero(~stays[len(block) :]))
        stays = stays[: len(block)]
        block[places] = new
        block = block[stays]
        row[end : end + len(block)] = block
        if weights is None:
            applied += len(places)
        else:
            of_block = weights[i : i + BLOCK]
            applied += int(of_block[places].sum(dtype=np.int64))
            weights[end : end + len(block)] = of_block[stays]
        end += len(block)
    rows.cut(end)
    return applied


def frequent_pairs(rows: Rows, atoms: int, rarest: int, table: Table | None) -> tuple[Pairs, int]:
    """Return the most frequent pairs of a row in which each token has one place.

    There are as many as there is room for. Also return from which count on these are all that there
    are: not below `rarest`. atoms: how many different tokens there may be; table: of a long row, if
    they are few.
    """
    row, weights = rows.ids, rows.weights
    blocks = range(0, max(1, len(row)), BLOCK)

    def pairs(keys: NDArray[Any], places: NDArray[np.int32]) -> Pairs:
        order = ascending(keys)
        keys = keys.take(order)
        begins = beginnings(keys)
        lefts, rights = np.divmod(keys.take(begins), max(1, atoms))
        lengths = distances(begins, len(keys))
        return Pairs(lefts.astype(np.int32), rights.astype(np.int32), lengths, places.take(order))

    def with_room(lengths: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
        """Return from which count on there is room for the places of all pairs."""
        falling = np.argsort(-counts, kind="stable")
        beyond = lengths[falling].cumsum().searchsorted(ROOM, side="right")
        if beyond == len(counts):
            return rarest
        highest, too_much = counts[falling[0]], counts[falling[beyond]]
        return max(rarest, int(min(highest, too_much + 1)))

    if table is not None:
        fewest = with_room(table.lengths, table.counts)
        return table.pairs(fewest), fewest

    # Too many different ones to have a number each. All of those that begin with some tokens are
    # looked at, then with others, and the rarest are left out again.
    edges = [0, atoms]
    if len(row) > ROOM:
        of_left = np.zeros(atoms, np.int64)
        for begin in blocks:
            lefts = row[begin : begin + BLOCK]
            of_left += np.bincount(lefts[lefts < atoms], minlength=atoms)
        crowded = (of_left > ROOM // 2).nonzero()[0]
        full = np.diff(of_left.cumsum() // BLOCK).nonzero()[0] + 1
        edges = np.unique(np.concatenate((edges, full, crowded, crowded + 1))).tolist()
    fewest = rarest
    kept: list[tuple[Pairs, NDArray[np.int64]]] = []
    for low, high in pairwise(edges):
        if len(row) > ROOM and of_left[low] > ROOM // 2:
            table = Table.of(rows, atoms, low)
            lengths = np.concatenate([table.lengths, *(found.lengths for found, _ in kept)])
            counts = np.concatenate([table.counts, *(counts for _, counts in kept)])
            fewest = max(fewest, with_room(lengths, counts))
            found = table.pairs(fewest)
        else:
            some = [_keys(rows, atoms, begin, low, high) for begin in blocks]
            found = pairs(*map(np.concatenate, zip(*some, strict=True)))
        kept.append((found, found.counts(weights)))
        if len(row) > ROOM:
            lengths = np.concatenate([found.lengths for found, _ in kept])
            counts = np.concatenate([counts for _, counts in kept])
            fewest = max(fewest, with_room(lengths, counts))
            kept = [(one.where(of >= fewest), of[of >= fewest]) for one, of in kept]
    return Pairs.together([found for found, _ in kept]), fewest


def blocks_of(places: NDArray[np.int32]) -> Iterator[NDArray[np.intp]]:
    """Yield places in blocks, as the kind of number that NumPy turns them into at each use."""
    for begin in range(0, len(places), BLOCK):
        yield places[begin : begin + BLOCK].astype(np.intp)


def apart(places: Any, whole: int) -> Any:
    """Return those of a pair (x, x)'s places at which it is merged, from the left: of those that
    overlap, every other one."""
    if type(places) is list:
        kept, free = [], 0
        for p in places:
            if p >= free:
                kept.append(p)
                free = p + whole
        return kept
    parts = []
    before = 0  # how many overlap in a row at the end of the last block
    for begin in range(0, len(places), BLOCK):
        part = places[begin : begin + BLOCK]
        number = np.arange(len(part), dtype=np.int32)
        start = number.copy()  # of the first of those that overlap in a row
        start[1:][part[1:] - part[:-1] == whole // 2] = -len(places)
        if begin and part[0] - places[begin - 1] == whole // 2:
            start[0] = -before
        np.maximum.accumulate(start, out=start)
        number -= start
        parts.append(part.compress(number % 2 == 0))
        before = number.item(-1) + 1
    return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else places

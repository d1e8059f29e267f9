"""The merges of `bpeviz.learners.bpe.learn_merges`, decided faster by NumPy.

It follows the same idea, and decides the same to the last tie; the tests hold the two against each
other. How it differs from the one that is meant to be read:

- No count is kept up. A pair's places are written down when it is born; from then on it can only
  lose some, and the count that it had then is a bound. What has the highest bound is counted again
  before it is believed.
- Bounds stand in buckets, one for each count, since no pair is ever more frequent than the one that
  was merged last: only the pairs of the highest bucket have to be in order.
- What is done at many places is done by NumPy, at few places by a plain loop over the same memory.
  The pairs that a merge with many places makes stay together, by falling count; they wait where
  the most frequent of those that are left do.
- Many pairs that are equally frequent, of which the one that stands first is taken, are merged
  together (`bpeviz.learners.pairs.runs` says which, and why in that order). So are most merges of
  a large vocabulary.
- When a bound turns out to be too high, it is looked up which merge took the first of the pair's
  places: until then the pair was tied with those that were merged.
- A long text is learnt in rounds. A round knows the places of the most frequent pairs only, and
  ends when it has merged those. Then the row is written anew, with one place for each token, and
  the next round begins as if these were atoms: a long text takes little more memory than its row.
  Where the most frequent pair alone has too many places, a round merges nothing else, or the pairs
  that always stand behind it as well: at once, while the row is written anew.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import accumulate, chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bpeviz.learners import layout
from bpeviz.learners.pairs import Entry, Falling, Pairs, ascending, beginnings, distances, runs
from bpeviz.merging import Merge

FEW = 48
"""Up to so many places, a plain loop is faster than NumPy."""

MANY = 16
"""From so many equally frequent pairs on, merging them together is faster than one by one."""

_TOLD_EVERY = 16
"""Merges between two reports."""

Stopped = Literal["full", "no pair", "rare"]


def learn_merges(
    rows: layout.Rows,
    atoms: int,
    limit: int,
    *,
    ties: Literal["first", "smallest"] = "first",
    min_count: int = 1,
    tell: Callable[[int, int], None] = lambda done, limit: None,
) -> tuple[list[Merge], Stopped]:
    """Learn up to `limit` merges, and say why there are no more. The rows are used up.

    atoms: how many there are; merge i makes the id atoms + i. tell: is told now and then how many
    merges of how many are learnt.
    """
    merges: list[Merge] = []
    limit = min(limit, len(rows.ids))
    rarest = max(1, min_count)
    ended = False
    while not ended:
        done = len(merges)
        some, stopped, ended = _one_round(
            rows,
            atoms + done,
            limit - done,
            first=ties == "first",
            rarest=rarest,
            tell=lambda more, done=done: tell(done + more, limit),  # type: ignore[misc]
        )
        merges += some
        if not ended:
            rows.pack()
    return merges, stopped


def _one_round(
    rows: layout.Rows,
    atoms: int,
    limit: int,
    *,
    first: bool,
    rarest: int,
    tell: Callable[[int], None],
) -> tuple[list[Merge], Stopped, bool]:
    """Learn some of up to `limit` merges, or all; see `learn_merges`.

    Return them, why there are no more, and whether this is so. If not, the rows are what is left.
    """
    table = None
    if len(rows.ids) > layout.ROOM and atoms * atoms <= layout.TABLE:
        table = layout.Table.of(rows, atoms)
        tell(0)
        crowded = layout.merge_crowded(table, limit, first=first, rarest=rarest)
        if crowded:
            return crowded, "full", len(crowded) == limit
    pairs, fewest = layout.frequent_pairs(rows, atoms, rarest, table)
    del table
    last = fewest == rarest
    rarest, room = fewest, limit
    if not last and atoms < 0xFFFE:
        limit = min(limit, 0xFFFE - atoms)
    # Small numbers, where they are enough, are sorted and found faster.
    kind = np.uint16 if atoms + limit < layout.gap_of(np.uint16) else np.int32
    row, weights, gap = rows.as_kind(kind), rows.weights, layout.gap_of(kind)
    # For each place the merge that took the boundary behind it, or for a moment another number.
    total = len(row) if weights is None else float(weights.sum(dtype=np.float64))
    few = kind is np.uint16 and total // rarest < 0xFFFF  # pairs at a time
    narrow = np.uint16 if few else np.int32
    never = int(np.iinfo(narrow).max)
    vanishes = np.full(len(row), never, narrow)
    # The same memory for plain loops, where NumPy takes a microsecond for each single value.
    cells, fades = row.data, vanishes.data
    times = None if weights is None else weights.data
    size = [1] * atoms
    sizes = np.ones(atoms + limit, np.int32)

    buckets: dict[int, list[Entry]] = {}
    beside: dict[int, list[Falling]] = {}  # what waits in some of the buckets, too
    levels: list[int] = []  # the counts that have a bucket, negative: a heap
    best: list[Entry] = []  # the pairs of the highest count: a heap
    together: list[Pairs] = []  # those that wait to be merged together with them
    level, since = 0, 0  # that count, and the merge that was the first of it
    # Whether pairs are ever merged together; if some cannot be, before which merge it is not tried
    # again, and after how many more if it fails once more.
    regular = first and (weights is None or bool(weights[1:].all()))
    alone, pause = 0, 1
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

    def put_many(pairs: Pairs) -> None:
        counts = pairs.counts(weights)
        enough = counts >= rarest
        if np.count_nonzero(enough) < len(enough):
            pairs, counts = pairs.where(enough), counts[enough]
        put_falling(Falling(pairs, counts))

    def put_falling(pairs: Falling) -> None:
        if pairs.count == level:
            for entry in pairs.take_entries(first):
                put(level, entry)
        if pairs.count:
            if pairs.count not in buckets:
                buckets[pairs.count] = []
                heappush(levels, -pairs.count)
            beside.setdefault(pairs.count, []).append(pairs)

    def lost(left: int, right: int, places: Any, stands: Any = None) -> None:
        """Note until when a pair was as frequent as it had been, if some of its places are gone."""
        if len(found) == since:  # all merges were before
            more[since] -= 1
            return
        reach = size[left]
        whole = reach + size[right]
        if type(places) is not list and len(places) <= FEW:
            places = places.tolist()
        if type(places) is not list:
            if stands is None:
                stands = stand_at(left, right, places)
            # Mostly the first that is gone tells already that it was long ago.
            p = places.item(stands.argmin())
            if min(fades[p - 1], fades[p + reach - 1]) < since and (times is None or times[p]):
                more[since] -= 1
                return
            places = places.compress(~stands).tolist()
        until = never
        for p in places:
            if cells[p] == left and cells[p + reach] == right:
                continue
            if times is None or times[p]:
                until = min(until, fades[p - 1], fades[p + reach - 1], fades[p + whole - 1])
                if until < since:
                    break
        if until != never:
            more[max(since, until + 1)] -= 1

    def most_frequent() -> tuple[int, int, Any] | None:
        """Take out the pair of the highest count that comes next, if any has it, with all its
        places."""
        while best:
            rank, left, right, places = heappop(best)
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
                stands = stand_at(left, right, places)
                if np.count_nonzero(stands) == len(places):
                    return left, right, places
                alive = places[stands]
                count = len(alive) if weights is None else int(weights.take(alive).sum())
            now = int(alive[0]) if first and count else 0
            if count < level:
                lost(left, right, places, stands)
                put(count, (now, left, right, alive))
            elif now == rank:
                return left, right, alive
            else:
                heappush(best, (now, left, right, alive))
        return None

    def stand_at(left: int, right: int, places: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell of each place whether a pair still stands there."""
        found = []
        for at in layout.blocks_of(places):
            some = row.take(at) == left
            some &= row[size[left] :].take(at) == right
            found.append(some)
        return found[0] if len(found) == 1 else np.concatenate(found)

    def stand(pairs: Pairs) -> NDArray[np.bool_]:
        """Tell of each place of some pairs whether its pair still stands there."""
        lefts = np.repeat(pairs.lefts, pairs.lengths)
        rights = np.repeat(pairs.rights, pairs.lengths)
        found: NDArray[np.bool_] = row.take(pairs.places) == lefts
        found &= row.take(pairs.places + sizes.take(lefts)) == rights
        return found

    def born(
        begin: NDArray[np.intp],
        end: NDArray[np.intp],
        ids: NDArray[np.int64],
        number: NDArray[np.int64] | None = None,
    ) -> Pairs:
        """Return the pairs that new tokens are in.

        begin, end: where each token does; ids: that are new, ascending; number: which of them each
        token has, if there are several.
        """
        before, behind = row.take(begin - 1), row.take(end)
        # Where two of them stand side by side, the left one finds the pair.
        at_left = (before < ids.item(0)).nonzero()[0]
        at_right = (behind != gap).nonzero()[0]
        before = before.take(at_left)
        others = keys = np.concatenate((before, behind.take(at_right)))
        if number is not None:
            number = np.concatenate((number.take(at_left), number.take(at_right)))
            keys = number * (atoms + limit) + others
        order = ascending(keys)
        # Of one neighbour, first all places where it stands before, then those where behind.
        begins = beginnings(keys.take(order), order < len(before))
        one = order.take(begins)
        neighbour, is_left = others.take(one).astype(np.int32), one < len(before)
        new = ids if number is None else ids.take(number.take(one))
        places = np.concatenate((begin.take(at_left) - sizes.take(before), begin.take(at_right)))
        places = places.astype(np.int32)
        return Pairs(
            np.where(is_left, neighbour, new),
            np.where(is_left, new, neighbour),
            distances(begins, len(order)),
            places.take(order),
        )

    def merge_together() -> None:
        """Merge the pairs of the highest count, up to the first that overlaps with itself."""
        nonlocal best, together, alone, pause
        pairs = Pairs.together([*together, Pairs.of(best)] if best else together)
        best, together = [], []
        whole = np.logical_and.reduceat(stand(pairs), pairs.starts)
        changed = []
        if not whole.all():
            rarer = pairs.where(~whole)
            pairs = pairs.where(whole)
            changed.append(rarer)
            if len(found) == since:
                more[since] -= rarer.number
            else:
                each = rarer.entries(range(rarer.number), rarer.starts, first)
                for _, left, right, places in each:
                    lost(left, right, places)
        if pairs.number:
            step = len(found)
            rarer, made, undecided = merge_whole(pairs)
            changed += [rarer, made]
            best = pairs.entries(undecided, pairs.starts, first)  # in order, so it is a heap
            # To look at all of them costs the more, the more there are: it has to be worth while.
            worthwhile = 4 * (len(found) - step) >= len(undecided)
            pause = 1 if worthwhile else 4 * pause
            alone = len(found) + (pause if undecided else 0)
        if len(found) < limit:
            some = Pairs.together(changed)
            put_many(some.at(stand(some)))

    def merge_whole(pairs: Pairs) -> tuple[Pairs, Pairs, list[int]]:
        """Merge pairs that all are as frequent as the highest count says.

        Return those that are no longer, the pairs that the new tokens are in, and which of those
        given are not decided on.
        """
        # At the boundary inside each stands first which pair it is of, later when it vanishes.
        owner = np.repeat(np.arange(pairs.number, dtype=np.int32), pairs.lengths)
        inside = pairs.places + (sizes[pairs.lefts] - 1).take(owner)
        vanishes.put(inside, owner)
        follower = vanishes.take(inside + sizes[pairs.rights].take(owner))
        step = len(found)
        merged, losses, undecided = runs(pairs, owner, follower, never, limit - step)
        for i in losses:
            more[step + i + 1] -= 1
        lefts, rights = pairs.lefts.tolist(), pairs.rights.tolist()
        new_ids = []
        for run in merged:
            left = lefts[run[0]]
            for i in run:
                new = atoms + len(found)
                size.append(size[left] + size[rights[i]])
                found.append((left, rights[i], new, level, level))
                more[len(found)] -= 1
                left = new
            new_ids.append(left)
        sizes[atoms + step : atoms + len(found)] = size[atoms + step :]
        steps = np.full(pairs.number, never, vanishes.dtype)
        steps[[*chain.from_iterable(merged)]] = np.arange(step, len(found))
        of_places = steps.take(owner)
        vanishes.put(inside, of_places)
        waiting = steps == never
        waiting[undecided] = False
        rarer = pairs.where(waiting)
        if not merged:
            return rarer, rarer, undecided
        # Within a run no token begins any more.
        row.put(inside.compress(of_places != never) + 1, gap)
        heads = pairs.ordered(np.array([run[0] for run in merged]))
        ids = np.array(new_ids)
        number = np.repeat(np.arange(len(ids)), heads.lengths)
        of_heads = ids.take(number)
        end = heads.places + sizes.take(of_heads)
        row.put(heads.places, of_heads)
        row.put(end - 1, of_heads)
        return rarer, born(heads.places.astype(np.intp), end, ids, number), undecided

    def left_over(begin: int) -> bool:
        """Tell whether a pair that counts stands in a block."""
        behind = row[begin + 1 : begin + 1 + layout.BLOCK]
        block = slice(begin, begin + len(behind))
        found = (vanishes[block] == never) & (row[block] != gap) & (behind != gap)
        if weights is not None:
            found &= weights[block] > 0
        return bool(found.any())

    put_many(pairs)
    del pairs

    stopped: Stopped = "full"
    while len(found) < limit:
        if not best:
            if not levels:
                blocks = range(0, len(row), layout.BLOCK)
                stopped = "rare" if any(map(left_over, blocks)) else "no pair"
                break
            level, since = -heappop(levels), len(found)
            best = buckets.pop(level)
            falling = beside.pop(level, [])
            number = len(best) + sum([some.number for some in falling])
            more[since] += number
            # To look at all of their places at once takes more memory than these do.
            with_room = level * number <= layout.ROOM
            at_once = regular and with_room and since >= alone and number >= MANY
            for some in falling:
                if at_once:
                    together.append(some.take())
                else:
                    best += some.take_entries(first)
                put_falling(some)
            del falling
            heapify(best)
        if regular and with_room and len(found) >= alone and (together or len(best) >= MANY):
            tell(len(found))
            merge_together()
            continue
        pair = most_frequent()
        if pair is None:
            continue
        left, right, places = pair
        step = len(found)
        new = atoms + step
        reach, right_size = size[left], size[right]
        whole = reach + right_size
        size.append(whole)
        sizes[new] = whole
        applied = level
        if left == right:
            places = layout.apart(places, whole)
            applied = len(places) if weights is None else int(weights[places].sum())
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
                for other, at in before.items():
                    put(len(at), (at[0] if first else 0, other, new, at))
                for other, at in behind.items():
                    put(len(at), (at[0] if first else 0, new, other, at))
            else:
                for other, at in before.items():
                    count = times[at[0]] if len(at) == 1 else sum([times[p] for p in at])
                    put(count, (at[0] if first else 0, other, new, at))
                for other, at in behind.items():
                    count = times[at[0]] if len(at) == 1 else sum([times[p] for p in at])
                    put(count, (at[0] if first else 0, new, other, at))
        else:
            for begin in layout.blocks_of(places):
                vanishes[reach - 1 :].put(begin, step)
                if right_size > 1:
                    row[reach:].put(begin, gap)
                row.put(begin, new)
                row[whole - 1 :].put(begin, new)
            news = np.array([new])
            made = (born(begin, begin + whole, news) for begin in layout.blocks_of(places))
            put_many(Pairs.gathered(made, weights, rarest))
        found.append((left, right, new, level, applied))
        more[step + 1] -= 1
        if not step % _TOLD_EVERY:
            tell(step)
    for _, left, right, places in best:  # those that are left of the last count
        lost(left, right, places)
    tied = accumulate(more)
    merges = [Merge(*one, others - 1) for one, others in zip(found, tied, strict=False)]
    if last or len(merges) == room:
        return merges, stopped, True
    end = 1  # of what is written anew, in the same memory
    for i in range(1, len(row), layout.BLOCK):
        begins = vanishes[i - 1 : i - 1 + layout.BLOCK][: len(row) - i] == never
        for cell in (row,) if weights is None else (row, weights):
            of_tokens = cell[i : i + layout.BLOCK][begins]
            cell[end : end + len(of_tokens)] = of_tokens
        end += len(of_tokens)
    rows.cut(end)
    return merges, stopped, False

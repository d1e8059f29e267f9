"""Pairs of neighbouring tokens with all their places, as arrays, and which of them merge together.

`bpeviz.learners.bpe_numpy` learns with them, from a row of tokens (`bpeviz.learners.layout`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Entry = tuple[int, int, int, Any]
"""A single pair that waits: its rank among equals, its two ids, and its places."""


class Pairs(NamedTuple):
    """Pairs, each with its places: pair i is (lefts[i], rights[i]), at the next lengths[i] places.

    lefts, rights: ids [pairs]; lengths: int64 [pairs], 1 or more; places: int32, of each pair
    ascending.
    """

    lefts: NDArray[Any]
    rights: NDArray[Any]
    lengths: NDArray[np.int64]
    places: NDArray[np.int32]

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Pairs:
        """Return single pairs, of which there must be one at least."""
        _, lefts, rights, places = zip(*entries, strict=True)
        lists = [one if type(one) is list else one.tolist() for one in places]
        lengths = np.array([*map(len, lists)], np.int64)
        row = np.fromiter(chain.from_iterable(lists), np.int32, int(lengths.sum()))
        return cls(np.array(lefts, np.int32), np.array(rights, np.int32), lengths, row)

    @classmethod
    def together(cls, some: Sequence[Pairs]) -> Pairs:
        """Return the pairs of all, one after the other."""
        return some[0] if len(some) == 1 else cls(*map(np.concatenate, zip(*some, strict=True)))

    @classmethod
    def gathered(
        cls, parts: Iterable[Pairs], weights: NDArray[Any] | None = None, rarest: int = 1
    ) -> Pairs:
        """Return pairs that have some of their places in each part, and the next in the next one.

        Only those that come `rarest` times or more. weights: see `counts`.
        """
        waiting = [*parts]
        if len(waiting) == 1:
            return waiting[0]
        each = [part.lefts.astype(np.int64) << 32 | part.rights for part in waiting]
        keys, which = np.unique(np.concatenate(each), return_inverse=True)
        lengths, counts = np.zeros((2, len(keys)), np.int64)
        np.add.at(lengths, which, np.concatenate([part.lengths for part in waiting]))
        np.add.at(counts, which, np.concatenate([part.counts(weights) for part in waiting]))
        enough = counts >= rarest
        number = enough.cumsum() - 1
        keys, lengths = keys[enough], lengths[enough]
        places = np.empty(int(lengths.sum()), np.int32)
        free = lengths.cumsum() - lengths
        for part in waiting:
            these, which = which[: part.number], which[part.number :]
            some = part.where(enough[these])
            these = number[these[enough[these]]]
            to = np.repeat(free[these] - some.starts, some.lengths)
            to += np.arange(len(to))
            places[to] = some.places
            free[these] += some.lengths
        lefts, rights = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
        return cls(lefts, rights, lengths, places)

    @property
    def number(self) -> int:
        """How many pairs there are."""
        return len(self.lefts)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the places of each begin."""
        return self.lengths.cumsum() - self.lengths

    def counts(self, weights: NDArray[Any] | None) -> NDArray[np.int64]:
        """Return how often each comes. weights: how often each place counts, None if once."""
        if weights is None or not self.number:
            return self.lengths
        return np.add.reduceat(weights.take(self.places), self.starts, dtype=np.int64)

    def where(self, these: NDArray[np.bool_]) -> Pairs:
        """Return some of the pairs."""
        places = self.places.compress(np.repeat(these, self.lengths))
        return Pairs(self.lefts[these], self.rights[these], self.lengths[these], places)

    def at(self, these: NDArray[np.bool_]) -> Pairs:
        """Return the pairs with some of their places; without those that have none of them."""
        lengths = np.add.reduceat(these, self.starts, dtype=np.int64)
        some = lengths > 0
        places = self.places.compress(these)
        return Pairs(self.lefts[some], self.rights[some], lengths[some], places)

    def ordered(self, order: NDArray[np.int64]) -> Pairs:
        """Return some or all of the pairs, in the order given."""
        lengths = self.lengths[order]
        ends = lengths.cumsum()
        at = np.repeat(self.starts[order] - ends + lengths, lengths)
        at += np.arange(len(at))
        return Pairs(self.lefts[order], self.rights[order], lengths, self.places.take(at))

    def entries(self, which: Iterable[int], starts: NDArray[np.int64], first: bool) -> list[Entry]:
        """Return some of them one by one.

        starts: of all; first: whether the first place is the rank, which is else the same for all.
        """
        lefts, rights, lengths, places = self
        found = []
        for i in which:
            start = starts.item(i)
            of_pair = places[start : start + lengths.item(i)]
            rank = places.item(start) if first else 0
            found.append((rank, lefts.item(i), rights.item(i), of_pair))
        return found


class Falling:
    """Pairs by falling count, from which those of one count at a time are taken out.

    count: the highest count of those that are left, 0 if none is; number: how many have it.
    """

    def __init__(self, pairs: Pairs, counts: NDArray[np.int64]) -> None:
        """Sort pairs. counts: how often each comes, 1 or more."""
        order = (-counts).argsort(kind="stable")
        # The places are put in order when pairs are first taken together: they may never be.
        self._pairs, self._starts, self._order = pairs, pairs.starts, order
        self._ends: list[int] = []
        self._counts: list[int] = counts.take(order).tolist()
        self._counts.append(0)
        self._next = 0
        self._pass(0)

    def _pass(self, by: int) -> int:
        """Go on by so many pairs; return where they began."""
        before = self._next
        self._next = end = before + by
        counts = self._counts
        self.count = count = counts[end]
        while count and counts[end] == count:
            end += 1
        self.number = end - self._next
        return before

    def take(self) -> Pairs:
        """Take out the pairs of the highest count, together."""
        if not self._ends:
            self._pairs = self._pairs.ordered(self._order[self._next :])
            self._starts = self._pairs.starts
            self._ends = [0, *self._pairs.lengths.cumsum().tolist()]
            self._counts = self._counts[self._next :]
            self._next = 0
        start = self._pass(self.number)
        end = self._next
        lefts, rights, lengths, places = self._pairs
        of_pairs = places[self._ends[start] : self._ends[end]]
        return Pairs(lefts[start:end], rights[start:end], lengths[start:end], of_pairs)

    def take_entries(self, first: bool) -> list[Entry]:
        """Take out the pairs of the highest count, one by one (see `Pairs.entries`)."""
        start = self._pass(self.number)
        which: Iterable[int] = range(start, self._next)
        if not self._ends:
            which = self._order[start : self._next].tolist()
        return self._pairs.entries(which, self._starts, first)


def runs(
    pairs: Pairs, owner: NDArray[np.int32], follower: NDArray[Any], never: int, room: int
) -> tuple[list[list[int]], list[int], list[int]]:
    """Tell which of equally frequent pairs are merged, and in which order.

    pairs: all of the highest count there is, each place of which counts; owner: which of them
    each place is of; follower: at each place the pair that begins with the second token of this
    one, or `never`; room: how many merges may be made. Of equals the one that stands first is
    merged first.

    Return runs of pairs. The pairs of a run are merged one behind the other: (a, b), then (ab, c),
    and so on. Then, for each pair that is no longer as frequent, the number of the merge that took
    a place of it. And the pairs that are left undecided: those from the first on that overlaps
    with itself.

    Why these, and in that order. No pair is more frequent than these are, so a new one is as
    frequent only if wherever (a, b) stood it has the same neighbour, say c behind it. Then (b, c)
    was one of these pairs, and always stood behind (a, b). The new pair begins where (a, b) did,
    before all that are left, so it is merged next. Of two pairs that share a token at only some of
    their places, the one that is merged makes the other rarer. Only the pairs at the ends of a run
    have such a neighbour: within it, the tokens are shared by its own pairs at all their places.
    """
    starts = pairs.starts
    behind = follower[starts]
    always = np.logical_and.reduceat(follower == behind[owner], starts)
    # A follower that always is there has no other places: it would be more frequent.
    always &= behind != never
    next_of = np.where(always, behind.astype(np.int64), -1).tolist()
    sometimes = (follower != never) & ~always[owner]
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    touching = zip(owner[sometimes].tolist(), follower[sometimes].tolist(), strict=True)
    for one, other in dict.fromkeys(touching):
        after.setdefault(one, []).append(other)
        before.setdefault(other, []).append(one)

    waits = [True] * len(next_of)
    found: list[list[int]] = []
    losses: list[int] = []
    made = 0
    order = np.argsort(pairs.places[starts]).tolist()
    for place, head in enumerate(order):
        if not waits[head]:
            continue
        run = [head]
        i = next_of[head]
        while i >= 0 and waits[i]:
            run.append(i)
            i = next_of[i]
        behind_run = after.get(run[-1], ())
        if head in behind_run:
            return found, losses, [i for i in order[place:] if waits[i]]
        for i in run:
            waits[i] = False
        for i in before.get(head, ()):
            if waits[i]:
                waits[i] = False
                losses.append(made)
        if made + len(run) >= room:
            found.append(run[: room - made])
            break
        found.append(run)
        made += len(run)
        for i in behind_run:
            if waits[i]:
                waits[i] = False
                losses.append(made - 1)
    return found, losses, []


def ascending(keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return the order in which keys (0 or more) ascend, as a stable sort finds it.

    By 16 bits at a time: of such small numbers NumPy sorts many times more in a second.
    """
    order = keys.astype(np.uint16, copy=False).argsort(kind="stable")
    if keys.itemsize > 2:
        for bits in range(16, int(keys.max(initial=0)).bit_length(), 16):
            digits = (keys.take(order) >> bits).astype(np.uint16)
            order = order.take(digits.argsort(kind="stable"))
    return order


def beginnings(*keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return where one of the keys, which lie side by side, is another than before."""
    begins = np.ones(len(keys[0]), np.bool_)
    np.not_equal(keys[0][1:], keys[0][:-1], out=begins[1:])
    for key in keys[1:]:
        begins[1:] |= key[1:] != key[:-1]
    return begins.nonzero()[0]


def distances(begins: NDArray[np.int64], end: int) -> NDArray[np.int64]:
    """Return how far it is from each beginning to the next, and from the last to the end."""
    lengths = np.empty_like(begins)
    np.subtract(begins[1:], begins[:-1], out=lengths[:-1])
    lengths[-1:] = end - begins[-1:]
    return lengths

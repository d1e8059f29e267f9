"""Counts and positions of all pairs of neighboring tokens, updated by each merge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import total_ordering
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, Literal

Pair = tuple[int, int]

TieRule = Literal["first", "smallest", "bytes", "largest"]
"""The pair to merge among pairs of the same count.

"first" is the pair that occurs first in the text, and "smallest" the pair with the smallest ids.
"bytes" is the lexicographically smallest pair by the bytes of its tokens, and "largest" the largest
one: the left tokens are compared first. Strings in the order of code points have the order of their
UTF-8 bytes. Among pairs of the same bytes, the smallest ids win.
"""

GAP = -1
"""Id between two pre-tokens; no pair crosses it."""


class PairCounts:
    """The pairs of a corpus, counted once and then updated by each merge.

    - All distinct pre-tokens are stored in one row with a gap between them. The weight of a
      position is the count of its pre-token. A token over positions s … e has its id at both ends.
      So the neighbors of a token at p are `row[p - 1]` and `row[p + size]`.
    - A merge changes only the pairs around its positions, so only their counts are updated.
    - The positions of a pair are stored once, when the newer of its tokens is created. After that,
      it can only lose occurrences. So the heap contains bounds. The pair at the top is checked,
      and pushed again if its count is lower or its first position has changed.

    Attributes:
        counts: Count of each pair, weights included. Overlaps count: "aaa" has (a, a) twice.
    """

    def __init__(
        self,
        pre_tokens: Sequence[tuple[Sequence[int], int]],
        symbols: Sequence[str],
        ties: TieRule | Literal["shortest"],
        allowed: Callable[[str], bool] | None = None,
    ) -> None:
        """Count the pairs; for the arguments see `bpe.train_merges`."""
        self._row: list[int] = [GAP]
        self._weights: list[int] = [0]
        for ids, count in pre_tokens:
            self._row += (*ids, GAP)
            self._weights += [count] * (len(ids) + 1)
        self._sizes = [1] * len(symbols)  # atoms in each token, by id
        self._names = list(symbols)
        self._named = ties in ("bytes", "largest", "shortest") or allowed is not None
        self._ties, self._allowed = ties, allowed

        self.counts: dict[Pair, int] = {}
        self._positions: dict[Pair, list[int]] = {}
        for position, pair in enumerate(pairwise(self._row)):
            if GAP not in pair:
                self._positions.setdefault(pair, []).append(position)
                self.counts[pair] = self.counts.get(pair, 0) + self._weights[position]
        if allowed is not None:
            for pair in [*self.counts]:
                if not allowed(self._name(pair)):
                    del self.counts[pair], self._positions[pair]
        self._pairs_with = Counter(self.counts.values())  # number of pairs, by count

        self._first = dict.fromkeys(self._positions, 0)  # index of the first valid position
        self._heap = [(-count, self._key(pair), pair) for pair, count in self.counts.items()]
        heapify(self._heap)

    def most_frequent(self) -> Pair | None:
        """Remove the pair of the highest count from the heap and return it; None if none is left.

        The tie rule decides between pairs of the same count.
        """
        while self._heap:
            bound, key, pair = heappop(self._heap)
            count = self.counts.get(pair, 0)
            if not count:
                continue
            # Only first positions change; the keys of the other rules are constant.
            current = self._key(pair) if self._ties == "first" and count == -bound else key
            if (-count, current) == (bound, key):
                return pair
            heappush(self._heap, (-count, current, pair))
        return None

    def n_tied(self, pair: Pair) -> int:
        """Return the number of other pairs with the same count."""
        return self._pairs_with[self.counts[pair]] - 1

    def merge(self, pair: Pair) -> tuple[int, int]:
        """Replace a pair by a new token at all its positions, from left to right.

        The pair may be absent: then there is only a new id.

        Returns:
            The new id, and the number of replacements, weights included.
        """
        new = len(self._sizes)
        self._sizes.append(self._sizes[pair[0]] + self._sizes[pair[1]])
        self._names.append(self._name(pair) if self._named else "")
        applied, changes, new_positions = self._replace(pair, new)
        self._pairs_with[self.counts.pop(pair, 0)] -= 1
        self._update(changes)
        for other, positions in new_positions.items():
            if other in self.counts:
                self._positions[other] = positions
                self._first[other] = 0
                heappush(self._heap, (-self.counts[other], self._key(other), other))
        return new, applied

    def _replace(self, pair: Pair, new: int) -> tuple[int, dict[Pair, int], dict[Pair, list[int]]]:
        """Write the new token into the row.

        Returns:
            The number of replacements, the change of the count of each other pair, and the
            positions of the new pairs.
        """
        row, weights, sizes = self._row, self._weights, self._sizes
        left, right = pair
        left_size, size = sizes[left], sizes[new]
        applied = 0
        changes: dict[Pair, int] = {}
        new_positions: dict[Pair, list[int]] = {}
        for position in self._positions.pop(pair, ()):
            if row[position] != left or row[position + left_size] != right:
                continue
            weight = weights[position]
            applied += weight
            # Clear the start of the right part, so that no other pair matches there.
            row[position + left_size] = GAP
            row[position] = row[position + size - 1] = new
            before, after = row[position - 1], row[position + size]
            if before != GAP:
                changes[before, left] = changes.get((before, left), 0) - weight
                changes[before, new] = changes.get((before, new), 0) + weight
                new_positions.setdefault((before, new), []).append(position - sizes[before])
            if after != GAP:
                changes[right, after] = changes.get((right, after), 0) - weight
                changes[new, after] = changes.get((new, after), 0) + weight
                new_positions.setdefault((new, after), []).append(position)
        changes.pop(pair, None)
        return applied, changes, new_positions

    def _update(self, changes: dict[Pair, int]) -> None:
        """Change the counts of pairs; pairs that may not be merged are not counted."""
        allowed = self._allowed
        for pair, change in changes.items():
            old = self.counts.get(pair, 0)
            count = old + change
            # A pair without a count is new or may not be merged.
            if not old and allowed and (count <= 0 or not allowed(self._name(pair))):
                continue
            if old:
                self._pairs_with[old] -= 1
            if count:
                self._pairs_with[count] += 1
                self.counts[pair] = count
            elif old:
                del self.counts[pair]

    def _key(self, pair: Pair) -> Any:
        """Return the sort key of a pair among pairs of the same count."""
        if self._ties == "first":
            return self._first_position(pair)
        if self._ties == "smallest":
            return pair
        if self._ties == "bytes":
            return self._names[pair[0]], self._names[pair[1]], pair
        if self._ties == "largest":
            return _Descending((self._names[pair[0]], self._names[pair[1]])), pair
        return len(self._name(pair)), self._name(pair), pair

    def _first_position(self, pair: Pair) -> int:
        """Return the first position of a pair with a positive count."""
        left, right = pair
        row, positions, index = self._row, self._positions[pair], self._first[pair]
        left_size = self._sizes[left]
        while row[positions[index]] != left or row[positions[index] + left_size] != right:
            index += 1
        self._first[pair] = index
        return positions[index]

    def _name(self, pair: Pair) -> str:
        return self._names[pair[0]] + self._names[pair[1]]


@total_ordering
class _Descending:
    """Reverses an order, so that the heap yields the largest value first."""

    def __init__(self, value: tuple[str, str]) -> None:
        self.value = value

    def __lt__(self, other: _Descending) -> bool:
        return self.value > other.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.value == other.value

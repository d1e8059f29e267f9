"""The counts of the pairs of a text, for trainers whose next pair is not the most frequent one.

A merge, also of a rare or an absent pair, updates the counts of its neighbors. Where the most
frequent pair is merged, `bpe_loop` is faster.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

from bpeviz.trainers.bpe import Pair, Rows

GAP = -1
"""The id between two pre-tokens, and of an atom that no text has; no pair crosses it."""


class PairTable:
    """The pairs of a text with their counts and positions.

    The text is a row of ids as in `bpe_loop`: a token has its id at its first and last position.

    Attributes:
        counts: The count of each pair, overlaps included; 0 if it no longer occurs.
    """

    def __init__(self, pre_tokens: Rows, n_atoms: int) -> None:
        self._row, self._weights = [GAP], [0]
        for ids, count in pre_tokens:
            self._row += (*ids, GAP)
            self._weights += [count] * (len(ids) + 1)
        self._sizes = [1] * n_atoms
        positions: defaultdict[Pair, list[int]] = defaultdict(list)
        for position, pair in enumerate(pairwise(self._row)):
            positions[pair].append(position)
        # Ascending; a pair may be lost at some of its positions.
        self._positions = {pair: at for pair, at in positions.items() if GAP not in pair}
        weight = self._weights.__getitem__
        self.counts = Counter({pair: sum(map(weight, at)) for pair, at in self._positions.items()})

    def first(self, pair: Pair) -> int:
        """Return the first position of a pair that occurs."""
        (left, right), row, positions = pair, self._row, self._positions[pair]
        size = self._sizes[left]
        n_lost = 0
        while row[positions[n_lost]] != left or row[positions[n_lost] + size] != right:
            n_lost += 1
        del positions[:n_lost]
        return positions[0]

    def merge(self, pair: Pair) -> tuple[int, int, dict[Pair, int]]:
        """Replace a pair by a new token, from left to right.

        Returns:
            The id of the token, the number of replacements, weighted, and the change of each count.
        """
        (left, right), new = pair, len(self._sizes)
        row, sizes = self._row, self._sizes
        left_size, size = sizes[left], sizes[left] + sizes[right]
        sizes.append(size)
        applied = 0
        count_changes: defaultdict[Pair, int] = defaultdict(int)
        added: defaultdict[Pair, list[int]] = defaultdict(list)
        for position in self._positions.pop(pair, ()):
            if row[position] != left or row[position + left_size] != right:
                continue
            weight = self._weights[position]
            applied += weight
            row[position + left_size] = GAP  # no longer the start of a token
            row[position] = row[position + size - 1] = new
            before, after = row[position - 1], row[position + size]
            if before != GAP:
                count_changes[before, left] -= weight
                count_changes[before, new] += weight
                added[before, new].append(position - sizes[before])
            if after != GAP:
                count_changes[right, after] -= weight
                count_changes[new, after] += weight
                added[new, after].append(position)
        count_changes[pair] = -self.counts[pair]
        for other, change in count_changes.items():
            self.counts[other] += change
        self._positions |= added
        return new, applied, {other: change for other, change in count_changes.items() if change}

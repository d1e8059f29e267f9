"""The lattice of a text: all segmentations into pieces, and their probabilities.

In a unigram language model each piece has a probability. The probability of a segmentation is the
product of those of its pieces (Kudo 2018, arXiv:1804.10959). The nodes are the positions between
the atoms of a text, from 0 to its length, and an edge is a piece between two nodes. A path from the
first node to the last is a segmentation.

An atom that is not a piece is an edge of an unknown token, so there is always a path. Its log
probability is `UNKNOWN_PENALTY` below that of the least likely piece, as in SentencePiece
(`unigram_model.cc`).

`Lattice` is the lattice of one text and follows the definitions. `Lattices` computes the same for
many texts at once in flat arrays, for training and for segmentations over time.

**Ties.** Log probabilities are rounded to multiples of 2**-30, so sums above -2**23 are exact in
any order, and ties are equal. Among ties, the segmentation with the longest last piece is chosen,
then the one with the longest piece before it, and so on, as in SentencePiece and Hugging Face.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import accumulate, pairwise
from math import exp, fsum, inf, isfinite, log
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import UNKNOWN_ID, gather

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNKNOWN_PENALTY = 10.0
"""The difference between the log probabilities of the least likely piece and an unknown token."""

MAX_STRENGTH = 1_000_000
"""The largest inverse temperature; far above it, scores overflow."""

PREFIX = -1
"""The id of a string that is a proper prefix of a piece but not a piece."""

_QUANTUM = 2.0**-30
_BATCH = 2_000_000  # edges that `Lattices.losses` copies at once


def rounded(log_probabilities: Floats) -> Floats:
    """Round to multiples of 2**-30, so that sums are exact in any order."""
    return np.round(log_probabilities / _QUANTUM) * _QUANTUM


def index_of(pieces: Sequence[str]) -> dict[str, int]:
    """Return the id (index) of each piece, and `PREFIX` for other prefixes of pieces."""
    index: dict[str, int] = {}
    for piece in pieces:
        for end in range(1, len(piece)):
            index.setdefault(piece[:end], PREFIX)
    index.update(zip(pieces, range(len(pieces)), strict=True))
    return index


def spans_of(text: str, index: Mapping[str, int]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, id) of each piece and each unknown atom in a text."""
    get = index.get
    for start in range(len(text)):
        if get(text[start], PREFIX) == PREFIX:
            yield start, start + 1, UNKNOWN_ID
        for end in range(start + 1, len(text) + 1):
            token_id = get(text[start:end])
            if token_id is None:
                break
            if token_id != PREFIX:
                yield start, end, token_id


class Edge(NamedTuple):
    """A piece in a text: from atom `start` to `end`, its id, and its log probability."""

    start: int
    end: int
    id: int
    score: float


Path = tuple[Edge, ...]
"""A segmentation: edges from the first node to the last."""


def score(path: Path) -> float:
    """Return the log probability of a segmentation."""
    return sum(edge.score for edge in path)


def _log_sum(values: Sequence[float]) -> float:
    """Return log(sum(exp(values)))."""
    highest = max(values)
    return highest + log(fsum(exp(value - highest) for value in values))


@dataclass(frozen=True)
class Lattice:
    """The lattice of one text.

    Attributes:
        text: The atoms, one character each.
        edges: The edges, ordered by end, then by start.

    >>> model = UnigramModel.of({"a": -3.0, "b": -2.0, "ab": -4.5})
    >>> lattice = model.lattice("aab")
    >>> [lattice.text[edge.start : edge.end] for edge in lattice.best()]
    ['a', 'ab']
    >>> lattice.paths
    2
    """

    text: str
    edges: tuple[Edge, ...]

    @cached_property
    def _ending(self) -> list[list[Edge]]:
        """The edges that end at each node, the longest first."""
        ending: list[list[Edge]] = [[] for _ in range(len(self.text) + 1)]
        for edge in self.edges:
            ending[edge.end].append(edge)
        return ending

    @property
    def paths(self) -> int:
        """The number of segmentations."""
        ways = [1]
        for edges in self._ending[1:]:
            ways.append(sum(ways[edge.start] for edge in edges))
        return ways[-1]

    def best(self) -> Path:
        """Return the most likely segmentation, by the Viterbi algorithm.

        Among ties, take the longest last piece, then the longest piece before it.
        """
        best, by = [0.0], list[Edge]()
        for edges in self._ending[1:]:
            last = max(edges, key=lambda edge: best[edge.start] + edge.score)  # ties: the first
            best.append(best[last.start] + last.score)
            by.append(last)
        path: list[Edge] = []
        node = len(self.text)
        while node:
            path.append(by[node - 1])
            node = path[-1].start
        return tuple(reversed(path))

    def nbest(self, n: int) -> list[Path]:
        """Return the `n` most likely segmentations, the best first, or as many as there are.

        The n best paths to a node are among the n best paths to earlier nodes with one more edge.
        Ties are broken as in `best`.

        Raises:
            ValueError: n is below 1.
        """
        if n < 1:
            raise ValueError(f"The number of segmentations must be 1 or more, not {n}.")
        # The best paths to each node: (score, last edge, rank of the path to that edge's start).
        ways: list[list[tuple[float, Edge | None, int]]] = [[(0.0, None, 0)]]
        for edges in self._ending[1:]:
            extended = (
                (value + edge.score, edge, rank)
                for edge in edges
                for rank, (value, _, _) in enumerate(ways[edge.start])
            )
            # `nsmallest` preserves the order of ties: by start, then by rank at the start.
            ways.append(nsmallest(n, extended, key=lambda way: -way[0]))
        paths: list[Path] = []
        for _, edge, rank in ways[-1]:
            path: list[Edge] = []
            while edge is not None:
                path.append(edge)
                _, edge, rank = ways[edge.start][rank]
            paths.append(tuple(reversed(path)))
        return paths

    def forward(self, strength: float = 1.0) -> list[float]:
        """Return for each node the log of the sum of P**strength over all paths to it."""
        total = [0.0]
        for edges in self._ending[1:]:
            total.append(_log_sum([total[e.start] + strength * e.score for e in edges]))
        return total

    def marginals(self) -> list[float]:
        """Return for each edge the probability that a segmentation of the text contains it.

        A backward pass divides the probability of a node among the edges that end there, in
        proportion to the probability of the paths through each.
        """
        total = self.forward()
        passing = [0.0] * len(self.text) + [1.0]
        marginals = []
        for edge in reversed(self.edges):  # edges after a node are done before those that end at it
            share = exp(total[edge.start] + edge.score - total[edge.end])
            marginals.append(passing[edge.end] * share)
            passing[edge.start] += marginals[-1]
        return marginals[::-1]

    def sample(self, strength: float, draws: int, seed: int) -> Counter[Path]:
        """Draw segmentations, each with a probability in proportion to P**strength.

        Forward filtering and backward sampling draw from all segmentations, not from the n best.

        Args:
            strength: The inverse temperature, alpha in Kudo 2018. At 0 all segmentations are
                equally likely, and at 1 their probabilities are those of the model. Far above 1,
                almost all draws are the best one.
            draws: The number of draws.
            seed: The seed of the random numbers.

        Returns:
            How often each segmentation was drawn.

        Raises:
            ValueError: `strength` or `draws` is out of range.
        """
        if not (isfinite(strength) and 0 <= strength <= MAX_STRENGTH):
            raise ValueError(f"The strength must be from 0 to {MAX_STRENGTH:,}, not {strength}.")
        if draws < 1:
            raise ValueError(f"The number of draws must be 1 or more, not {draws}.")
        total = self.forward(strength)
        shares = [
            list(accumulate(exp(total[e.start] + strength * e.score - total[e.end]) for e in edges))
            for edges in self._ending
        ]
        random = Random(seed)  # noqa: S311, nothing secret is drawn
        drawn: Counter[Path] = Counter()
        for _ in range(draws):
            path: list[Edge] = []
            node = len(self.text)
            while node:
                edges, share = self._ending[node], shares[node]
                at = bisect(share, random.random() * share[-1], hi=len(edges) - 1)
                path.append(edges[at])
                node = path[-1].start
            drawn[tuple(reversed(path))] += 1
        return drawn


@dataclass(frozen=True, eq=False)
class UnigramModel:
    """Pieces and their log probabilities.

    Attributes:
        pieces: The pieces by id.
        scores: float64 [pieces], log probabilities rounded by `rounded`.
    """

    pieces: tuple[str, ...]
    scores: Floats

    @classmethod
    def of(cls, pieces: Mapping[str, float]) -> UnigramModel:
        """Return the model of a mapping from piece to log probability.

        Raises:
            ValueError: A piece is empty, or a log probability is not a finite number.
        """
        for piece, value in pieces.items():
            if not piece or not isfinite(value):
                raise ValueError(f"The piece {piece!r} cannot have the log probability {value}.")
        return cls(tuple(pieces), rounded(np.fromiter(pieces.values(), np.float64)))

    @cached_property
    def index(self) -> dict[str, int]:
        """The id of each piece, and `PREFIX` for other prefixes of pieces."""
        return index_of(self.pieces)

    @property
    def unknown(self) -> float:
        """The log probability of an unknown atom."""
        return (float(self.scores.min()) if len(self.scores) else 0.0) - UNKNOWN_PENALTY

    def lattice(self, *texts: str) -> Lattice:
        """Return the lattice of concatenated texts; no piece crosses from one into the next."""
        edges: list[Edge] = []
        scores, unknown = self.scores.tolist(), self.unknown
        before = 0
        for text in texts:
            edges += (
                Edge(before + start, before + end, i, unknown if i == UNKNOWN_ID else scores[i])
                for start, end, i in spans_of(text, self.index)
            )
            before += len(text)
        edges.sort(key=lambda edge: (edge.end, edge.start))
        return Lattice("".join(texts), tuple(edges))


def _groups(values: NDArray[np.int32]) -> Ints:
    """Return the index of the first element of each run of equal values."""
    new = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return np.flatnonzero(new)


def _count(ids: NDArray[np.int32] | Ints, weights: Floats, pieces: int) -> Floats:
    """Return the sum of the weights of each id. float64 [pieces]."""
    return np.bincount(ids, weights, pieces).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Lattices:
    """The lattices of many texts at once.

    The nodes of all texts are numbered consecutively: text t has the nodes from `first[t]` to
    `last[t]`. The edges are sorted by level, then by text, then by start. The level of an edge is
    the number of atoms from the start of its text to the end of the edge.

    So the edges that end at one node are adjacent. A sweep over the levels processes all texts at
    once, as a loop over the nodes processes one text: all nodes of lower levels are done before.

    Attributes:
        first: int64 [texts], the first node of each text.
        last: int64 [texts], the last node of each text.
        starts: int32 [edges], the node where each edge starts.
        ends: int32 [edges], the node where each edge ends.
        texts: int32 [edges], the index of the text.
        ids: int32 [edges], the id of the piece.
    """

    first: Ints
    last: Ints
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    texts: NDArray[np.int32]
    ids: NDArray[np.int32]
    _levels: list[tuple[slice, Ints, Ints]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        level = self.ends - self.first[self.texts]
        bounds = np.searchsorted(level, np.arange(1, int(level.max(initial=0)) + 2))
        groups = _groups(self.ends)  # each group is within one level
        nodes = self.ends[groups].astype(np.int64)
        # For each level: its edges, the offset of each node's first edge, and the nodes.
        levels = []
        for (low, high), (begin, stop) in zip(
            pairwise(bounds.tolist()),
            pairwise(np.searchsorted(groups, bounds).tolist()),
            strict=True,
        ):
            levels.append((slice(low, high), groups[begin:stop] - low, nodes[begin:stop]))
        object.__setattr__(self, "_levels", levels)

    @classmethod
    def of(cls, texts: Sequence[str], index: Mapping[str, int]) -> Lattices:
        """Return the lattices of texts.

        Args:
            texts: The texts, whose atoms are one character each.
            index: The index of the pieces, as `index_of` returns it.
        """
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        last = np.cumsum(lengths + 1) - 1
        first = last - lengths
        flat = np.fromiter(
            (
                number
                for at, text in zip(first.tolist(), texts, strict=True)
                for start, end, i in spans_of(text, index)
                for number in (at + start, at + end, i)
            ),
            np.int32,
        ).reshape(-1, 3)
        starts, ends, ids = flat.T
        text = (np.searchsorted(first, starts, "right") - 1).astype(np.int32)
        order = np.lexsort((starts, ends, ends - first[text]))
        return cls(first, last, starts[order], ends[order], text[order], ids[order])

    def keep(self, edges: NDArray[np.bool_]) -> Lattices:
        """Return the lattices with only the edges of a mask. bool [edges]."""
        return Lattices(
            self.first,
            self.last,
            self.starts[edges],
            self.ends[edges],
            self.texts[edges],
            self.ids[edges],
        )

    def take(self, texts: Ints) -> Lattices:
        """Return the lattices of some texts, whose indices are ascending. int64 [texts]."""
        number = np.full(len(self.first), -1, np.int32)
        number[texts] = np.arange(len(texts))
        edges = number[self.texts] >= 0
        of_edge = self.texts[edges]
        lengths = self.last[texts] - self.first[texts]
        last = np.cumsum(lengths + 1) - 1
        first = last - lengths
        moved = np.zeros(len(self.first), np.int32)
        moved[texts] = first - self.first[texts]
        return Lattices(
            first,
            last,
            self.starts[edges] + moved[of_edge],
            self.ends[edges] + moved[of_edge],
            number[of_edge],
            self.ids[edges],
        )

    def _nodes(self, value: float) -> Floats:
        return np.full(int(self.last[-1]) + 1 if len(self.last) else 0, value)

    def best(self, values: Floats) -> tuple[Floats, Ints]:
        """Return the log probability of the best path to each node, and its last edge.

        Args:
            values: float64 [edges], the log probability of each edge.

        Returns:
            float64 [nodes] and int64 [nodes], the index of the edge.
        """
        best = self._nodes(-inf)
        best[self.first] = 0
        by = np.zeros(len(best), np.int64)
        for edges, groups, nodes in self._levels:
            ways = best[self.starts[edges]] + values[edges]
            best[nodes] = np.maximum.reduceat(ways, groups)
            is_highest = np.flatnonzero(ways == best[self.ends[edges]])
            # Among ties, the first edge is the longest.
            by[nodes] = edges.start + is_highest[np.searchsorted(is_highest, groups)]
        return best, by

    def walk(self, by: Ints) -> Ints:
        """Return the edges of the best segmentations of all texts, text after text.

        Args:
            by: int64 [nodes], the last edge of the best path to each node, from `best`.
        """
        texts = np.flatnonzero(self.last > self.first)
        nodes = self.last[texts]
        path = []
        while len(texts):
            edges = by[nodes]
            path.append(edges)
            nodes = self.starts[edges].astype(np.int64)
            on = nodes > self.first[texts]
            texts, nodes = texts[on], nodes[on]
        edges = np.concatenate(path) if path else np.empty(0, np.int64)
        return edges[np.argsort(self.starts[edges], kind="stable")]

    def expected(self, values: Floats, weights: Floats, pieces: int) -> Floats:
        """Return the expected count of each piece over all segmentations.

        The forward sweep is that of `Lattice.forward`, the backward sweep that of
        `Lattice.marginals`.

        Args:
            values: float64 [edges], the log probability of each edge.
            weights: float64 [texts], the count of each text.
            pieces: The number of pieces.

        Returns:
            float64 [pieces].
        """
        total = self._nodes(-inf)
        total[self.first] = 0
        for edges, groups, nodes in self._levels:
            ways = total[self.starts[edges]] + values[edges]
            total[nodes] = np.logaddexp.reduceat(ways, groups)
        share = np.exp(total[self.starts] + values - total[self.ends])
        passing = self._nodes(0.0)
        passing[self.last] = weights
        for edges, _, _ in reversed(self._levels):
            share[edges] *= passing[self.ends[edges]]
            np.add.at(passing, self.starts[edges], share[edges])
        return _count(self.ids, share, pieces)

    def losses(self, scores: Floats, weights: Floats, atoms: int) -> tuple[float, Floats, Floats]:
        """Return the loss of the texts, the uses of each piece, and the loss of each piece.

        The loss of the texts is the negative log probability of their best segmentations. The
        loss of a piece is the rise of that value if the piece is removed and nothing else changes.
        A removal changes only texts whose best segmentation contains the piece. For each such text
        and piece:

        - Let a be the first node where an edge of this piece ends, and z the last. The best paths
          to nodes before a do not change, and neither do those from z to the end.
        - So only the nodes from a to z are computed again, without the piece. The new best path
          contains one edge that starts before z and ends at or after it. It is the maximum over
          these edges of: the best path to the edge, the edge, the best path from it to the end.

        Args:
            scores: float64 [pieces], log probabilities.
            weights: float64 [texts], the count of each text.
            atoms: The number of atoms. The ids below it are never removed, and their loss is
                infinity. The texts contain no unknown atom.

        Returns:
            The loss of the texts, and the uses and the losses of the pieces, both float64 [pieces].
        """
        values = scores[self.ids]
        best, by = self.best(values)
        best_edges = self.walk(by)
        uses = _count(self.ids[best_edges], weights[self.texts[best_edges]], len(scores))
        cost = -float((best[self.last] * weights).sum())
        costs = np.zeros(len(scores))
        costs[:atoms] = inf
        onward = self._nodes(-inf)
        onward[self.last] = 0
        for edges, _, _ in reversed(self._levels):
            ways = onward[self.ends[edges]] + values[edges]
            np.maximum.at(onward, self.starts[edges], ways)

        # The cases are pairs (text, piece). An edge of the piece ends first at node a, last at z.
        keys = self.texts.astype(np.int64) * len(scores) + self.ids
        cases = np.unique(keys[best_edges][self.ids[best_edges] >= atoms])
        by_key = np.argsort(keys, kind="stable")
        in_order = keys[by_key]
        a = self.ends[by_key[np.searchsorted(in_order, cases)]].astype(np.int64)
        z = self.ends[by_key[np.searchsorted(in_order, cases, "right") - 1]].astype(np.int64)
        text, piece = np.divmod(cases, len(scores))

        without = self._best_without(piece, a, z, self.last[text], values, best, onward)
        lost = (best[self.last[text]] - without) * weights[text]
        costs += _count(piece, lost, len(scores))
        return cost, uses, costs

    def _best_without(
        self,
        piece: Ints,
        a: Ints,
        z: Ints,
        last: Ints,
        values: Floats,
        best: Floats,
        onward: Floats,
    ) -> Floats:
        """Return the value of the best path of a text without a piece. float64 [cases].

        Args:
            piece: [cases], the piece that is removed.
            a: [cases], the first node where an edge of the piece ends.
            z: [cases], the last one.
            last: [cases], the last node of the text.
            values: [edges], the value of each edge.
            best: [nodes], the value of the best path to each node.
            onward: [nodes], the value of the best path from each node to the end.
        """
        # Sort edges by end, so that the edges with ends from node n to node m are contiguous.
        by_end = np.argsort(self.ends, kind="stable")
        until = np.searchsorted(self.ends[by_end], np.arange(len(best) + 1))
        longest = int((self.ends - self.starts).max(initial=1))
        low = until[a]
        high = until[np.minimum(z + longest - 1, last) + 1]
        without = np.empty(len(piece))
        for few in _batches(high - low):
            stretch = gather(by_end, low[few], high[few] - low[few], np.arange(len(low[few])))
            of = np.repeat(np.arange(len(low[few])), high[few] - low[few])
            starts, ends = self.starts[stretch], self.ends[stretch]
            value = np.where(self.ids[stretch] == piece[few][of], -inf, values[stretch])
            # The nodes of each case: from the first possible start of its edges to z.
            from_node = np.maximum(a[few] - longest, 0)
            sizes = z[few] - from_node + 1
            place = np.cumsum(sizes) - sizes - from_node
            nodes = np.arange(sizes.sum()) - np.repeat(place, sizes)
            way = best[nodes]
            starts_at = place[of] + starts
            again = np.flatnonzero(ends < z[few][of])
            again = again[np.argsort((ends - a[few][of])[again], kind="stable")]
            level = (ends - a[few][of])[again]
            bounds = np.append(_groups(level.astype(np.int32)), len(again)).tolist()
            for start, stop in pairwise(bounds):
                edges_now = again[start:stop]
                groups = _groups(of[edges_now].astype(np.int32))
                ways = way[starts_at[edges_now]] + value[edges_now]
                ends_at = place[of[edges_now][groups]] + ends[edges_now][groups]
                way[ends_at] = np.maximum.reduceat(ways, groups)
            over = np.flatnonzero((ends >= z[few][of]) & (starts < z[few][of]))
            ways = way[starts_at[over]] + value[over] + onward[ends[over]]
            without[few] = np.maximum.reduceat(ways, _groups(of[over].astype(np.int32)))
        return without


def _batches(sizes: Ints) -> Iterator[slice]:
    """Yield slices of rows with about `_BATCH` entries in total, at least one row each."""
    number = (np.cumsum(sizes) - sizes) // _BATCH
    bounds = np.append(_groups(number.astype(np.int32)), len(sizes)).tolist()
    for start, stop in pairwise(bounds):
        yield slice(start, stop)

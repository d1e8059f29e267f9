"""What a trainer decided, step by step, and the tokenizers that follow from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.dropout import segmentations
from bpeviz.core.merges import Merge, MergeTokenizer
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.text import COLORS, joined_remainder, remainder, shorten

Cached = TypeVar("Cached", bound=Sized)

CACHE_ATOMS = 4_000_000
"""Atoms, together, of the boundaries that a training caches: some 70 MB."""

_NAME_ENDS = 60  # atoms at either end of a token from which its short name is made
_CUT_AT_END = regex.compile(r"(⟨[0-9A-F]{2}⟩)+$")
_CUT_AT_START = regex.compile(r"^(⟨[0-9A-F]{2}⟩)+")


@dataclass(frozen=True)
class Pruning:
    """One decision of a trainer that begins with many pieces: piece `id` is given up.

    count: how many tokens of the training text it then was.
    loss: by how much the training text's negative log likelihood rises without it, in nats.
    round: the number of the round, from 1, in which that was found.
    note: what else is to be said, in a few words.
    """

    id: int
    count: int
    loss: float
    round: int
    note: str = ""


@dataclass(frozen=True)
class Candidate:
    """What might have been decided at a step: a pair to merge, or a piece to prune.

    ids: of the pair, or of the piece. score: what decides, where it is not the count.
    """

    ids: tuple[int, ...]
    count: int
    score: float | None = None


Stopped = Literal["full", "no pair", "rare", "atoms"]
"""Why a trainer ended: the size asked for is reached; nothing is left to merge; what is left is
rarer than the smallest count allowed; the single atoms alone are left."""


@dataclass(frozen=True)
class Training(ABC):
    """What a trainer decided: the atoms, and one decision a step.

    alphabet: the symbols of the atoms, by id. stopped: why it ended. special: names that get the
    ids after all others.
    """

    algorithm: str
    pre_tokenizer: PreTokenizer
    alphabet: tuple[str, ...]
    stopped: Stopped
    special: tuple[str, ...]

    weighted: ClassVar[bool] = False
    """Whether some places count more than once, so that counts are more than occurrences."""

    stochastic: ClassVar[bool] = False
    """Whether its tokenizers can draw random segmentations (`segmentations`)."""

    def segmentations(
        self, step: int, pre_token: str, strength: float, draws: int, seed: int
    ) -> Counter[tuple[int, ...]]:
        """Segment a pre-token `draws` times at random after `step` steps; the same seed gives the same.

        Return the ids of each cut with how often it came. Raises `ValueError` where a number makes
        no sense, or where nothing is cut at random.
        """
        raise ValueError(f"{self.algorithm} cuts nothing at random.")

    @property
    @abstractmethod
    def decisions(self) -> Sequence[Merge] | Sequence[Pruning]:
        """What was decided at each step."""

    @property
    @abstractmethod
    def sizes(self) -> NDArray[np.int64]:
        """The size of the vocabulary after each step, special tokens not counted. [steps + 1]."""

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self.decisions)

    @property
    def vocab_size(self) -> int:
        """The largest vocabulary, special tokens not counted."""
        return int(self.sizes.max())

    @property
    def opening(self) -> int:
        """The step at which the pages begin: the vocabulary that one would want to see."""
        return self.steps

    def step_of(self, vocab_size: int) -> int:
        """Return the last step at which the vocabulary has this size.

        Raises `ValueError` where it never has.
        """
        found = np.flatnonzero(self.sizes == vocab_size)
        if not len(found):
            low, high = int(self.sizes.min()), int(self.sizes.max())
            raise ValueError(
                f"The vocabulary size must be between {low} (the smallest here) and {high} (all "
                f"that was learnt), not {vocab_size}."
            )
        return int(found[-1])

    def tokenizer(self, vocab_size: int | None = None) -> Tokenizer:
        """Return the tokenizer of a vocabulary size; by default the one after the last step.

        `vocab_size` does not count special tokens, which come after all others. Raises
        `ValueError` where there is no such size.
        """
        return self.at_step(self.steps if vocab_size is None else self.step_of(vocab_size))

    @abstractmethod
    def at_step(self, step: int) -> Tokenizer:
        """Return the tokenizer after `step` steps; its `boundaries` tell of all steps up to it."""

    @abstractmethod
    def name(self, token_id: int) -> str:
        """Return a short readable name of an id: the middle of a long token is left out."""

    @abstractmethod
    def color_index(self, token_id: int) -> int:
        """Return the number of a token's color (see `bpeviz.text.color_index`), -1 for an atom."""

    @abstractmethod
    def parents(self, token_id: int) -> tuple[int, int] | None:
        """Return the two ids that were merged into this one, or None."""

    @property
    @abstractmethod
    def curve(self) -> NDArray[np.float64]:
        """The count, score or cost that decided each step. float64 [steps]."""

    @abstractmethod
    def candidates(
        self, text: str, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        """Return what might have been decided after `step` steps, the best first.

        text: that was learnt from; boundaries: what the last tokenizer makes of it. Of equally
        good ones the one that was taken comes first, then the order of the text.
        """


@dataclass(frozen=True)
class MergeTraining(Training):
    """What a trainer decided that merges pairs.

    A subclass whose tokenizers do not simply apply the merges in their order sets `stochastic` to
    False, since dropout needs that order.
    """

    stochastic: ClassVar[bool] = True

    canonical: ClassVar[bool] = True
    """Whether each merge was learnt from a text to which all earlier ones had been applied."""

    merges: tuple[Merge, ...]
    _cache: dict[tuple[str, str], Sized] = field(
        default_factory=dict, repr=False, compare=False, kw_only=True
    )
    """By kind and text, the oldest first. Without a lock, since a training is pickled."""

    @property
    def decisions(self) -> Sequence[Merge]:
        return self.merges

    def _cached(self, kind: str, text: str, make: Callable[[str], Cached]) -> Cached:
        """Return `make(text)`, cached for the texts asked for last, up to `CACHE_ATOMS`."""
        found: Any = self._cache.get((kind, text))
        if found is None:
            found = make(text)
            entries = [*self._cache.items()]  # one call, so that other threads cannot interfere
            atoms = len(found) + sum(len(value) for _, value in entries)
            while entries and (atoms > CACHE_ATOMS or len(entries) >= 4):
                key, value = entries.pop(0)
                self._cache.pop(key, None)
                atoms -= len(value)
            if atoms <= CACHE_ATOMS:
                self._cache[kind, text] = found
        cached: Cached = found
        return cached

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.arange(len(self.alphabet), len(self.alphabet) + len(self.merges) + 1)

    def merger(self, step: int) -> MergeTokenizer:
        """Return the tokenizer that applies the first merges in their order."""
        merges = self.merges[: max(0, step)]
        return MergeTokenizer(
            self.algorithm,
            self.pre_tokenizer,
            self.alphabet,
            merges,
            special=self.special,
            canonical=self.canonical,
        )

    def at_step(self, step: int) -> Tokenizer:
        return self.merger(step)

    def segmentations(
        self, step: int, pre_token: str, strength: float, draws: int, seed: int
    ) -> Counter[tuple[int, ...]]:
        if not self.stochastic:
            return super().segmentations(step, pre_token, strength, draws, seed)
        return segmentations(self.merger(step), pre_token, strength, draws, seed)

    def name(self, token_id: int) -> str:
        return self.names[token_id]

    def color_index(self, token_id: int) -> int:
        place = token_id - len(self.alphabet)
        return -1 if place < 0 else self.color_indices[place]

    def parents(self, token_id: int) -> tuple[int, int] | None:
        place = token_id - len(self.alphabet)
        return None if place < 0 else (self.merges[place].left, self.merges[place].right)

    @property
    def curve(self) -> NDArray[np.float64]:
        return np.array([merge.count for merge in self.merges], np.float64)

    def candidates(
        self, text: str, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        pairs = self.pairs(text, self.as_trained(text, boundaries), step)
        taken = self.merges[step] if step < len(self.merges) else None
        return pairs.best(pairs.counts, taken, limit)

    def as_trained(self, text: str, boundaries: Boundaries) -> Boundaries:
        """Return the boundaries of a text during training: all merges, applied in their order."""
        if boundaries.monotonic and boundaries.steps == self.steps:
            return boundaries
        return self._cached("boundaries", text, self.merger(self.steps).boundaries)

    def barriers(self, text: str, step: int) -> NDArray[np.int64]:
        """Return the atoms behind which no merge may reach over, the next at `step`. [barriers]."""
        return self._cached("barriers", text, self.merger(0).pre_token_atom_ends)

    def weights(self, text: str) -> NDArray[np.int64] | None:
        """Return how often each atom of the text counts, or None where each counts once."""
        return None

    def pairs(self, text: str, boundaries: Boundaries, step: int) -> Pairs:
        """Count the pairs of a text after `step` merges, as the trainer counts them."""
        return count_pairs(boundaries, self.barriers(text, step), step, self.weights(text))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Short readable names of all ids.

        Built from the parents' first and last atoms, since the tokens spelt out may together be
        far longer than the text.
        """
        in_bytes = self.pre_tokenizer.atoms == "bytes"
        label = self.pre_tokenizer.label
        # Of each id its first and its last symbols; the same twice if that is all of it.
        ends: list[tuple[tuple[str, ...], tuple[str, ...], bool]] = [
            ((symbol,), (symbol,), True) for symbol in self.alphabet
        ]
        for merge in self.merges:
            left_first, left_last, left_whole = ends[merge.left]
            right_first, right_last, right_whole = ends[merge.right]
            first = left_first + right_first if left_whole else left_first
            last = left_last + right_last if right_whole else right_last
            if left_whole and right_whole and len(first) <= 2 * _NAME_ENDS:
                ends.append((first, first, True))
            else:
                ends.append((first[:_NAME_ENDS], last[-_NAME_ENDS:], False))
        names = []
        for first, last, whole in ends:
            if whole:
                names.append(shorten(label(first)))
            else:
                # Where a character was cut in the middle, what is left of it is left out.
                head = _CUT_AT_END.sub("", label(first)) if in_bytes else label(first)
                tail = _CUT_AT_START.sub("", label(last)) if in_bytes else label(last)
                names.append(shorten(f"{head}…{tail}"))
        return tuple(names)

    @cached_property
    def color_indices(self) -> tuple[int, ...]:
        """The colors of the tokens that the merges make, one a merge (see `bpeviz.text.color_index`)."""
        atoms = [self.pre_tokenizer.symbol_bytes(symbol) for symbol in self.alphabet]
        found = [(remainder(raw), len(raw)) for raw in atoms]
        for merge in self.merges:
            (left, left_length), (right, length) = found[merge.left], found[merge.right]
            found.append((joined_remainder(left, right, length), left_length + length))
        return tuple(value % COLORS for value, _ in found[len(self.alphabet) :])


@dataclass(frozen=True)
class Pairs:
    """The pairs of neighbors of a text, in the order in which they are first seen.

    keys: int64 [pairs], left id << 32 | right id; counts: int64 [pairs], overlaps included;
    tokens: how often each token comes, by id, as far as any does.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    tokens: NDArray[np.int64]

    def best(
        self, values: NDArray[np.int64] | NDArray[np.float64], taken: Merge | None, limit: int
    ) -> list[Candidate]:
        """Return the pairs of the highest values; of equal ones first the one that was taken."""
        merged = [] if taken is None else [taken.left << 32 | taken.right]
        order = np.lexsort((np.arange(len(self.keys)), ~np.isin(self.keys, merged), -values))
        scored = values is not self.counts
        return [
            Candidate(
                (int(self.keys[i] >> 32), int(self.keys[i] & 0xFFFFFFFF)),
                int(self.counts[i]),
                float(values[i]) if scored else None,
            )
            for i in order[:limit]
        ]


def count_pairs(
    boundaries: Boundaries,
    barriers: NDArray[np.int64],
    step: int,
    weights: NDArray[np.int64] | None = None,
) -> Pairs:
    """Count the pairs of neighbors after `step` steps, overlaps included.

    barriers: the atoms behind which no pair reaches over. weights: how often each atom counts.
    """
    ends = boundaries.token_ends(step)
    ids = boundaries.ids(step)
    weight = np.ones(len(ids), np.int64) if weights is None else weights[ends - 1]
    known = ids >= 0
    tokens = np.bincount(ids[known], weights=weight[known]).astype(np.int64)
    if len(ends) < 2:
        empty = np.empty(0, np.int64)
        return Pairs(empty, empty, tokens)
    inside = ~np.isin(ends[:-1], barriers) & known[:-1] & known[1:]
    keys = ids[:-1][inside].astype(np.int64) << 32 | ids[1:][inside]
    distinct, first, place = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.bincount(place, weights=weight[:-1][inside], minlength=len(distinct))
    order = np.argsort(first)
    return Pairs(distinct[order], counts.astype(np.int64)[order], tokens)

"""Training histories: the decision of a trainer at each step, and the tokenizers they lead to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import SPECIAL_ID, Boundaries, Ends, joined, undivided
from bpeviz.core.dropout import segmentations
from bpeviz.core.merges import Merge, MergedVocabulary, MergeTokenizer
from bpeviz.core.special_names import split_at_names, with_unknown
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import Documents, documents_of
from bpeviz.notebook_cell import NotebookValue
from bpeviz.pretokenizers.pretokenizer import PreTokenizer
from bpeviz.text import color_key, joined_color_key, shorten

Cached = TypeVar("Cached", bound=Sized)
Text = TypeVar("Text", str, Documents, str | Documents)
Vocabulary = TypeVar("Vocabulary", bound=MergedVocabulary)

CACHE_ATOMS = 4_000_000
"""Atoms, together, of the boundaries that a training caches: some 70 MB."""

_NAME_ENDS = 60  # atoms at either end of a token from which its short name is made
_CUT_AT_END = regex.compile(r"(⟨[0-9A-F]{2}⟩)+$")
_CUT_AT_START = regex.compile(r"^(⟨[0-9A-F]{2}⟩)+")


@dataclass(frozen=True)
class Pruning:
    """One decision of a trainer that prunes pieces: piece `id` is removed.

    Attributes:
        id: The piece.
        count: The number of its tokens in the training text at that time.
        loss: The rise of the training text's negative log likelihood without it, in nats.
        round: The pruning round, from 1.
        note: A remark in a few words.
    """

    id: int
    count: int
    loss: float
    round: int
    note: str = ""


@dataclass(frozen=True)
class Candidate:
    """A possible decision at a step: a pair to merge, or a piece to prune.

    Attributes:
        ids: The pair, or the piece.
        count: Its count.
        score: The value that decides, if it is not the count.
    """

    ids: tuple[int, ...]
    count: int
    score: float | None = None

    @property
    def value(self) -> float:
        """The value that decides."""
        return self.count if self.score is None else self.score


Stopped = Literal["full", "no pair", "rare", "atoms"]
"""The reason why a trainer stopped: the requested size is reached; no pair is left; every pair left
is below the minimum count; only single atoms are left."""


@dataclass(frozen=True, repr=False)
class Training(NotebookValue, ABC):
    """A training history: the atoms, and one decision for each step.

    Attributes:
        algorithm: The key of the trainer.
        pre_tokenizer: The pre-tokenizer of the training text.
        alphabet: The symbols of the atoms, by id.
        stopped: The reason why training stopped.
        special: The special tokens, whose ids come after all others.
    """

    algorithm: str
    pre_tokenizer: PreTokenizer
    alphabet: tuple[str, ...]
    stopped: Stopped
    special: tuple[str, ...]
    split_at: tuple[str, ...] = field(default=(), kw_only=True)
    """The special tokens at which the training text was split, so that no merge touches them."""

    @property
    def special_names(self) -> tuple[str, ...]:
        """All special tokens in the order of their ids, the unknown token included."""
        return with_unknown(self.special, self.pre_tokenizer.unknown)

    _cache: dict[tuple[str, str | Documents], Sized] = field(
        default_factory=dict, repr=False, compare=False, kw_only=True
    )
    """By kind and text, the oldest first. Without a lock, since a training is pickled."""

    training_text: str | None = field(default=None, compare=False, kw_only=True)
    """The training text, if `bpeviz.train` trained on a text in this process."""

    training_options: Mapping[str, object] | None = field(default=None, compare=False, kw_only=True)
    """The options of the trainer, if `bpeviz.train` trained in this process."""

    weighted: ClassVar[bool] = False
    """Whether some occurrences count more than once."""

    stochastic: ClassVar[bool] = False
    """Whether `segmentations` draws random segmentations."""

    def __repr__(self) -> str:
        """Return the algorithm and the sizes, which fit on a line."""
        sizes = f"{self.steps:,} steps, vocabulary size {self.vocab_size:,}"
        return f"<{type(self).__name__} ({self.algorithm}): {sizes}>"

    def __init_subclass__(cls, **options: Any) -> None:
        """Give a dataclass the short `repr`, which it would replace by that of all its fields."""
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):
            cls.__repr__ = Training.__repr__  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the training text and options: who copies it has both."""
        return self.__dict__ | {"training_text": None, "training_options": None}

    def _cached(self, kind: str, text: Text, make: Callable[[Text], Cached]) -> Cached:
        """Return `make(text)`, cached for the texts asked for last, up to `CACHE_ATOMS`."""
        derived: Any = self._cache.get((kind, text))
        if derived is None:
            derived = make(text)
            entries = [*self._cache.items()]  # one call, so that other threads cannot interfere
            atoms = len(derived) + sum(len(value) for _, value in entries)
            while entries and (atoms > CACHE_ATOMS or len(entries) >= 4):
                key, value = entries.pop(0)
                self._cache.pop(key, None)
                atoms -= len(value)
            if atoms <= CACHE_ATOMS:
                self._cache[kind, text] = derived
        cached: Cached = derived
        return cached

    def segmentations(
        self, step: int, pre_token: str, strength: float, draws: int, seed: int
    ) -> Counter[tuple[int, ...]]:
        """Draw random segmentations of a pre-token after `step` steps.

        Args:
            step: The number of steps taken.
            pre_token: The pre-token.
            strength: The strength of the randomness, such as the dropout probability.
            draws: The number of draws.
            seed: The same seed gives the same segmentations.

        Returns:
            The count of each segmentation, given as ids.

        Raises:
            ValueError: A number is out of range, or the algorithm has no random segmentation.
        """
        raise ValueError(f"{self.algorithm} has no random segmentation.")

    @property
    @abstractmethod
    def decisions(self) -> Sequence[Merge] | Sequence[Pruning]:
        """The decision of each step."""

    @property
    @abstractmethod
    def sizes(self) -> NDArray[np.int64]:
        """The size of the vocabulary after each step, special tokens not counted. [steps + 1]."""

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.decisions)

    @cached_property
    def decisions_hash(self) -> int:
        """A hash of all decisions."""
        return hash(tuple(self.decisions))

    @property
    def vocab_size(self) -> int:
        """The largest vocabulary, special tokens not counted."""
        return int(self.sizes.max())

    @property
    def opening(self) -> int:
        """The step that the pages show first."""
        return self.steps

    def step_of(self, vocab_size: int) -> int:
        """Return the last step at which the vocabulary has this size.

        Raises:
            ValueError: It never has this size.
        """
        steps = np.flatnonzero(self.sizes == vocab_size)
        if not len(steps):
            low, high = int(self.sizes.min()), int(self.sizes.max())
            raise ValueError(
                f"The vocabulary size must be between {low} and {high}, the sizes during training, "
                f"not {vocab_size}."
            )
        return int(steps[-1])

    def tokenizer(self, vocab_size: int | None = None) -> Tokenizer:
        """Return the tokenizer of a vocabulary size; by default the one after the last step.

        `vocab_size` does not count special tokens, which come after all others.

        Raises:
            ValueError: The vocabulary never has this size.
        """
        return self.at_step(self.steps if vocab_size is None else self.step_of(vocab_size))

    @abstractmethod
    def at_step(self, step: int) -> Tokenizer:
        """Return the tokenizer after `step` steps; its `boundaries` cover all steps up to it."""

    def boundaries(self, text: str | Documents) -> Boundaries:
        """Return the boundaries of a text at every step, split as the training text.

        Each name in `split_at` is one token, with an id from `SPECIAL_ID` down.
        """
        return self._split_boundaries(text, self.tokenizer())

    def _split_boundaries(self, text: str | Documents, tokenizer: Tokenizer) -> Boundaries:
        """Return the boundaries of a text whose parts between special tokens are encoded alone."""
        each = [split_at_names(document, self.split_at) for document in documents_of(text)]
        if not any(is_name for parts in each for _, is_name in parts):
            return tokenizer.boundaries(text)
        boundaries = [tokenizer.boundaries("")]
        breaks = [0]
        for parts in each:
            first = len(boundaries)
            for part, is_name in parts:
                if is_name:
                    token_id = SPECIAL_ID - self.special_names[::-1].index(part)
                    boundaries.append(undivided(part, self.pre_tokenizer.atoms, token_id))
                else:
                    boundaries.append(tokenizer.boundaries(part))
            breaks.append(breaks[-1] + sum(map(len, boundaries[first:])))
        return joined(boundaries, tokenizer.steps).with_breaks(np.array(breaks[1:-1], np.int64))

    def ends(self, text: str | Documents, ends_in: Callable[[str], Ends]) -> NDArray[np.int64]:
        """Return the index after the last atom of each pre-token of a text. int64 [pre-tokens].

        A line end between documents is a pre-token of one atom.

        Args:
            text: The text.
            ends_in: Returns these indices for a part without names.
        """
        line_end = np.ones(1, np.int64)
        sizes = [np.zeros(0, np.int64)]
        for document in documents_of(text):
            for part, is_name in split_at_names(document, self.split_at):
                size = len(part.encode() if self.pre_tokenizer.atoms == "bytes" else part)
                sizes.append(np.array([size]) if is_name else np.diff(ends_in(part), prepend=0))
            sizes.append(line_end)
        return np.cumsum(np.concatenate(sizes[:-1]))

    @abstractmethod
    def name(self, token_id: int) -> str:
        """Return a short readable name of an id, with the middle of a long token omitted."""

    @abstractmethod
    def color_key(self, token_id: int) -> int:
        """Return the color key of a token (see `bpeviz.text.color_key`), -1 for an atom."""

    @abstractmethod
    def parents(self, token_id: int) -> tuple[int, int] | None:
        """Return the two ids that were merged into this one, or None."""

    @property
    @abstractmethod
    def curve(self) -> NDArray[np.float64]:
        """The count, score or cost that decided each step. float64 [steps]."""

    @abstractmethod
    def candidates(
        self, text: str | Documents, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        """Return the best candidates of the step after `step` steps, the best first.

        Among ties the one that was taken comes first, then the order of the text.

        Args:
            text: The training text.
            boundaries: The boundaries of the last tokenizer on it.
            step: The number of steps taken.
            limit: The largest number of candidates.
        """


@dataclass(frozen=True, repr=False)
class MergeTraining(Training):
    """The training history of a trainer that merges pairs.

    A subclass whose tokenizers do not simply apply the merges in their order sets `stochastic` to
    False, since dropout needs that order.
    """

    stochastic: ClassVar[bool] = True

    canonical: ClassVar[bool] = True
    """Whether each merge was trained on a text to which all earlier ones had been applied."""

    merges: tuple[Merge, ...]

    @property
    def decisions(self) -> Sequence[Merge]:
        return self.merges

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.arange(len(self.alphabet), len(self.alphabet) + len(self.merges) + 1)

    def merger(self, step: int) -> MergeTokenizer:
        """Return the tokenizer that applies the first merges in their order."""
        return self.first_merges(MergeTokenizer, step, canonical=self.canonical)

    def first_merges(
        self, kind: Callable[..., Vocabulary], step: int, *fields: object, **options: object
    ) -> Vocabulary:
        """Return a tokenizer of a class with the first merges, and with more fields of its own."""
        common = self.algorithm, self.pre_tokenizer, self.alphabet, self.merges[: max(0, step)]
        return kind(*common, *fields, special=self.special, **options)

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

    def color_key(self, token_id: int) -> int:
        place = token_id - len(self.alphabet)
        return -1 if place < 0 else self._color_keys[place]

    def parents(self, token_id: int) -> tuple[int, int] | None:
        place = token_id - len(self.alphabet)
        return None if place < 0 else (self.merges[place].left, self.merges[place].right)

    @property
    def curve(self) -> NDArray[np.float64]:
        return np.array([merge.count for merge in self.merges], np.float64)

    def candidates(
        self, text: str | Documents, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        pairs = self.pairs(text, self.as_trained(text, boundaries), step)
        return pairs.best(pairs.counts, self.merges[step : step + 1], limit)

    def as_trained(self, text: str | Documents, boundaries: Boundaries) -> Boundaries:
        """Return the boundaries of a text during training: all merges, applied in their order."""
        if type(self).at_step is MergeTraining.at_step and boundaries.steps == self.steps:
            return boundaries
        merger = self.merger(self.steps)
        return self._cached("boundaries", text, lambda text: self._split_boundaries(text, merger))

    def barriers(self, text: str | Documents, step: int) -> NDArray[np.int64]:
        """Return the indices after atoms that no merge may cross at `step`. int64 [barriers]."""
        return self._cached(
            "barriers", text, lambda text: self.ends(text, self.merger(0).pre_token_atom_ends)
        )

    def weights(self, text: str | Documents) -> NDArray[np.int64] | None:
        """Return the weight of each atom of the text, or None if all are 1. int64 [atoms]."""
        return None

    def pairs(self, text: str | Documents, boundaries: Boundaries, step: int) -> CountedPairs:
        """Count the pairs of a text after `step` merges, as the trainer counts them."""
        return count_pairs(boundaries, self.barriers(text, step), step, self.weights(text))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Short readable names of all ids.

        Built from the parents' first and last atoms, since all tokens together may be far longer
        than the text.
        """
        in_bytes = self.pre_tokenizer.atoms == "bytes"
        label = self.pre_tokenizer.label
        # The first and the last symbols of each id, and whether they are all of it.
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
                # Omit the remaining bytes of a character that is divided.
                head = _CUT_AT_END.sub("", label(first)) if in_bytes else label(first)
                tail = _CUT_AT_START.sub("", label(last)) if in_bytes else label(last)
                names.append(shorten(f"{head}…{tail}"))
        return tuple(names)

    @cached_property
    def _color_keys(self) -> tuple[int, ...]:
        """The color key of the token of each merge."""
        atoms = [self.pre_tokenizer.symbol_bytes(symbol) for symbol in self.alphabet]
        keys = [(color_key(raw), len(raw)) for raw in atoms]
        for merge in self.merges:
            (left, left_length), (right, length) = keys[merge.left], keys[merge.right]
            keys.append((joined_color_key(left, right, length), left_length + length))
        return tuple(key for key, _ in keys[len(self.alphabet) :])


@dataclass(frozen=True)
class CountedPairs:
    """The pairs of neighboring tokens of a text, in the order of their first occurrence.

    Attributes:
        keys: left id << 32 | right id. int64 [pairs].
        counts: The count of each pair, overlaps included. int64 [pairs].
        tokens: The count of each token, by id. int64 [largest id + 1].
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    tokens: NDArray[np.int64]

    def best(
        self, values: NDArray[np.int64] | NDArray[np.float64], taken: Sequence[Merge], limit: int
    ) -> list[Candidate]:
        """Return the pairs with the highest values; among ties, those taken come first."""
        merged = [merge.left << 32 | merge.right for merge in taken]
        order = np.lexsort((~np.isin(self.keys, merged), -values))[:limit]
        keys, counts = self.keys[order], self.counts[order].tolist()
        ids = zip((keys >> 32).tolist(), (keys & 0xFFFFFFFF).tolist(), strict=True)
        if values is self.counts:
            return [*map(Candidate, ids, counts)]
        return [*map(Candidate, ids, counts, map(float, values[order].tolist()))]


def count_pairs(
    boundaries: Boundaries,
    barriers: NDArray[np.int64],
    step: int,
    weights: NDArray[np.int64] | None = None,
) -> CountedPairs:
    """Count the pairs of neighboring tokens after `step` steps, overlaps included.

    Args:
        boundaries: The boundaries of the text.
        barriers: The indices after the atoms that no pair may cross.
        step: The number of steps taken.
        weights: The weight of each atom. int64 [atoms].
    """
    ends = boundaries.token_ends(step)
    ids = boundaries.ids(step)
    weight = np.ones(len(ids), np.int64) if weights is None else weights[ends - 1]
    known = ids >= 0
    tokens = np.bincount(ids[known], weights=weight[known]).astype(np.int64)
    if len(ends) < 2:
        empty = np.empty(0, np.int64)
        return CountedPairs(empty, empty, tokens)
    inside = np.ones(len(boundaries) + 1, bool)
    inside[barriers] = False
    inside = inside[ends[:-1]] & known[:-1] & known[1:]
    keys = ids[:-1][inside].astype(np.int64) << 32 | ids[1:][inside]
    distinct, first, place = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.bincount(place, weights=weight[:-1][inside], minlength=len(distinct))
    order = np.argsort(first)
    return CountedPairs(distinct[order], counts.astype(np.int64)[order], tokens)

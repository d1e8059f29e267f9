"""Merges, and the tokenizer that applies them in the order of training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from itertools import chain, pairwise
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core import tiktoken_engine
from bpeviz.core.boundaries import MergeBoundaries, boundaries_from_ids, gather
from bpeviz.core.fields import UNSAVED
from bpeviz.core.tokenizer import AtomRow, Segmentation, TrainedTokenizer
from bpeviz.corpus.documents import Documents

Joined = TypeVar("Joined", str, bytes, int)

MAX_VOCABULARY_BYTES = 20_000_000
"""The largest total size of a vocabulary, in bytes, for which tiktoken's engine is used."""

MIN_ENGINE_ATOMS = 4_000
"""The smallest text, in atoms, that repays the construction of tiktoken's engine."""


class NotMergesError(ValueError):
    """Merges alone do not reproduce a tokenizer's encoding; the message gives the reason."""


class Merge(NamedTuple):
    """One decision of a trainer: `left` and `right` become `new_id`.

    Attributes:
        left: The id of the left half.
        right: The id of the right half.
        new_id: The id of the new token.
        count: The count of the pair, overlaps included ("aaa" contains (a, a) twice).
        applied: The number of replacements, which may be lower than the count for (a, a).
        ties: The number of other pairs with the same count, or the same score if there is one.
        score: The value by which the trainer chose the pair, if it is not the count.
        note: A short remark.
    """

    left: int
    right: int
    new_id: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which is not used
    applied: int
    ties: int
    score: float | None = None
    note: str = ""


@dataclass(frozen=True, repr=False)
class MergedVocabulary(TrainedTokenizer):
    """A tokenizer with one token for each merge, whichever way it encodes."""

    merges: tuple[Merge, ...]

    @property
    def trained_size(self) -> int:
        return len(self.merges)

    @property
    def steps(self) -> int:
        return len(self.merges)

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.arange(len(self.alphabet), len(self.alphabet) + len(self.merges) + 1)

    @property
    def first_merge_id(self) -> int:
        """The id that merge 0 creates; merge i creates this id plus i."""
        return len(self.alphabet)

    @cached_property
    def _lengths(self) -> list[int]:
        """The number of atoms of each token, by id."""
        return joined([1] * len(self.alphabet), self.merges)

    def walk(self, token_id: int) -> Iterator[int]:
        """Yield the atoms of a token from left to right, and between them the merges.

        A merge is given as ~step, where it joins the atoms on both its sides. Without recursion,
        since a token may be as long as the training text, and its tree as deep.
        """
        atoms = len(self.alphabet)
        pending = [token_id]
        while pending:
            at = pending.pop()
            if at < atoms:  # an atom, or ~step
                yield at
            else:
                merge = self.merges[at - atoms]
                pending += (merge.right, ~(at - atoms), merge.left)

    def atoms_of(self, token_id: int) -> list[int]:
        return [atom for atom in self.walk(token_id) if atom >= 0]

    def parents(self, token_id: int) -> tuple[int, int] | None:
        step = self.merge_step(token_id)
        return None if step < 0 else (self.merges[step].left, self.merges[step].right)

    def merge_step(self, token_id: int) -> int:
        step = self._checked(token_id) - len(self.alphabet)
        return step if 0 <= step < len(self.merges) else -1

    def merged_id(self, step: int) -> int:
        return self.first_merge_id + step

    def at_step(self, step: int) -> Self:
        return replace(self, merges=self.merges[: max(0, step)], _segmented={})

    def as_merges(self) -> MergeTokenizer:
        """Return a tokenizer with the same encoding that applies merges in order.

        Raises:
            NotMergesError: Merges alone do not reproduce the encoding.
        """
        raise NotMergesError("it does not apply its merges in their order")


@dataclass(frozen=True, repr=False)
class MergeTokenizer(MergedVocabulary):
    """A tokenizer that applies merges in their order within each pre-token.

    Ids are dense: first the atoms, then one for each merge, then the unknown token (over
    characters), then the special tokens.

    A character outside the training text is unknown: it is never merged and decodes to U+FFFD. Over
    bytes no atom is unknown, and decoding returns every Unicode text unchanged.

    Attributes:
        canonical: Whether each merge was trained on a text to which all earlier ones had been
            applied, so that `bpeviz.core.tiktoken_engine` gives the same ids.
    """

    canonical: bool = field(default=False, kw_only=True, metadata=UNSAVED)

    kind: ClassVar[str] = "merges"

    encodes_by_merges: ClassVar[bool] = True
    """Whether `encode` applies the merges in their order and does nothing else.

    A subclass states it when it is defined: class Own(MergeTokenizer, encodes_by_merges=True).
    Without that, exports refuse it rather than write ids that differ.
    """

    def __init_subclass__(cls, *, encodes_by_merges: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.encodes_by_merges = encodes_by_merges

    def as_merges(self) -> MergeTokenizer:
        if not self.encodes_by_merges:
            raise NotMergesError("it does more than apply its merges in their order")
        return self

    @cached_property
    def _rank(self) -> dict[tuple[int, int], int]:
        return {(merge.left, merge.right): merge.new_id for merge in self.merges}

    @cached_property
    def _engine(self) -> Callable[[bytes], list[int]] | None:
        """A faster encoder of a pre-token's bytes, if it gives the same ids."""
        if not self.canonical or not self.over_bytes or sum(self._lengths) > MAX_VOCABULARY_BYTES:
            return None
        return tiktoken_engine.encoder(joined((bytes([i]) for i in range(256)), self.merges))

    def _segment_rows(self, rows: Sequence[AtomRow]) -> list[Segmentation]:
        segmentations: list[Segmentation] = []
        if sum(map(len, rows)) > MIN_ENGINE_ATOMS and self._engine is not None:
            for row in rows:
                ids = tuple(self._engine(bytes(row)))
                segmentations.append((ids, tuple(map(self._lengths.__getitem__, ids))))
            return segmentations
        for row in rows:
            ids = apply_merges(list(row), self._rank)
            segmentations.append((ids, tuple(1 if i < 0 else self._lengths[i] for i in ids)))
        return segmentations

    def _steps_inside(self, token_id: int) -> list[int]:
        """Return the merges of the boundaries inside a token, none for an id below 0."""
        if token_id < 0:
            return []
        return [~step for step in self.walk(token_id) if step < 0]

    def boundaries(self, text: str | Documents) -> MergeBoundaries:
        pre_tokens, order, breaks = self._split(text)
        cut = [*map(self.segment(pre_tokens).__getitem__, pre_tokens)]
        ids = np.fromiter(chain.from_iterable(ids for ids, _ in cut), np.int32)
        sizes = np.array([sum(lengths) for _, lengths in cut], np.int64)
        of_distinct = boundaries_from_ids(ids, self._steps_inside)
        merged_at = gather(of_distinct, np.cumsum(sizes) - sizes, sizes, order)
        atom_ids, ends = self.atoms_in(pre_tokens, order)
        boundaries = MergeBoundaries(ends, atom_ids, self.steps, merged_at, self.first_merge_id)
        return boundaries.with_breaks(breaks)


def joined(atoms: Iterable[Joined], merges: Iterable[Merge]) -> list[Joined]:
    """Return the joined or summed values of the atoms of each token, by id.

    Args:
        atoms: The string, the bytes or a number of each atom.
        merges: The merges.
    """
    values = list(atoms)
    for merge in merges:
        values.append(values[merge.left] + values[merge.right])
    return values


def apply_merges(ids: list[int], rank: Mapping[tuple[int, int], int]) -> tuple[int, ...]:
    """Merge pairs of `ids`, lowest rank first and from the left, until none has a rank.

    Both halves of a merge are older than the merge, so no merge makes an earlier one possible: each
    is applied once, at all its places. A linked list keeps the time linear in the length, for
    pre-tokens of any length.

    Args:
        ids: The ids of a row; the list is modified.
        rank: The new id of each pair that can be merged.
    """
    get = rank.get
    places: dict[int, list[int]] = {}  # by the new id of the pair there, from left to right
    for place, pair in enumerate(pairwise(ids)):
        if (new := get(pair)) is not None:
            places.setdefault(new, []).append(place)
    if not places:
        return tuple(ids)
    removed = -2
    following = list(range(1, len(ids) + 2))
    preceding = list(range(-1, len(ids)))
    ids.append(removed)  # a sentinel after the last
    pending = list(places)
    heapify(pending)

    def note(new: int, place: int) -> None:
        if new not in places:
            places[new] = []
            heappush(pending, new)
        places[new].append(place)

    while pending:
        new = heappop(pending)
        for i in places.pop(new):
            j = following[i]
            if get((ids[i], ids[j])) != new:  # an earlier merge took one of the two
                continue
            ids[i], ids[j] = new, removed
            following[i] = k = following[j]
            preceding[k] = i
            if (newer := get((new, ids[k]))) is not None:
                note(newer, i)
            h = preceding[i]
            if h >= 0 and (newer := get((ids[h], new))) is not None:
                note(newer, h)
    return tuple(token_id for token_id in ids if token_id != removed)

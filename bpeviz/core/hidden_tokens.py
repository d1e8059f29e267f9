"""Tokens that are taken apart again: merges are applied as ever, and what they built and nobody
wants to see is shown as the two tokens that it was made of, and so on down.

Two things do so. Scaffold-BPE (`bpeviz/trainers/scaffold_bpe.py`) hides the tokens that serve to
build others. Vocabulary restriction hides those that are rare in the text that was learnt from: the
`--vocabulary-threshold` of subword-nmt (its README's "best practice advice", and
`check_vocab_and_split` in its `apply_bpe.py`).

A row of atoms has one forest of merges. In it each token lives from its own merge until the merge
that makes it part of another. Where a token is hidden while it lives, its two halves are shown in
its stead, for just that time. So what is shown inside a token of the last step follows from that
token alone, and each distinct one is looked into once.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import INSIDE_ID, AtomChanges
from bpeviz.core.merges import MergedVocabulary, MergeTokenizer
from bpeviz.core.tokenizer import NonMonotonicTokenizer, NotMergesError, Row, Segmentation
from bpeviz.core.training import MergeTraining

HiddenTimes = tuple[tuple[int, ...], ...]
"""For each merge, when its token is hidden and when it is shown again, in turn, as steps from 0:
(5, 9) says that the token is hidden once step 5 is taken, and shown again once step 9 is."""

Span = tuple[int, int]
"""From which time on, and until which."""


def hidden_counts(hidden_times: HiddenTimes, steps: int) -> NDArray[np.int64]:
    """Return how many tokens are hidden after 0, 1, … `steps` steps. int64 [steps + 1]."""
    change = np.zeros(steps + 1, np.int64)
    for times in hidden_times:
        for number, time in enumerate(times):
            if time < steps:
                change[time + 1] += -1 if number % 2 else 1
    return np.cumsum(change)


@dataclass(frozen=True)
class HiddenTokenTokenizer(MergedVocabulary, NonMonotonicTokenizer):
    """Applies merges in their order, then takes apart what is hidden. Atoms never are.

    hidden_times: of each merge (those at the last step and later do not matter).
    """

    hidden_times: HiddenTimes

    @cached_property
    def merger(self) -> MergeTokenizer:
        """The tokenizer that applies the merges and hides nothing."""
        return MergeTokenizer(
            self.name, self.pre_tokenizer, self.alphabet, self.merges, special=self.special
        )

    def as_merges(self) -> MergeTokenizer:
        if not self.hidden:
            return self.merger
        hidden = len(self.hidden)
        raise NotMergesError(
            f"{hidden:,} of its tokens {'is' if hidden == 1 else 'are'} taken apart again "
            "(scaffolds, or a vocabulary threshold), and merges alone do not say so"
        )

    def at_step(self, step: int) -> Self:
        step = max(0, step)
        return replace(
            self, merges=self.merges[:step], hidden_times=self.hidden_times[:step], _segmented={}
        )

    @cached_property
    def hidden(self) -> frozenset[int]:
        """The ids that are taken apart."""
        return frozenset(
            token_id
            for token_id, times in enumerate(self.hidden_times, len(self.alphabet))
            if bisect_left(times, self.steps) % 2
        )

    def known_ids(self) -> list[int]:
        """Return the ids of the vocabulary, ascending. Encoding never returns a hidden one."""
        return [token_id for token_id in range(self.vocab_size) if token_id not in self.hidden]

    def shown(self, ids: Iterable[int]) -> Iterator[int]:
        """Yield `ids`, the two parents of a hidden one in its stead, and so on down."""
        first = len(self.alphabet)
        waiting = [*ids][::-1]
        while waiting:
            token_id = waiting.pop()
            if token_id in self.hidden:
                merge = self.merges[token_id - first]
                waiting += (merge.right, merge.left)
            else:
                yield token_id

    def _segment_rows(self, rows: Sequence[Row]) -> list[Segmentation]:
        cuts = []
        for ids, sizes in self.merger._segment_rows(rows):
            if self.hidden.isdisjoint(ids):
                cuts.append((ids, sizes))
            else:
                parts = tuple(self.shown(ids))
                cuts.append((parts, tuple(1 if i < 0 else self._lengths[i] for i in parts)))
        return cuts

    def changes(self, rows: Sequence[Row]) -> list[AtomChanges]:
        inside: dict[int, AtomChanges] = {}
        found = []
        for ids, _ in self.merger._segment_rows(rows):
            for token_id in ids:
                if token_id not in inside:
                    inside[token_id] = self._changes_inside(token_id)
            of_tokens = [inside[token_id] for token_id in ids]
            if of_tokens:
                counts, times, entries = zip(*of_tokens, strict=True)
                row = np.concatenate(counts), np.concatenate(times), np.concatenate(entries)
            else:
                row = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32)
            found.append(row)
        return found

    def _changes_inside(self, token_id: int) -> AtomChanges:
        """Return what begins at each atom of a token of the last step, and when."""
        first, end = len(self.alphabet), self.steps
        length = 1 if token_id < 0 else self._lengths[token_id]
        # At each atom, the tokens that are shown from there on: (from, until, id).
        shown: list[list[tuple[int, int, int]]] = [[] for _ in range(length)]
        # Tokens with the atom where they begin, the time until which they live, and the times
        # after that in which they stand for a hidden one that they are part of.
        waiting: list[tuple[int, int, int, list[Span]]] = [(token_id, 0, end, [])]
        while waiting:
            token_id, at, until, later = waiting.pop()
            born = max(token_id - first, -1)  # time -1 is before the first step
            if later and later[0][0] == until:
                spans = [(born, later[0][1]), *later[1:]]
            else:
                spans = [(born, until), *later]
            if born < 0:
                shown[at] += ((start, stop, token_id) for start, stop in spans)
                continue
            visible, hidden = _parted(spans, self.hidden_times[born])
            shown[at] += ((start, stop, token_id) for start, stop in visible)
            merge = self.merges[born]
            waiting.append((merge.right, at + self._lengths[merge.left], born, hidden))
            waiting.append((merge.left, at, born, hidden))
        counts: list[int] = []
        times: list[int] = []
        entries: list[int] = []
        for at_atom in shown:
            at_atom.sort()
            before, now = len(times), -1
            for start, stop, token_id in at_atom:
                if start > now:
                    times.append(now)
                    entries.append(INSIDE_ID)
                times.append(start)
                entries.append(token_id)
                now = stop
            if now < end:
                times.append(now)
                entries.append(INSIDE_ID)
            counts.append(len(times) - before)
        return np.array(counts, np.int64), np.array(times, np.int32), np.array(entries, np.int32)


def _parted(spans: Sequence[Span], times: Sequence[int]) -> tuple[list[Span], list[Span]]:
    """Part spans of time into those in which a token is shown and those in which it is hidden."""
    if not times:
        return [*spans], []
    parts: tuple[list[Span], list[Span]] = [], []
    for start, stop in spans:
        flipped = bisect_right(times, start)
        while start < stop:
            until = min(stop, times[flipped]) if flipped < len(times) else stop
            parts[flipped % 2].append((start, until))
            start, flipped = until, flipped + 1
    return parts


@dataclass(frozen=True)
class HiddenTokenTraining(MergeTraining):
    """What a trainer decided that merges pairs, some of whose tokens are taken apart again."""

    @abstractmethod
    def at_step(self, step: int) -> HiddenTokenTokenizer: ...

    def segmentations(
        self, step: int, pre_token: str, strength: float, draws: int, seed: int
    ) -> Counter[tuple[int, ...]]:
        """Merge with dropout, then take apart, as `apply_bpe.py` of subword-nmt does."""
        shown = self.at_step(step).shown
        found: Counter[tuple[int, ...]] = Counter()
        for ids, times in super().segmentations(step, pre_token, strength, draws, seed).items():
            found[tuple(shown(ids))] += times
        return found


@dataclass(frozen=True)
class RestrictedTraining(HiddenTokenTraining):
    """What a trainer decided that merges pairs, for an encoder with a vocabulary threshold.

    threshold: a token that comes less often than this in the text learnt from, as the merges so
    far cut it, is taken apart again. How often it then comes follows from the merges: as often as
    its own merge was made, less what later merges took of it.
    """

    threshold: int

    @cached_property
    def hidden_times(self) -> HiddenTimes:
        """When each merge's token becomes too rare; it never comes more often again."""
        first = len(self.alphabet)
        counts: list[int] = []
        hidden: list[tuple[int, ...]] = []
        for step, merge in enumerate(self.merges):
            counts.append(merge.applied)
            hidden.append((step,) if merge.applied < self.threshold else ())
            for part in (merge.left, merge.right):  # of (a, a) both are the same token
                if part >= first:
                    counts[part - first] -= merge.applied
                    if not hidden[part - first] and counts[part - first] < self.threshold:
                        hidden[part - first] = (step,)
        return tuple(hidden)

    @cached_property
    def hidden(self) -> NDArray[np.int64]:
        """Number of hidden tokens after each step. int64 [steps + 1]."""
        return hidden_counts(self.hidden_times, self.steps)

    def at_step(self, step: int) -> HiddenTokenTokenizer:
        step = max(0, step)
        return HiddenTokenTokenizer(
            self.algorithm,
            self.pre_tokenizer,
            self.alphabet,
            self.merges[:step],
            self.hidden_times[:step],
            special=self.special,
        )

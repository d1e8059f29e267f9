"""Hidden tokens: after all merges, each is split back into the two tokens it was merged from.

Splitting back is recursive. Scaffold-BPE (`bpeviz/trainers/scaffold_bpe.py`) hides tokens that only
serve to build others. A vocabulary threshold hides tokens that are rare in the training text. In
subword-nmt it is `--vocabulary-threshold` (the "best practice advice" in its README, and
`check_vocab_and_split` in `apply_bpe.py`).

The merges of a row of atoms form a forest. A token exists from its own merge until the merge that
makes it part of another token. While it exists and is hidden, its two parts are visible instead. So
the visible tokens inside a token of the last step depend only on that token, and each distinct
token is expanded only once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import INSIDE_ID, AtomChanges, atom_changes
from bpeviz.core.fields import InvalidFieldError
from bpeviz.core.merges import Merge, MergedVocabulary, MergeTokenizer, NotMergesError
from bpeviz.core.tokenizer import AtomRow, NonMonotonicTokenizer, Segmentation
from bpeviz.core.training import MergeTraining

HiddenTimes = tuple[tuple[int, ...], ...]
"""For each merge the steps, from 0, at which its token becomes hidden and visible, alternately.

(5, 9): step 5 hides the token, and step 9 makes it visible again.
"""

Span = tuple[int, int]
"""A span of time: its start, and its end."""


def hidden_counts(hidden_times: HiddenTimes, steps: int) -> NDArray[np.int64]:
    """Return the number of hidden tokens after 0, 1, … `steps` steps. int64 [steps + 1]."""
    change = np.zeros(steps + 1, np.int64)
    for times in hidden_times:
        for number, time in enumerate(times):
            if time < steps:
                change[time + 1] += -1 if number % 2 else 1
    return np.cumsum(change)


@dataclass(frozen=True, repr=False)
class HiddenTokenTokenizer(MergedVocabulary, NonMonotonicTokenizer):
    """A tokenizer that applies merges in their order, then splits hidden tokens back.

    Atoms are never hidden.

    Attributes:
        hidden_times: One entry for each merge; times at the last step and later have no effect.
    """

    hidden_times: HiddenTimes

    kind: ClassVar[str] = "hidden tokens"

    def check_fields(self) -> None:
        for place, times in enumerate(self.hidden_times):
            if [*times] != sorted({*times}):
                raise InvalidFieldError(f"hidden_times[{place}]", "expected ascending steps")
        if len(self.hidden_times) != self.steps:
            reason = f"expected one entry for each of the {self.steps:,} merges"
            raise InvalidFieldError("hidden_times", reason)

    @cached_property
    def merger(self) -> MergeTokenizer:
        """The tokenizer that applies the merges and hides no token."""
        return MergeTokenizer(
            self.name, self.pre_tokenizer, self.alphabet, self.merges, special=self.special
        )

    def as_merges(self) -> MergeTokenizer:
        if not self.hidden:
            return self.merger
        hidden = len(self.hidden)
        raise NotMergesError(
            f"{hidden:,} of its tokens {'is' if hidden == 1 else 'are'} hidden "
            "(scaffolds, or a vocabulary threshold), and merges alone do not contain that"
        )

    def at_step(self, step: int) -> Self:
        step = max(0, step)
        return replace(
            self, merges=self.merges[:step], hidden_times=self.hidden_times[:step], _segmented={}
        )

    @cached_property
    def hidden(self) -> frozenset[int]:
        """The ids of the hidden tokens."""
        return frozenset(
            token_id
            for token_id, times in enumerate(self.hidden_times, len(self.alphabet))
            if bisect_left(times, self.steps) % 2
        )

    def known_ids(self) -> list[int]:
        """Return the ids of the vocabulary, ascending. Encoding never returns a hidden one."""
        return [token_id for token_id in range(self.vocab_size) if token_id not in self.hidden]

    def split_back(self, ids: Iterable[int]) -> Iterator[int]:
        """Yield `ids` with hidden tokens split back into visible ones."""
        first = len(self.alphabet)
        pending = [*ids][::-1]
        while pending:
            token_id = pending.pop()
            if token_id in self.hidden:
                merge = self.merges[token_id - first]
                pending += (merge.right, merge.left)
            else:
                yield token_id

    def _segment_rows(self, rows: Sequence[AtomRow]) -> list[Segmentation]:
        cuts = []
        for ids, sizes in self.merger._segment_rows(rows):
            if self.hidden.isdisjoint(ids):
                cuts.append((ids, sizes))
            else:
                parts = tuple(self.split_back(ids))
                cuts.append((parts, tuple(1 if i < 0 else self._lengths[i] for i in parts)))
        return cuts

    def changes_of_rows(self, rows: Sequence[AtomRow]) -> list[AtomChanges]:
        inside: dict[int, AtomChanges] = {}
        of_rows = []
        for ids, _ in self.merger._segment_rows(rows):
            for token_id in ids:
                if token_id not in inside:
                    inside[token_id] = self._changes_inside(token_id)
            of_tokens = [atom_changes([]), *(inside[token_id] for token_id in ids)]
            counts, times, entries = zip(*of_tokens, strict=True)
            of_rows.append((np.concatenate(counts), np.concatenate(times), np.concatenate(entries)))
        return of_rows

    def _changes_inside(self, token_id: int) -> AtomChanges:
        """Return the entries of the atoms inside a token of the last step."""
        first, end = len(self.alphabet), self.steps
        length = 1 if token_id < 0 else self._lengths[token_id]
        # The visible tokens that begin at each atom: (start, end, id).
        visible_spans: list[list[tuple[int, int, int]]] = [[] for _ in range(length)]
        # Tokens with the atom where they begin, the time when they become part of another token,
        # and the later spans in which they replace a hidden token that contains them.
        pending: list[tuple[int, int, int, list[Span]]] = [(token_id, 0, end, [])]
        while pending:
            token_id, at, until, later = pending.pop()
            made_at = max(token_id - first, -1)  # time -1 is before the first step
            if later and later[0][0] == until:
                spans = [(made_at, later[0][1]), *later[1:]]
            else:
                spans = [(made_at, until), *later]
            if made_at < 0:
                visible_spans[at] += ((start, stop, token_id) for start, stop in spans)
                continue
            visible, hidden = _split_spans(spans, self.hidden_times[made_at])
            visible_spans[at] += ((start, stop, token_id) for start, stop in visible)
            merge = self.merges[made_at]
            pending.append((merge.right, at + self._lengths[merge.left], made_at, hidden))
            pending.append((merge.left, at, made_at, hidden))
        by_atom = []
        for at_atom in visible_spans:
            of_atom: list[tuple[int, int]] = []
            now = -1
            for start, stop, token_id in sorted(at_atom):
                if start > now:
                    of_atom.append((now, INSIDE_ID))
                of_atom.append((start, token_id))
                now = stop
            if now < end:
                of_atom.append((now, INSIDE_ID))
            by_atom.append(of_atom)
        return atom_changes(by_atom)


def _split_spans(spans: Sequence[Span], times: Sequence[int]) -> tuple[list[Span], list[Span]]:
    """Split the spans of a token into those in which it is visible and those in which it is hidden.

    Args:
        spans: Spans of time.
        times: The times at which the token becomes hidden and visible again, in turn.
    """
    if not times:
        return [*spans], []
    parts: tuple[list[Span], list[Span]] = [], []
    for start, stop in spans:
        passed = bisect_right(times, start)
        while start < stop:
            until = min(stop, times[passed]) if passed < len(times) else stop
            parts[passed % 2].append((start, until))
            start, passed = until, passed + 1
    return parts


@dataclass(frozen=True, repr=False)
class HiddenTokenTraining(MergeTraining):
    """The training history of a trainer that merges pairs and hides some tokens.

    Attributes:
        hidden_times: One entry for each merge.
    """

    hidden_times: HiddenTimes

    tokenizer_class: ClassVar[type[HiddenTokenTokenizer]] = HiddenTokenTokenizer

    @cached_property
    def n_hidden(self) -> NDArray[np.int64]:
        """Number of hidden tokens after each step. int64 [steps + 1]."""
        return hidden_counts(self.hidden_times, self.steps)

    def at_step(self, step: int) -> HiddenTokenTokenizer:
        hidden_times = self.hidden_times[: max(0, step)]
        return self.first_merges(self.tokenizer_class, step, hidden_times)

    def segmentations(
        self, step: int, pre_token: str, strength: float, draws: int, seed: int
    ) -> Counter[tuple[int, ...]]:
        """Merge with dropout, then split back, as `apply_bpe.py` of subword-nmt does."""
        split_back = self.at_step(step).split_back
        counts: Counter[tuple[int, ...]] = Counter()
        for ids, times in super().segmentations(step, pre_token, strength, draws, seed).items():
            counts[tuple(split_back(ids))] += times
        return counts


@dataclass(frozen=True, repr=False)
class RestrictedTraining(HiddenTokenTraining):
    """The training history of a trainer that merges pairs, with a vocabulary threshold.

    Attributes:
        threshold: Tokens with a lower count in the training text, as segmented by the merges so
            far, are hidden (see `rare_times`).
    """

    threshold: int


def rare_times(merges: Sequence[Merge], n_atoms: int, threshold: int) -> HiddenTimes:
    """Return the step at which each token becomes too rare; its count never rises again.

    The count is the number of replacements of the token's own merge minus those of later merges
    that contain it.
    """
    counts: list[int] = []
    hidden: list[tuple[int, ...]] = []
    for step, merge in enumerate(merges):
        counts.append(merge.applied)
        hidden.append((step,) if merge.applied < threshold else ())
        for part in (merge.left, merge.right):  # of (a, a) both are the same token
            if part >= n_atoms:
                counts[part - n_atoms] -= merge.applied
                if not hidden[part - n_atoms] and counts[part - n_atoms] < threshold:
                    hidden[part - n_atoms] = (step,)
    return tuple(hidden)

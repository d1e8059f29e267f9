"""Scaffold-BPE: byte-pair encoding whose tokens leave the vocabulary where they only serve others.

Source: Lian, Xiong, Niu, Mo, Su, Lin, Chen, Liu, Han and Ding, "Scaffold-BPE: Enhancing Byte Pair
Encoding for Large Language Models with Simple and Effective Scaffold Token Removal", 2024,
arXiv:2404.17808, Algorithms 1 and 2.

Learning. Merges are those of byte-pair encoding. After each merge of a and b, what is left of a
and of b is held against the frequency at the head of the queue, that is, of whatever would be
taken next: a token that comes less often becomes a scaffold. A scaffold is no longer in the
vocabulary, but goes back into the queue with its own frequency. When that is the highest there, the
token is a normal one again. Learning goes on until the vocabulary, scaffolds not counted, has the
size that was asked for.

Encoding. All merges are applied in their order, those that make scaffolds, too ("scaffolding").
Then each scaffold that is left is taken apart into the two tokens that it was merged from, and
these again where they are scaffolds ("demolishing").

The paper leaves open, and here it is so:

- Atoms cannot be taken apart, so they never become scaffolds.
- The frequency of a token is how often it stands in the text as it is cut after the merge: of a
  merge of (a, a) each replacement takes two.
- Among equal frequencies a scaffold is taken before a pair, and the older scaffold before the
  younger: a token that comes exactly as often as the head does not become a scaffold, either.
- What is rarer than the smallest count is not taken from the queue, be it a pair or a scaffold.
  For what becomes a scaffold the next pair counts all the same, and with no pair and no scaffold
  left the head's frequency is 0.
- A scaffold that comes back is an iteration of its own in the paper. Here it belongs to the step of
  the merge before it, so each step is a merge and may change the size of the vocabulary by
  something other than 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import Boundaries
from bpeviz.core.hidden_tokens import (
    HiddenTimes,
    HiddenTokenTokenizer,
    HiddenTokenTraining,
    hidden_counts,
)
from bpeviz.core.merges import Merge
from bpeviz.pretokenizers.pretokenizer import Atoms, EndMark
from bpeviz.text import shorten
from bpeviz.trainers import bpe
from bpeviz.trainers.base import Corpus, Trainer, collector_off
from bpeviz.trainers.pair_counts import TieRule
from bpeviz.trainers.screen import Detail, Texts, atoms_and_merges, hidden_table

_NAMED = 3  # how many tokens a note names


@dataclass(frozen=True)
class ScaffoldTokenizer(HiddenTokenTokenizer):
    """Applies all merges, then takes scaffolds apart. They have ids, but are never encoded."""

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return super().sizes - hidden_counts(self.hidden_times, self.steps)


@dataclass(frozen=True)
class ScaffoldTraining(HiddenTokenTraining):
    """What Scaffold-BPE decided. `sizes` counts no scaffolds.

    hidden_times: of each merge, when its token becomes a scaffold and when it is normal again.
    """

    hidden_times: HiddenTimes

    @cached_property
    def scaffolds(self) -> NDArray[np.int64]:
        """How many scaffolds there are after each step. int64 [steps + 1]."""
        return hidden_counts(self.hidden_times, self.steps)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.arange(len(self.scaffolds)) + len(self.alphabet) - self.scaffolds

    def step_of(self, vocab_size: int) -> int:
        """Return the last step at which the vocabulary has this size.

        Where it passes over a size, since scaffolds came back: the last step at which it is
        smaller. Raises `ValueError` for a size below the smallest or above the largest.
        """
        passed_over = self.sizes.min() < vocab_size < self.sizes.max() and not np.any(
            self.sizes == vocab_size
        )
        if passed_over:
            return int(np.flatnonzero(self.sizes < vocab_size)[-1])
        return super().step_of(vocab_size)

    def at_step(self, step: int) -> ScaffoldTokenizer:
        step = max(0, step)
        return ScaffoldTokenizer(
            self.algorithm,
            self.pre_tokenizer,
            self.alphabet,
            self.merges[:step],
            self.hidden_times[:step],
            special=self.special,
        )


class _Scaffolds:
    """Algorithm 1 beside the merges: which tokens are scaffolds, and when.

    A scaffold is never merged: no pair comes more often than either half of it, so the scaffold
    would be taken from the queue first, and be a normal token when its pair is merged.

    atoms: how many there are; room: how many merged tokens the vocabulary may hold, scaffolds
    not counted.
    """

    def __init__(self, atoms: int, room: int, min_count: int) -> None:
        self.atoms, self.room, self.min_count = atoms, room, min_count
        self.counts: list[int] = []  # of each merge's token, how often it stands in the text
        self.hidden_times: list[list[int]] = []
        self.queue: list[tuple[int, int]] = []  # the scaffolds, as (-count, merge)

    def flip(self, place: int, step: int) -> None:
        """Make a token a scaffold, or normal again; both in one step are nothing."""
        hidden_times = self.hidden_times[place]
        if hidden_times and hidden_times[-1] == step:
            hidden_times.pop()
        else:
            hidden_times.append(step)

    def after(self, merge: Merge, next_pair: int) -> bool:
        """Follow a merge, the next pair being so frequent; tell whether the vocabulary is full."""
        step = len(self.counts)
        self.counts.append(merge.applied)
        self.hidden_times.append([])
        parts = [id_ - self.atoms for id_ in (merge.left, merge.right) if id_ >= self.atoms]
        for part in parts:  # of (a, a) both are the same token
            self.counts[part] -= merge.applied
        for part in dict.fromkeys(parts):
            head = max(next_pair, -self.queue[0][0] if self.queue else 0)
            if self.counts[part] < head:
                heappush(self.queue, (-self.counts[part], part))
                self.flip(part, step)
        enough = max(next_pair, self.min_count)
        while self.queue and -self.queue[0][0] >= enough and self._normal() < self.room:
            _, place = heappop(self.queue)
            self.flip(place, step)
        return self._normal() == self.room

    def _normal(self) -> int:
        return len(self.counts) - len(self.queue)


def _notes(hidden_times: HiddenTimes, name: Callable[[int], str]) -> list[str]:
    """Say of each step what became a scaffold, and what is normal again.

    name: of the token of a merge.
    """
    new: list[list[int]] = [[] for _ in hidden_times]
    back: list[list[int]] = [[] for _ in hidden_times]
    for place, times in enumerate(hidden_times):
        for number, time in enumerate(times):
            (back if number % 2 else new)[time].append(place)

    def said(places: Sequence[int], one: str, more: str) -> list[str]:
        if not places:
            return []
        names = [f"“{shorten(name(place), 20)}”" for place in places[:_NAMED]]
        if len(places) == 1:
            return [f"{names[0]} is {one}"]
        if len(places) <= _NAMED:
            return [f"{', '.join(names[:-1])} and {names[-1]} are {more}"]
        return [f"{', '.join(names)} and {len(places) - _NAMED:,} others are {more}"]

    return [
        "; ".join(
            said(marked, "now a scaffold token", "now scaffold tokens")
            + said(returned, "a normal token again", "normal tokens again")
        )
        for marked, returned in zip(new, back, strict=True)
    ]


def train(
    corpus: Corpus,
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    atoms: Atoms = "bytes",
    end_mark: EndMark = "none",
    ties: TieRule = "first",
    min_count: int = 1,
) -> ScaffoldTraining:
    """Learn as `bpeviz.trainers.bpe.train` does, and mark scaffolds.

    vocab_size counts atoms and normal tokens, no scaffolds; `merges` counts all merges. Raises
    `ValueError` where a value makes no sense.
    """
    pre_tokenizer = bpe.checked_splitting(
        pattern, expression, special_tokens, atoms, end_mark, ties, min_count
    )
    alphabet, rows = bpe.prepared(corpus, pre_tokenizer)
    limit = bpe.merge_limit(vocab_size, merges, len(alphabet), atoms)
    scaffolds = _Scaffolds(len(alphabet), sys.maxsize if vocab_size is None else limit, min_count)
    with collector_off():
        learnt, stopped = bpe.train_merges(
            rows,
            alphabet,
            limit if vocab_size is None else (limit and sys.maxsize),
            ties=ties,
            min_count=min_count,
            watch=scaffolds.after,
        )
    hidden_times = tuple(map(tuple, scaffolds.hidden_times))
    training = ScaffoldTraining(
        "scaffold", pre_tokenizer, alphabet, stopped, special_tokens, tuple(learnt), hidden_times
    )
    notes = _notes(hidden_times, lambda place: training.names[place + len(alphabet)])
    noted = (merge._replace(note=note) for merge, note in zip(learnt, notes, strict=True))
    return replace(training, merges=tuple(noted))


def _vocabulary(training: ScaffoldTraining, step: int) -> str:
    return f"{atoms_and_merges(training, step)}, {int(training.scaffolds[step]):,} of them scaffold"


def _details(
    training: ScaffoldTraining, text: str, boundaries: Boundaries, step: int
) -> list[Detail]:
    about = (
        "These tokens are not in the vocabulary after this merge: they only serve to build other "
        "tokens, and encoding splits them back. A token becomes a scaffold token when it occurs "
        "less often in the training text (“times”) than the next candidate. It becomes a normal "
        "token again when it is the most frequent candidate."
    )
    return [Detail("scaffold tokens", about, hidden_table(training, training.hidden_times, step))]


TRAINER = Trainer(
    key="scaffold",
    title="Scaffold-BPE",
    short="Scaffold-BPE",
    about="Merges as BPE does; tokens that only serve to build others (scaffold tokens) are taken "
    "apart again at encoding.",
    source="Lian et al. 2024, arXiv:2404.17808",
    train=cast(Any, train),
    options=tuple(
        option
        for option in bpe.TRAINER.options
        if option.name in ("atoms", "end_mark", "ties", "min_count")
    ),
    texts=Texts(vocabulary=_vocabulary, details=_details),
)

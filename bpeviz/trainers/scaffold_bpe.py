"""Scaffold-BPE: byte-pair encoding without the tokens that only serve to build others.

Source: Lian, Xiong, Niu, Mo, Su, Lin, Chen, Liu, Han and Ding, "Scaffold-BPE: Enhancing Byte Pair
Encoding for Large Language Models with Simple and Effective Scaffold Token Removal", 2024,
arXiv:2404.17808, Algorithms 1 and 2.

Training merges as BPE does (`bpe_loop`), and `_Scaffolds.after` follows each merge.
Encoding applies all merges in their order ("scaffolding"). Then it splits each scaffold token back
into its two parts, recursively ("demolishing").
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.hidden_tokens import (
    HiddenTimes,
    HiddenTokenTokenizer,
    HiddenTokenTraining,
    hidden_counts,
)
from bpeviz.core.merges import Merge
from bpeviz.core.training import Stopped
from bpeviz.pretokenizers.pretokenizer import Atoms, EndMark, PreTokenizer
from bpeviz.text import joined, shorten
from bpeviz.trainers.base import Corpus, Options, Trainer
from bpeviz.trainers.bpe import TieRule
from bpeviz.trainers.bpe_loop import MergeLoop
from bpeviz.trainers.options import ATOMS, END_MARK, MIN_COUNT, TIES
from bpeviz.trainers.pre_tokens import lay_out
from bpeviz.trainers.preparation import PER_ATOM, count_pre_tokens, merge_limit
from bpeviz.trainers.screen_texts import texts_of_hidden


class _Scaffolds:
    """Determines by Algorithm 1 which tokens are scaffold tokens at each step.

    After a merge of a and b, their remaining counts are compared with the count at the head of the
    queue, the next candidate. A part with a lower count becomes a scaffold
    token: it is removed from the vocabulary and added to the queue with its count. When this is the
    highest count of the queue, the token becomes normal again. Scaffold tokens are never merged,
    since no pair is more frequent than its parts.

    Choices where the paper is not specific:

    - Atoms cannot be split back, so they never become scaffold tokens.
    - The count of a token is the number of its occurrences after the merge.
    - Among equal counts, scaffold tokens come before pairs, and older ones before newer ones. So a
      part whose count equals the head does not become a scaffold token.
    - A candidate rarer than `min_count` is not chosen, but can still be the head. Without a pair or
      a scaffold token, the head is 0.
    - In the paper, the return of a scaffold token is a separate iteration. Here it is part of the
      step of the previous merge, so a step can change the vocabulary size by more or less than 1.

    Attributes:
        counts: Count of each merged token in the text.
        hidden_times: Steps at which each merged token becomes a scaffold token and returns, in
            turn.
        queue: The scaffold tokens as a heap of (-count, index of the merge).
    """

    def __init__(self, n_atoms: int, limit: int, min_count: int) -> None:
        """Initialize without merges; `limit` is the largest number of merged, normal tokens."""
        self.n_atoms, self.limit, self.min_count = n_atoms, limit, min_count
        self.counts: list[int] = []
        self.hidden_times: list[list[int]] = []
        self.queue: list[tuple[int, int]] = []

    def after(self, merge: Merge, next_count: int) -> bool:
        """Update after a merge, given the next pair's count; return whether to stop."""
        step = len(self.counts)
        self.counts.append(merge.applied)
        self.hidden_times.append([])
        parts = [i - self.n_atoms for i in (merge.left, merge.right) if i >= self.n_atoms]
        for part in parts:  # the same token twice for a merge of (a, a)
            self.counts[part] -= merge.applied
        for part in dict.fromkeys(parts):
            head = max(next_count, -self.queue[0][0] if self.queue else 0)
            if self.counts[part] < head:
                heappush(self.queue, (-self.counts[part], part))
                self._flip(part, step)
        lowest = max(next_count, self.min_count)
        while self.queue and -self.queue[0][0] >= lowest and self._n_normal() < self.limit:
            _, token = heappop(self.queue)
            self._flip(token, step)
        return self._n_normal() == self.limit

    def _flip(self, token: int, step: int) -> None:
        """Make a token a scaffold token, or normal again; two changes in one step cancel out."""
        hidden_times = self.hidden_times[token]
        if hidden_times and hidden_times[-1] == step:
            hidden_times.pop()
        else:
            hidden_times.append(step)

    def _n_normal(self) -> int:
        return len(self.counts) - len(self.queue)


@dataclass(frozen=True, kw_only=True)
class ScaffoldOptions(Options):
    """Options of Scaffold-BPE.

    `vocab_size` counts atoms and normal tokens, but no scaffold tokens; `merges` counts all merges.
    """

    atoms: Atoms = ATOMS.field()
    end_mark: EndMark = END_MARK.field()
    ties: TieRule = TIES.field()
    min_count: int = MIN_COUNT.field()


def train(corpus: Corpus, options: ScaffoldOptions) -> ScaffoldTraining:
    """Train Scaffold-BPE."""
    atoms, unlimited = options.atoms, options.vocab_size is None
    pre_tokenizer = PreTokenizer(atoms, options.pattern, options.expression, options.end_mark)
    alphabet, rows = lay_out(count_pre_tokens(corpus, pre_tokenizer), pre_tokenizer)
    limit = merge_limit(options, len(alphabet), PER_ATOM[atoms])
    n_normal = sys.maxsize if unlimited else limit
    scaffolds = _Scaffolds(len(alphabet), n_normal, options.min_count)
    if not unlimited:
        limit = limit and sys.maxsize
    # Pairs below the minimum count are not merged, but their counts matter.
    loop = MergeLoop(rows, alphabet, limit, ties=options.ties)
    trained: list[Merge] = []
    stopped: Stopped = "full"
    merges = iter(loop)
    while len(trained) < limit:
        if (count := loop.next_count()) < options.min_count:
            stopped = "rare" if count else "no pair"
            break
        trained.append(next(merges))
        if scaffolds.after(trained[-1], loop.next_count()):
            break
    hidden_times = tuple(map(tuple, scaffolds.hidden_times))
    training = ScaffoldTraining(
        *("scaffold", pre_tokenizer, alphabet, stopped, options.special_tokens, tuple(trained)),
        hidden_times,
    )
    notes = _notes(hidden_times, lambda token: training.names[token + len(alphabet)])
    noted = (merge._replace(note=note) for merge, note in zip(trained, notes, strict=True))
    return replace(training, merges=tuple(noted))


# --- Tokenizer and training history --------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class ScaffoldTokenizer(HiddenTokenTokenizer):
    """Applies all merges, then splits scaffold tokens back; their ids are never in the output."""

    kind: ClassVar[str] = "scaffold"

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return super().sizes - hidden_counts(self.hidden_times, self.steps)


@dataclass(frozen=True, repr=False)
class ScaffoldTraining(HiddenTokenTraining):
    """Training history of Scaffold-BPE. `sizes` does not count scaffold tokens."""

    tokenizer_class = ScaffoldTokenizer

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.arange(len(self.n_hidden)) + len(self.alphabet) - self.n_hidden

    def step_of(self, vocab_size: int) -> int:
        """Return the last step at which the vocabulary has this size.

        If no step has it, since scaffold tokens returned, this is the last step with a smaller
        vocabulary.

        Raises:
            ValueError: The size is below the smallest or above the largest.
        """
        is_skipped = self.sizes.min() < vocab_size < self.sizes.max() and not np.any(
            self.sizes == vocab_size
        )
        if is_skipped:
            return int(np.flatnonzero(self.sizes < vocab_size)[-1])
        return super().step_of(vocab_size)


# --- On screen -----------------------------------------------------------------------------------

_MAX_NAMES = 3
"""The number of tokens that a note names; it counts the others."""


def _notes(hidden_times: HiddenTimes, name: Callable[[int], str]) -> list[str]:
    """Return for each step a note on the tokens that become scaffold tokens or normal again.

    Args:
        hidden_times: Steps at which each merged token becomes a scaffold token and returns, in
            turn.
        name: Returns the name of a merged token.
    """
    hidden: list[list[int]] = [[] for _ in hidden_times]
    returned: list[list[int]] = [[] for _ in hidden_times]
    for token, steps in enumerate(hidden_times):
        for number, step in enumerate(steps):
            (returned if number % 2 else hidden)[step].append(token)

    def phrase(tokens: Sequence[int], single: str, several: str) -> list[str]:
        if not tokens:
            return []
        names = [f"“{shorten(name(token), 20)}”" for token in tokens[:_MAX_NAMES]]
        if len(tokens) == 1:
            return [f"{names[0]} is {single}"]
        if more := len(tokens[_MAX_NAMES:]):
            return [f"{', '.join(names)} and {more:,} others are {several}"]
        return [f"{joined(names)} are {several}"]

    return [
        "; ".join(
            phrase(new, "now a scaffold token", "now scaffold tokens")
            + phrase(old, "a normal token again", "normal tokens again")
        )
        for new, old in zip(hidden, returned, strict=True)
    ]


TRAINER = Trainer(
    key="scaffold",
    title="Scaffold-BPE",
    short="Scaffold-BPE",
    rule="join as BPE does, but split back tokens that only build others",
    gist="drops in-between tokens",
    about="Merges as BPE does. Tokens that only serve to build others (scaffold tokens) are split "
    "back when encoding.",
    source="Lian et al. 2024, arXiv:2404.17808",
    train=train,
    saved=(ScaffoldTokenizer,),
    declares=ScaffoldOptions,
    texts=texts_of_hidden(
        "scaffold",
        "scaffold tokens",
        "These tokens are not in the vocabulary after this merge: they only serve to build other "
        "tokens, and encoding splits them back. A token becomes a scaffold token when it occurs "
        "less often in the training text (“times”) than the next candidate. It becomes a normal "
        "token again when it is the most frequent candidate.",
    ),
)

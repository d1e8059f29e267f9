"""SuperBPE: merge within words first, and across words from a chosen vocabulary size on.

Source: Liu, Hayase, Hofmann, Oh, Smith and Choi, "SuperBPE: Space Travel for Language Models",
2025, arXiv:2503.13423, and its authors' code. Phase 1 is BPE within pre-tokens, up to the paper's
transition point. Phase 2 continues merging without pre-tokens. As in the authors' code, no token of
phase 2 has more than four words (an option), and none contains a colon followed by a space.

Differences from the authors' code:

- Their phase 2 begins by applying the merges of phase 1 again, without pre-tokens, and their
  encoder does the same. Here the tokens of phase 1 stay within pre-tokens, so a merged boundary
  never returns. Two tokens with different ids can have the same bytes if phase 1 splits these
  differently.
- Their code groups digits by three from the right in both phases. Here the user chooses the
  pre-tokenization, and the only pre-tokens of phase 2 are those of `second`.
- Their library reads the training text line by line. Here this is an option, `second="lines"`,
  for both training and encoding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.merges import MergeTokenizer, NotMergesError, apply_merges, joined
from bpeviz.core.tokenizer import Segmentation
from bpeviz.core.training import Candidate, MergeTraining
from bpeviz.corpus.documents import Documents
from bpeviz.pretokenizers.counts import indexed
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.pretokenizers.pretokenizer import Atoms, PreTokenizer
from bpeviz.text import clean
from bpeviz.trainers.base import Corpus, Option, Options, Trainer, texts_of_corpus
from bpeviz.trainers.bpe import TieRule
from bpeviz.trainers.bpe_loop import MergeLoop
from bpeviz.trainers.options import ATOMS, MIN_COUNT, TIES
from bpeviz.trainers.pre_tokens import lay_out
from bpeviz.trainers.preparation import PER_ATOM, count_pre_tokens, merge_limit
from bpeviz.trainers.screen_texts import ScreenTexts, atoms_and_merges

Second = Literal["none", "lines", "sentences"]
"""The boundaries that no merge of phase 2 crosses, besides the ends of the text."""

MAX_WORDS = 4


@dataclass(frozen=True, kw_only=True)
class SuperOptions(Options):
    """Options of SuperBPE."""

    transition: int = Option(
        "Vocabulary size at which merges may cross words",
        "Up to this size, merges stay within pre-tokens, as in BPE; from there on, they may cross "
        "them. If no pair is left before that, the second phase begins earlier.",
        640,
        minimum=0,
    ).field()
    second: Second = Option(
        "Boundaries of the second phase",
        "No merge of the second phase crosses these. In the paper, only the end of a text is a "
        "boundary; the authors' code reads each line as a text.",
        "none",
        {"none": "End of the text", "lines": "Ends of lines", "sentences": "Ends of sentences"},
    ).field()
    max_words: int = Option(
        "Maximum words in a token",
        "For a token of the second phase. The authors use four; as in their code, no such token "
        "contains a colon followed by a space.",
        MAX_WORDS,
    ).field()
    atoms: Atoms = ATOMS.field()
    ties: TieRule = TIES.field()
    min_count: int = MIN_COUNT.field()


def train(corpus: Corpus, options: SuperOptions) -> SuperTraining:
    """Train SuperBPE. Each key of a mapping is a text by itself."""
    atoms, ties, min_count = options.atoms, options.ties, options.min_count
    pre_tokenizer = SuperPreTokenizer(
        atoms, options.pattern, options.expression, second=options.second
    )
    alphabet, rows = lay_out(count_pre_tokens(corpus, pre_tokenizer), pre_tokenizer)
    limit = merge_limit(options, len(alphabet), PER_ATOM[atoms])
    first = max(0, options.transition - len(alphabet))
    loop = MergeLoop(rows, alphabet, min(limit, first), ties=ties, min_count=min_count)
    trained, stopped = loop.train()
    if stopped != "full":
        first = len(trained)
    if first < limit:
        first_phase = MergeTokenizer("superbpe", pre_tokenizer, alphabet, tuple(trained))
        across, stopped = MergeLoop(
            [*_weighted_rows(corpus, first_phase, pre_tokenizer).items()],
            joined(alphabet, trained),
            limit - first,
            ties=ties,
            min_count=min_count,
            allowed=_allowed(options.max_words),
        ).train()
        if across:
            across[0] = across[0]._replace(note="from here on, merges may cross words")
        trained += across
    return SuperTraining(
        *("superbpe", pre_tokenizer, alphabet, stopped, options.special_tokens, tuple(trained)),
        *(first, options.max_words),
    )


_WORD = re.compile(r"[^ \t\n\r\f\v]+")  # only ASCII white space, since each is one byte


def _allowed(max_words: int) -> Callable[[str], bool]:
    """Return a predicate: whether phase 2 may create a token of these joined atoms."""

    def allowed(name: str) -> bool:
        if ": " in name:
            return False
        # More words need more characters: one each, and a space between them.
        return len(name) <= 2 * max_words or len(_WORD.findall(name)) <= max_words

    return allowed


def _weighted_rows(
    corpus: Corpus, first_phase: MergeTokenizer, pre_tokenizer: SuperPreTokenizer
) -> Counter[tuple[int, ...]]:
    """Return the pre-tokens of phase 2 as tokens of phase 1, with their counts."""
    counts: Counter[tuple[int, ...]] = Counter()
    for text, count in texts_of_corpus(corpus).items():
        pre_tokens, groups = pre_tokenizer.grouped(clean(text))
        for row in _rows(pre_tokens, groups, first_phase.segment(pre_tokens)):
            counts[tuple(row)] += count
    return counts


def _rows(
    pre_tokens: Sequence[str], groups: Sequence[int], cut: dict[str, Segmentation]
) -> Iterable[list[int]]:
    """Yield the token ids of each pre-token of phase 2.

    Args:
        pre_tokens: The pre-tokens of phase 1.
        groups: The number of these that each pre-token of phase 2 contains.
        cut: The tokens of each pre-token of phase 1.
    """
    start = 0
    for size in groups:
        part = pre_tokens[start : start + size]
        yield list(chain.from_iterable(cut[pre_token][0] for pre_token in part))
        start += size


# --- Tokenizer and training history --------------------------------------------------------------

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class SuperPreTokenizer(PreTokenizer):
    """Splits a text into the pre-tokens of phase 1, and groups these into those of phase 2.

    Attributes:
        second: How phase 2 splits the text. A split inside a pre-token of phase 1, such as after
            the space before a word, moves to its start, so groups contain whole pre-tokens.
    """

    kind: ClassVar[str] = "superbpe"

    second: Second = "none"

    def grouped(self, text: str) -> tuple[list[str], list[int]]:
        """Return the pre-tokens of a text, and the number of pre-tokens in each group.

        Raises:
            SplitError: The pattern does not exist or fails on this text.
        """
        pre_tokens = self.pre_tokens(text)
        if not pre_tokens:
            return [], []
        if self.second == "none":
            return pre_tokens, [len(pre_tokens)]
        pieces = _LINE.findall(text) if self.second == "lines" else pretokenize(text, self.second)
        ends = np.cumsum([len(pre_token) for pre_token in pre_tokens])
        piece_ends = np.cumsum([len(piece) for piece in pieces])
        n_before = np.unique(np.searchsorted(ends, piece_ends, "right"))
        return pre_tokens, np.diff(n_before[n_before > 0], prepend=0).tolist()


@dataclass(frozen=True, repr=False)
class SuperTokenizer(MergeTokenizer):
    """Applies the merges of phase 1 within pre-tokens, then those of phase 2 across them.

    Attributes:
        transition: Number of merges in phase 1, which can be larger than the number of merges.
    """

    pre_tokenizer: SuperPreTokenizer
    transition: int

    kind: ClassVar[str] = "superbpe"

    @cached_property
    def _first_phase(self) -> MergeTokenizer:
        """The tokenizer of phase 1, which caches pre-tokens."""
        merges = self.merges[: self.transition]
        return MergeTokenizer(self.name, self.pre_tokenizer, self.alphabet, merges, canonical=True)

    @cached_property
    def _rank_across_words(self) -> dict[tuple[int, int], int]:
        later = self.merges[self.transition :]
        return {(merge.left, merge.right): merge.new_id for merge in later}

    def _indexed(self, texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64], list[int]]:
        return *indexed(texts), [1] * len(texts)  # whole, since tokens cross pre-tokens

    def segment(self, texts: Sequence[str]) -> dict[str, Segmentation]:
        """Return the tokens of each text, encoded alone."""
        segmented: dict[str, Segmentation] = {}
        for text in texts:
            pre_tokens, groups = self.pre_tokenizer.grouped(text)
            ids: list[int] = []
            for row in _rows(pre_tokens, groups, self._first_phase.segment(pre_tokens)):
                ids += apply_merges(row, self._rank_across_words)
            segmented[text] = tuple(ids), tuple(1 if i < 0 else self._lengths[i] for i in ids)
        return segmented

    def as_merges(self) -> MergeTokenizer:
        if self.steps <= self.transition:
            return self._first_phase
        raise NotMergesError(
            "its later merges cross words and its earlier ones do not, but that format has one "
            "pre-tokenization for all merges"
        )

    def pre_token_atom_ends(self, text: str) -> NDArray[np.int64]:
        """Return the end of each pre-token that no token crosses. int64 [pre-tokens]."""
        if self.steps <= self.transition:
            return super().pre_token_atom_ends(text)
        pre_tokens, groups = self.pre_tokenizer.grouped(clean(text))
        ends = np.cumsum(
            [len(self.pre_tokenizer.symbols(pre_token)) for pre_token in pre_tokens], dtype=np.int64
        )
        last: NDArray[np.int64] = ends[np.cumsum(groups, dtype=np.int64) - 1]
        return last


@dataclass(frozen=True, repr=False)
class SuperTraining(MergeTraining):
    """Training history of SuperBPE, with the merges of both phases.

    Attributes:
        transition_step: Merges from this index on may cross words.
        max_words: Largest number of words in a token of phase 2.
    """

    pre_tokenizer: SuperPreTokenizer
    transition_step: int
    max_words: int

    stochastic = False

    def merger(self, step: int) -> SuperTokenizer:
        return self.first_merges(SuperTokenizer, step, self.transition_step)

    def barriers(self, text: str | Documents, step: int) -> NDArray[np.int64]:
        if step < self.transition_step:
            return super().barriers(text, step)
        across = self.first_merges(SuperTokenizer, 0, -1)  # no merge is within pre-tokens
        return self._cached(
            "across", text, lambda text: self.ends(text, across.pre_token_atom_ends)
        )

    def candidates(
        self, text: str | Documents, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        if step < self.transition_step:
            return super().candidates(text, boundaries, step, limit)
        pairs = self.pairs(text, self.as_trained(text, boundaries), step)
        allowed = _allowed(self.max_words)
        wanted = limit
        while True:
            # Most pairs are allowed, so the check needs the names of only a few.
            best = pairs.best(pairs.counts, self.merges[step : step + 1], wanted)
            candidates = [pair for pair in best if allowed("".join(map(self._spelled, pair.ids)))]
            if len(candidates) >= limit or wanted >= len(pairs.keys):
                return candidates[:limit]
            wanted *= 8

    def _spelled(self, token_id: int) -> str:
        return "".join(self.alphabet[atom] for atom in self._last.atoms_of(token_id))

    @cached_property
    def _last(self) -> SuperTokenizer:
        return self.merger(self.steps)


# --- On screen -----------------------------------------------------------------------------------


def _vocabulary(training: SuperTraining, step: int) -> str:
    across = step - training.transition_step
    if across <= 0:
        return atoms_and_merges(training, step)
    first_phase = atoms_and_merges(training, training.transition_step)
    return f"{first_phase} within words + {across:,} across words"


TRAINER = Trainer(
    key="superbpe",
    title="SuperBPE",
    short="SuperBPE",
    rule="join within words as BPE does, then across words",
    gist="then across words",
    about="Merges within words first, as BPE does, and across words from a chosen vocabulary size "
    "on.",
    source="Liu et al. 2025, arXiv:2503.13423",
    train=train,
    saved=(SuperTokenizer, SuperPreTokenizer),
    declares=SuperOptions,
    texts=ScreenTexts(vocabulary=_vocabulary),
)

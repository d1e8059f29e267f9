"""SuperBPE: learn merges within words first, and across words from a chosen size on.

Source: Liu, Hayase, Hofmann, Oh, Smith and Choi, "SuperBPE: Space Travel for Language Models",
2025, arXiv:2503.13423, and its authors' code. What follows them:

- The first phase is byte-pair encoding within pre-tokens, until the vocabulary has the size at which
  the second begins (the paper's transition point).
- The second goes on merging with the pre-tokens taken away. As in their code, no token made there has
  more than so many words, four by default, and none holds a colon followed by a space, since what
  one asks of a language model often ends in a colon. Any other pair may be merged: of words, of
  parts of words, or within one.

What differs:

- Theirs begins the second phase by applying the merges of the first anew, to the text that is not
  split; and it encodes so. Here the tokens of the first phase stay as they are, while learning
  and while encoding: what was learnt within words is applied within words. So boundaries only
  ever vanish. Two tokens may then stand for the same bytes, where the first split has cut them in
  two ways; their ids differ.
- They hold digits in groups of three, from the right, in both phases. Here the user chooses how
  the text is split first, and the second phase knows no pre-tokens but those of `second`.
- Their library reads its training text line by line. `second="lines"` does so, also in encoding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import Boundaries, MergeBoundaries, boundaries_from_ids
from bpeviz.core.merges import MergeTokenizer, apply_merges
from bpeviz.core.tokenizer import NotMergesError, Segmentation
from bpeviz.core.training import Candidate, MergeTraining
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.pretokenizers.pretokenizer import UNKNOWN, Atoms, PreTokenizer
from bpeviz.text import clean
from bpeviz.trainers import bpe
from bpeviz.trainers.base import Corpus, Option, Trainer, collector_off
from bpeviz.trainers.bpe import (
    alphabet_of,
    merge_limit,
    train_merges,
    train_merges_fast,
    weighted_pre_tokens,
)
from bpeviz.trainers.pair_counts import TieRule
from bpeviz.trainers.screen import Texts, atoms_and_merges

Second = Literal["none", "lines", "sentences"]
"""What no merge of the second phase crosses: nothing but the end of the text, or also the end of
a line, or of a sentence."""

MAX_WORDS = 4

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD = re.compile(r"[^ \t\n\r\f\v]+")  # white space of ASCII alone: it is a byte of its own


@dataclass(frozen=True)
class SuperSplitting(PreTokenizer):
    """Cuts a text into pre-tokens as ever, and joins them to the larger ones of the second phase.

    second: how the larger ones are cut. Where such a cut falls inside a pre-token, as behind the space
    that leads a word, it is made before that pre-token: each larger one is a number of whole pre-tokens.
    """

    second: Second = "none"

    def grouped(self, text: str) -> tuple[list[str], list[int]]:
        """Return the pre-tokens of a text, and how many of them each larger one holds.

        Raises `SplitError`.
        """
        pre_tokens = self.pre_tokens(text)
        if not pre_tokens:
            return [], []
        if self.second == "none":
            return pre_tokens, [len(pre_tokens)]
        pieces = _LINE.findall(text) if self.second == "lines" else pretokenize(text, self.second)
        ends = np.cumsum([len(pre_token) for pre_token in pre_tokens])
        cuts = np.cumsum([len(piece) for piece in pieces])
        behind = np.unique(np.searchsorted(ends, cuts, "right"))
        return pre_tokens, np.diff(behind[behind > 0], prepend=0).tolist()


@dataclass(frozen=True)
class SuperTokenizer(MergeTokenizer):
    """Applies merges as SuperBPE learnt them: the first so many within pre-tokens, the rest beyond.

    transition: how many merges belong to the first phase, or more.
    """

    pre_tokenizer: SuperSplitting
    transition: int

    @cached_property
    def _within(self) -> MergeTokenizer:
        """The tokenizer of the first phase; it remembers pre-tokens."""
        merges = self.merges[: self.transition]
        return MergeTokenizer(self.name, self.pre_tokenizer, self.alphabet, merges, canonical=True)

    @cached_property
    def _beyond(self) -> dict[tuple[int, int], int]:
        later = self.merges[self.transition :]
        return {(merge.left, merge.right): merge.new_id for merge in later}

    def _segment_text(self, text: str) -> tuple[list[str], list[int]]:
        """Return the pre-tokens of a text and the ids of its tokens, which may reach over them."""
        pre_tokens, groups = self.pre_tokenizer.grouped(text)
        cut = self._within.segment(pre_tokens)
        ids: list[int] = []
        for row in _rows(pre_tokens, groups, cut):
            ids += apply_merges(row, self._beyond)
        return pre_tokens, ids

    def _length(self, token_id: int) -> int:
        return 1 if token_id < 0 else self._lengths[token_id]

    def segment(self, pre_tokens: Sequence[str]) -> dict[str, Segmentation]:
        """Segment texts into tokens, each for itself."""
        cut: dict[str, Segmentation] = {}
        for pre_token in dict.fromkeys(pre_tokens):
            _, ids = self._segment_text(pre_token)
            cut[pre_token] = tuple(ids), tuple(map(self._length, ids))
        return cut

    def _encode_ordinary(self, text: str) -> list[int]:
        return [self._encoded_id(token_id) for token_id in self._segment_text(text)[1]]

    def _pieces(self, part: str) -> list[tuple[int, int]]:
        pre_tokens, ids = self._segment_text(part)
        ends = [0, *self.atoms_in(pre_tokens)[1].tolist()]
        pieces: list[tuple[int, int]] = []
        start = 0
        for token_id, end in zip(ids, accumulate(map(self._length, ids)), strict=True):
            pieces.append((self._encoded_id(token_id), ends[end] - ends[start]))
            start = end
        return pieces

    def boundaries(self, text: str) -> MergeBoundaries:
        pre_tokens, ids = self._segment_text(clean(text))
        merged_at = boundaries_from_ids(np.array(ids, np.int32), self._steps_inside)
        atom_ids, ends = self.atoms_in(pre_tokens)
        return MergeBoundaries(ends, atom_ids, self.steps, merged_at, self.first_merge_id)

    def as_merges(self) -> MergeTokenizer:
        if self.steps <= self.transition:
            return self._within
        raise NotMergesError(
            "its later merges cross words and its earlier ones do not, and there one split is for "
            "all merges"
        )

    def pre_token_atom_ends(self, text: str) -> NDArray[np.int64]:
        """Return the index behind the last atom of each pre-token that no token crosses. [pre-tokens]."""
        if self.steps <= self.transition:
            return super().pre_token_atom_ends(text)
        pre_tokens, groups = self.pre_tokenizer.grouped(clean(text))
        ends = np.cumsum(
            [len(self.pre_tokenizer.symbols(pre_token)) for pre_token in pre_tokens], dtype=np.int64
        )
        last: NDArray[np.int64] = ends[np.cumsum(groups, dtype=np.int64) - 1]
        return last


@dataclass(frozen=True)
class SuperTraining(MergeTraining):
    """What SuperBPE learnt: the merges of both phases, one after the other.

    transition_step: the merges from this number on may cross words; there may be no such merge.
    max_words: how many words a token of the second phase may hold.
    """

    pre_tokenizer: SuperSplitting
    transition_step: int
    max_words: int

    stochastic = False

    def merger(self, step: int) -> SuperTokenizer:
        return SuperTokenizer(
            self.algorithm,
            self.pre_tokenizer,
            self.alphabet,
            self.merges[:step],
            self.transition_step,
            special=self.special,
        )

    def barriers(self, text: str, step: int) -> NDArray[np.int64]:
        if step < self.transition_step:
            return super().barriers(text, step)

        def ends(text: str) -> NDArray[np.int64]:
            _, groups = self.pre_tokenizer.grouped(clean(text))
            of_pre_tokens = super(SuperTraining, self).barriers(text, step)
            last: NDArray[np.int64] = of_pre_tokens[np.cumsum(groups, dtype=np.int64) - 1]
            return last

        return self._cached("barriers beyond", text, ends)

    def candidates(
        self, text: str, boundaries: Boundaries, step: int, limit: int
    ) -> list[Candidate]:
        if step < self.transition_step:
            return super().candidates(text, boundaries, step, limit)
        pairs = self.pairs(text, self.as_trained(text, boundaries), step)
        taken = self.merges[step] if step < len(self.merges) else None
        allowed = _allowed(self.max_words)
        wanted = limit
        while True:
            # Most pairs are allowed, so that few of them have to be spelt out.
            best = pairs.best(pairs.counts, taken, wanted)
            found = [one for one in best if allowed("".join(map(self._spelt, one.ids)))]
            if len(found) >= limit or wanted >= len(pairs.keys):
                return found[:limit]
            wanted *= 8

    def _spelt(self, token_id: int) -> str:
        return "".join(self.alphabet[atom] for atom in self._last.atoms_of(token_id))

    @cached_property
    def _last(self) -> SuperTokenizer:
        return self.merger(self.steps)


def _allowed(max_words: int) -> Callable[[str], bool]:
    """Return the rule of the second phase: tells of the atoms of a token whether it may be made."""

    def allowed(name: str) -> bool:
        if ": " in name:
            return False
        # So many words are at least so long with a space between each two.
        return len(name) <= 2 * max_words or len(_WORD.findall(name)) <= max_words

    return allowed


def _rows(
    pre_tokens: Sequence[str], groups: Sequence[int], cut: dict[str, Segmentation]
) -> Iterable[list[int]]:
    """Yield the ids of the tokens of each larger pre-token."""
    at = 0
    for size in groups:
        yield list(
            chain.from_iterable(cut[pre_token][0] for pre_token in pre_tokens[at : at + size])
        )
        at += size


def train(
    corpus: Corpus,
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    transition: int = 640,
    second: Second = "none",
    max_words: int = MAX_WORDS,
    atoms: Atoms = "bytes",
    ties: TieRule = "first",
    min_count: int = 1,
) -> SuperTraining:
    """Learn merges within pre-tokens, then beyond them, from a text or from pre-tokens with counts.

    transition: the size of the vocabulary at which the second phase begins. At the number of
        atoms, or below, it begins at once. Where nothing is left to merge within pre-tokens, it
        begins then, even if that is earlier; so at the size asked for, or above, this is
        byte-pair encoding as long as there are pairs within pre-tokens.
    second: what a merge of the second phase may not cross. max_words: how many words a token of
        the second phase may hold, at most.
    The others are those of `bpeviz.trainers.bpe.train`. Of a mapping each key is a text by itself.

    Raises `ValueError`, whose message is a sentence, for values that make no sense, and
    `SplitError` (one of them) for a bad split.
    """
    if second not in ("none", "lines", "sentences"):
        raise ValueError(f"There is no second split {second!r}: take none, lines or sentences.")
    if transition < 0:
        raise ValueError(f"The size at which phase 2 begins must be 0 or more, not {transition}.")
    if max_words < 1:
        raise ValueError(f"The most words in a token must be 1 or more, not {max_words}.")
    if ties not in ("first", "smallest", "largest"):
        raise ValueError(f"There is no tie rule {ties!r}: take first, smallest or largest.")
    if atoms not in ("bytes", "characters"):
        raise ValueError(f"There are no atoms {atoms!r}: take bytes or characters.")
    if min_count < 1:
        raise ValueError(f"The smallest count must be 1 or more, not {min_count}.")
    if len({*special_tokens}) < len(special_tokens) or {"", UNKNOWN} & {*special_tokens}:
        raise ValueError(f"Special tokens must differ, and be neither empty nor {UNKNOWN}.")
    pre_tokenizer = SuperSplitting(atoms, pattern, expression, second=second)
    pre_tokens = weighted_pre_tokens(corpus, pre_tokenizer)
    rows = [(pre_tokenizer.symbols(pre_token), times) for pre_token, times in pre_tokens.items()]
    alphabet = alphabet_of((row for row, _ in rows), pre_tokenizer)
    limit = merge_limit(vocab_size, merges, len(alphabet), atoms)
    atom_id = {symbol: i for i, symbol in enumerate(alphabet)}
    turn = max(0, transition - len(alphabet))
    with collector_off():
        learnt, stopped = train_merges_fast(
            [([atom_id[symbol] for symbol in row], times) for row, times in rows],
            alphabet,
            min(limit, turn),
            ties=ties,
            min_count=min_count,
        )
        if stopped != "full":
            turn = len(learnt)
        if turn < limit:
            within = MergeTokenizer("superbpe", pre_tokenizer, alphabet, tuple(learnt))
            beyond, stopped = train_merges(
                [*_weighted_rows(corpus, within, pre_tokenizer).items()],
                _spelt_out(within),
                limit - turn,
                ties=ties,
                min_count=min_count,
                allowed=_allowed(max_words),
            )
            if beyond:
                beyond[0] = beyond[0]._replace(note="from here on, merges may cross words")
            learnt += beyond
    return SuperTraining(
        "superbpe",
        pre_tokenizer,
        alphabet,
        stopped,
        special_tokens,
        tuple(learnt),
        turn,
        max_words,
    )


def _weighted_rows(
    corpus: Corpus, within: MergeTokenizer, pre_tokenizer: SuperSplitting
) -> Counter[tuple[int, ...]]:
    """Return the larger pre-tokens as the first phase cuts them, with how often each comes."""
    found: Counter[tuple[int, ...]] = Counter()
    for text, times in {corpus: 1}.items() if isinstance(corpus, str) else corpus.items():
        pre_tokens, groups = pre_tokenizer.grouped(clean(text))
        for row in _rows(pre_tokens, groups, within.segment(pre_tokens)):
            found[tuple(row)] += times
    return found


def _spelt_out(tokenizer: MergeTokenizer) -> list[str]:
    """Return the atoms of every token, joined, by id."""
    names = list(tokenizer.alphabet)
    for merge in tokenizer.merges:
        names.append(names[merge.left] + names[merge.right])
    return names


def _vocabulary(training: SuperTraining, step: int) -> str:
    across = step - training.transition_step
    if across <= 0:
        return atoms_and_merges(training, step)
    within = atoms_and_merges(training, training.transition_step)
    return f"{within} within words + {across:,} across words"


_OF_BPE = {option.name: option for option in bpe.TRAINER.options}

TRAINER = Trainer(
    key="superbpe",
    title="SuperBPE",
    short="SuperBPE",
    about="Merges within words first, as BPE does; from a chosen vocabulary size on, across words "
    "as well.",
    source="Liu et al. 2025, arXiv:2503.13423",
    train=cast(Any, train),
    options=(
        Option(
            "transition",
            "Size at which merges may cross words",
            "Up to this vocabulary size, merges stay within the chunks of the split, as in BPE; "
            "from there on, they may cross them. If the text runs out of pairs before that, the "
            "second phase begins then.",
            640,
        ),
        Option(
            "second",
            "What no merge crosses then",
            "The end of the text alone, as in the paper; or also the ends of lines, as the "
            "authors' code reads its texts; or the ends of sentences.",
            "none",
            {"none": "The text's end", "lines": "Ends of lines", "sentences": "Ends of sentences"},
        ),
        Option(
            "max_words",
            "Most words in a token",
            "In a token of the second phase. The authors take four; as in their code, no such "
            "token holds a colon followed by a space.",
            MAX_WORDS,
        ),
        _OF_BPE["atoms"],
        _OF_BPE["ties"],
        _OF_BPE["min_count"],
    ),
    texts=Texts(vocabulary=_vocabulary),
)

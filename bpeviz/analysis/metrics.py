"""How tokenizers are measured against each other on one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.core.boundaries import DROPPED, NEVER, UNKNOWN_ID, Boundaries, MergeBoundaries
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.text import shorten

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")


@dataclass(frozen=True)
class Column:
    """A tokenizer in a comparison, with the boundaries of the text and the step looked at."""

    title: str
    tokenizer: Tokenizer
    boundaries: Boundaries
    step: int

    @property
    def vocab_size(self) -> int:
        """The size of the vocabulary at this step, special tokens not counted."""
        return int(self.tokenizer.sizes[self.step])

    @property
    def unknown(self) -> int:
        """How many tokens are not in the vocabulary."""
        return int((self.ids == UNKNOWN_ID).sum())

    @cached_property
    def ids(self) -> NDArray[np.int32]:
        """The ids of the tokens at this step (see `Boundaries.ids`)."""
        return self.boundaries.ids(self.step)

    @cached_property
    def cuts(self) -> NDArray[np.int64]:
        """The bytes behind which tokens end; one that stands for no byte ends where another does.

        Ascending.
        """
        return self.boundaries.cuts(self.step)

    @cached_property
    def inner_cuts(self) -> NDArray[np.int64]:
        """The bytes behind which a token ends, both ends of the text left out. Sorted, distinct."""
        cuts = _distinct(self.cuts)[:-1]
        return cuts[cuts > 0]  # a mark at the start of the text ends behind no byte


def _distinct(ascending: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers that ascend, each once."""
    return ascending[np.diff(ascending, prepend=-1) > 0]


@dataclass(frozen=True)
class Agreement:
    """How well cuts agree with a reference's.

    precision: the share of the cuts that the reference has, too; recall: the share of the
    reference's cuts that are made; f1: their harmonic mean. Between two texts without any inner
    cut all are 1.
    """

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Measures:
    """What is told of one tokenizer on one text. None stands where a ratio has no meaning.

    tokens_per_word: into how many pieces a word is cut, on average ("fertility"); a word is a
        run of letters, marks and digits.
    whole_words: the share of the words that no token boundary cuts, 0 to 1.
    distinct: how many different tokens occur.
    """

    title: str
    vocab_size: int
    tokens: int
    bytes_per_token: float | None
    characters_per_token: float | None
    tokens_per_word: float | None
    whole_words: float | None
    distinct: int
    agreement: Agreement


def word_spans(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where words start and end, in UTF-8 bytes. Two int64 [words]."""
    raw = np.frombuffer(text.encode(), np.uint8)
    before = np.append(np.flatnonzero((raw & 0xC0) != 0x80), len(raw))
    found = [match.span() for match in _WORD.finditer(text)]
    starts = np.array([start for start, _ in found], np.int64)
    ends = np.array([end for _, end in found], np.int64)
    return before[starts], before[ends]


def agreement(cuts: NDArray[np.int64], reference: NDArray[np.int64]) -> Agreement:
    """Hold cuts (sorted, distinct) against a reference's."""
    common = np.count_nonzero(np.isin(cuts, reference, assume_unique=True, kind="table"))
    if not len(cuts) and not len(reference):
        return Agreement(1.0, 1.0, 1.0)
    precision = common / len(cuts) if len(cuts) else 1.0
    recall = common / len(reference) if len(reference) else 1.0
    total = precision + recall
    return Agreement(precision, recall, 2 * precision * recall / total if total else 0.0)


def measure(text: str, columns: Sequence[Column], reference: int) -> list[Measures]:
    """Measure every column on `text`; agreement is with column number `reference`."""
    starts, ends = word_spans(text)
    standard = columns[reference].inner_cuts
    size = len(text.encode())
    found = []
    for column in columns:
        cuts = column.inner_cuts
        # Cuts strictly inside a word, which has one piece more.
        inside = np.searchsorted(cuts, ends, "left") - np.searchsorted(cuts, starts, "right")
        ids = column.ids[column.ids != DROPPED]
        tokens = len(ids)
        found.append(
            Measures(
                title=column.title,
                vocab_size=column.vocab_size,
                tokens=tokens,
                bytes_per_token=size / tokens if tokens else None,
                characters_per_token=len(text) / tokens if tokens else None,
                tokens_per_word=float(inside.mean()) + 1 if len(starts) else None,
                whole_words=float((inside == 0).mean()) if len(starts) else None,
                distinct=int(np.count_nonzero(np.bincount(ids - ids.min(initial=0)))),
                agreement=agreement(cuts, standard),
            )
        )
    return found


def common_cuts(columns: Sequence[Column], *, always: bool = False) -> Boundaries:
    """Return boundaries over bytes that stay exactly where every column cuts.

    Their places are where a text can be parted without parting a token of any column. always: at
    none of its steps, too.
    """
    size = int(columns[0].boundaries.ends[-1]) if len(columns[0].boundaries) else 0
    votes = np.zeros(size + 1, np.int64)
    for column in columns:
        of_column = column.boundaries
        cuts = of_column.ends[of_column.always] if always else column.cuts
        votes[_distinct(cuts)] += 1
    merged_at = np.where(votes[1:] == len(columns), NEVER, 0).astype(np.int32)
    return MergeBoundaries(np.arange(1, size + 1), np.zeros(size, np.int32), 1, merged_at, 0)


def sweep(column: Column, points: int = 200) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return bytes per token at up to `points` vocabulary sizes, closer together at the small end.

    The sizes run to the column's own; two arrays of equal length, empty for an empty text. Of a
    text that becomes no token at all the ratio is 0.
    """
    counts = column.boundaries.token_counts[: column.step + 1]
    if not len(column.boundaries):
        return np.empty(0, np.int64), np.empty(0)
    steps = np.unique(np.geomspace(1, len(counts), points).astype(np.int64)) - 1
    sizes = column.tokenizer.sizes[steps]
    size, tokens = int(column.boundaries.ends[-1]), counts[steps]
    return sizes, np.divide(size, tokens, where=tokens > 0, out=np.zeros(len(tokens)))


@dataclass(frozen=True)
class Vocabulary:
    """What a vocabulary has in common with others.

    learnt: how many different texts its tokens of more than one atom stand for; shared: how many of
    these all the others have, too; own: how many none of them has; examples: some of these by name,
    the earliest learnt first.
    """

    title: str
    learnt: int
    shared: int
    own: int
    examples: tuple[str, ...]


def learnt_tokens(tokenizer: Tokenizer) -> dict[bytes, str]:
    """Return the bytes of all tokens of more than one atom, with their names, by id.

    By bytes, since vocabularies write tokens each in its own way: `##s`, `s` and `▁s`.
    """
    special = set(tokenizer.special_tokens.values())
    found: dict[bytes, str] = {}
    for token_id in tokenizer.known_ids():
        if token_id not in special and not tokenizer.is_atom(token_id):
            found.setdefault(tokenizer.token_bytes(token_id), tokenizer.token_label(token_id))
    return found


def vocabularies(learnt: Sequence[tuple[str, Mapping[bytes, str]]]) -> list[Vocabulary]:
    """Compare vocabularies (`learnt_tokens`), each with its title."""
    found = []
    for number, (title, tokens) in enumerate(learnt):
        others = [keys.keys() for i, (_, keys) in enumerate(learnt) if i != number]
        own = [raw for raw in tokens if not any(raw in keys for keys in others)]
        shared = sum(all(raw in keys for keys in others) for raw in tokens)
        examples = tuple(shorten(tokens[raw], 24) for raw in own[:8])
        found.append(Vocabulary(title, len(tokens), shared if others else 0, len(own), examples))
    return found

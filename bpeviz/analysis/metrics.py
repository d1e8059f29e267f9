"""Columns of a text under tokenizers: boundaries, and their agreement.

Some tokenizers drop a part of the text, such as WordPiece its white space. So that all remain
comparable, ratios are those of the whole text, and dropped text between two tokens is one boundary:
it agrees with any boundary of another tokenizer within it or at its ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import (
    DROPPED_ID,
    NEVER,
    SPECIAL_ID,
    UNKNOWN_ID,
    Boundaries,
    Ends,
    MergeBoundaries,
)
from bpeviz.core.tokenizer import Tokenizer

Spans = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Starts and ends in UTF-8 bytes [spans]."""

_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*")
_IS_ASCII_WORD = np.array([chr(byte).isalnum() for byte in range(128)])


def with_size(name: str, size: int) -> str:
    """Return the name of a tokenizer with the size of its vocabulary, special tokens not counted.

    >>> with_size("GPT-2", 50_256), with_size("GPT-4o (o200k)", 199_998)
    ('GPT-2 (50,256)', 'GPT-4o (o200k, 199,998)')
    """
    return f"{name[:-1]}, {size:,})" if name.endswith(")") else f"{name} ({size:,})"


@dataclass(frozen=True, eq=False)
class Column:
    """A text under a tokenizer at a step, to compare.

    Attributes:
        title: The name of the tokenizer, in a comparison with the vocabulary size.
        tokenizer: The tokenizer.
        boundaries: The boundaries of the text.
        step: The step of the boundaries.
        name: The name without the vocabulary size.
        breaks: The place of each line end between documents in the text, in bytes. They are part
            of no figure.
        in_sample: Whether the tokenizer was trained on this very text.
    """

    title: str
    tokenizer: Tokenizer
    boundaries: Boundaries
    step: int
    name: str = ""
    breaks: Ends = field(default_factory=lambda: np.empty(0, np.int64))
    in_sample: bool = False

    @property
    def cache_size(self) -> int:
        """The size in bytes of the arrays below, which follow from the other values."""
        return 5 * self.boundaries.ends.nbytes

    @property
    def vocab_size(self) -> int:
        """The size of the vocabulary at this step, special tokens not counted."""
        return int(self.tokenizer.sizes[self.step])

    @property
    def unknown(self) -> int:
        """The number of tokens that are not in the vocabulary."""
        return int((self.ids == UNKNOWN_ID).sum())

    @property
    def tokens(self) -> int:
        """The number of tokens of the text, without parts that belong to no token."""
        return int(np.count_nonzero(self.ids != DROPPED_ID))

    @property
    def dropped(self) -> int:
        """The number of bytes of the text that belong to no token."""
        return int(np.diff(self.cuts, prepend=0)[self.ids == DROPPED_ID].sum()) - len(self.breaks)

    @property
    def lossy(self) -> bool:
        """Whether a part of the text is lost, so that the number of tokens is not comparable."""
        return self.unknown > 0 or self.dropped > 0

    def dropped_from(self, text: str) -> str:
        """Return the parts of the text that belong to no token, joined."""
        raw = np.frombuffer(text.encode(), np.uint8)
        is_dropped = np.repeat(self.ids == DROPPED_ID, np.diff(self.cuts, prepend=0))
        parts: bytes = raw[is_dropped].tobytes()
        return parts.decode(errors="replace")

    @cached_property
    def ids(self) -> NDArray[np.int32]:
        """The ids of the tokens at this step (see `Boundaries.ids`), also of special tokens."""
        ids = self.boundaries.ids(self.step)
        if not (is_special := ids <= SPECIAL_ID).any():
            return ids
        special = sorted(self.tokenizer.special_tokens.values(), reverse=True)
        ids = ids.copy()
        ids[is_special] = np.array(special)[SPECIAL_ID - ids[is_special]]
        return ids

    @cached_property
    def cuts(self) -> Ends:
        """Where tokens end, in UTF-8 bytes. Ascending; a token without bytes repeats a value."""
        return self.boundaries.cuts(self.step)

    @cached_property
    def inner_boundaries(self) -> Ends:
        """Token boundaries inside the text, in UTF-8 bytes. Ascending and distinct."""
        cuts = _distinct(self.cuts)[:-1]
        return cuts[cuts > 0]  # a mark at the start of the text has no bytes

    @cached_property
    def separations(self) -> Separations:
        """The boundaries between tokens, of which dropped text has only one."""
        begins, at = np.append(0, self.cuts)[:-1], self.inner_boundaries
        covers = (self.ids != DROPPED_ID) & (begins < self.cuts)
        if not covers.any():
            return Separations(at[:0], at[:0], 0, int(self.cuts[-1]) if len(self.cuts) else 0)
        first, last = int(begins[covers][0]), int(self.cuts[covers][-1])
        at = at[(first < at) & (at < last)]
        same = np.isin(at, self.cuts[self.ids == DROPPED_ID])  # as the boundary before it
        return Separations(at[~same], at[np.append(~same[1:], True)[: len(at)]], first, last)


class Separations(NamedTuple):
    """Boundaries in UTF-8 bytes, ascending. Dropped text is one, from its start to its end.

    Attributes:
        starts: Where each begins [boundaries].
        ends: Where each ends, the same place unless text is dropped [boundaries].
        first: Where the first token begins. Text dropped before it has no boundary.
        last: Where the last token ends.
    """

    starts: Ends
    ends: Ends
    first: int
    last: int

    def shared(self, other: Separations) -> NDArray[np.bool_]:
        """Return for each boundary whether the other tokenizer has one at the same place.

        Text that the other one drops at the start or the end has all boundaries.
        """
        starts = np.append(other.starts, other.last)
        shared: NDArray[np.bool_] = self.starts <= other.first
        return shared | (starts[np.searchsorted(other.ends, self.starts)] <= self.ends)


def _distinct(ascending: Ends) -> Ends:
    """Return ascending numbers without repetitions."""
    return ascending[np.diff(ascending, prepend=-1) > 0]


@dataclass(frozen=True)
class Agreement:
    """Agreement of boundaries with those of a baseline.

    precision: the share of the boundaries that the baseline has too. recall: the share of the
    baseline's boundaries that are present. f1: their harmonic mean. All are 1 without boundaries.
    Dropped text is one boundary (`Separations`).
    """

    precision: float
    recall: float
    f1: float


def word_spans(text: str) -> Spans:
    """Return the starts and ends of words: runs of letters, digits and the marks after them."""
    raw = np.frombuffer(text.encode(), np.uint8)
    if text.isascii():  # much faster than the expression
        edges = np.flatnonzero(np.diff(_IS_ASCII_WORD[raw], prepend=False, append=False))
        return edges[::2], edges[1::2]
    before = np.append(np.flatnonzero((raw & 0xC0) != 0x80), len(raw))
    spans = np.array([match.span() for match in _WORD.finditer(text)], np.int64).reshape(-1, 2)
    return before[spans[:, 0]], before[spans[:, 1]]


def boundaries_inside(
    column: Column, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the number of token boundaries strictly inside each word: it has one more piece."""
    boundaries = column.inner_boundaries
    before: NDArray[np.int64] = np.searchsorted(boundaries, ends, "left")
    return before - np.searchsorted(boundaries, starts, "right")


def agreement(boundaries: Separations, baseline: Separations) -> Agreement:
    """Compare boundaries with those of a baseline."""
    if not len(boundaries.starts) and not len(baseline.starts):
        return Agreement(1.0, 1.0, 1.0)
    precision = float(boundaries.shared(baseline).mean()) if len(boundaries.starts) else 1.0
    recall = float(baseline.shared(boundaries).mean()) if len(baseline.starts) else 1.0
    total = precision + recall
    return Agreement(precision, recall, 2 * precision * recall / total if total else 0.0)


def differences(column: Column, baseline: Column) -> tuple[Ends, Ends]:
    """Return the boundaries that only a column has, and those that only the baseline has.

    Both are places in UTF-8 bytes, ascending. Of dropped text, it is the start.
    """
    ours, theirs = column.separations, baseline.separations
    return ours.starts[~ours.shared(theirs)], theirs.starts[~theirs.shared(ours)]


def common_boundaries(columns: Sequence[Column], *, always: bool = False) -> Boundaries:
    """Return boundaries over bytes that exist where every column has one.

    A text can be divided there without dividing a token of any column.

    Args:
        columns: Columns of the same text.
        always: Only boundaries that exist at every step of every column.
    """
    size = int(columns[0].boundaries.ends[-1]) if len(columns[0].boundaries) else 0
    merged_at = np.zeros(size, np.int32)
    cuts = [
        column.boundaries.ends[column.boundaries.permanent] if always else column.cuts
        for column in columns
    ]
    merged_at[_in_all(cuts) - 1] = NEVER
    return MergeBoundaries(np.arange(1, size + 1), np.zeros(size, np.int32), 1, merged_at, 0)


def common_ends(columns: Sequence[Column]) -> NDArray[np.int64]:
    """Return where every column ends a token, in bytes. Dropped text is not a token."""
    return _in_all([column.cuts[column.ids != DROPPED_ID] for column in columns])


def _in_all(cuts: Sequence[Ends]) -> NDArray[np.int64]:
    """Return the places, other than 0, that are in all ascending arrays."""
    votes = np.bincount(np.concatenate([*map(_distinct, cuts)]))
    return np.flatnonzero(votes[1:] == len(cuts)) + 1


def sweep(column: Column, points: int = 200) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return bytes per token over vocabulary sizes, up to the size of the column.

    Sizes are closer together at the small end. The ratio is 0 for a text without tokens.

    Returns:
        Sizes and ratios: two arrays of up to `points` values, empty for an empty text.
    """
    counts = column.boundaries.token_counts[: column.step + 1]
    if not len(column.boundaries):
        return np.empty(0, np.int64), np.empty(0)
    steps = np.unique(np.geomspace(1, len(counts), points).astype(np.int64)) - 1
    # Boundaries without steps, whose tokens cannot be replayed, are those of the last step.
    sizes = column.tokenizer.sizes[steps + column.step + 1 - len(counts)]
    size, tokens = int(column.boundaries.ends[-1]) - len(column.breaks), counts[steps]
    return sizes, np.divide(size, tokens, where=tokens > 0, out=np.zeros(len(tokens)))

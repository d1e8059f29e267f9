"""Comparison of pre-tokenizations: pre-tokens side by side, and ruled-out merges.

No token crosses a pre-token boundary, so a pattern rules out some merges of BPE.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from bpeviz.cached_property import cached_property
from bpeviz.core.boundaries import Part, ended
from bpeviz.core.merges import joined
from bpeviz.pretokenizers.alternatives import ALTERNATIVES, Alternative, matched
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.text import label, shorten
from bpeviz.trainers import bpe_training

COMPARED_MERGES = 100
"""Number of merges without pre-tokenization that are compared with each pattern."""

_APART = "\ud800"  # a lone surrogate, which cleaned text never contains


@dataclass(frozen=True, eq=False)
class PreTokenized:
    """A text with the ends of its pre-tokens, in characters. int32 [pre-tokens].

    Pre-tokens are slices on demand, since their strings would need far more memory than the text.
    """

    text: str
    ends: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.ends)

    def pre_tokens(self) -> Iterator[str]:
        """Yield the pre-tokens; joined, they are the text."""
        for start, end in pairwise((0, *self.ends.tolist())):
            yield self.text[start:end]

    def starts(self, first: int, last: int) -> list[int]:
        """Return the starts of the pre-tokens `first` to `last` - 1, in characters."""
        last = min(last, len(self))
        starts: list[int] = self.ends[max(0, first - 1) : max(0, last - 1)].tolist()
        return [0, *starts] if first == 0 < last else starts

    @cached_property
    def times(self) -> Counter[str]:
        """The count of each distinct pre-token, in the order of first occurrence."""
        return Counter(self.pre_tokens())


def pre_tokenize(text: str, pattern: str, expression: str = "") -> PreTokenized:
    """Pre-tokenize a text.

    Raises:
        SplitError: The expression is invalid or too slow.
    """
    lengths = map(len, pretokenize(text, pattern, expression))
    return PreTokenized(text, np.fromiter(accumulate(lengths), np.int32))


def unrestricted_merges(text: str) -> list[str]:
    """Return the tokens of the first merges of BPE over characters without pre-tokenization.

    The minimum pair count is 2, so a short text gives fewer merges.
    """
    options = bpe_training.BpeOptions(
        merges=COMPARED_MERGES, pattern="none", atoms="characters", min_count=2
    )
    training = bpe_training.train(text, options)
    return joined(training.alphabet, training.merges)[len(training.alphabet) :]


def occurrences(tokens: Sequence[str], of: PreTokenized) -> list[int]:
    """Return how often each token lies within one pre-token.

    Occurrences are counted from the left, without overlaps. A count of 0 rules the token out: a
    boundary lies inside each occurrence, and no merge crosses a boundary.

    >>> occurrences(["th", "e ", "the"], pre_tokenize("the theme", "gpt2"))
    [2, 0, 2]
    """
    by_times: defaultdict[int, list[str]] = defaultdict(list)
    for pre_token, times in of.times.items():
        by_times[times].append(pre_token)
    joined = [(times, _APART.join(pre_tokens)) for times, pre_tokens in by_times.items()]
    return [sum(times * text.count(token) for times, text in joined) for token in tokens]


@dataclass(frozen=True)
class PreTokenizedColumn:
    """A pre-tokenized text with a title.

    pattern: a key of `ALTERNATIVES`, if the pre-tokens are described by the alternative that
    matched them, or an empty string.
    """

    title: str
    cut: PreTokenized
    pattern: str = ""


@dataclass(frozen=True)
class Used:
    """An alternative of an expression, and its matches in a text and in its sample.

    count: number of pre-tokens of the text that it matched. sample: its matches in its sample text.
    """

    alternative: Alternative
    count: int
    sample: Sequence[str]


def used_alternatives(of: PreTokenized, pattern: str) -> list[Used]:
    """Return all alternatives of a pattern, in their order, with their matches in a text."""
    counts = Counter(matched(of.text, pattern, of.starts(0, len(of))))
    alternatives = []
    for index, alternative in enumerate(ALTERNATIVES[pattern]):
        sample = pre_tokenize(alternative.sample, pattern)
        by = matched(alternative.sample, pattern, sample.starts(0, len(sample)))
        pre_tokens = zip(sample.pre_tokens(), by, strict=True)
        alternatives.append(
            Used(alternative, counts[index], [text for text, at in pre_tokens if at == index])
        )
    return alternatives


def listed(
    of: PreTokenized, first: int, last: int, limit: int, *, white_space: bool = True
) -> tuple[list[str], int]:
    """Return at most `limit` pre-tokens that begin between two characters, and the number of all.

    white_space: whether pre-tokens of white space alone are part of the list.
    """
    begin, stop = (min(ended(of.ends, at - 1) + 1, len(of)) if at else 0 for at in (first, last))
    starts, ends = of.starts(begin, stop), of.ends[begin:stop].tolist()
    every = (of.text[start:end] for start, end in zip(starts, ends, strict=True))
    chosen = [pre_token for pre_token in every if white_space or not pre_token.isspace()]
    return chosen[:limit], len(chosen)


@dataclass(frozen=True)
class WordLevel:
    """A word-level vocabulary: the most frequent pre-tokens; all others are unknown.

    Attributes:
        entries: The entries, most frequent first, with the count of each in the text; ties are in
            the order of first occurrence.
        known: The number of pre-tokens of the text that are entries.
        total: The number of pre-tokens of the text.
        types: The number of different pre-tokens of the text.
    """

    entries: Sequence[tuple[str, int]]
    known: int
    total: int
    types: int

    def apply(self, pre_tokens: Sequence[str]) -> list[str | None]:
        """Return the pre-tokens, with None for each that is unknown.

        >>> word_level(["a", "b", "a"], 1).apply(["a", "b", "c"])
        ['a', None, None]
        """
        known = {entry for entry, _ in self.entries}
        return [pre_token if pre_token in known else None for pre_token in pre_tokens]


def word_level(pre_tokens: Sequence[str], size: int) -> WordLevel:
    """Return the word-level vocabulary with the `size` most frequent pre-tokens."""
    times = Counter(word for word in pre_tokens)  # counting a list would hold the interpreter
    entries = times.most_common(size)
    return WordLevel(entries, sum(count for _, count in entries), times.total(), len(times))


def parts(cuts: Sequence[PreTokenized], size: int) -> list[Part]:
    """Divide a text into parts of at most `size` characters, its atoms.

    A part ends where a pre-token of every column ends, if there is such a place in its second half.
    """
    length = len(cuts[0].text)
    if length <= size:
        return [Part(0, length, 0, length)]
    ends_here = np.zeros(length + 1, np.uint16)
    for cut in cuts:
        ends_here[cut.ends] += 1
    common = np.flatnonzero(ends_here == len(cuts))
    parts = []
    first = 0
    while first < length:
        last = min(first + size, length)
        if last < length:
            before = common[: np.searchsorted(common, last, "right")]
            if len(before) and before[-1] > first + size // 2:
                last = int(before[-1])
        parts.append(Part(first, last, first, last))
        first = last
    return parts


def name(pre_token: str) -> str:
    """Return a short readable name of a pre-token, without the middle of a long one.

    >>> name("a b"), len(name("a" * 1_000_000))
    ('a·b', 79)
    """
    if len(pre_token) > 200:  # labels of long texts are slow
        pre_token = pre_token[:100] + pre_token[-100:]
    return shorten(label(pre_token.encode()))

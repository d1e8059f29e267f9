"""What splits do to a text: their pre-tokens side by side, level by level, and what they forbid.

A split forbids whatever would stand across its cuts. Two views of that: the pairs of neighboring
characters that it cuts apart, and the merges that BPE would learn from the text if nothing were
split, of which it makes some impossible.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpeviz.pretokenizers.patterns import split
from bpeviz.text import color_index, label, shorten
from bpeviz.trainers import bpe

LEVELS = ("sentences", "words", "characters")
"""The splits of `levels`, coarsest first; keys of `bpeviz.pretokenizers.patterns.PATTERNS`."""

MERGES = 100
"""How many merges of the text that is not split are held against each split."""

PAIRS = 4
"""How many of the pairs that a split cuts apart are told."""

_APART = "\ud800"  # a lone surrogate: it stands in no cleaned text, so no token reaches over it


@dataclass(frozen=True, eq=False)
class Cut:
    """A text cut into pre-tokens: `ends` says where each ends, in characters. int32 [pre-tokens].

    The pre-tokens themselves are read off the text when somebody asks: kept as strings, those of a
    long text would take far more room than the text.
    """

    text: str
    ends: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.ends)

    def pre_tokens(self) -> Iterator[str]:
        """Yield the pre-tokens; joined, they are the text."""
        for start, end in pairwise((0, *self.ends.tolist())):
            yield self.text[start:end]

    @cached_property
    def times(self) -> Counter[str]:
        """How often each distinct pre-token comes, in the order in which they are first seen."""
        return Counter(self.pre_tokens())

    @property
    def longest(self) -> str:
        """The longest pre-token, the first of several; nothing where there is none."""
        return max(self.times, key=len, default="")


def cut(text: str, pattern: str, expression: str = "") -> Cut:
    """Cut a text as `bpeviz.pretokenizers.patterns.split` does. Raises `SplitError`."""
    return _cut(text, split(text, pattern, expression))


def _cut(text: str, pre_tokens: Sequence[str]) -> Cut:
    return Cut(text, np.fromiter(accumulate(map(len, pre_tokens)), np.int32, len(pre_tokens)))


def levels(text: str) -> list[Cut]:
    """Cut a text top-down: into sentences, each of them into words, each word into characters.

    So every cut of a level is one of the next, too.
    """
    found = []
    pre_tokens = [text] if text else []
    for pattern in LEVELS:
        pre_tokens = [piece for pre_token in pre_tokens for piece in split(pre_token, pattern)]
        found.append(_cut(text, pre_tokens))
    return found


# What a split forbids


def learnt_unsplit(text: str, limit: int = MERGES) -> list[str]:
    """Return the tokens of the first merges that BPE over characters learns from a text not split.

    Over characters, since each merge then joins two of them, and a split cuts between characters.
    A pair that comes only once is not merged, so a short text gives fewer.
    """
    training = bpe.train(text, merges=limit, pattern="none", atoms="characters", min_count=2)
    tokens = list(training.alphabet)
    for merge in training.merges:
        tokens.append(tokens[merge.left] + tokens[merge.right])
    return tokens[len(training.alphabet) :]


def standing(tokens: Sequence[str], of: Cut) -> list[int]:
    """Return for each token in how many places it stands within one pre-token.

    Counted from the left, without overlaps. Where that is 0, the split forbids the token: each of
    its places has a cut inside, and no merge crosses a cut. Where it is not, its two parents
    stand in that pre-token as well, side by side, so that nothing about the split forbids it.

    >>> standing(["th", "e ", "the"], cut("the theme", "gpt2"))
    [2, 0, 2]
    """
    apart = _APART.join(of.pre_tokens())
    return [apart.count(token) for token in tokens]


@dataclass(frozen=True)
class Apart:
    """Two neighboring characters: how often they stand side by side, and how often cut apart."""

    pair: str
    cut: int
    times: int


def cut_apart(of: Cut, limit: int = PAIRS) -> list[Apart]:
    """Return the pairs of neighboring characters that are most often cut apart.

    Of equally frequent pairs the one first cut comes first.

    >>> cut_apart(cut("a bc a b", "whitespace"), 2)
    [Apart(pair='a ', cut=2, times=2), Apart(pair=' b', cut=2, times=2)]
    """
    text = of.text
    found = Counter(text[end - 1 : end + 1] for end in of.ends[:-1].tolist())
    times = Counter(map("".join, pairwise(text)))
    return [Apart(pair, count, times[pair]) for pair, count in found.most_common(limit)]


# Side by side


@dataclass(frozen=True)
class Column:
    """A cut text with a title, and one sentence about the split."""

    title: str
    about: str
    cut: Cut


@dataclass(frozen=True)
class Summary:
    """What is told of one split of a text.

    distinct: how many different pre-tokens there are. forbidden: how many of `merges` (the first
    that BPE learns where nothing is split) it makes impossible. apart: see `cut_apart`.
    """

    title: str
    pre_tokens: int
    distinct: int
    characters: int
    longest: str
    forbidden: int
    merges: int
    apart: Sequence[Apart]


def summary(column: Column, places: Sequence[int], apart: Sequence[Apart]) -> Summary:
    """Sum up a split; `places` is what `standing` says of the merges learnt unsplit."""
    of = column.cut
    forbidden = sum(not count for count in places)
    return Summary(
        column.title,
        len(of),
        len(of.times),
        len(of.text),
        of.longest,
        forbidden,
        len(places),
        apart,
    )


def parts(cuts: Sequence[Cut], size: int) -> list[tuple[int, int]]:
    """Cut a text into stretches of at most `size` characters that can be shown one at a time.

    Return where each begins and ends. It ends where a pre-token of every cut does, if there is such
    a place in its second half; else after `size` characters.
    """
    length = len(cuts[0].text)
    if length <= size:
        return [(0, length)]
    common = reduce(np.intersect1d, (one.ends for one in cuts))
    found = []
    first = 0
    while first < length:
        last = min(first + size, length)
        if last < length:
            before = common[: np.searchsorted(common, last, "right")]
            if len(before) and before[-1] > first + size // 2:
                last = int(before[-1])
        found.append((first, last))
        first = last
    return found


def side_by_side(
    columns: Sequence[Column], first: int, last: int, *, nested: bool = False
) -> dict[str, Any]:
    """Return what the columns of Split show, as plain JSON values: one text, cut several ways.

    Characters `first` to `last` are shown; ends are in UTF-8 bytes from there. nested: each column
    cuts the pre-tokens of the one before, whose cuts are marked in it.
    """
    shown: list[dict[str, Any]] = []
    for column in columns:
        pre_tokens = _shown(column.cut, first, last)
        ends = list(accumulate(size for size, *_ in pre_tokens))
        marked = shown[-1]["ends"][:-1] if nested and shown else []
        shown.append(
            {
                "title": column.title,
                "note": column.about,
                "total": len(column.cut),
                "ends": ends,
                "tokens": [[None, *looks] for _, *looks in pre_tokens],
                "own": marked,
                "missing": [],
            }
        )
    data: dict[str, Any] = {
        "text": columns[0].cut.text[first:last],
        "columns": shown,
        "reference": -1,
        "unit": "chunk",
        "name": "The text level by level" if nested else "The text under each split",
    }
    digest = hashlib.blake2b(repr(data).encode(), digest_size=12)
    return data | {"key": digest.hexdigest()}


def _shown(of: Cut, first: int, last: int) -> list[tuple[int, str, str, int]]:
    """Return of each pre-token between two characters: bytes shown, name, what to say, and color
    index.

    A pre-token that reaches beyond is itself, cut short. A single character has no color index:
    color is for what is kept together.
    """
    begin, stop = (int(np.searchsorted(of.ends, at, "right")) for at in (first, last - 1))
    found = []
    looks: dict[str, tuple[str, str, int]] = {}
    start = int(of.ends[begin - 1]) if begin else 0
    for end in of.ends[begin : stop + 1].tolist():
        pre_token = of.text[start:end]
        if pre_token not in looks:
            raw = pre_token.encode()
            looks[pre_token] = (
                name(pre_token),
                f"{counted(len(pre_token), 'character')}, {counted(len(raw), 'byte')}; "
                f"{counted(of.times[pre_token], 'time')} in this text",
                color_index(raw) if len(pre_token) > 1 else -1,
            )
        size = len(of.text[max(start, first) : min(end, last)].encode())
        found.append((size, *looks[pre_token]))
        start = end
    return found


def name(pre_token: str) -> str:
    """Return a short readable name for a pre-token: the middle of a long one is left out.

    >>> name("a b"), len(name("a" * 1_000_000))
    ('a·b', 79)
    """
    if len(pre_token) > 200:  # a stand-in for each character of a whole text would take its time
        pre_token = pre_token[:100] + pre_token[-100:]
    return shorten(label(pre_token.encode()))


def counted(number: int, thing: str) -> str:
    """Return "1 byte", "2 bytes".

    >>> counted(1, "byte"), counted(1_000, "byte")
    ('1 byte', '1,000 bytes')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"

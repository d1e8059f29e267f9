"""Find the pre-tokens of GPT-2's and cl100k's patterns for a whole text at once, with NumPy.

Both patterns distinguish letters, digits, white space and other characters. A pre-token begins
where the class changes. The rules below add and remove starts, each in one array operation. The
classes come from the `regex` package, so the pre-tokens are exactly those of
`bpeviz.pretokenizers.patterns.pretokenize`. `word_ends` and `line_starts` use the same classes to
find boundaries of other patterns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
import regex

Bools = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.integer]
Classes = npt.NDArray[np.uint8]

OTHER, LETTER, DIGIT, BLANK, SEPARATOR = range(5)
"""The classes: other characters; letters `\\p{L}`; digits `\\p{N}`; white space `\\s`; separators
between texts, which no character belongs to."""

_SPACE, _APOSTROPHE, _TAB, _LINE_FEED, _CARRIAGE_RETURN = map(ord, " '\t\n\r")
_LONG_S = 0x17F
"""The character ſ, the only one besides S and s that the expression `(?i:s)` matches."""


@cache
def _class_table() -> Classes:
    """Return the class of every code point according to `regex`."""
    points = np.arange(0x110000, dtype=np.uint32)
    points[0xD800:0xE000] = 0xFFFF  # surrogates are not characters; neither is this code point
    every_character = points.tobytes().decode("utf-32-le")
    table = np.full(len(points), OTHER, np.uint8)
    for number, expression in ((LETTER, r"\p{L}++"), (DIGIT, r"\p{N}++"), (BLANK, r"\s++")):
        for match in regex.finditer(expression, every_character):
            table[match.start() : match.end()] = number
    return table


@cache
def _ascii_table() -> bytes:
    return _class_table()[:256].tobytes()


def _classes(text: str) -> tuple[Integers, Classes]:
    """Return the code points of a text and their classes."""
    if text.isascii():
        raw = text.encode()
        classes = np.frombuffer(raw.translate(_ascii_table()), np.uint8)
        return np.frombuffer(raw, np.uint8), classes
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return points, _class_table()[points]


def word_ends(text: str) -> npt.NDArray[np.intp]:
    """Return the positions between a letter or digit 0 to 9 and a space, a tab or a line end.

    >>> word_ends("It is so: 1 2")
    array([ 2,  5, 11])
    """
    points, classes = _classes(text)
    word = classes == LETTER
    word |= (points >= ord("0")) & (points <= ord("9"))
    blank = points == _SPACE
    for other in (_TAB, _LINE_FEED, _CARRIAGE_RETURN):
        blank |= points == other
    return np.flatnonzero(word[:-1] & blank[1:]) + 1


def line_starts(text: str, *, after_one: bool = True) -> npt.NDArray[np.intp]:
    r"""Return the positions between a line feed and a character other than white space.

    With `after_one`, a character other than white space must also precede the line feed.

    >>> line_starts("a\nb\n c\n\nd"), line_starts("a\n\nd", after_one=False)
    (array([2]), array([3]))
    """
    points, classes = _classes(text)
    begins = (points[:-1] == _LINE_FEED) & (classes[1:] != BLANK)
    if after_one:
        begins[1:] &= classes[:-2] != BLANK
        begins[:1] = False
    return np.flatnonzero(begins) + 1


def _cut_contractions(starts: Bools, letters: Integers, quotes: Integers) -> None:
    """Turn the contractions 's 't 'd 'm 'll 've 're at `quotes` into pre-tokens.

    Args:
        starts: Whether a pre-token begins at each character; modified in place.
        letters: The code points of the text, in lower case if case does not matter.
        quotes: The positions of the apostrophes.
    """
    letters = np.concatenate((letters, letters[:2] * 0))
    first, second = letters[quotes + 1], letters[quotes + 2]
    short = np.isin(first, [*b"sdmt"])
    long = (first == ord("l")) & (second == ord("l"))
    long |= np.isin(first, [*b"vr"]) & (second == ord("e"))
    starts[quotes[short | long] + 1] = False
    starts[quotes[short] + 2] = True
    starts[quotes[long] + 3] = True


def _before_text(classes: Classes) -> Bools:
    """Return whether each character but the last is the last one of white space before other text.

    White space at the end of a text is one pre-token.
    """
    last: Bools = (classes[:-1] == BLANK) & (classes[1:] < BLANK)  # nor a separator
    return last


def _gpt2(points: Integers, classes: Classes, starts: Bools) -> None:
    """Move the starts of runs of one class to those of GPT-2's pattern."""
    n = len(points)
    space = points == _SPACE
    # Before other text, the last character of white space starts a pre-token. A space belongs to
    # the pre-token of the text after it.
    last = _before_text(classes)
    starts[: n - 1] |= last
    starts[1:n] &= ~(last & space[:-1])
    quotes = np.flatnonzero(points == _APOSTROPHE)
    quotes = quotes[starts[quotes]]
    if len(quotes):
        _cut_contractions(starts, points, quotes)


def _cl100k(points: Integers, classes: Classes, starts: Bools) -> None:
    """Move the starts of runs of one class to those of GPT-4's pattern."""
    n = len(points)
    digits = np.flatnonzero(classes == DIGIT)
    if len(digits):
        index = np.arange(len(digits))
        head = np.maximum.accumulate(np.where(starts[digits], index, 0))
        starts[digits[(index - head) % 3 == 0]] = True
    last = _before_text(classes)
    line_end = (points == _LINE_FEED) | (points == _CARRIAGE_RETURN)
    _part_line_ends(starts, line_end, classes, last)

    # As in GPT-2, but letters take any white space before them, not only a space. Digits take none.
    last &= ~line_end[:-1]
    del line_end  # of a long text, it takes as much memory as the text
    starts[: n - 1] |= last
    letter, other = classes == LETTER, classes == OTHER
    space = points == _SPACE
    starts[1:n] &= ~(last & (letter[1:] | (other[1:] & space[:-1])))
    del last, space
    # A single sign belongs to the letters after it, unless it is part of an earlier pre-token.
    sign = other[:-1] & letter[1:] & starts[: n - 1]
    starts[1:n] &= ~sign
    quotes = np.flatnonzero(sign & (points[:-1] == _APOSTROPHE))
    if len(quotes):
        small = points.copy()
        small[(points >= ord("A")) & (points <= ord("Z"))] += ord("a") - ord("A")
        if points.itemsize > 1:
            small[points == _LONG_S] = ord("s")
        _cut_contractions(starts, small, quotes)


def _part_line_ends(starts: Bools, line_end: Bools, classes: Classes, last: Bools) -> None:
    """Split white space after its line ends; line ends directly after a sign belong to the sign.

    Args:
        starts: Whether a pre-token begins at each character; modified in place.
        line_end: Whether each character is a line end.
        classes: The class of each character.
        last: Whether each character is the last one of white space before other text.
    """
    n = len(classes)
    edges = np.flatnonzero(np.concatenate((line_end[:1], line_end[1:] != line_end[:-1])))
    edges = np.append(edges, n) if line_end[-1] else edges
    begins, ends = edges[::2], edges[1::2]  # of each run of line ends
    taken = (begins > 0) & (classes[begins - 1] == OTHER)
    starts[begins[taken]] = False
    starts[ends[taken]] = True
    # Elsewhere a pre-token ends after the last line end of its white space, or with the text.
    inside = np.flatnonzero((ends < n) & (classes[np.minimum(ends, n - 1)] == BLANK))
    if len(inside):
        blank_ends = np.append(np.flatnonzero(last) + 1, n + 1)
        blank_end = blank_ends[np.searchsorted(blank_ends, ends[inside])]
        next_begin = np.append(begins, n)[inside + 1]
        text_ends = np.append(np.flatnonzero(classes == SEPARATOR), n)
        text_end = text_ends[np.searchsorted(text_ends, ends[inside])]
        is_inside = blank_end <= np.minimum(next_begin, text_end)
        starts[ends[inside[is_inside]]] = True


_RULES: dict[str, Callable[[Integers, Classes, Bools], None]] = {
    "gpt2": _gpt2,
    "cl100k": _cl100k,
}

PATTERNS = frozenset(_RULES)
"""The keys of the patterns that `pre_token_starts` supports."""


def pre_token_starts(
    text: str, pattern: str, separators: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.intp]:
    """Return the index of the first character of each pre-token, in ascending order.

    This needs about 20 bytes of memory per character.

    Args:
        text: The text.
        pattern: One of `PATTERNS`.
        separators: The places of characters NUL, each between two texts that are split alone.

    >>> pre_token_starts("I'll go 1234", "cl100k")
    array([ 0,  1,  4,  7,  8, 11])
    """
    n = len(text)
    if n < 2:
        return np.arange(n)
    points, classes = _classes(text)
    if separators is not None:
        classes = classes.copy()
        classes[separators] = SEPARATOR
    starts = np.zeros(n + 4, np.bool_)  # rules read and write slightly beyond the end
    starts[0] = True
    np.not_equal(classes[1:], classes[:-1], out=starts[1:n])
    _RULES[pattern](points, classes, starts)
    return np.flatnonzero(starts[:n])

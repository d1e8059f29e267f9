"""The lines of a text under a tokenizer: the tokens of each, and the lines that need the most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from reprlib import repr as short_repr
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import DROPPED_ID
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.text import clean, split_lines


class Line(NamedTuple):
    """A line of a text under a tokenizer.

    Attributes:
        number: Its number in the text, from 1.
        text: The line.
        tokens: The number of tokens that begin in it, or in its line end or blank lines after it.
        tokens_per_character: Their number per character of all these.
    """

    number: int
    text: str
    tokens: int
    tokens_per_character: float


def lines_of(text: str | Sequence[str]) -> list[str]:
    """Return the lines of a text that is given as a string or as its lines, cleaned."""
    if isinstance(text, str):
        return split_lines(clean(text))
    if not isinstance(text, Iterable):
        raise ValueError(f"Give a text or a list of its lines, not {short_repr(text)}.")
    return [*map(clean, text)]


def worst_lines(
    text: str | Sequence[str], tokenizer: Tokenizer | None = None, most: int = 10
) -> list[Line]:
    """Return the lines with the most tokens per character, the worst first.

    Args:
        text: The text, as a string or as its lines.
        tokenizer: The tokenizer.
        most: The largest number of lines to return.

    Raises:
        ValueError: An argument is not valid.

    >>> import bpeviz
    >>> tokenizer = bpeviz.train("low lower lowest", merges=4).tokenizer()
    >>> [(line.number, line.tokens) for line in worst_lines(["low", "new 👋"], tokenizer)]
    [(2, 8), (1, 2)]
    """
    lines = lines_of(text)
    if not isinstance(tokenizer, Tokenizer):
        raise ValueError("Give a tokenizer, as in worst_lines(text, tokenizer).")
    whole = "\n".join(lines)
    column = Column(tokenizer.name, tokenizer, tokenizer.last_boundaries(whole), tokenizer.steps)
    counts = tokens_by_line([column], lines)[:, 0]
    is_text = _not_blank(lines)
    numbers = np.flatnonzero(is_text)
    blocks = np.maximum(np.cumsum(is_text) - 1, 0)
    sizes = np.array([len(line) + 1 for line in lines], np.int64)
    sizes[-1:] -= 1  # the last line has no line end
    if not len(numbers):
        return []
    ratios = counts / np.bincount(blocks, sizes)
    return [
        Line(
            int(numbers[i]) + 1,
            lines[numbers[i]].removesuffix("\r"),
            int(counts[i]),
            float(ratios[i]),
        )
        for i in np.argsort(-ratios, kind="stable")[:most]
    ]


def tokens_by_line(columns: Sequence[Column], lines: Sequence[str]) -> NDArray[np.int64]:
    """Return the tokens of a text that begin in each line [lines that are not blank, columns].

    Those of blank lines count in the line before, and in the first line if there is none.
    """
    sizes = np.array([len(line.encode()) + 1 for line in lines], np.int64)
    starts = (np.cumsum(sizes) - sizes)[_not_blank(lines)]
    tokens = np.zeros((len(starts), len(columns)), np.int64)
    if len(starts):
        for i, column in enumerate(columns):
            begins = np.append(0, column.cuts)[:-1][column.ids != DROPPED_ID]
            before = np.searchsorted(begins, starts)
            before[0] = 0
            tokens[:, i] = np.diff(before, append=len(begins))
    return tokens


def _not_blank(lines: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([bool(line.strip()) for line in lines], np.bool_)

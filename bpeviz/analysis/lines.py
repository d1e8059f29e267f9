"""The lines or documents of a text under a tokenizer: their tokens, and which need the most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import DROPPED_ID
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus.documents import Documents
from bpeviz.text import clean, split_lines


class Line(NamedTuple):
    """A line of a text, or a document, under a tokenizer.

    Attributes:
        number: Its number in the text, from 1.
        text: The line.
        tokens: The number of tokens that begin in it, or in its line end or blank lines after it.
            A document is encoded alone.
        tokens_per_character: Their number per character of all these.
    """

    number: int
    text: str
    tokens: int
    tokens_per_character: float


def lines_of(text: str | Documents) -> Sequence[str]:
    """Return the lines of a text, cleaned, or its documents."""
    return text.texts if isinstance(text, Documents) else split_lines(clean(text))


def worst_lines(
    text: str | Iterable[str] | Documents, tokenizer: Tokenizer | None = None, most: int = 10
) -> list[Line]:
    """Return the lines or documents with the most tokens per character, the worst first.

    Args:
        text: The text, as a string, or as documents.
        tokenizer: The tokenizer.
        most: The largest number of lines to return.

    Raises:
        ValueError: An argument is not valid.

    >>> import bpeviz
    >>> tokenizer = bpeviz.train("low lower lowest", merges=4).tokenizer()
    >>> [(line.number, line.tokens) for line in worst_lines(["low", "new 👋"], tokenizer)]
    [(2, 8), (1, 1)]
    """
    text = text if isinstance(text, str | Documents) else Documents.of(text)
    if not isinstance(tokenizer, Tokenizer):
        raise ValueError("Give a tokenizer, as in worst_lines(text, tokenizer).")
    lines = lines_of(text)
    if isinstance(text, str):
        text = "\n".join(lines)  # without the last line end
    column = Column(tokenizer.name, tokenizer, tokenizer.last_boundaries(text), tokenizer.steps)
    counts = tokens_by_line([column], text)[:, 0]
    is_text = _not_blank(lines)
    numbers = np.flatnonzero(is_text)
    blocks = np.maximum(np.cumsum(is_text) - 1, 0)
    sizes = np.array([*map(len, lines)], np.int64)
    if isinstance(text, str):
        sizes[:-1] += 1  # the last line has no line end
        lines = [line.removesuffix("\r") for line in lines]
    if not len(numbers):
        return []
    ratios = counts / np.bincount(blocks, sizes)
    return [
        Line(int(numbers[i]) + 1, lines[numbers[i]], int(counts[i]), float(ratios[i]))
        for i in np.argsort(-ratios, kind="stable")[:most]
    ]


def tokens_by_line(columns: Sequence[Column], text: str | Documents) -> NDArray[np.int64]:
    """Return the tokens of a text that begin in each line or document [those not blank, columns].

    Those of blank lines count in the line before, and in the first line if there is none.
    """
    lines = lines_of(text)
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

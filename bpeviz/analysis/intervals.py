"""Intervals of token counts, by resampling the lines of a text.

Each interval is the 95% percentile bootstrap over lines (Efron and Tibshirani 1993, chapter 13).
The same lines are drawn for all tokenizers, so that their differences are those of paired counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FEWEST_LINES, ROUGH_LINES = 10, 30
"""Below these numbers of lines, a figure has no interval, or a rough one."""

RESAMPLES, SEED = 1_000, 0
"""The number of bootstrap resamples, and the seed of their random numbers."""

_DRAWN = 1 << 16
"""How many lines are drawn at once, so that they fit into the processor's cache."""

_ENDS = 0.025, 0.975

Ratios = NDArray[np.float64]
"""The ends of the interval of the ratio of two tokenizers' figures [2, tokenizers, tokenizers]."""


def totals(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of each column over resampled lines [resamples, columns].

    Args:
        counts: Counts of each line, at least one line [lines, columns].
    """
    number = len(counts)
    generator = np.random.default_rng(SEED)
    columns = [*counts.T.astype(np.float64)]
    sums = np.empty((RESAMPLES, len(columns)))
    at_once = max(1, _DRAWN // number)
    for first in range(0, RESAMPLES, at_once):
        part = sums[first : first + at_once]
        drawn = generator.integers(number, size=(len(part), number))
        drawn += number * np.arange(len(part))[:, None]
        weights = np.bincount(drawn.reshape(-1), minlength=len(part) * number)
        weights = weights.reshape(len(part), number).astype(np.float64)
        for i, column in enumerate(columns):
            part[:, i] = (weights * column).sum(axis=1)  # not by BLAS, whose threads wait actively
    return sums


def ratios(values: NDArray[np.float64]) -> Ratios:
    """Return the interval of each tokenizer's figure relative to each other one's.

    Args:
        values: The figure of each resample [resamples, tokenizers].
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        intervals: Ratios = np.quantile(values[:, :, None] / values[:, None, :], _ENDS, axis=0)
    return intervals


def token_ratios(counts: NDArray[np.int64], added: NDArray[np.int64]) -> Ratios | None:
    """Return the intervals of the ratios of tokenizers' tokens.

    There are none for a single tokenizer, or if there are too few lines.

    Args:
        counts: Tokens of each line [lines, tokenizers].
        added: The tokens of each tokenizer that belong to no line.
    """
    if len(counts) < FEWEST_LINES or len(added) < 2:
        return None
    return ratios(totals(counts) + added)


def line_premiums(
    counts: NDArray[np.int64], base: NDArray[np.int64]
) -> tuple[list[tuple[float | None, float | None]], Ratios | None]:
    """Return the interval of the premium under each tokenizer, and those of their ratios.

    Args:
        counts: Tokens of each line, at least 1 [lines, tokenizers].
        base: Tokens of the same lines of the chosen text, at least 1 [lines, tokenizers].

    Returns:
        The ends of each interval, None if there are too few lines; and the intervals of ratios.
    """
    if len(counts) < FEWEST_LINES:
        return [(None, None)] * counts.shape[1], None
    own, others = np.split(totals(np.hstack([counts, base])), 2, axis=1)
    low, high = np.quantile(own / others, _ENDS, axis=0).tolist()
    return [*zip(low, high, strict=True)], ratios(own / others)


def leaders(figures: Sequence[float | None], intervals: Ratios | None) -> list[int]:
    """Return the indices of the lowest figures, or none if another tokenizer's may be as low.

    Args:
        figures: The figure of each tokenizer; None where it cannot be compared.
        intervals: The intervals of the ratios of figures, or None to compare the figures alone.

    >>> leaders([1, 2], None), leaders([1, 2], np.array([[[1, 0.4], [1, 1]], [[1, 1], [2.5, 1]]]))
    ([0], [])
    """
    ranked = [i for i, figure in enumerate(figures) if figure is not None]
    lowest = min((figure for figure in figures if figure is not None), default=None)
    leading = [i for i in ranked if figures[i] == lowest]
    if intervals is not None:
        others = [i for i in ranked if i not in leading]
        if not (intervals[1][np.ix_(leading, others)] < 1).all():
            return []
    return leading

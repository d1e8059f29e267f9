"""Premiums and differences with their bootstrap intervals by definition, slow and simple."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np


def quantile(values: Sequence[Fraction], share: Fraction) -> Fraction:
    """Return a quantile, linear between the two nearest values (type 7 of Hyndman and Fan)."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def premium(
    lines: Sequence[tuple[int, int]], seed: int, resamples: int
) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """Return the ratio of tokens, and the 95% interval over resampled lines from 10 lines on.

    Args:
        lines: Tokens of each line and of its counterpart; lines with a zero are left out.
        seed: The seed of the random numbers.
        resamples: The number of resamples.
    """
    return ratio([(own, base) for own, base in lines if own and base], seed, resamples)


def ratio(
    lines: Sequence[tuple[int, int]], seed: int, resamples: int
) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """Return the ratio of two sums over lines, and its interval as `premium` does."""
    if not lines:
        return None, None, None

    def of(chosen: Sequence[tuple[int, int]]) -> Fraction:
        return Fraction(sum(own for own, _ in chosen), sum(other for _, other in chosen))

    if len(lines) < 10:
        return of(lines), None, None
    random = np.random.default_rng(seed)
    drawn = [
        of([lines[i] for i in random.integers(len(lines), size=len(lines))])
        for _ in range(resamples)
    ]
    return of(lines), quantile(drawn, Fraction(1, 40)), quantile(drawn, Fraction(39, 40))


def tokens_by_line(text: str, starts: Sequence[int]) -> list[int]:
    """Return the number of tokens that begin in each line with letters, or in blank lines after it.

    Args:
        text: A text with at least one such line.
        starts: The character at which each token begins.
    """
    counts: list[int] = []
    begin = early = 0
    for line in text.split("\n"):
        end = begin + len(line) + 1
        found = sum(begin <= start < end for start in starts)
        if line.strip():
            counts.append(found + early)
            early = 0
        elif counts:
            counts[-1] += found
        else:
            early += found
        begin = end
    return counts

"""Premiums and their bootstrap interval by definition, slow and simple, for one tokenizer."""

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
    kept = [(own, base) for own, base in lines if own and base]
    if not kept:
        return None, None, None

    def ratio(chosen: Sequence[tuple[int, int]]) -> Fraction:
        return Fraction(sum(own for own, _ in chosen), sum(base for _, base in chosen))

    if len(kept) < 10:
        return ratio(kept), None, None
    random = np.random.default_rng(seed)
    drawn = [
        ratio([kept[i] for i in random.integers(len(kept), size=len(kept))])
        for _ in range(resamples)
    ]
    return ratio(kept), quantile(drawn, Fraction(1, 40)), quantile(drawn, Fraction(39, 40))

"""The costs and savings of a vocabulary by its size, and the uses of its tokens in a text.

A larger vocabulary shortens texts. In exchange, a language model needs one row of parameters per
token in its input embedding, and as many in its output layer unless the two are shared. Tokens that
are rare in the training data have rows that are hardly trained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import Boundaries, MergeBoundaries
from bpeviz.core.training import Training

SIZES = 8
"""The number of vocabulary sizes that are compared."""

_BLOCK = 1 << 18


@dataclass(frozen=True)
class Cost:
    """The costs of one vocabulary size.

    Attributes:
        size: The vocabulary size, special tokens not counted.
        tokens: The number of tokens of the text.
        bytes_per_token: The size of the text in UTF-8 bytes, per token.
        parameters: The parameters of the embedding: one row of the chosen width per token.
        rare: The number of tokens of the vocabulary that occur fewer times than the given number.
    """

    size: int
    tokens: int
    bytes_per_token: float
    parameters: int
    rare: int


def uses(boundaries: Boundaries, step: int) -> NDArray[np.int64]:
    """Return the uses of each id in a text after `step` steps. int64 [largest id + 1]."""
    ids = boundaries.ids(step)
    return np.bincount(ids[ids >= 0])


def _uses_after(
    training: Training, boundaries: Boundaries, steps: Sequence[int]
) -> Iterator[NDArray[np.int64]]:
    """Yield the uses of each id after each of some steps, as `uses` does.

    Each boundary that a merge removes takes one use of both its tokens and adds one of the new. So
    the text, which may have millions of tokens, is counted once and not for each step.
    """
    if not isinstance(boundaries, MergeBoundaries):
        yield from (uses(boundaries, step) for step in steps)
        return
    merged_ids = range(boundaries.first_merge_id, boundaries.first_merge_id + max(steps, default=0))
    parents = np.array([training.parents(i) for i in merged_ids], np.int64).reshape(-1, 2)
    applied = -np.diff(boundaries.token_counts[: len(merged_ids) + 1])
    initial = np.zeros(merged_ids.stop, np.int64)
    for start in range(0, len(boundaries), _BLOCK):  # NumPy counts a copy in int64
        atoms = boundaries.atom_ids[start : start + _BLOCK]
        initial += np.bincount(atoms[atoms >= 0], minlength=merged_ids.stop)
    for step in steps:
        counts = initial.copy()
        counts[merged_ids.start : merged_ids.start + step] += applied[:step]
        for side in (0, 1):
            np.subtract.at(counts, parents[:step, side], applied[:step])
        yield counts


def sizes(last: int) -> list[int]:
    """Return at most `SIZES` steps from 0 to `last`, spaced evenly on a logarithmic scale."""
    spaced = np.geomspace(1, last + 1, SIZES).round().astype(int) - 1
    return sorted({*spaced.tolist()})


def costs(
    training: Training, boundaries: Boundaries, steps: Sequence[int], width: int, rarely: int
) -> list[Cost]:
    """Return the costs of the vocabulary after each of some steps.

    Args:
        training: The training history.
        boundaries: The boundaries of a text.
        steps: The steps.
        width: The width of the embedding: parameters per token.
        rarely: A token is rare if it occurs fewer times than this in the text.
    """
    size = int(boundaries.ends[-1]) if len(boundaries) else 0
    costs = []
    for step, counts in zip(steps, _uses_after(training, boundaries, steps), strict=True):
        vocabulary = int(training.sizes[step])
        tokens = int(boundaries.token_counts[step])
        frequent = int((counts >= rarely).sum())
        costs.append(
            Cost(
                vocabulary,
                tokens,
                size / tokens if tokens else 0.0,
                vocabulary * width,
                vocabulary - frequent,
            )
        )
    return costs

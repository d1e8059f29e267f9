"""Compare the tokens of a text at each step of a training with those of a slow reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bpeviz.core.boundaries import DROPPED_ID
from bpeviz.core.training import Training

Tokens = Sequence[tuple[int, int]]
"""The id of each token, or -1 for unknown text, and its number of atoms."""


def check_steps(training: Training, text: str, expected: Callable[[int], Tokens]) -> None:
    """Check boundaries at each step, and the smaller tokenizer that belongs to the step.

    Args:
        training: The training.
        text: The text.
        expected: Returns the tokens after some steps, without dropped text.
    """
    boundaries = training.tokenizer().boundaries(text)
    for step in range(training.steps + 1):
        tokens, smaller = [*expected(step)], training.at_step(step)
        ids, ends = boundaries.ids(step), boundaries.token_ends(step)
        has_token = ids != DROPPED_ID
        sizes = np.diff(ends, prepend=0)
        assert (sizes[~has_token] == 1).all()
        assert [*zip(ids[has_token].tolist(), sizes[has_token].tolist(), strict=True)] == tokens
        assert boundaries.token_counts[step] == len(tokens)
        known = [smaller.unknown_id if token_id < 0 else token_id for token_id, _ in tokens]
        assert smaller.encode(text) == known
        own = smaller.boundaries(text)
        assert own.ids(step).tolist() == ids.tolist()
        assert own.cuts(step).tolist() == boundaries.cuts(step).tolist()

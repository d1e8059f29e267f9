"""Compare the candidates of each step with the merges of a training."""

from __future__ import annotations

from bpeviz.core.training import MergeTraining


def check_candidates(training: MergeTraining, text: str) -> None:
    """Check that the best candidate of each step is merged, with its count and its ties."""
    boundaries = training.tokenizer().boundaries(text)
    for step, merge in enumerate(training.merges):
        found = training.candidates(text, boundaries, step, 1_000)
        assert (found[0].ids, found[0].count) == ((merge.left, merge.right), merge.count)
        assert sum(candidate.count == merge.count for candidate in found) == merge.ties + 1
        assert training.candidates(text, boundaries, step, 2) == found[:2]
    if training.stopped == "no pair":
        assert training.candidates(text, boundaries, training.steps, 3) == []
    # Boundaries of a prefix lack later steps, so candidates must not reuse them.
    shorter = training.at_step(1).boundaries(text)
    last = max(0, training.steps - 1)
    again = training.candidates(text, boundaries, last, 3)
    assert training.candidates(text, shorter, last, 3) == again

"""The two doors of the library: `train` and `load`."""

from __future__ import annotations

from typing import Any

from bpeviz.encodings import load
from bpeviz.learners import LEARNERS, Corpus
from bpeviz.training import Training

__all__ = ["load", "train"]


def train(
    text: Corpus,
    algorithm: str = "bpe",
    *,
    vocab_size: int | None = None,
    merges: int | None = None,
    pattern: str = "gpt2",
    expression: str = "",
    special_tokens: tuple[str, ...] = (),
    **options: Any,
) -> Training:
    """Learn a tokenizer from a text, or from a mapping of chunks to how often each comes.

    algorithm: a key of `bpeviz.learners.LEARNERS`; `options` are those of that learner (see its
        `train`, for "bpe" `bpeviz.learners.bpe.train`).
    vocab_size or merges: how far to go. `vocab_size` counts atoms (bytes or characters) and what
        is learnt, but no special tokens.
    pattern: how the text is split first, a key of `bpeviz.pretokenize.PATTERNS`, or "regex" with
        a regular expression, or "list" with words, of your own in `expression`.
    special_tokens: names that get the ids after all others.

    Raises `ValueError` with a sentence where a value makes no sense.
    """
    learner = LEARNERS.get(algorithm)
    if learner is None:
        raise ValueError(f"There is no algorithm {algorithm!r}. Known: {', '.join(LEARNERS)}.")
    known = {option.name for option in learner.options}
    if unknown := set(options) - known:
        raise ValueError(
            f"{learner.title} has no option {', '.join(sorted(unknown))}. "
            f"It has: {', '.join(sorted(known))}."
        )
    return learner.train(
        text,
        vocab_size=vocab_size,
        merges=merges,
        pattern=pattern,
        expression=expression,
        special_tokens=special_tokens,
        **options,
    )

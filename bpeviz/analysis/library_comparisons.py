"""Comparisons of the engine with other libraries, which train and encode in child processes.

Each comparison counts equal results on all sample texts, joined. The texts are ours, so no text of
a user reaches the trainers of the libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import bpeviz
from bpeviz import formats
from bpeviz.analysis.known_answers import Comparison
from bpeviz.core import library_trainers, library_worker
from bpeviz.core.library_pool import File
from bpeviz.core.library_tokenizer import LibraryTokenizer
from bpeviz.core.training import MergeTraining
from bpeviz.corpus import samples
from bpeviz.trainers.sentencepiece_bpe import SentencePieceTraining
from bpeviz.trainers.unigram import LONGEST_PRE_TOKEN

MERGES = 500
"""The largest number of merges of a training."""

LINES = [
    line
    for sample in samples.SAMPLES
    for line in sample.text.splitlines()
    if line and "▁" not in line
]
"""The lines of all sample texts."""

TEXT = "\n".join(LINES)

_FORMATS = {
    library_worker.HUGGING_FACE: "huggingface",
    library_worker.SENTENCEPIECE: "sentencepiece",
}


def _installed(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return library


def _equal(theirs: Sequence[object], ours: Sequence[object]) -> str:
    """Return the number of leading entries that are equal."""
    equal = 0
    for their_entry, our_entry in zip(theirs, ours, strict=False):
        if their_entry != our_entry:
            break
        equal += 1
    return f"{equal:,}"


def _hugging_face_trainer() -> str:
    training = bpeviz.train(TEXT, merges=MERGES, ties="huggingface", min_count=2)
    assert isinstance(training, MergeTraining)  # noqa: S101 (for the type)
    tokenizer = training.tokenizer()
    raw = tokenizer.token_bytes
    ours = [(raw(merge.left), raw(merge.right)) for merge in training.merges]
    return _equal(library_trainers.hugging_face_merges(TEXT, MERGES, 2), ours)


def _sentencepiece_trainer() -> str:
    training = bpeviz.train(TEXT, "sentencepiece", merges=MERGES, pattern="none")
    assert isinstance(training, SentencePieceTraining)  # noqa: S101 (for the type)
    merges = training.merges
    size = 1 + len(training.alphabet) + len(merges)
    theirs = library_trainers.sentencepiece_pieces(TEXT, size)
    return _equal(theirs[: len(merges)], [training.pieces[merge.new_id] for merge in merges])


def _applied(
    library: int, algorithm: str, lines: Sequence[str] = LINES, **how: Any
) -> Callable[[], str]:
    """Return a function that counts the lines with equal ids in a library and here.

    Args:
        library: The library, as a constant of `library_worker`, which loads our file.
        algorithm: The trainer.
        lines: The lines.
        **how: Arguments of the training.
    """

    def compute() -> str:
        tokenizer = bpeviz.train(TEXT, algorithm, **how).tokenizer()
        (content,) = formats.dump(tokenizer, _FORMATS[library]).values()
        theirs = LibraryTokenizer("the library's", File(library, content))
        equal = sum(theirs.encode(line) == tokenizer.encode(line) for line in lines)
        return f"{equal:,}"

    return compute


@cache
def comparisons() -> tuple[Comparison, ...]:
    """Return the comparisons, each with the installed version of the library."""
    tokenizers, sentencepiece = _installed("tokenizers"), _installed("sentencepiece")
    hugging_face, dot_model = library_worker.HUGGING_FACE, library_worker.SENTENCEPIECE
    lines = "lines of the sample texts with the same ids"
    all_lines = f"{len(LINES):,}"
    # bpeviz divides longer words, and the library does not.
    short = [line for line in LINES if max(map(len, line.split()), default=0) <= LONGEST_PRE_TOKEN]
    return (
        Comparison(
            f"BPE over bytes, GPT-2's pattern, minimum count 2: the first {MERGES:,} merges",
            f"BpeTrainer of {tokenizers}, run now; ties as in Hugging Face",
            f"{MERGES:,}",
            _hugging_face_trainer,
        ),
        Comparison(
            f"SentencePiece's BPE: the first {MERGES:,} pieces",
            f"SentencePieceTrainer of {sentencepiece}, run now, without normalization",
            f"{MERGES:,}",
            _sentencepiece_trainer,
        ),
        Comparison(
            f"BPE, saved as tokenizer.json: {lines}",
            f"{tokenizers}, which loads our file now",
            all_lines,
            _applied(hugging_face, "bpe", merges=MERGES),
        ),
        Comparison(
            f"WordPiece, saved as tokenizer.json: {lines}",
            f"{tokenizers}, which loads our file now",
            all_lines,
            _applied(hugging_face, "wordpiece", merges=MERGES, pattern="words"),
        ),
        Comparison(
            f"SentencePiece's BPE, saved as .model: {lines}",
            f"{sentencepiece}, which loads our file now",
            all_lines,
            _applied(dot_model, "sentencepiece", merges=MERGES, pattern="none"),
        ),
        Comparison(
            f"Unigram, saved as .model: {lines}, where no word has more than "
            f"{LONGEST_PRE_TOKEN} characters",
            f"{sentencepiece}, which loads our file now",
            f"{len(short):,}",
            _applied(
                dot_model,
                "unigram",
                short,
                vocab_size=1_200,
                pattern="whitespace",
                atoms="characters",
            ),
        ),
    )

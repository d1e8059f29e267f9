"""The BPE learner and its encoder against Hugging Face's `tokenizers`.

Of equally frequent pairs its `BpeTrainer` takes the one with the smallest ids. Its ids follow its
alphabet, so that is given here, in the order of ours: over bytes as the 256 characters U+0000 to
U+00FF. (Its own `ByteLevel` writes bytes as other characters, a space after z, and so breaks ties
in another order.) Chunks are given one by one, without a splitter of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import SMALL_TEXTS
from tokenizers import Tokenizer, models, trainers

import bpeviz
from bpeviz.core.merges import MergeTokenizer
from bpeviz.core.training import MergeTraining

SAMPLES = sorted((Path(__file__).resolve().parents[2] / "sample_texts").glob("*.txt"))
HOW = st.sampled_from(
    [
        {"pattern": "none"},
        {"pattern": "gpt2"},
        {"pattern": "words", "atoms": "characters"},
        {"pattern": "none", "atoms": "characters"},
    ]
)


def written(training: MergeTraining, pre_tokens: Iterable[str]) -> list[str]:
    """Chunks as a row of the alphabet's symbols, each one character."""
    return ["".join(training.pre_tokenizer.symbols(pre_token)) for pre_token in pre_tokens]


def spelt(training: MergeTraining) -> list[tuple[str, str]]:
    """The merges by what they join."""
    symbols = list(training.alphabet)
    pairs = []
    for merge in training.merges:
        pairs.append((symbols[merge.left], symbols[merge.right]))
        symbols.append("".join(pairs[-1]))
    return pairs


def their_merges(training: MergeTraining, text: str, min_count: int) -> list[tuple[str, str]]:
    """What `BpeTrainer` learns of the same chunks, up to as many merges."""
    model = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=len(training.alphabet) + len(training.merges),
        min_frequency=min_count,
        initial_alphabet=list(training.alphabet),
        limit_alphabet=len(training.alphabet),
        show_progress=False,
    )
    model.train_from_iterator(written(training, training.pre_tokenizer.pre_tokens(text)), trainer)
    ids = model.get_vocab()
    assert {symbol: ids[symbol] for symbol in training.alphabet} == {
        symbol: i for i, symbol in enumerate(training.alphabet)
    }
    return [tuple(pair) for pair in json.loads(model.to_str())["model"]["merges"]]


def their_ids(training: MergeTraining, pre_tokens: Iterable[str]) -> list[int]:
    """What `models.BPE` with our merges makes of chunks."""
    vocabulary = {symbol: i for i, symbol in enumerate(training.alphabet)}
    merges = spelt(training)
    for pair in merges:
        vocabulary.setdefault("".join(pair), len(vocabulary))
    model = models.BPE(vocab=vocabulary, merges=merges)
    return [
        token.id
        for pre_token in written(training, pre_tokens)
        for token in model.tokenize(pre_token)
    ]


@settings(max_examples=150)
@given(SMALL_TEXTS, HOW, st.integers(1, 3), st.integers(0, 25))
def test_merges_equal_hugging_faces(
    text: str, how: dict[str, Any], min_count: int, limit: int
) -> None:
    training = bpeviz.train(text, merges=limit, ties="smallest", min_count=min_count, **how)
    assert their_merges(training, text, min_count) == spelt(training)


@pytest.mark.parametrize("how", [{}, {"atoms": "characters"}], ids=str)
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_merges_of_a_sample_equal_hugging_faces(path: Path, how: dict[str, str]) -> None:
    text = path.read_text()
    training = bpeviz.train(text, merges=300, ties="smallest", min_count=2, **how)
    assert their_merges(training, text, 2) == spelt(training)


def test_merges_of_tiny_shakespeare_equal_hugging_faces(tiny_shakespeare: str) -> None:
    text = tiny_shakespeare[:300_000]
    training = bpeviz.train(text, vocab_size=1_500, ties="smallest")
    assert their_merges(training, text, 1) == spelt(training)


@settings(max_examples=150)
@given(SMALL_TEXTS, SMALL_TEXTS, HOW, st.sampled_from(["first", "smallest", "largest"]))
def test_ids_equal_hugging_faces_with_our_merges(
    corpus: str, text: str, how: dict[str, Any], ties: str
) -> None:
    training = bpeviz.train(corpus, merges=25, ties=ties, **how)
    # What was never learnt from is dropped there, where there is no token for it.
    text = "".join(c for c in text if training.pre_tokenizer.atoms == "bytes" or c in corpus)
    tokenizer = training.tokenizer()
    assert isinstance(tokenizer, MergeTokenizer)
    for held in (corpus, text):
        pre_tokens = tokenizer.pre_tokenizer.pre_tokens(held)
        assert tokenizer.encode(held) == their_ids(training, pre_tokens)


@pytest.mark.parametrize("how", [{}, {"atoms": "characters"}, {"pattern": "none"}], ids=str)
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_ids_of_a_sample_equal_hugging_faces(path: Path, how: dict[str, str]) -> None:
    text = path.read_text()
    training = bpeviz.train(text[: len(text) // 2] + "".join(sorted({*text})), merges=300, **how)
    tokenizer = training.tokenizer()
    assert tokenizer.encode(text) == their_ids(training, tokenizer.pre_tokenizer.pre_tokens(text))

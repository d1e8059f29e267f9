"""The BPE trainer and encoder against Hugging Face's `tokenizers`.

Its `BpeTrainer` merges the tied pair with the smallest ids, and its ids follow its alphabet. The
tests pass our alphabet in our order: over bytes the 256 characters U+0000 to U+00FF. `ByteLevel`
maps bytes to other characters, and a space sorts after z; the tie rule "huggingface" uses that
order. Pre-tokens are passed one by one, without a pre-tokenizer of the library.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from helpers.properties import examples
from helpers.texts import SMALL_TEXTS
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import bpeviz
from bpeviz.core.merges import MergeTokenizer
from bpeviz.core.training import MergeTraining
from bpeviz.corpus import samples
from bpeviz.corpus.samples import Sample

pytestmark = pytest.mark.slow

SAMPLES = [samples.by_key(key) for key in ("english-prose", "russian", "emoji-and-unicode")]
HOW = st.sampled_from(
    [
        {"pattern": "none"},
        {"pattern": "gpt2"},
        {"pattern": "words", "atoms": "characters"},
        {"pattern": "none", "atoms": "characters"},
    ]
)


def as_symbols(training: MergeTraining, pre_tokens: Iterable[str]) -> list[str]:
    """Return pre-tokens as strings with one character per symbol of the alphabet."""
    return ["".join(training.pre_tokenizer.symbols(pre_token)) for pre_token in pre_tokens]


def merged_strings(training: MergeTraining) -> list[tuple[str, str]]:
    """Return the strings that each merge joins."""
    symbols = list(training.alphabet)
    pairs = []
    for merge in training.merges:
        pairs.append((symbols[merge.left], symbols[merge.right]))
        symbols.append("".join(pairs[-1]))
    return pairs


def hugging_face_merges(
    training: MergeTraining, text: str, min_count: int
) -> list[tuple[str, str]]:
    """Return the merges of `BpeTrainer` on the same pre-tokens, as many as ours."""
    model = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=len(training.alphabet) + len(training.merges),
        min_frequency=min_count,
        initial_alphabet=list(training.alphabet),
        limit_alphabet=len(training.alphabet),
        show_progress=False,
    )
    model.train_from_iterator(
        as_symbols(training, training.pre_tokenizer.pre_tokens(text)), trainer
    )
    ids = model.get_vocab()
    assert {symbol: ids[symbol] for symbol in training.alphabet} == {
        symbol: i for i, symbol in enumerate(training.alphabet)
    }
    return [tuple(pair) for pair in json.loads(model.to_str())["model"]["merges"]]


def hugging_face_ids(training: MergeTraining, pre_tokens: Iterable[str]) -> list[int]:
    """Return the ids that `models.BPE` with our merges gives pre-tokens."""
    vocabulary = {symbol: i for i, symbol in enumerate(training.alphabet)}
    merges = merged_strings(training)
    for pair in merges:
        vocabulary.setdefault("".join(pair), len(vocabulary))
    model = models.BPE(vocab=vocabulary, merges=merges)
    return [
        token.id
        for pre_token in as_symbols(training, pre_tokens)
        for token in model.tokenize(pre_token)
    ]


@settings(max_examples=examples(150))
@given(SMALL_TEXTS, HOW, st.integers(1, 3), st.integers(0, 25))
def test_merges_equal_hugging_face(
    text: str, how: dict[str, Any], min_count: int, limit: int
) -> None:
    training = bpeviz.train(text, merges=limit, ties="smallest", min_count=min_count, **how)
    assert hugging_face_merges(training, text, min_count) == merged_strings(training)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.key)
def test_merges_with_huggingface_ties_equal_byte_level_trainer(sample: Sample) -> None:
    """Hugging Face numbers bytes by GPT-2's characters for them, with its own pre-tokenization."""
    text = sample.text
    training = bpeviz.train(text, merges=700, ties="huggingface", min_count=2)
    model = Tokenizer(models.BPE())
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=256 + len(training.merges),
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    model.train_from_iterator([text], trainer)
    theirs = [tuple(pair) for pair in json.loads(model.to_str())["model"]["merges"]]
    ours = [(byte_level(left), byte_level(right)) for left, right in merged_strings(training)]
    assert ours == theirs


def byte_level(symbols: str) -> str:
    """Return atoms over bytes in GPT-2's characters for bytes."""
    known = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = [byte for byte in range(256) if byte not in known]
    return "".join(
        symbol if ord(symbol) in known else chr(256 + others.index(ord(symbol)))
        for symbol in symbols
    )


@settings(max_examples=examples(150))
@given(SMALL_TEXTS, SMALL_TEXTS, HOW, st.sampled_from(["first", "smallest", "bytes", "largest"]))
def test_ids_equal_hugging_face_with_our_merges(
    corpus: str, text: str, how: dict[str, Any], ties: str
) -> None:
    training = bpeviz.train(corpus, merges=25, ties=ties, **how)
    # The library drops characters without a token.
    text = "".join(c for c in text if training.pre_tokenizer.atoms == "bytes" or c in corpus)
    tokenizer = training.tokenizer()
    assert isinstance(tokenizer, MergeTokenizer)
    for held in (corpus, text):
        pre_tokens = tokenizer.pre_tokenizer.pre_tokens(held)
        assert tokenizer.encode(held) == hugging_face_ids(training, pre_tokens)

"""The BPE trainer against its definition and tiktoken's educational trainer."""

from __future__ import annotations

from typing import Any

import pytest
import tiktoken._educational
from helpers.candidates import check_candidates
from helpers.properties import examples, many
from helpers.texts import SMALL_TEXTS
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz import Merge, Training
from bpeviz.pretokenizers.patterns import PATTERNS
from bpeviz.trainers import bpe

TIES = st.sampled_from(["first", "smallest", "bytes", "largest"])
ATOMS = st.sampled_from(
    [
        {"atoms": "bytes"},
        {"atoms": "characters"},
        {"atoms": "characters", "end_mark": "attached"},
        {"atoms": "characters", "end_mark": "symbol"},
    ]
)


def reference_training(
    training: Training, weighted: dict[str, int], limit: int, **how: Any
) -> tuple[list[Merge], str]:
    """Train with the reference loop on weighted pre-tokens."""
    atom_id = {symbol: i for i, symbol in enumerate(training.alphabet)}
    rows = [
        ([atom_id[s] for s in symbols_of(pre_token, training)], times)
        for pre_token, times in weighted.items()
    ]
    return bpe.train_by_definition(rows, training.alphabet, limit, **how)


def symbols_of(pre_token: str, training: Training) -> list[str]:
    """Return the atoms of a pre-token, by the rules of Sennrich et al. and subword-nmt."""
    how = training.pre_tokenizer
    if how.atoms == "bytes":
        return [chr(byte) for byte in pre_token.encode()]
    letters = list(pre_token)
    if how.end_mark == "none" or not pre_token.strip():
        return letters
    if how.end_mark == "symbol":
        return [*letters, "</w>"]
    return [*letters[:-1], letters[-1] + "</w>"]


def count_pre_tokens(text: str, training: Training) -> dict[str, int]:
    weighted: dict[str, int] = {}
    for pre_token in training.pre_tokenizer.pre_tokens(text):
        weighted[pre_token] = weighted.get(pre_token, 0) + 1
    return weighted


def decided(training: Training) -> tuple[list[Merge], str]:
    """Return the merges and the reason to stop, in the form of `train_by_definition`."""
    return list(training.merges), training.stopped


def fibonacci_word(size: int) -> str:
    a, b = "b", "a"
    while len(b) < size:
        a, b = b, b + a
    return b[:size]


def thue_morse_word(size: int) -> str:
    return "".join("ab"[i.bit_count() % 2] for i in range(size))


@many()
@given(
    SMALL_TEXTS,
    ATOMS,
    TIES,
    st.sampled_from(["none", "words", "gpt2"]),
    st.integers(1, 3),
    st.integers(0, 25),
)
def test_merges_equal_reference_loop(
    text: str, how: dict[str, str], ties: str, pattern: str, min_count: int, limit: int
) -> None:
    training = bpeviz.train(
        text, merges=limit, pattern=pattern, ties=ties, min_count=min_count, **how
    )
    expected = reference_training(
        training, count_pre_tokens(text, training), limit, ties=ties, min_count=min_count
    )
    assert decided(training) == expected
    check_candidates(training, text)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["first", "smallest", "bytes", "largest"])
@pytest.mark.parametrize(
    "text",
    ["a" * n for n in (1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 300)]
    + [fibonacci_word(377), fibonacci_word(400), thue_morse_word(256), thue_morse_word(300)]
    + ["ab" * 100 + "ba" * 100, "aab" * 60, "a" * 50 + "b" + "a" * 49],
    ids=lambda text: f"{text[:8]}-{len(text)}",
)
def test_merges_of_worst_cases_equal_reference_loop(text: str, ties: str) -> None:
    training = bpeviz.train(text, merges=60, pattern="none", ties=ties)
    assert decided(training) == reference_training(training, {text: 1}, 60, ties=ties)


@settings(max_examples=examples(60))
@given(
    SMALL_TEXTS.filter(lambda text: len(text) > 10),
    st.sampled_from(["gpt2", "cl100k", "words", "whitespace"]),
    st.integers(1, 12),
)
@example("aaabdaaabac", "gpt2", 3)
def test_byte_merges_equal_tiktoken_educational_trainer(
    text: str, pattern: str, merges: int
) -> None:
    training = bpeviz.train(text, merges=merges, pattern=pattern)
    tokenizer = training.tokenizer()
    # Its loop stops only at the vocabulary size, so it gets the size that was reached.
    expected = tiktoken._educational.bpe_train(
        text, training.vocab_size, PATTERNS[pattern].expression or "", visualise=None
    )
    assert {tokenizer.token_bytes(i): i for i in range(training.vocab_size)} == expected

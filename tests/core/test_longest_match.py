"""Longest match over a vocabulary trained by BPE, against trying all lengths in turn."""

from __future__ import annotations

from typing import Any

from helpers.properties import many
from helpers.steps import check_steps
from helpers.texts import SMALL_TEXTS
from hypothesis import example, given
from hypothesis import strategies as st
from reference_wordpiece import longest_match

import bpeviz
from bpeviz import Merge, Training
from bpeviz.core.longest_match import LONGEST_PIECE, LongestMatchTokenizer
from bpeviz.pretokenizers.pretokenizer import PreTokenizer

HOW = st.sampled_from(
    [
        {"pattern": "none"},
        {"pattern": "gpt2"},
        {"pattern": "words", "ties": "largest"},
        {"pattern": "none", "atoms": "characters"},
        {"pattern": "whitespace", "atoms": "characters", "end_mark": "attached"},
        {"pattern": "gpt2", "atoms": "characters", "end_mark": "symbol", "ties": "smallest"},
    ]
)


def train(corpus: str, how: dict[str, Any], merges: int = 25) -> Training:
    return bpeviz.train(corpus, merges=merges, encode="longest", **how)


def symbols_by_id(training: Training) -> list[tuple[str, ...]]:
    """Return the symbols of each id."""
    tokens: list[tuple[str, ...]] = [(symbol,) for symbol in training.alphabet]
    for merge in training.decisions:
        tokens.append(tokens[merge.left] + tokens[merge.right])
    return tokens


def reference_tokens(training: Training, text: str, step: int) -> list[tuple[int, int]]:
    tokens = symbols_by_id(training)[: len(training.alphabet) + step]
    pieces = {symbols: i for i, symbols in reversed([*enumerate(tokens)])}
    pre_tokenizer = training.pre_tokenizer
    return [
        token
        for pre_token in pre_tokenizer.pre_tokens(text)
        for token in longest_match(pre_tokenizer.symbols(pre_token), pieces)
    ]


@many(150)
@given(SMALL_TEXTS, SMALL_TEXTS, HOW)
@example("", "ab", {"pattern": "none"})
def test_boundaries_equal_reference_longest_match_at_every_step(
    corpus: str, text: str, how: dict[str, Any]
) -> None:
    """Check the training text and other text."""
    training = train(corpus, how)
    for held in (corpus, text):
        check_steps(training, held, lambda step, held=held: reference_tokens(training, held, step))


def test_earlier_of_two_merges_to_the_same_piece_sets_the_id() -> None:
    """No trainer makes such merges, but an imported file may contain them."""

    def merge(left: int, right: int, new: int) -> Merge:
        return Merge(left, right, new, 1, 1, 0)

    tokenizer = LongestMatchTokenizer(
        "twice",
        PreTokenizer("characters", "none"),
        ("a", "b", "c"),
        (merge(0, 1, 3), merge(1, 2, 4), merge(3, 2, 5), merge(0, 4, 6)),
    )
    assert tokenizer.encode("abc") == [5]
    boundaries = tokenizer.boundaries("abc")
    assert [boundaries.ids(step).tolist() for step in range(5)] == [
        [0, 1, 2], [3, 2], [3, 2], [5], [5],
    ]  # fmt: skip


# Long texts


def test_pieces_over_longest_piece_are_not_matched() -> None:
    training = train("a" * 1_024, {"pattern": "none"})
    tokenizer = training.tokenizer()
    assert len(tokenizer.token_bytes(training.vocab_size - 1)) == 1_024
    sizes = [len(token.raw) for token in tokenizer.tokens("a" * 1_024)]
    assert sizes == [LONGEST_PIECE] * (1_024 // LONGEST_PIECE)
    boundaries = tokenizer.boundaries("a" * 1_024)
    for step in range(training.steps + 1):
        ids = training.at_step(step).encode("a" * 1_024)
        assert boundaries.ids(step).tolist() == ids
        assert boundaries.token_counts[step] == 1_024 // min(2**step, LONGEST_PIECE)


# Invalid arguments

"""Tokens that are split back, at every step; vocabulary restriction by its definition."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers.properties import many
from helpers.texts import SMALL_TEXTS
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.core.dropout import segmentations
from bpeviz.core.hidden_tokens import HiddenTokenTokenizer, RestrictedTraining
from bpeviz.core.training import MergeTraining
from bpeviz.trainers import bpe, texts_of

HOW = st.sampled_from(
    [
        {"pattern": "none"},
        {"pattern": "gpt2", "ties": "smallest"},
        {"pattern": "none", "atoms": "characters"},
        {"pattern": "whitespace", "atoms": "characters", "end_mark": "attached"},
        {"pattern": "words", "atoms": "characters", "end_mark": "symbol", "ties": "largest"},
    ]
)


def rows_of(training: MergeTraining, text: str) -> list[list[int]]:
    atom_id = {symbol: i for i, symbol in enumerate(training.alphabet)}
    pre_tokenizer = training.pre_tokenizer
    return [
        [atom_id.get(symbol, -1) for symbol in pre_tokenizer.symbols(pre_token)]
        for pre_token in pre_tokenizer.pre_tokens(text)
    ]


def merged(training: MergeTraining, text: str, step: int) -> list[int]:
    """Return the tokens of a text after `step` merges, before hidden tokens are split back."""
    found: list[int] = []
    for row in rows_of(training, text):
        for merge in training.merges[:step]:
            row = bpe.merge(row, (merge.left, merge.right), merge.new_id)
        found += row
    return found


def split_back(training: MergeTraining, tokens: list[int], hidden: set[int]) -> list[int]:
    """Split hidden tokens back into their parents, recursively."""
    found: list[int] = []
    for token in tokens:
        if token in hidden:
            found += split_back(training, [*(training.parents(token) or ())], hidden)
        else:
            found.append(token)
    return found


def lengths(training: MergeTraining, tokens: list[int]) -> list[int]:
    def length(token: int) -> int:
        parents = training.parents(token) if token >= 0 else None
        return 1 if parents is None else length(parents[0]) + length(parents[1])

    return [length(token) for token in tokens]


def check(
    tokenizer: HiddenTokenTokenizer, training: MergeTraining, text: str, hidden: list[set[int]]
) -> None:
    """Check all results of a tokenizer on a text against the definition, at every step."""
    boundaries = tokenizer.boundaries(text)
    ends_of_text = boundaries.ends.tolist()
    for step in range(tokenizer.steps + 1):
        expected = split_back(training, merged(training, text, step), hidden[step])
        ends = np.cumsum(lengths(training, expected), dtype=np.int64)
        assert boundaries.ids(step).tolist() == expected
        assert boundaries.token_ends(step).tolist() == ends.tolist()
        assert boundaries.cuts(step).tolist() == [ends_of_text[end - 1] for end in ends]
        assert boundaries.token_counts[step] == len(expected)
        smaller = tokenizer.at_step(step)
        unknown = smaller.special_tokens.get("<unk>")
        assert [-1 if i == unknown else i for i in smaller.encode(text)] == expected
    # No entry is stored twice.
    for i, (start, end) in enumerate(pairwise(boundaries.rows.tolist())):
        times, entries = boundaries.times[start:end], boundaries.entries[start:end]
        assert times[0] == -1
        assert (np.diff(times) > 0).all(), i
        assert (np.diff(entries) != 0).all(), i


# Restriction


@many(150)
@given(SMALL_TEXTS, SMALL_TEXTS, HOW, st.integers(1, 8))
def test_restricted_training_equals_reference_at_every_step(
    corpus: str, text: str, how: dict[str, Any], threshold: int
) -> None:
    """A token is hidden if its count in the training text is below the threshold."""
    training = bpeviz.train(corpus, merges=15, threshold=threshold, **how)
    assert isinstance(training, RestrictedTraining)
    hidden = []
    for step in range(training.steps + 1):
        tokens = merged(training, corpus, step)
        made = [merge.new_id for merge in training.merges[:step]]
        hidden.append({token for token in made if tokens.count(token) < threshold})
    tokenizer = training.tokenizer()
    assert isinstance(tokenizer, HiddenTokenTokenizer)
    for held in (corpus, text):
        check(tokenizer, training, held, hidden)
    for step, at_step in enumerate(hidden):
        assert training.at_step(step).hidden == at_step
        words = texts_of(training).vocabulary(training, step)
        assert words.endswith(f", {len(at_step)} of them too rare to use")


@many()
@given(st.dictionaries(st.text("ab", min_size=1, max_size=6), st.integers(1, 9), max_size=6))
def test_counted_words_weigh_in_threshold(words: dict[str, int]) -> None:
    training = bpeviz.train(words, merges=12, pattern="none", threshold=6)
    for step in range(training.steps + 1):
        counts: dict[int, int] = {}
        for word, times in words.items():
            for token in merged(training, word, step):
                counts[token] = counts.get(token, 0) + times
        made = {merge.new_id for merge in training.merges[:step]}
        assert training.at_step(step).hidden == {i for i in made if counts.get(i, 0) < 6}


@pytest.mark.parametrize("how", [{"threshold": 4}, {"algorithm": "scaffold"}], ids=str)
def test_dropout_merges_before_splitting_hidden_tokens(how: dict[str, Any]) -> None:
    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    training = bpeviz.train(words, merges=10, pattern="none", **how)
    for step in (0, 4, 10):
        tokenizer = training.at_step(step)
        free = segmentations(training.merger(step), "lowest", 0.3, 200, 1)
        found = training.segmentations(step, "lowest", 0.3, 200, 1)
        assert found.total() == 200
        expected: Counter[tuple[int, ...]] = Counter()
        for ids, times in free.items():
            expected[tuple(split_back(training, [*ids], {*tokenizer.hidden}))] += times
        assert found == expected
        never = training.segmentations(step, "lowest", 0.0, 3, 1)
        assert never == {tuple(tokenizer.encode("lowest")): 3}


# Odd inputs


def test_deep_hidden_token_splits_without_recursion() -> None:
    size = 5_000
    text = "".join(map(chr, range(0x4E00, 0x4E00 + size)))  # no pair occurs twice
    tokenizer = bpeviz.train(
        text, merges=size - 1, pattern="none", atoms="characters", threshold=2
    ).tokenizer()
    assert tokenizer.encode(text) == [*range(size)]
    boundaries = tokenizer.boundaries(text)
    assert (boundaries.token_counts == size).all()
    assert len(boundaries.entries) == size  # no step changes the boundaries

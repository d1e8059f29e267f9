"""The costs of vocabulary sizes equal counts by slow loops."""

from __future__ import annotations

from collections import Counter

import pytest
from helpers.properties import examples
from helpers.texts import SMALL_TEXTS
from hypothesis import given, settings

import bpeviz
from bpeviz.analysis import vocabulary_cost


@settings(max_examples=examples(100))
@given(SMALL_TEXTS)
def test_costs_equal_encoding_with_each_tokenizer(text: str) -> None:
    training = bpeviz.train(text, merges=6)
    boundaries = training.tokenizer().boundaries(text)
    steps = [*range(training.steps + 1)]
    found = vocabulary_cost.costs(training, boundaries, steps, width=3, rarely=2)
    for step, cost in zip(steps, found, strict=True):
        tokenizer = training.at_step(step)
        ids = tokenizer.encode(text)
        times = Counter(ids)
        assert (cost.size, cost.tokens) == (256 + step, len(ids))
        assert cost.parameters == 3 * (256 + step)
        assert cost.rare == sum(times[token_id] < 2 for token_id in range(256 + step))
        assert cost.bytes_per_token == (len(text.encode()) / len(ids) if ids else 0)
        uses = vocabulary_cost.uses(boundaries, step)
        assert {at: int(count) for at, count in enumerate(uses) if count} == times


@pytest.mark.parametrize("last", [0, 1, 2, 7, 1_000, 32_000])
def test_sizes_rise_from_the_first_to_the_last_step(last: int) -> None:
    steps = vocabulary_cost.sizes(last)
    assert steps == sorted({*steps})
    assert (steps[0], steps[-1]) == (0, last)
    assert len(steps) <= vocabulary_cost.SIZES

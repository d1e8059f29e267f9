"""The costs of vocabulary sizes equal counts by slow loops."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from helpers.properties import examples
from helpers.texts import SMALL_TEXTS
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz.analysis import vocabulary_cost

TRAININGS = (
    {},
    {"pattern": "none", "ties": "largest"},
    {"atoms": "characters", "end_mark": "symbol"},
    {"algorithm": "sentencepiece", "pattern": "none"},
    {"algorithm": "superbpe", "transition": 258},
    {"algorithm": "adaptive", "base_text": "low lower", "base_size": 258},
    {"algorithm": "wordpiece"},
    {"algorithm": "scaffold"},
)


@settings(max_examples=examples(400))
@given(SMALL_TEXTS, st.sampled_from(TRAININGS), st.sampled_from([1, 2, 5]))
def test_costs_equal_counting_at_each_step(
    text: str, arguments: dict[str, Any], rarely: int
) -> None:
    try:
        training = bpeviz.train(text, merges=9, **arguments)
    except ValueError:
        assume(False)
    boundaries = training.tokenizer().boundaries(text)
    steps = [*range(training.steps + 1)]
    for step, cost in zip(
        steps, vocabulary_cost.costs(training, boundaries, steps, 3, rarely), strict=True
    ):
        frequent = sum(vocabulary_cost.uses(boundaries, step) >= rarely)
        assert cost.rare == cost.size - frequent


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

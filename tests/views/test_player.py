"""Words of the timeline, and the parts of a text that it and its neighbors show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.properties import many
from helpers.stages import timeline as timeline_of
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Training
from bpeviz.corpus.documents import Documents
from bpeviz.views.stage import of_training, steps_at


def train(text: str, **how: Any) -> tuple[Training, Boundaries]:
    training = bpeviz.train(text, **{"merges": 60} | how)
    return training, training.tokenizer().boundaries(text)


def whole_timeline(text: str, **how: Any) -> dict[str, Any]:
    training, boundaries = train(text, merges=0, **how)
    return timeline_of(text, training, boundaries)


@pytest.mark.parametrize(
    ("end_mark", "marked", "sizes"),
    [("attached", [1, 3], None), ("symbol", [], [1, 1, 0, 1, 1, 0])],
)
def test_end_marks_are_the_atoms_that_end_a_word(
    end_mark: str, marked: list[int], sizes: list[int] | None
) -> None:
    timeline = whole_timeline("ab c", atoms="characters", end_mark=end_mark, pattern="whitespace")
    assert timeline["endMarks"] == marked
    assert timeline["atomBytes"] == sizes


def test_timeline_treats_typed_end_marks_as_text() -> None:
    text = "a</w> b</w>"
    timeline = whole_timeline(text, atoms="characters", end_mark="symbol", pattern="none")
    assert timeline["atomBytes"] == [1] * len(text) + [0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithm": "wordpiece"}, "spaces left out"),
        ({"algorithm": "wordpiece", "unmatched": "drop", "pattern": "nltk"}, "some text left out"),
        ({"algorithm": "bpe"}, ""),
    ],
)
def test_timeline_says_what_gets_no_token(options: dict[str, Any], words: str) -> None:
    assert whole_timeline("a b\nc ☃", **options)["leftOut"] == words
    rows = Documents(("a b", "", "c ☃"))
    training = bpeviz.train(rows, **{"merges": 60} | options)
    assert of_training(training, rows).uncolored["leftOut"] == words, "line ends are none"


# ---- parts


@many()
@given(st.lists(st.integers(3, 12), min_size=1, max_size=12))
def test_step_at_a_size_is_the_last_of_it_or_of_a_smaller_one(history: list[int]) -> None:
    sizes = np.array(history)
    low, high = min(history) - 2, max(history) + 3
    for size, step in zip(range(low, high + 1), steps_at(sizes, low, high), strict=True):
        within = min(max(size, min(history)), max(history))
        fits = sizes == within if within in history else sizes < within
        assert step == np.flatnonzero(fits)[-1]

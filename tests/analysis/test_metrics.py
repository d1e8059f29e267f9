"""Metrics equal examples that were computed by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bpeviz
from bpeviz.analysis import figures, metrics
from bpeviz.analysis.metrics import (
    Agreement,
    Column,
    differences,
    sweep,
)
from bpeviz.core.boundaries import NEVER
from bpeviz.corpus import samples


def trained_column(text: str, merges: int, training_text: str | None = None, **how: str) -> Column:
    training = bpeviz.train(text if training_text is None else training_text, merges=merges, **how)
    tokenizer = training.tokenizer()
    return Column(f"{merges} merges", tokenizer, tokenizer.boundaries(text), tokenizer.steps)


def measure(text: str, columns: list[Column], baseline: int) -> list[Any]:
    """Return the figures of each column by their keys, with its agreement."""
    return [
        SimpleNamespace(
            **{figure.key: figure.of(measured) for figure in figures.OF_TEXT},
            agreement=measured.agreement,
        )
        for measured in figures.measure(text, columns, baseline)
    ]


# ---- measures


def test_dropped_text_at_the_start_and_the_end_has_no_boundary() -> None:
    words = trained_column("  low low ", 9, algorithm="wordpiece")
    assert [np.array(each).tolist() for each in words.separations] == [[5], [6], 2, 9]
    apart = trained_column("  low low ", 0, pattern="characters")
    for text in (" low", "low\n", " low\n"):
        found = trained_column(text, 9, algorithm="wordpiece")
        whole = trained_column(text, 9, pattern="none")
        assert measure(text, [found, whole], 1)[0].agreement == Agreement(1, 1, 1)
    extra, missing = differences(apart, words)
    assert (extra.tolist(), missing.tolist()) == ([3, 4, 7, 8], [])
    nothing = trained_column("  ", 9, algorithm="wordpiece")
    assert differences(trained_column("  ", 0), nothing)[0].tolist() == [1]


# ---- common boundaries, sweeps


def test_common_boundaries_are_those_of_every_column() -> None:
    text = "ab ab c"
    boundaries = metrics.common_boundaries([trained_column(text, 0), trained_column(text, 1)])
    kept = np.flatnonzero(boundaries.merged_at == NEVER) + 1
    assert kept.tolist() == [2, 3, 5, 6, 7]
    assert len(metrics.common_boundaries([trained_column("", 0)])) == 0


def test_sweep_returns_bytes_per_token_at_every_size() -> None:
    text = "ab ab c"
    sizes, ratios = sweep(trained_column(text, 2))
    assert sizes.tolist() == [256, 257, 258]
    assert ratios.tolist() == pytest.approx([7 / 7, 7 / 5, 7 / 4])  # " ab" joins once


def test_sweep_ends_at_the_step_of_the_column_and_is_thinned() -> None:
    text = samples.by_key("english-prose").text
    column = trained_column(text, 300)
    cut = Column("less", column.tokenizer, column.boundaries, 90)
    sizes, ratios = sweep(cut, points=20)
    assert len(sizes) <= 20
    assert (sizes[0], sizes[-1]) == (256, 256 + 90)
    assert np.all(np.diff(sizes) > 0)
    assert np.all(np.diff(ratios) >= 0)
    assert ratios[-1] == pytest.approx(measure(text, [cut], 0)[0].bytes_per_token)


def test_common_boundaries_with_always_exist_at_every_step() -> None:
    """A piece that is pruned later covers the boundary before that step."""
    text = "low low lower"
    training = bpeviz.train(text, "unigram")
    column = Column("Unigram", training.tokenizer(), training.tokenizer().boundaries(text), 0)
    last = Column("Unigram", column.tokenizer, column.boundaries, training.steps)
    kept = {
        always: (
            metrics.common_boundaries([last], always=always).permanent.nonzero()[0] + 1
        ).tolist()
        for always in (False, True)
    }
    assert kept[False] == [*range(1, len(text) + 1)]
    every = [{*column.boundaries.cuts(step).tolist()} for step in range(training.steps + 1)]
    assert kept[True] == sorted(set.intersection(*every)) != kept[False]

"""The comparisons with figures from outside that the Learn page shows."""

from __future__ import annotations

import pytest
import reference

from bpeviz.analysis import known_answers
from bpeviz.analysis.known_answers import COMPARISONS, Comparison
from bpeviz.pretrained import download


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda one: one.what)
def test_engine_agrees_with_a_figure_from_outside(comparison: Comparison) -> None:
    if comparison.needs and not download.available(comparison.needs):
        pytest.skip(f"{comparison.needs} is not on this machine.")
    assert comparison.compute() == comparison.expected
    assert known_answers.compare(comparison).agrees


def test_different_result_does_not_agree() -> None:
    changed = Comparison("a", "b", "expected", lambda: "found")
    assert not known_answers.compare(changed).agrees


def test_comparison_without_its_vocabulary_has_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "available", lambda name: False)
    (compared,) = {known_answers.compare(one).found for one in COMPARISONS if one.needs}
    assert compared is None


@pytest.mark.parametrize(("least", "steps", "tokens"), [(1, 20, 81), (2, 14, 87)])
def test_naive_loop_finds_the_figures_of_don_quijote(least: int, steps: int, tokens: int) -> None:
    raw = list(known_answers.DON_QUIJOTE.encode())
    merges, _ = reference.train([(raw, 1)], list(map(chr, range(256))), 20, min_count=least)
    assert len(merges) == steps
    assert len(raw) - sum(merge.applied for merge in merges) == tokens

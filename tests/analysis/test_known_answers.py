"""The comparisons with figures from outside that the Learn page shows."""

from __future__ import annotations

import pytest
import reference

from bpeviz.analysis import known_answers, library_comparisons
from bpeviz.analysis.known_answers import COMPARISONS, Comparison
from bpeviz.core.library_pool import LibraryError
from bpeviz.pretrained import download


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "comparison", library_comparisons.comparisons(), ids=lambda one: one.what.partition(":")[0]
)
def test_libraries_agree_with_the_engine(comparison: Comparison) -> None:
    assert known_answers.compare(comparison).found == comparison.expected


def test_library_that_fails_gives_the_reason() -> None:
    def refuse() -> str:
        raise LibraryError("it takes more than 5 seconds")

    compared = known_answers.compare(Comparison("a", "b", "expected", refuse))
    assert compared.found is None
    assert not compared.agrees
    assert "5 seconds" in compared.missing

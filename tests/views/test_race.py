"""The race: at every step its rows are the best candidates of the training history."""

from __future__ import annotations

import json

import pytest
from helpers import usual

import bpeviz
from bpeviz.analysis.hues import OWN_HUES
from bpeviz.palette import COLORS
from bpeviz.trainers import TRAINERS
from bpeviz.views import race
from bpeviz.views.stage import of_training

TEXT = "she sells seashells by the seashore, the shells she sells\n" * 3


@pytest.mark.parametrize("key", TRAINERS)
def test_rows_are_the_best_candidates_at_every_step(key: str) -> None:
    training = usual.train(key, TEXT)
    boundaries = training.tokenizer().boundaries(TEXT)
    row = of_training(training, TEXT, boundaries)
    first = race.first_rows(row)
    data = race.payload(row, first, OWN_HUES, "timeline")
    json.dumps(data, allow_nan=False)
    assert training.steps > 3
    assert len(data["first"]) == training.steps
    for step, rows in enumerate(data["first"]):
        found = training.candidates(TEXT, boundaries, step, race.BEST)
        assert [ids for ids, _ in rows] == [list(one.ids) for one in found]
        for (_, value), one in zip(rows, found, strict=True):
            decides = one.count if one.score is None else one.score
            assert value == pytest.approx(decides, rel=0.01)
        for ids, _ in rows:
            for token_id in ids:
                name, color = data["styles"][token_id]
                assert name == training.name(token_id)
                assert -1 <= color < COLORS


def test_later_steps_are_sent_at_rest() -> None:
    training = usual.train("bpe", TEXT)
    boundaries = training.tokenizer().boundaries(TEXT)
    row = of_training(training, TEXT, boundaries)
    first = race.first_rows(row, 4)
    data = race.payload(row, first, OWN_HUES, "timeline")
    assert len(data["first"]) == 4
    found = training.candidates(TEXT, boundaries, 6, 100)
    late = race.with_rest(data, row, 7, OWN_HUES)
    assert late["atRest"]["step"] == 6
    assert [ids for ids, _ in late["atRest"]["rows"]] == [list(one.ids) for one in found[:5]]
    assert {i for one in found[:5] for i in one.ids} <= late["styles"].keys()


def test_candidates_at_rest_are_sent_only_for_steps_without_them() -> None:
    training = usual.train("bpe", TEXT)
    boundaries = training.tokenizer().boundaries(TEXT)
    row = of_training(training, TEXT, boundaries)
    first = race.first_rows(row, 4)
    data = race.payload(row, first, OWN_HUES, "timeline")
    sent = [
        (race.with_rest(data, row, step, OWN_HUES)["atRest"] or {}).get("step")
        for step in (0, 4, 5, training.steps, training.steps + 1)
    ]
    assert sent == [None, None, 4, training.steps - 1, None]


def test_unwatched_race_has_the_candidates_at_rest_alone() -> None:
    training = usual.train("bpe", TEXT)
    boundaries = training.tokenizer().boundaries(TEXT)
    row = of_training(training, TEXT, boundaries)
    all_rows = race.first_rows(row)
    data = race.payload(row, None, OWN_HUES, "timeline")
    assert (data["first"], data["isUnwatched"]) == ([], True)
    for step in (0, 1, training.steps):
        at_rest = race.with_rest(data, row, step, OWN_HUES)["atRest"]
        assert at_rest["rows"] == all_rows[at_rest["step"]]


def test_races_of_a_file_share_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    training = usual.train("bpe", TEXT)
    boundaries = training.tokenizer().boundaries(TEXT)
    row = of_training(training, TEXT, boundaries)

    def rows(last: int, races: int = 1) -> int:
        data = race.in_file(row, OWN_HUES, "timeline", last, races)
        assert data is not None
        assert ("note" in data) == (len(data["first"]) < last)
        return len(data["first"])

    monkeypatch.setattr(race, "STEPS", 8)
    assert [rows(3), rows(8), rows(10), rows(10, races=2)] == [3, 8, 8, 4]
    monkeypatch.setattr(race, "IN_FILE", 6 * len(boundaries))
    assert [rows(3), rows(10), rows(10, races=2)] == [3, 6, 3]


def test_pairs_that_may_not_merge_are_no_candidates() -> None:
    text = "low lower lowest"
    options = {"min_count": 2}
    training = bpeviz.train(text, vocab_size=400, **options)
    assert training.stopped == "rare"
    last = training.steps - 1
    row = of_training(training, text, options=options)
    listed = race.candidates(row, last)
    assert [count for _, count in listed] == [2]
    unfiltered = race.candidates(of_training(training, text), last)
    assert {count for _, count in unfiltered} == {1, 2}

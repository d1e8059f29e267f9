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
from bpeviz.views.stage import Row, of_training

TEXT = "she sells seashells by the seashore, the shells she sells\n" * 3


@pytest.mark.parametrize("key", TRAINERS)
def test_groups_are_the_best_candidates_at_every_step(key: str) -> None:
    training = usual.train(key, TEXT)
    boundaries = training.tokenizer().boundaries(TEXT)
    row = of_training(training, TEXT, boundaries)
    data = race.payload(row, race.first_groups(row), OWN_HUES)
    json.dumps(data, allow_nan=False)
    assert training.steps > 3
    assert len(data["first"]) == training.steps
    for step, groups in enumerate(data["first"]):
        found = training.candidates(TEXT, boundaries, step, 10_000)
        values = list(dict.fromkeys(one.value for one in found))[: race.GROUPS]
        assert len(groups) == len(values)
        for (value, number, members), expected in zip(groups, values, strict=True):
            tied = [[*one.ids] for one in found if one.value == expected]
            assert value == pytest.approx(expected, rel=0.01)
            assert (number, members) == (len(tied), tied[: race.MEMBERS])
        for token_id in race.ids_of([groups]):
            name, color = data["styles"][token_id]
            assert name == training.name(token_id)
            assert -1 <= color < COLORS


def test_first_group_counts_the_ties_of_the_decision_in_the_order_of_the_text() -> None:
    training = usual.train("bpe", TEXT)
    row = of_training(training, TEXT, training.tokenizer().boundaries(TEXT))
    for step, merge in enumerate(training.merges):
        _, number, members = race.groups(row, step)[0]
        assert (number, members[0]) == (merge.ties + 1, [merge.left, merge.right])
    texts = ["".join(map(training.name, ids)) for ids in race.groups(row, 0)[-1][2]]
    places = [TEXT.replace(" ", "·").index(text.replace("\n", "↵")) for text in texts]
    assert places == sorted(places)


@pytest.fixture
def row() -> Row:
    return of_training(usual.train("bpe", TEXT), TEXT)


def test_candidates_at_rest_are_sent_only_for_steps_without_them(row: Row) -> None:
    first = race.first_groups(row, 4)
    data = race.payload(row, first, OWN_HUES)
    sent = [
        (race.with_rest(data, row, step, OWN_HUES)["atRest"] or {}).get("step")
        for step in (0, 4, 5, row.steps, row.steps + 1)
    ]
    assert sent == [None, None, 4, row.steps - 1, None]
    late = race.with_rest(data, row, 7, OWN_HUES)
    assert late["atRest"] == {"step": 6, "groups": race.groups(row, 6)}
    assert race.ids_of([race.groups(row, 6)]) <= late["styles"].keys()


def test_unwatched_race_has_the_candidates_at_rest_alone(row: Row) -> None:
    all_groups = race.first_groups(row)
    data = race.payload(row, None, OWN_HUES)
    assert (data["first"], data["isUnwatched"]) == ([], True)
    for step in (0, 1, row.steps):
        at_rest = race.with_rest(data, row, step, OWN_HUES)["atRest"]
        assert at_rest["groups"] == all_groups[at_rest["step"]]


def test_races_of_a_file_share_its_limits(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:

    def rows(last: int, races: int = 1) -> int:
        data = race.in_file(row, OWN_HUES, last, races)
        assert data is not None
        assert ("note" in data) == (len(data["first"]) < last)
        return len(data["first"])

    monkeypatch.setattr(race, "STEPS", 8)
    assert [rows(3), rows(8), rows(10), rows(10, races=2)] == [3, 8, 8, 4]
    monkeypatch.setattr(race, "IN_FILE", 6 * len(row.boundaries))
    assert [rows(3), rows(10), rows(10, races=2)] == [3, 6, 3]


def test_pairs_that_may_not_merge_are_no_candidates() -> None:
    text = "low lower lowest"
    options = {"min_count": 2}
    training = bpeviz.train(text, vocab_size=400, **options)
    assert training.stopped == "rare"
    last = training.steps - 1
    row = of_training(training, text, options=options)
    assert [count for count, *_ in race.groups(row, last)] == [2]
    unfiltered = race.groups(of_training(training, text), last)
    assert [count for count, *_ in unfiltered] == [2, 1]

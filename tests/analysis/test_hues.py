"""Color indices: tokens that touch differ, and a token has one color in all views."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from helpers import usual
from helpers.payloads import color_index
from helpers.properties import many
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.analysis.hues import OWN, Contacts, Hues, Keys, contacts, contacts_at, hues, keys_of
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import Part
from bpeviz.corpus.samples import SAMPLES, Sample
from bpeviz.text import COLORS, color_key
from bpeviz.trainers import TRAINERS
from bpeviz.views import player

TEXT = "the old cat sat and the cold cat sat\nthe old 世界 👩‍👩‍👧 cat ate\n" * 2

View = tuple[Contacts, Keys]


def clashes(views: list[View], found: Hues) -> tuple[int, int]:
    """Return how many touching tokens have the same color, and how many touch."""
    same = total = 0
    for pairs, key in views:
        for (left, right), times in pairs.items():
            one, other = (key(i) if i >= 0 else -1 for i in (left, right))
            if one != other and min(one, other) >= 0:
                total += times
                same += times * (found.index(one) == found.index(other))
    return same, total


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.key)
def test_touching_tokens_differ_at_all_steps_and_in_all_columns(sample: Sample) -> None:
    training = bpeviz.train(sample.text, vocab_size=32_768, min_count=2)
    views: list[View] = [
        (contacts(training.tokenizer().boundaries(sample.text)), training.color_key)
    ]
    for name in ("gpt2", "cl100k_base", "o200k_base"):
        tokenizer = bpeviz.load(name)
        views.append((contacts(tokenizer.boundaries(sample.text)), keys_of(tokenizer)))
    found = hues(views)
    same, total = clashes(views, found)
    before = clashes(views, OWN)[0]
    assert same <= min(before, total / 100)
    assert before > total / 100 or len(sample.text) < 200  # a short text may have no clash
    own = sum(index == key % COLORS for key, index in found.indices.items())
    assert own >= 0.65 * len(found.indices)


@pytest.mark.parametrize("key", TRAINERS)
def test_contacts_are_the_neighbors_at_every_step(key: str) -> None:
    training = usual.train(key, TEXT)
    boundaries = training.tokenizer().boundaries(TEXT)
    expected = {
        pair
        for step in range(boundaries.steps + 1)
        for pair in pairwise(boundaries.ids(step).tolist())
        if min(pair) >= 0
    }
    assert {pair for pair in contacts(boundaries) if min(pair) >= 0} == expected


def test_given_color_indices_stay() -> None:
    first = hues([(contacts_at([1, 2, 3]), lambda token_id: COLORS * token_id)])
    assert len({*first.indices.values()}) >= 2
    second = hues([(contacts_at([1, 9, 2]), lambda token_id: COLORS * token_id)], first)
    assert second.indices | first.indices == second.indices
    assert second.index(COLORS * 9) not in {first.index(COLORS), first.index(2 * COLORS)}
    assert (first.index(-1), first.index(COLORS * 77 + 5)) == (-1, 5)


def test_token_without_equal_neighbors_keeps_its_own_color() -> None:
    assert hues([(Counter({(1, 2): 3}), lambda token_id: token_id)]).indices == {1: 1, 2: 2}


def test_token_has_one_color_in_all_columns_and_in_the_player() -> None:
    text = "the old cold cat sat on the old cold mat " * 3
    training = bpeviz.train(text, vocab_size=400, min_count=2)
    boundaries = training.tokenizer().boundaries(text)
    part = Part(0, len(text), 0, len(text))
    found = player.hues_of([(training, boundaries, part)])
    moved = [key for key, index in found.indices.items() if index != key % COLORS]
    assert moved
    timeline = player.timeline(text, training, boundaries, part, training.steps)
    columns = [
        Column(str(step), training.at_step(step), boundaries, step) for step in (9, training.steps)
    ]
    beside = player.side_by_side(text, columns, part, 0, hues=found)
    colors = {name: index for name, index in timeline["tokenStyles"].values() if index >= 0}
    shown = [one for column in beside["columns"] for one in column["distinct"] if one[3] >= 0]
    assert shown
    for _, name, raw, index in shown:
        assert colors[name] == index == found.index(color_key(bytes.fromhex(raw)))
    assert any(index != color_index(bytes.fromhex(raw)) for _, _, raw, index in shown)


@many()
@given(
    st.text("ab \U0001f41a", max_size=40),
    st.text("abc ", min_size=1, max_size=30),
    st.integers(0, 12),
)
def test_contacts_of_merges_are_those_of_their_changes(
    trained: str, text: str, merges: int
) -> None:
    tokenizer = bpeviz.train(trained, merges=merges).tokenizer()
    for boundaries in (tokenizer.boundaries(text), tokenizer.boundaries(text).slice(0, 1)):
        assert contacts(boundaries) == contacts(boundaries.as_changes())

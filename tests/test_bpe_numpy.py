"""The NumPy learner decides what the plain one decides, ties and all, on its every path."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpeviz import progress
from bpeviz.learners import bpe_numpy
from bpeviz.learners.bpe import fast_merges, learn_merges

ROWS = st.dictionaries(
    st.lists(st.integers(0, 3), min_size=1, max_size=24).map(tuple),
    st.sampled_from([1, 1, 1, 2, 3, 7, 0]),
    max_size=8,
).map(lambda rows: [*rows.items()])


@settings(max_examples=600)
@given(
    ROWS,
    st.sampled_from([0, 1, 4, 48]),
    st.sampled_from(["first", "smallest"]),
    st.integers(1, 3),
    st.sampled_from([0, 1, 3, 60]),
)
def test_numpy_decides_what_the_plain_loop_decides(
    rows: list[tuple[tuple[int, ...], int]], few: int, ties: str, min_count: int, limit: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe_numpy, "FEW", few)
        found = fast_merges(rows, "abcd", limit, ties=ties, min_count=min_count)
    assert found == learn_merges(rows, "abcd", limit, ties=ties, min_count=min_count)


@pytest.mark.parametrize("few", [0, 48])
@pytest.mark.parametrize("ties", ["first", "smallest"])
def test_a_longer_text_is_decided_alike(
    few: int, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bpe_numpy, "FEW", few)
    draw = random.Random(5)
    letters = [draw.choices("abcdefgh", weights=range(1, 9))[0] for _ in range(6_000)]
    row = ["abcdefgh".index(letter) for letter in letters]
    chunks = [(row[i : i + 690], 1 + i % 4) for i in range(0, 5_000, 700)]
    learnt = fast_merges(chunks, "abcdefgh", 900, ties=ties)
    assert learnt == learn_merges(chunks, "abcdefgh", 900, ties=ties)
    assert any(merge.ties > 5 for merge in learnt[0])


def test_more_ids_than_small_numbers_hold_are_decided_alike() -> None:
    atoms = 70_000
    symbols = [chr(i + 0x10000) for i in range(atoms)]
    draw = random.Random(7)
    some = [draw.randrange(atoms) for _ in range(40)]
    rows = [([draw.choice(some) for _ in range(60)], 1 + i) for i in range(6)]
    assert fast_merges(rows, symbols, 100) == learn_merges(rows, symbols, 100)


@pytest.mark.parametrize("learn", [fast_merges, learn_merges])
def test_progress_is_told_and_what_the_listener_raises_ends_the_work(learn: object) -> None:
    rows = [([i % 7 for i in range(3_000)], 1)]
    told: list[tuple[str, int, int]] = []
    with progress.listening(lambda *said: told.append(said)):
        learn(rows, "abcdefg", 50)
    assert told[0] == ("Learning merges", 0, 50)
    assert all(0 <= done < of == 50 for _, done, of in told)

    def stop(*said: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress.listening(stop):
        learn(rows, "abcdefg", 50)

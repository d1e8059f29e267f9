"""The NumPy learner decides what the plain one decides, ties and all, on its every path."""

from __future__ import annotations

import random
import tracemalloc
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpeviz import progress
from bpeviz.trainers.bpe import fast_merges, learn_merges
from bpeviz.trainers.fast_bpe import layout, limits, pairs, rounds, tied

LETTERS = st.integers(0, 3)
LINES = st.lists(LETTERS, min_size=1, max_size=24).map(tuple)
# Words that come again: of these many pairs are equally frequent and stand side by side.
SENTENCES = st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=6), max_size=5).flatmap(
    lambda words: st.lists(st.sampled_from(words or [[0]]), min_size=1, max_size=20).map(
        lambda said: tuple(chain.from_iterable(said))
    )
)


def weighted(lines: st.SearchStrategy[tuple[int, ...]], weights: list[int]) -> object:
    rows = st.dictionaries(lines, st.sampled_from(weights), max_size=8)
    return rows.map(lambda found: [*found.items()])


ROWS = st.one_of(
    weighted(lines, weights)
    for lines in (LINES, SENTENCES)
    for weights in ([1], [1, 1, 1, 2, 3, 7], [1, 1, 1, 2, 3, 7, 0])
)


@settings(max_examples=800)
@given(
    ROWS,
    st.sampled_from([0, 1, 4, 48]),
    st.sampled_from([1, 2, 4, 16]),
    st.sampled_from([(1, 1, 0), (1, 9, 1 << 22), (3, 30, 0), (1 << 21, 1 << 24, 1 << 22)]),
    st.sampled_from(["first", "smallest"]),
    st.integers(1, 3),
    st.sampled_from([0, 1, 3, 12, 60]),
)
def test_numpy_decides_what_the_plain_loop_decides(
    rows: list[tuple[tuple[int, ...], int]],
    few: int,
    many: int,
    rooms: tuple[int, int, int],
    ties: str,
    min_count: int,
    limit: int,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "LOOP_LIMIT", few)
        patch.setattr(limits, "BATCH_MIN", many)
        for name, size in zip(("BLOCK", "MAX_POSITIONS", "MAX_TABLE"), rooms, strict=True):
            patch.setattr(limits, name, size)
        found = fast_merges(rows, "abcdefgh", limit, ties=ties, min_count=min_count)
    assert found == learn_merges(rows, "abcdefgh", limit, ties=ties, min_count=min_count)


def words(seed: int, number: int) -> list[int]:
    """Return a text of made-up words, some of them frequent, over eight letters."""
    draw = random.Random(seed)
    lexicon = [draw.choices(range(8), k=draw.randint(1, 9)) for _ in range(600)]
    frequent = [1 / (i + 1) for i in range(600)]
    return [*chain.from_iterable(draw.choices(lexicon, frequent, k=number))]


@pytest.mark.parametrize("many", [2, 16])
@pytest.mark.parametrize("limit", [400, 1_000, 10_000])
def test_what_is_merged_together_is_decided_alike(
    many: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BATCH_MIN", many)
    together: list[int] = []

    def runs(*given: object) -> object:
        found = tied.order_tied(*given)
        together.append(sum(map(len, found[0])))
        return found

    monkeypatch.setattr(rounds, "order_tied", runs)
    text = words(3, 3_000)
    for rows in ([(text, 1)], [(text[i : i + 9], 1 + i % 5) for i in range(0, len(text), 9)]):
        learnt = fast_merges(rows, "abcdefgh", limit)
        assert learnt == learn_merges(rows, "abcdefgh", limit)
        assert sum(together) > len(learnt[0]) / 4, (together, len(learnt[0]))
        together.clear()


@pytest.mark.parametrize("few", [0, 48])
@pytest.mark.parametrize("ties", ["first", "smallest"])
def test_a_longer_text_is_decided_alike(
    few: int, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LOOP_LIMIT", few)
    draw = random.Random(5)
    letters = [draw.choices("abcdefgh", weights=range(1, 9))[0] for _ in range(6_000)]
    row = ["abcdefgh".index(letter) for letter in letters]
    pre_tokens = [(row[i : i + 690], 1 + i % 4) for i in range(0, 5_000, 700)]
    learnt = fast_merges(pre_tokens, "abcdefgh", 900, ties=ties)
    assert learnt == learn_merges(pre_tokens, "abcdefgh", 900, ties=ties)
    assert any(merge.ties > 5 for merge in learnt[0])


def test_pairs_that_overlap_with_themselves_do_not_make_it_try_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Each c c c can only be merged alone, and stands before seventeen pairs that could together.
    groups, each = 100, 17
    row, doubles = [], []
    for atom in range(groups * (1 + 2 * each)):
        if not atom % (1 + 2 * each):
            row += [atom] * 3
        else:
            row.append(atom)
            if atom % (1 + 2 * each) % 2:
                doubles.append((atom, atom + 1))
    random.Random(2).shuffle(doubles)
    row += chain.from_iterable(doubles)
    tried: list[int] = []

    def runs(looked_at: pairs.Pairs, *given: object) -> object:
        tried.append(looked_at.n_pairs)
        return tied.order_tied(looked_at, *given)

    monkeypatch.setattr(rounds, "order_tied", runs)
    symbols = [chr(0x10000 + atom) for atom in range(max(row) + 1)]
    assert fast_merges([(row, 1)], symbols, 10_000) == learn_merges([(row, 1)], symbols, 10_000)
    assert tried[0] > groups * each
    assert sum(tried) < 20 * tried[0]


@pytest.mark.parametrize("times", [1, 300, 70_000, 5_000_000_000, 1 << 58])
def test_a_chunk_that_comes_very_often_is_decided_alike(times: int) -> None:
    text = words(4, 2_000)
    rows = [(text[i : i + 40], 1 + i % 3) for i in range(0, len(text), 40)]
    rows[3:3] = [(words(1, 2), times), (words(2, 3), times - 1)]
    rows = [*{tuple(row): (row, many) for row, many in rows}.values()]
    assert fast_merges(rows, "abcdefgh", 500) == learn_merges(rows, "abcdefgh", 500)


LONG = {
    "words": words(6, 50_000),
    # Of these, the most frequent pairs have more places than there is room for at once.
    "one letter": [1] * 200_000,
    "two letters": random.Random(8).choices([2, 5], k=200_000),
    "a line again and again": [2, 0, 7, 3, 1, 6, 4, 5] * 25_000,
    "a longer line": [*chain.from_iterable((i // 8, i % 8, 0) for i in range(64))] * 1_000,
    "seldom anything else": random.Random(9).choices(range(8), [93, *[1] * 7], k=200_000),
}


@pytest.mark.parametrize("weight", [1, 2])
@pytest.mark.parametrize("kind", LONG)
def test_a_long_text_takes_little_more_memory_than_its_row(
    kind: str, weight: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in ("BLOCK", 1 << 13), ("MAX_POSITIONS", 1 << 14), ("MAX_TABLE", 1 << 10):
        monkeypatch.setattr(limits, name, size)
    text = np.array(LONG[kind], np.uint8)
    tracemalloc.start()
    rows = layout.Rows.of_array(text, np.array([len(text)]), np.array([weight]))
    merges, _ = rounds.learn_merges(rows, 8, 300)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert merges == learn_merges([(text.tolist(), weight)], "abcdefgh", 300)[0]
    # Two bytes a place, one for its weight, two for its boundary, and a few blocks; four more
    # where so many pairs are equally frequent that all their places are written down. [bytes]
    assert peak < 12 * len(text), peak / len(text)


@pytest.mark.parametrize("room", [1 << 23, 8])
def test_more_ids_than_small_numbers_hold_are_decided_alike(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_POSITIONS", room)
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
    with progress.reporting_to(lambda *said: told.append(said)):
        learn(rows, "abcdefg", 50)
    assert told[0] == ("Learning merges", 0, 50)
    assert all(0 <= done < of == 50 for _, done, of in told)

    def stop(*said: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress.reporting_to(stop):
        learn(rows, "abcdefg", 50)

"""The fast BPE trainer makes the merges of the plain one, ties included, on each of its paths."""

from __future__ import annotations

import random
import tracemalloc
from itertools import chain

import numpy as np
import pytest
from helpers.properties import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bpeviz import progress
from bpeviz.trainers.bpe import train_merges, train_merges_fast
from bpeviz.trainers.fast_bpe import layout, limits, pairs, rounds, tied_pairs

LINES = st.lists(st.integers(0, 3), min_size=1, max_size=24).map(tuple)
# Repeated words: many of their pairs are tied and adjacent.
SENTENCES = st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=6), max_size=5).flatmap(
    lambda words: st.lists(st.sampled_from(words or [[0]]), min_size=1, max_size=20).map(
        lambda chosen: tuple(chain.from_iterable(chosen))
    )
)


def weighted(lines: st.SearchStrategy[tuple[int, ...]], weights: list[int]) -> object:
    rows = st.dictionaries(lines, st.sampled_from(weights), max_size=8)
    return rows.map(lambda found: [*found.items()])


PRETOKENS = st.one_of(
    weighted(lines, weights)
    for lines in (LINES, SENTENCES)
    for weights in ([1], [1, 1, 1, 2, 3, 7], [1, 1, 1, 2, 3, 7, 0])
)


@pytest.mark.large
@settings(max_examples=examples(800))
@given(
    PRETOKENS,
    st.sampled_from([0, 1, 4, 48]),
    st.sampled_from([1, 2, 4, 16]),
    st.sampled_from([(1, 1, 0), (1, 9, 1 << 22), (3, 30, 0), (1 << 21, 1 << 24, 1 << 22)]),
    st.sampled_from(["first", "smallest", "bytes"]),
    st.integers(1, 3),
    st.sampled_from([0, 1, 3, 12, 60]),
)
def test_fast_trainer_equals_plain_trainer(
    pre_tokens: list[tuple[tuple[int, ...], int]],
    loop_limit: int,
    batch_min: int,
    sizes: tuple[int, int, int],
    ties: str,
    min_count: int,
    limit: int,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "LOOP_LIMIT", loop_limit)
        patch.setattr(limits, "BATCH_MIN", batch_min)
        for name, size in zip(("BLOCK", "MAX_POSITIONS", "MAX_TABLE"), sizes, strict=True):
            patch.setattr(limits, name, size)
        fast = train_merges_fast(pre_tokens, "abcdefgh", limit, ties=ties, min_count=min_count)
    assert fast == train_merges(pre_tokens, "abcdefgh", limit, ties=ties, min_count=min_count)


def random_words(seed: int, number: int) -> list[int]:
    """Return a text of random words, some of them frequent, over eight letters."""
    draw = random.Random(seed)
    lexicon = [draw.choices(range(8), k=draw.randint(1, 9)) for _ in range(600)]
    weights = [1 / (i + 1) for i in range(600)]
    return [*chain.from_iterable(draw.choices(lexicon, weights, k=number))]


@pytest.mark.slow
@pytest.mark.parametrize("batch_min", [2, 16])
@pytest.mark.parametrize("limit", [400, 1_000, 10_000])
def test_batches_of_tied_pairs_equal_plain_trainer(
    batch_min: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BATCH_MIN", batch_min)
    in_batches: list[int] = []

    def order_tied(*given: object) -> tied_pairs.TiedOrder:
        order = tied_pairs.order_tied(*given)
        in_batches.append(sum(map(len, order.runs)))
        return order

    monkeypatch.setattr(rounds, "order_tied", order_tied)
    text = random_words(3, 3_000)
    for pre_tokens in ([(text, 1)], [(text[i : i + 9], 1 + i % 5) for i in range(0, len(text), 9)]):
        fast = train_merges_fast(pre_tokens, "abcdefgh", limit)
        assert fast == train_merges(pre_tokens, "abcdefgh", limit)
        assert sum(in_batches) > len(fast[0]) / 4, (in_batches, len(fast[0]))
        in_batches.clear()


@pytest.mark.parametrize("loop_limit", [0, 48])
@pytest.mark.parametrize("ties", ["first", "smallest", "bytes"])
def test_longer_text_equals_plain_trainer(
    loop_limit: int, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LOOP_LIMIT", loop_limit)
    draw = random.Random(5)
    row = [draw.choices(range(8), weights=range(1, 9))[0] for _ in range(6_000)]
    pre_tokens = [(row[i : i + 690], 1 + i % 4) for i in range(0, 5_000, 700)]
    fast = train_merges_fast(pre_tokens, "abcdefgh", 900, ties=ties)
    assert fast == train_merges(pre_tokens, "abcdefgh", 900, ties=ties)
    assert any(merge.ties > 5 for merge in fast[0])


def test_self_overlapping_pairs_do_not_make_batches_quadratic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Each c c c must be merged alone, and occurs before seventeen pairs that form a batch.
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

    def order_tied(batch: pairs.Pairs, *given: object) -> tied_pairs.TiedOrder:
        tried.append(batch.n_pairs)
        return tied_pairs.order_tied(batch, *given)

    monkeypatch.setattr(rounds, "order_tied", order_tied)
    symbols = [chr(0x10000 + atom) for atom in range(max(row) + 1)]
    assert train_merges_fast([(row, 1)], symbols, 10_000) == train_merges(
        [(row, 1)], symbols, 10_000
    )
    assert tried[0] > groups * each
    assert sum(tried) < 20 * tried[0]


@pytest.mark.parametrize("count", [1, 300, 70_000, 5_000_000_000, 1 << 58])
def test_very_frequent_pretoken_equals_plain_trainer(count: int) -> None:
    text = random_words(4, 2_000)
    rows = [(text[i : i + 40], 1 + i % 3) for i in range(0, len(text), 40)]
    rows[3:3] = [(random_words(1, 2), count), (random_words(2, 3), count - 1)]
    pre_tokens = [*{tuple(ids): (ids, weight) for ids, weight in rows}.values()]
    assert train_merges_fast(pre_tokens, "abcdefgh", 500) == train_merges(
        pre_tokens, "abcdefgh", 500
    )


LONG_TEXTS = {
    "words": random_words(6, 50_000),
    # Here the positions of the most frequent pairs exceed what a round stores.
    "one letter": [1] * 200_000,
    "two letters": random.Random(8).choices([2, 5], k=200_000),
    "repeated line": [2, 0, 7, 3, 1, 6, 4, 5] * 25_000,
    "longer repeated line": [*chain.from_iterable((i // 8, i % 8, 0) for i in range(64))] * 1_000,
    "mostly one letter": random.Random(9).choices(range(8), [93, *[1] * 7], k=200_000),
}


@pytest.mark.large
@pytest.mark.parametrize("weight", [1, 2])
@pytest.mark.parametrize("kind", LONG_TEXTS)
def test_long_text_needs_little_more_memory_than_its_row(
    kind: str, weight: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in ("BLOCK", 1 << 13), ("MAX_POSITIONS", 1 << 14), ("MAX_TABLE", 1 << 10):
        monkeypatch.setattr(limits, name, size)
    text = np.array(LONG_TEXTS[kind], np.uint8)
    tracemalloc.start()
    rows = layout.TokenRow.from_arrays(text, np.array([len(text)]), np.array([weight]))
    merges, _ = rounds.train_merges(rows, "abcdefgh", 300)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert merges == train_merges([(text.tolist(), weight)], "abcdefgh", 300)[0]
    # Two bytes a position, one for its weight, two for its boundary, and a few blocks; four more
    # where the positions of many tied pairs are stored. [bytes]
    assert peak < 12 * len(text), peak / len(text)


@pytest.mark.parametrize("max_positions", [1 << 23, 8])
def test_ids_over_16_bits_equal_plain_trainer(
    max_positions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_POSITIONS", max_positions)
    atoms = 70_000
    symbols = [chr(i + 0x10000) for i in range(atoms)]
    draw = random.Random(7)
    used = [draw.randrange(atoms) for _ in range(40)]
    pre_tokens = [([draw.choice(used) for _ in range(60)], 1 + i) for i in range(6)]
    assert train_merges_fast(pre_tokens, symbols, 100) == train_merges(pre_tokens, symbols, 100)


@pytest.mark.parametrize("train", [train_merges_fast, train_merges])
def test_training_reports_progress_and_stops_when_listener_raises(train: object) -> None:
    pre_tokens = [([i % 7 for i in range(3_000)], 1)]
    reports: list[tuple[str, int, int]] = []
    with progress.reporting_to(lambda *report: reports.append(report)):
        train(pre_tokens, "abcdefg", 50)
    assert reports[0][1:] == (0, 50)
    assert all(0 <= done < of == 50 for _, done, of in reports)

    def stop(*report: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress.reporting_to(stop):
        train(pre_tokens, "abcdefg", 50)

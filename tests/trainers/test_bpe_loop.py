"""The fast loop makes the merges of the definition of BPE, ties included, on each of its paths."""

from __future__ import annotations

import random
import tracemalloc
from itertools import chain, product

import numpy as np
import pytest
from helpers.properties import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz import progress
from bpeviz.trainers import bpe_loop
from bpeviz.trainers.bpe import definition, train_by_definition
from bpeviz.trainers.bpe_loop import MergeLoop
from bpeviz.trainers.layout import TokenRow

LINES = st.lists(st.integers(0, 3), min_size=1, max_size=24).map(tuple)
# Repeated words: many of their pairs are tied and adjacent.
SENTENCES = st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=6), max_size=5).flatmap(
    lambda words: st.lists(st.sampled_from(words or [[0]]), min_size=1, max_size=20).map(
        lambda chosen: tuple(chain.from_iterable(chosen))
    )
)


def weighted(lines: st.SearchStrategy[tuple[int, ...]], weights: list[int]) -> object:
    rows = st.dictionaries(lines, st.sampled_from(weights), max_size=8)
    return rows.map(lambda counts: [*counts.items()])


PRETOKENS = st.one_of(
    weighted(lines, weights)
    for lines in (LINES, SENTENCES)
    for weights in ([1], [1, 1, 1, 2, 3, 7], [1, 1, 1, 2, 3, 7, 0])
)


def short_of(length: int) -> object:
    return lambda name: len(name) <= length


ALLOWED = st.sampled_from(
    [None, short_of(2), short_of(3), short_of(5), lambda name: "ab" not in name, lambda name: False]
)


def set_sizes(patch: pytest.MonkeyPatch, **sizes: int) -> None:
    """Set sizes at which the method changes, as far as the loop has them."""
    for name, size in sizes.items():
        patch.setattr(bpe_loop, name, size, raising=False)


SIZES = [
    dict(zip(("POSITIONS_AT_ONCE", "MAX_POSITIONS", "MAX_TABLE"), sizes, strict=True))
    for sizes in ((7, 1, 1), (7, 9, 1 << 22), (9, 30, 8), (1 << 21, 1 << 24, 1 << 22))
]


@pytest.mark.thorough
@settings(max_examples=examples(800))
@given(
    PRETOKENS,
    st.sampled_from([0, 1, 4, 48]),
    st.sampled_from(SIZES),
    st.sampled_from([0, 12, 63]),
    st.sampled_from(["first", "smallest", "bytes", "largest", "shortest"]),
    ALLOWED,
    st.integers(1, 3),
    st.sampled_from([0, 1, 3, 12, 60]),
)
def test_fast_loop_equals_definition(
    pre_tokens: list[tuple[tuple[int, ...], int]],
    few: int,
    sizes: dict[str, int],
    key_bits: int,
    ties: str,
    allowed: object,
    min_count: int,
    limit: int,
) -> None:
    how = {"ties": ties, "min_count": min_count, "allowed": allowed}
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, FEW_POSITIONS=few, FEW_PAIRS=0, KEY_BITS=key_bits, **sizes)
        fast = MergeLoop(pre_tokens, "abcdefgh", limit, **how).train()
    how["allowed"] = allowed or (lambda name: True)
    assert fast == train_by_definition(pre_tokens, "abcdefgh", limit, **how)


@given(PRETOKENS, st.integers(0, 60))
def test_short_definition_equals_the_full_one(
    pre_tokens: list[tuple[tuple[int, ...], int]], limit: int
) -> None:
    full, _ = train_by_definition(pre_tokens, "abcdefgh", limit)
    expected = [(merge.left, merge.right) for merge in full]
    assert definition(pre_tokens, 8, limit) == expected


def random_words(seed: int, number: int) -> list[int]:
    """Return a text of random words, some of them frequent, over eight letters."""
    draw = random.Random(seed)
    lexicon = [draw.choices(range(8), k=draw.randint(1, 9)) for _ in range(600)]
    weights = [1 / (i + 1) for i in range(600)]
    return [*chain.from_iterable(draw.choices(lexicon, weights, k=number))]


@pytest.mark.parametrize("ties", ["first", "smallest", "bytes", "largest", "shortest"])
def test_longer_text_equals_definition(ties: str) -> None:
    draw = random.Random(5)
    row = [draw.choices(range(8), weights=range(1, 9))[0] for _ in range(2_400)]
    pre_tokens = [(row[i : i + 290], 1 + i % 4) for i in range(0, 2_100, 300)]
    fast = MergeLoop(pre_tokens, "abcdefgh", 80, ties=ties).train()
    assert fast == train_by_definition(pre_tokens, "abcdefgh", 80, ties=ties)
    assert any(merge.ties > 2 for merge in fast[0])


@pytest.mark.parametrize("most", [255, 65_535])
def test_word_with_as_many_copies_as_a_row_repeats_keeps_its_place(most: int) -> None:
    """Under “first”, a word that occurs 255 or 65,535 times is seen where it stands."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    others = {a + b: 1 for a in letters[3:20] for b in letters[3:22] if a != b}
    for count in range(most - 1, most + 3):
        words = {"xy": count, "ab": count - 55, "zab": 55} | others
        training = bpeviz.train(words, merges=2, pattern="none", atoms="characters")
        atom_id = {symbol: i for i, symbol in enumerate(training.alphabet)}
        rows = [([*map(atom_id.__getitem__, word)], times) for word, times in words.items()]
        expected, _ = train_by_definition(rows, training.alphabet, 2)
        assert [*training.merges] == expected
        assert training.name(training.merges[0].new_id) == "xy"


@pytest.mark.parametrize("count", [1, 300, 70_000, 5_000_000_000, 1 << 58])
def test_very_frequent_pretoken_equals_definition(count: int) -> None:
    text = random_words(4, 900)
    rows = [(text[i : i + 40], 1 + i % 3) for i in range(0, len(text), 40)]
    rows[3:3] = [(random_words(1, 2), count), (random_words(2, 3), count - 1)]
    pre_tokens = [*{tuple(ids): (ids, weight) for ids, weight in rows}.values()]
    assert MergeLoop(pre_tokens, "abcdefgh", 90).train() == train_by_definition(
        pre_tokens, "abcdefgh", 90
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


@pytest.mark.thorough
def test_long_text_needs_little_more_memory_than_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    set_sizes(monkeypatch, POSITIONS_AT_ONCE=1 << 13, MAX_POSITIONS=1 << 14, MAX_TABLE=1 << 14)
    for kind, weight in product(LONG_TEXTS, (1, 2)):
        text = np.array(LONG_TEXTS[kind], np.uint8)
        tracemalloc.start()
        row = TokenRow.from_arrays(text, np.array([len(text)]), np.array([weight]))
        merges, _ = MergeLoop(row, "abcdefgh", 300).train()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert merges[:6] == train_by_definition([(text.tolist(), weight)], "abcdefgh", 6)[0]
        # Four bytes a position for its id, its weight and whether it is inner, and a few blocks;
        # more where the positions of very frequent pairs are counted, sorted and stored. [bytes]
        assert peak < 40 * len(text), (kind, peak / len(text))


@pytest.mark.parametrize("max_positions", [1 << 23, 8])
def test_ids_over_16_bits_equal_definition(
    max_positions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_sizes(monkeypatch, MAX_POSITIONS=max_positions)
    atoms = 70_000
    symbols = [chr(i + 0x10000) for i in range(atoms)]
    draw = random.Random(7)
    used = [draw.randrange(atoms) for _ in range(40)]
    pre_tokens = [([draw.choice(used) for _ in range(60)], 1 + i) for i in range(6)]
    assert MergeLoop(pre_tokens, symbols, 100).train() == train_by_definition(
        pre_tokens, symbols, 100
    )


def test_training_reports_progress_and_stops_when_listener_raises() -> None:
    pre_tokens = [([i % 7 for i in range(3_000)], 1)]
    reports: list[tuple[str, int, int]] = []
    with progress.reporting_to(lambda *report: reports.append(report)):
        MergeLoop(pre_tokens, "abcdefg", 50).train()
    assert reports[0][1:] == (0, 50)
    assert all(0 <= done < of == 50 for _, done, of in reports)

    def stop(*report: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress.reporting_to(stop):
        MergeLoop(pre_tokens, "abcdefg", 50).train()

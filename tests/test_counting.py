"""Counting chunks: what `split` makes, counted; in blocks of any size, and from any pieces."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import accumulate

import numpy as np
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_pretokenize import ANY_TEXT

import bpeviz
from bpeviz import SplitError
from bpeviz.chunk_starts import PATTERNS as AT_ONCE
from bpeviz.chunk_starts import chunk_starts
from bpeviz.counting import ChunkCounts, CountsError, Tally, count, count_blocks
from bpeviz.learners.bpe import weighted_chunks
from bpeviz.pretokenize import PATTERNS, blocks, slices, split
from bpeviz.splitting import Splitting

WORDS = "a ab ABC Ab 名 слово 12345 's"
RUNS = st.lists(
    st.sampled_from([" ", "  ", "\t", "\n", "\r\n", "\r", "\u3000", ".", "'", "'s", "a", "1", "é"]),
    max_size=14,
).map("".join)
"""Above all white space, in all mixtures: where the patterns are hardest to follow."""
TEXTS = ANY_TEXT | RUNS
KEYS = [*PATTERNS, "list"]


def cut(text: str, key: str) -> list[str]:
    return split(text, key, WORDS if key == "list" else "")


def by_definition(chunks: list[str]) -> list[tuple[str, int, int]]:
    """Each distinct chunk in first-seen order, how often it comes, and where first, in bytes."""
    places = accumulate((len(chunk.encode()) for chunk in chunks), initial=0)
    first: dict[str, int] = {}
    for chunk, place in zip(chunks, places, strict=False):
        first.setdefault(chunk, place)
    counts = Counter(chunks)
    return [(chunk, counts[chunk], place) for chunk, place in first.items()]


def listed(counts: ChunkCounts) -> list[tuple[str, int, int]]:
    return [
        (chunk.decode(), int(times), int(first))
        for chunk, times, first in zip(counts.chunks, counts.times, counts.first, strict=True)
    ]


# Where chunks begin


@settings(max_examples=1000)
@given(TEXTS, st.sampled_from(sorted(AT_ONCE)))
@example("I'LL we'll \r\n  \n x", "cl100k")
@example("!\n \n  ", "cl100k")
@example("'ſa 'ſ", "cl100k")
@example("\ud800a", "gpt2")
def test_chunks_begin_where_the_expression_matches(text: str, key: str) -> None:
    expression = PATTERNS[key].expression
    assert expression is not None
    starts = [match.start() for match in regex.finditer(expression, text)]
    assert chunk_starts(text, key).tolist() == starts


def test_every_character_has_the_class_that_regex_gives_it() -> None:
    key = "cl100k"
    expression = PATTERNS[key].expression
    assert expression is not None
    every = [chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000]
    text = "".join(f"{character}a1" for character in every)
    assert split(text, key) == regex.findall(expression, text)


# Where a text may be cut


@settings(max_examples=500)
@given(TEXTS, st.sampled_from(KEYS), st.integers(1, 9), st.integers(1, 9))
@example("a\r\n\nb c\nd", "cl100k", 1, 1)
@example("!\n/a\n/a", "o200k", 2, 1)
@example("a. b\nC", "sentences", 1, 1)
def test_blocks_have_the_chunks_of_the_text(text: str, key: str, size: int, piece: int) -> None:
    cut_up = [*blocks(slices(text, piece), key, size)]
    assert "".join(cut_up) == text
    assert all(cut_up)
    assert [chunk for block in cut_up for chunk in cut(block, key)] == cut(text, key)


@pytest.mark.parametrize("key", [key for key in KEYS if key != "none"])
@pytest.mark.parametrize("line", ["a few words, ", "строка\n", "他说：“好。”\n然", "one\r\ntwo\n"])
def test_running_text_is_cut_into_blocks(key: str, line: str) -> None:
    """Without this, a text would be held whole, and nothing else would tell."""
    if key == "sentences":  # only a new line surely begins one
        line = line.replace(", ", ",\n")
    longest = max(map(len, blocks(slices(line * 1000, 50), key, 200)))
    assert longest < 300


@pytest.mark.parametrize("key", ["none", "regex"])
def test_what_may_look_at_anything_is_not_cut(key: str) -> None:
    assert [*blocks(["a b\nc "] * 100, key, 10)] == ["a b\nc " * 100]


# What is counted


@settings(max_examples=500)
@given(TEXTS, st.sampled_from(KEYS), st.integers(1, 9), st.integers(1, 9))
def test_counts_are_those_of_the_chunks_in_order(
    text: str, key: str, block: int, piece: int
) -> None:
    expression = WORDS if key == "list" else ""
    found = count_blocks(slices(text, piece), key, expression, block=block)
    chunks = cut(text, key)
    assert listed(found) == by_definition(chunks)
    assert [*found.items()] == [*Counter(chunks).items()]
    assert (found.size, found.pattern, found.expression) == (len(text.encode()), key, expression)


@settings(max_examples=200)
@given(TEXTS, st.sampled_from(["[a-z]+", r"(?<=a)\s|.", "x*", r"\b"]))
def test_any_expression_is_counted(text: str, expression: str) -> None:
    chunks = split(text, "regex", expression)
    assert listed(count(text, "regex", expression)) == by_definition(chunks)
    assert listed(count_blocks(slices(text, 3), "regex", expression, block=2)) == (
        by_definition(chunks)
    )


@settings(max_examples=100)
@given(st.lists(TEXTS, max_size=6), st.randoms(use_true_random=False))
def test_parts_are_added_in_any_order(texts: list[str], random: object) -> None:
    """As they come back from several machines."""
    parts = []
    at = 0
    for text in texts:
        one = count(text)
        parts.append(ChunkCounts(one.blob, one.ends, one.times, one.first + at, "gpt2"))
        at += len(text.encode())
    random.shuffle(parts)  # type: ignore[attr-defined]
    tally = Tally("gpt2")
    for part in parts:
        tally.add(part)
    chunks = [chunk for text in texts for chunk in split(text)]
    assert listed(tally.result()) == by_definition(chunks)
    assert tally.size == at


def test_parts_become_one_as_they_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bpeviz.counting._COMPACTED_FROM", 4)
    text = "".join(f"w{i % 7} x{i} " for i in range(300))
    assert listed(count_blocks(slices(text, 5), block=10)) == by_definition(split(text))


def test_the_rows_of_long_texts_are_added_without_overflow() -> None:
    tally = Tally("gpt2")
    times = np.array([2**40], np.int64)
    for _ in range(3):
        tally.add(ChunkCounts(b"a", np.array([1]), times, np.array([0])))
    assert tally.result()["a"] == 3 * 2**40


def test_long_texts_are_split_as_by_the_expression() -> None:
    """From some length on, `split` finds all chunks at once, and in blocks."""
    text = "It's 12345 o'clock,\r\n  \tпривет   мир!\n\n  I'LL “go” 👋🏽 … \u3000x\n" * 12_000
    for key in ("gpt2", "cl100k", "o200k"):
        expression = PATTERNS[key].expression
        assert expression is not None
        chunks = regex.findall(expression, text)
        assert split(text, key) == chunks
        assert [*count(text, key).items()] == [*Counter(chunks).items()]


def test_a_long_text_needs_little_memory_beside_it() -> None:
    text = "It was the best of times, it was the worst of times.\n" * 200_000
    count(text[:10_000])
    tracemalloc.start()
    try:
        found = count(text)
        assert tracemalloc.get_traced_memory()[1] < len(text)
    finally:
        tracemalloc.stop()
    assert found.size == len(text)


def test_time_limits_of_expressions_and_word_lists_hold() -> None:
    with pytest.raises(SplitError, match="took more than 2 seconds"):
        count("a" * 60 + "b", "regex", "(a|aa)+$")


def test_an_empty_text_has_no_counts() -> None:
    for key in KEYS:
        assert [*count("", key, WORDS if key == "list" else "").items()] == []
    assert count("").chunks == []


# What learners take


@settings(max_examples=200)
@given(TEXTS, st.sampled_from(sorted(PATTERNS)), st.sampled_from(["bytes", "characters"]))
def test_learners_see_the_chunks_in_order(text: str, key: str, atoms: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    splitting = Splitting(atoms, key)  # type: ignore[arg-type]
    expected = [*Counter(split(text, key)).items()]
    counted = weighted_chunks(text, splitting)
    assert [*counted.items()] == expected
    # Counted chunks are taken as they are; and cut again, they are the same.
    assert weighted_chunks(counted, splitting) is counted
    assert [*weighted_chunks(dict(expected), splitting).items()] == expected


def test_counts_by_another_pattern_are_split_anew() -> None:
    counted = count("it's 12345", "none")
    assert [*weighted_chunks(counted, Splitting("bytes", "cl100k"))] == [
        "it",
        "'s",
        " ",
        "123",
        "45",
    ]


@pytest.mark.parametrize("algorithm", ["bpe", "scaffold", "wordpiece", "unigram", "sentencepiece"])
def test_learners_learn_from_counts_what_they_learn_from_the_text(algorithm: str) -> None:
    text = "low lower lowest slow slower slowest, newest and widest: été 👋🏽\n" * 5
    pattern = "none" if algorithm == "sentencepiece" else "words"
    from_text = bpeviz.train(text, algorithm, vocab_size=300, pattern=pattern)
    from_counts = bpeviz.train(count(text, pattern), algorithm, vocab_size=300, pattern=pattern)
    assert repr(from_counts) == repr(from_text)


@settings(max_examples=50)
@given(TEXTS.filter(bool))
def test_merges_from_counts_are_those_of_the_definition(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    learnt = bpeviz.train(count(text), merges=20)
    assert [(m.left, m.right, m.count) for m in learnt.merges] == [
        (m.left, m.right, m.count) for m in bpeviz.train(text, merges=20).merges
    ]


def test_bytes_that_are_no_text_are_named() -> None:
    for blob, ends, shown in (
        (b"a\xff", [1, 2], "FF"),
        ("é".encode(), [1, 2], "C3"),  # a text, but cut in the middle of a character
    ):
        counts = ChunkCounts(blob, np.array(ends), np.array([1, 1]), np.array([0, 1]))
        assert counts.chunks == [blob[:1], blob[1:]]
        with pytest.raises(CountsError, match=rf"^The chunk of the bytes {shown} is not"):
            counts.keys()

"""Counting pre-tokens: in blocks of any size, from text and from files."""

from __future__ import annotations

import io
import os
import tracemalloc
from collections.abc import Iterable
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import regex
from contracts.test_pretokenizers import KEYS, TEXTS, WORDS, listed, split
from contracts.test_pretokenizers import recounted as reference_counts
from helpers.properties import examples
from helpers.refusals import assert_sentence, refusal
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz.__main__ import main
from bpeviz.corpus import files
from bpeviz.corpus import parquet as counts_parquet
from bpeviz.corpus.files import ByteRange, CorpusError
from bpeviz.pretokenizers import counts
from bpeviz.pretokenizers.counts import (
    AT_ONCE,
    CountsError,
    PreTokenCounts,
    Tally,
    count,
    count_blocks,
    distinct,
    index_text,
    indexed,
)
from bpeviz.pretokenizers.patterns import PATTERNS, blocks, pretokenize, slices

# Pre-token starts


@pytest.mark.thorough
def test_character_classes_equal_regex() -> None:
    key = "cl100k"
    expression = PATTERNS[key].expression
    assert expression is not None
    every = [chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000]
    text = "".join(f"{character}a1" for character in every)
    assert pretokenize(text, key) == regex.findall(expression, text)


# Blocks


@pytest.mark.parametrize("key", ["none", "regex"])
def test_patterns_with_unbounded_context_use_one_block(key: str) -> None:
    assert [*blocks(["a b\nc "] * 100, key, 10)] == ["a b\nc " * 100]


# Counts


@settings(max_examples=examples(200))
@given(TEXTS, st.sampled_from([*AT_ONCE]))
def test_index_of_a_text_equals_that_of_its_pre_tokens(text: str, key: str) -> None:
    pre_tokens, order = indexed(pretokenize(text, key))
    with patch.object(counts, "BLOCK", 0):
        own, own_order = index_text(text, key)
    assert own == pre_tokens
    assert own_order.tolist() == order.tolist()
    assert [own[i] for i in own_order] == pretokenize(text, key)


@settings(max_examples=examples(200))
@given(TEXTS, st.sampled_from(["[a-z]+", r"(?<=a)\s|.", "x*", r"\b"]))
def test_counts_with_any_expression_equal_reference_counts(text: str, expression: str) -> None:
    pre_tokens = pretokenize(text, "regex", expression)
    assert listed(count(text, "regex", expression)) == reference_counts(pre_tokens)
    assert listed(count_blocks(slices(text, 3), "regex", expression, block=2)) == (
        reference_counts(pre_tokens)
    )


@settings(max_examples=examples(100))
@given(
    st.lists(TEXTS, max_size=6), st.randoms(use_true_random=False), st.sampled_from([1, 1 << 20])
)
def test_tally_adds_parts_in_any_order(texts: list[str], random: object, share_rows: int) -> None:
    """Parts arrive from several machines; the second path handles many rows."""
    parts = []
    at = 0
    for text in texts:
        parts.append(count_blocks([text], at=at))
        at += len(text.encode())
    random.shuffle(parts)  # type: ignore[attr-defined]
    tally = Tally("gpt2")
    for part in parts:
        tally.add(part)
    with patch("bpeviz.pretokenizers.counts._SHARE_ROWS", share_rows):
        found = tally.result()
    pre_tokens = [pre_token for text in texts for pre_token in pretokenize(text)]
    assert listed(found) == reference_counts(pre_tokens)


@given(
    st.lists(st.tuples(st.sampled_from(["", "a", "b", "ab", "cab", "é"]), st.integers(1, 9))),
    st.sampled_from([1, 1 << 20]),
)
def test_distinct_merges_equal_pre_tokens(rows: list[tuple[str, int]], share_rows: int) -> None:
    raw = [pre_token.encode() for pre_token, _ in rows]
    ends = np.cumsum([len(one) for one in raw], dtype=np.int64)
    times = np.array([many for _, many in rows], np.int64)
    with patch("bpeviz.pretokenizers.counts._SHARE_ROWS", share_rows):
        found = distinct(b"".join(raw), ends, times, np.arange(len(rows)), "gpt2")
    expected: dict[str, tuple[int, int]] = {}
    for place, (pre_token, many) in enumerate(rows):
        before, first = expected.get(pre_token, (0, place))
        expected[pre_token] = before + many, first
    assert listed(found) == [(pre_token, *both) for pre_token, both in expected.items()]


def test_tally_adds_large_counts_without_overflow() -> None:
    tally = Tally("gpt2")
    times = np.array([2**40], np.int64)
    for _ in range(3):
        tally.add(PreTokenCounts(b"a", np.array([1]), times, np.array([0])))
    assert tally.result()["a"] == 3 * 2**40


def test_count_of_long_text_needs_less_memory_than_the_text() -> None:
    text = "It was the best of times, it was the worst of times.\n" * 200_000
    count(text[:10_000])
    tracemalloc.start()
    try:
        found = count(text)
        assert tracemalloc.get_traced_memory()[1] < len(text)
    finally:
        tracemalloc.stop()
    assert found.size == len(text)


# Training on counts


@pytest.mark.parametrize("algorithm", ["bpe", "scaffold"])
def test_counted_pre_tokens_of_an_expression_are_not_split_again(algorithm: str) -> None:
    """Some of these pre-tokens would be split differently without their context."""
    text = "low lower lowest slow slower slowest, newest and widest"
    split_so = {"pattern": "regex", "expression": "l|(?<!l)o"}
    counts = count(text, **split_so)
    assert any(pretokenize(pre_token, **split_so) != [pre_token] for pre_token in counts)
    from_counts = bpeviz.train(counts, algorithm, merges=6, **split_so)
    assert from_counts == bpeviz.train(text, algorithm, merges=6, **split_so)


def test_counts_error_names_invalid_utf8_bytes() -> None:
    for blob, ends, shown in (
        (b"a\xff", [1, 2], "FF"),
        ("é".encode(), [1, 2], "C3"),  # a text, but split in the middle of a character
    ):
        counts = PreTokenCounts(blob, np.array(ends), np.array([1, 1]), np.array([0, 1]))
        assert counts.pre_tokens == [blob[:1], blob[1:]]
        refusal(counts.keys, naming=shown, error=CountsError)
        how = {"merges": 1, "atoms": "characters", "error": CountsError}
        refusal(bpeviz.train, counts, naming=shown, **how)


# A corpus in files


def in_files(folder: Path, *contents: bytes) -> list[str]:
    paths = []
    for i, content in enumerate(contents):
        (folder / f"{i}.txt").write_bytes(content)
        paths.append(str(folder / f"{i}.txt"))
    return paths


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(KEYS), st.integers(1, 20))
@example(["x" * 9, "y z"], "gpt2", 4)
def test_parts_of_files_give_the_pre_tokens_of_joined_files(
    tmp_path: Path, texts: list[str], key: str, size: int
) -> None:
    """A pre-token may span two files, even a pair of \\r and \\n."""
    texts = [text.replace("\0", "") for text in texts]  # a file with many is refused
    paths = in_files(tmp_path, *(text.encode() for text in texts))
    joined = "".join(texts)
    with patch.object(files, "LOOKED_THROUGH", 8), patch.object(files, "_READ", 3):
        cut_up = [*files.parts(paths, key, size)]
        pieces = [[*files.read(part.spans)] for part in cut_up]
        assert "".join(files.read([ByteRange(path) for path in paths])) == joined
    assert "".join(piece for part in pieces for piece in part) == joined
    places = accumulate((len("".join(part).encode()) for part in pieces), initial=0)
    assert [part.at for part in cut_up] == [*places][: len(cut_up)]
    assert [c for part in pieces for c in split("".join(part), key)] == split(joined, key)


def test_parts_of_large_file_have_requested_size(tmp_path: Path) -> None:
    paths = in_files(tmp_path, "все слова \n".encode() * 5000, b"a few words. " * 9000, b"x" * 9000)
    cut_up = [*files.parts(paths, "cl100k", 20_000)]
    sizes = [sum(span.end - span.start for span in part.spans) for part in cut_up]  # type: ignore[operator, misc]
    assert len(sizes) > 3
    assert all(20_000 <= size <= 20_000 + files.LOOKED_THROUGH for size in sizes[:-1])


def test_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    paths = in_files(tmp_path, "\ufeffone two".encode(), "\ufeff three \ufeff".encode(), b"")
    spans = [ByteRange(path) for path in paths]
    (part,) = files.parts(paths, "gpt2", 100)
    for read in (files.read(spans), files.read(part.spans)):
        assert "".join(read) == "one two three \ufeff"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"abc\xff", "byte 4 is FF"),
        ("né".encode()[:-1], "byte 2 is C3"),  # a character that the next file would end
        (b"\xff\xfea\0b", "byte 5 is 62"),
        (b"\xef\xbb\xbfab\xff", "byte 6 is FF"),
        (b"a" * 300 + b"\x80", "byte 301 is 80"),
    ],
)
def test_file_with_invalid_utf8_raises_corpus_error(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    paths = in_files(tmp_path, b"fine ", content, b"\xa9")
    with patch.object(files, "_READ", 7):
        read = files.read([ByteRange(path) for path in paths])
        refusal(list, read, naming=(paths[1], reason), error=CorpusError)


def test_unreadable_files_raise_corpus_error(tmp_path: Path) -> None:
    def refused(read: Iterable[object], *naming: str) -> None:
        refusal(list, read, naming=naming, error=CorpusError)

    refused(files.read([ByteRange(str(tmp_path))]), str(tmp_path), "folder")
    missing = str(tmp_path / "no.txt")
    refused(files.parts([missing], "gpt2"), missing)
    (path,) = in_files(tmp_path, b"abc")
    refused(files.read([ByteRange(path, 0, 4)]), path, "shorter")
    os.mkfifo(tmp_path / "pipe")
    held = os.open(tmp_path / "pipe", os.O_RDWR)  # so that opening it does not wait
    try:
        refused(files.parts([str(tmp_path / "pipe")], "gpt2"), str(tmp_path / "pipe"))
    finally:
        os.close(held)


# Counts as a file


@settings(max_examples=examples(100))
@given(TEXTS, st.sampled_from(KEYS))
def test_counts_round_trip_through_parquet(text: str, key: str) -> None:
    counts = count(text, key, WORDS if key == "list" else "")
    content = counts_parquet.dump(counts)
    back = counts_parquet.parse(content)
    assert listed(back) == listed(counts)
    assert (back.pattern, back.expression) == (counts.pattern, counts.expression)
    assert counts_parquet.dump(back) == content


def parquet(metadata: dict[str, str] | None = None, **columns: object) -> bytes:
    """Return a Parquet file such as another program may write."""
    output = io.BytesIO()
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), output)
    return output.getvalue()


@pytest.mark.parametrize(
    "pre_tokens",
    [
        pa.array(["é", " a", "b"]),
        pa.array(["é", " a", "b"], pa.large_string()),
        pa.array(["é", " a", "b"]).cast(pa.binary()),
    ],
    ids=lambda pre_tokens: str(pre_tokens.type),
)
@pytest.mark.parametrize("whole", [pa.int64(), pa.int32(), pa.uint64()], ids=str)
def test_parquet_of_other_programs_is_read_in_first_seen_order(
    pre_tokens: pa.Array, whole: pa.DataType
) -> None:
    content = parquet(
        chunk=pre_tokens,
        count=pa.array([1, 2, 3], whole),
        first=pa.array([9, 4, 7], whole),
        more=pa.array([None, 1.5, 2.0]),
    )
    counts = counts_parquet.parse(content, "cl100k")
    assert listed(counts) == [(" a", 2, 4), ("b", 3, 7), ("é", 1, 9)]
    assert counts.pattern == "cl100k"


RIGHT = {"chunk": pa.array(["a", "b"]), "count": pa.array([1, 2]), "first": pa.array([0, 1])}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"chunk": None}, "'chunk' is missing"),
        ({"first": None}, "'first' is missing"),
        ({"chunk": pa.array([1, 2])}, "'chunk' contains int64"),
        ({"count": pa.array([1.0, 2.0])}, "'count' contains double"),
        ({"first": pa.array(["0", "1"])}, "'first' contains string"),
        ({"count": pa.array([1, None])}, "'count' contains an empty value"),
        ({"chunk": pa.array(["a", None])}, "'chunk' contains an empty value"),
        ({"count": pa.array([1, 2**63], pa.uint64())}, "'count' contains a number"),
        ({"count": pa.array([2**62, 2**62])}, "too large"),
        ({"count": pa.array([1, 0])}, "count of b is 0"),
        ({"count": pa.array([-3, 1])}, "count of a is -3"),
        ({"first": pa.array([0, -1])}, "first position of b is -1"),
        ({"first": pa.array([5, 5])}, "same first position, 5"),
        ({"chunk": pa.array(["a", ""])}, "is empty"),
        ({"chunk": pa.array([" a", " a"])}, "·a occurs twice"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",
)
def test_parquet_file_with_invalid_counts_is_rejected(wrong: dict[str, Any], message: str) -> None:
    columns = {name: one for name, one in {**RIGHT, **wrong}.items() if one is not None}
    refusal(counts_parquet.parse, parquet(**columns), "gpt2", naming=message, error=CountsError)


def test_damaged_parquet_raises_only_counts_error() -> None:
    content = counts_parquet.dump(count("to be or not to be, that is the question"))
    for at in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[at] ^= 0xFF
        for one in (bytes(damaged), content[:at]):
            with suppress(CountsError):
                counts_parquet.parse(one)


def test_pre_tokenization_of_counts_is_in_their_file_or_given() -> None:
    parse = counts_parquet.parse
    refusal(parse, parquet(**RIGHT), naming="--pattern", error=CountsError)
    unknown = parquet({"bpeviz.pattern": "gpt9"}, **RIGHT)
    refusal(parse, unknown, naming="gpt9", error=CountsError)
    content = counts_parquet.dump(count("a b", "regex", "[a-z]"))
    assert parse(content, "regex", "[a-z]").expression == "[a-z]"
    refusal(parse, content, "gpt2", naming=("[a-z]", "gpt2"), error=CountsError)


# The commands


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # "we" continues in the second file, and the white space after it in the third.
    in_files(tmp_path, b"\xef\xbb\xbflow lower lowest we", b"st  \r", "\n Été 12345\n".encode())
    return tmp_path


def test_trainer_that_splits_words_refuses_counts_of_an_expression(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = {"bpeviz.pattern": "regex", "bpeviz.expression": "."}
    Path("own").write_bytes(parquet(own, **RIGHT))
    train = ["train", "--counts", "own", "--vocab-size", "300", "--algorithm", "unigram"]
    assert main(train) == 1
    assert_sentence(capsys.readouterr().err.strip(), "unigram")

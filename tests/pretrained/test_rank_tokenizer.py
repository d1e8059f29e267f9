"""GPT-2, cl100k, o200k and any rank table: ids and boundaries equal those of tiktoken."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from threading import Event

import numpy as np
import pytest
import tiktoken
import tiktoken._educational
from helpers.properties import many
from helpers.refusals import refusal
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import bpeviz
from bpeviz import NEVER
from bpeviz.analysis.token_lookup import encoded_instead
from bpeviz.core.boundaries import ChangingBoundaries
from bpeviz.pretokenizers.patterns import PATTERNS
from bpeviz.pretrained import catalog, download, rank_tokenizer
from bpeviz.pretrained.rank_tokenizer import LONG_SPACE, RankTokenizer, from_ranks, merged
from bpeviz.pretrained.transfer import VocabularyUnavailable

NAMES = ["gpt2", "cl100k_base", "o200k_base"]
WHOLE = "(?s:.+)"
SAMPLES = sorted((Path(__file__).resolve().parents[2] / "sample_texts").glob("*.txt"))
SINGLE_BYTES = {bytes([i]): i for i in range(256)}

Load = Callable[[str], RankTokenizer]


@pytest.fixture(scope="session")
def load() -> Load:
    """Load a vocabulary; the first call in a session may fetch it."""
    return bpeviz.load


# Known facts about the published vocabularies


@pytest.mark.thorough
def test_tokens_whose_text_is_encoded_otherwise_are_twelve_in_o200k(load: Load) -> None:
    counts = []
    for name in ("gpt2", "cl100k_base", "o200k_base"):
        tokenizer = load(name)
        ordinary = {*tokenizer.known_ids()} - {*tokenizer.special_tokens.values()}
        counts.append(sum(bool(encoded_instead(i, tokenizer)) for i in ordinary))
    assert counts == [0, 0, 12]
    assert encoded_instead(3914, tokenizer) == [198, 393]


@many(60)
@given(st.text(st.characters(codec="utf-8")), st.sampled_from(NAMES))
def test_encode_round_trips_any_text_with_offsets_of_tiktoken(text: str, name: str) -> None:
    tokenizer = bpeviz.load(name)
    ids = tokenizer.encode(text)
    assert ids == tokenizer._encoding.encode_ordinary(text)
    assert tokenizer.decode(ids) == text
    starts = tokenizer._encoding.decode_with_offsets(ids)[1]
    assert [token.start for token in tokenizer.tokens(text)] == starts


def test_load_does_not_wait_for_the_download_of_another_vocabulary(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load("gpt2").encode("hello")
    downloads, ends = Event(), Event()

    def fetch(name: str, report: object) -> None:
        downloads.set()
        assert ends.wait(120)
        raise VocabularyUnavailable("It was stopped.")

    monkeypatch.setattr(rank_tokenizer, "_loaded", {})
    monkeypatch.setattr(download, "available", lambda name: name != "o200k_base")
    monkeypatch.setattr(download, "fetch", fetch)
    with ThreadPoolExecutor() as pool:
        other = pool.submit(rank_tokenizer.load, "o200k_base")
        try:
            assert downloads.wait(60)
            assert pool.submit(rank_tokenizer.load, "gpt2").result(60).encode("hello") == expected
        finally:
            ends.set()
        with pytest.raises(VocabularyUnavailable):
            other.result()


# Boundaries of the published vocabularies


def segmentation(tokenizer: RankTokenizer, text: str) -> list[int]:
    """Return the ends of tiktoken's tokens, in bytes."""
    ends, at = [], 0
    for token_id in tokenizer._encode_ordinary(text):
        at += len(tokenizer.token_bytes(token_id))
        ends.append(at)
    return ends


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("step", [0, 1_000, 10**6])
def test_boundaries_equal_tiktoken_with_the_first_ranks(load: Load, name: str, step: int) -> None:
    tokenizer = load(name)
    smaller = tokenizer.at_step(step)
    assert len(SAMPLES) >= 6
    for path in SAMPLES:
        text = path.read_text()
        boundaries = tokenizer.boundaries(text)
        assert boundaries.token_ends(step).tolist() == segmentation(smaller, text)
        assert boundaries.ids(step).tolist() == smaller.encode(text)
        if step < tokenizer.steps:
            assert boundaries.token_counts[step] == len(smaller.encode(text))
            afresh = smaller.boundaries(text)
            merged = boundaries.merged_at
            assert afresh.merged_at.tolist() == np.where(merged < step, merged, NEVER).tolist()
            assert afresh.steps == step


# Any table of ranks: boundaries


@st.composite
def tables(draw: st.DrawFn) -> dict[bytes, int]:
    """Generate ranks of a few strings over few letters, in any order.

    Lower ranks may become possible after higher ones, and some tokens are unreachable.
    """
    letters = draw(st.sampled_from(["ab", "abc"]))
    tokens = draw(
        st.lists(st.text(letters, min_size=2, max_size=5), max_size=14, unique=True)
        | st.lists(st.text(letters, min_size=2, max_size=3), max_size=10, unique=True)
    )
    ordered = draw(st.permutations(tokens))
    return SINGLE_BYTES | {token.encode(): 256 + i for i, token in enumerate(ordered)}


def table(*tokens: bytes) -> dict[bytes, int]:
    return SINGLE_BYTES | {token: 256 + i for i, token in enumerate(tokens)}


def first_ranks(ranks: dict[bytes, int], step: int, pattern: str, text: str) -> list[int]:
    """Return the ids of tiktoken with the first ranks only."""
    encoding = tiktoken.Encoding(
        "first",
        pat_str=pattern,
        mergeable_ranks={raw: rank for raw, rank in ranks.items() if rank < 256 + step},
        special_tokens={},
    )
    return encoding.encode_ordinary(text)


@pytest.mark.thorough
@many(800)
@given(
    tables(),
    st.text("abc", max_size=14),
    st.sampled_from([WHOLE, "[ab]+|c", r"a+|b|c+", "(?s:.)"]),
)
@example(table(b"abc", b"bc"), "abc", WHOLE)  # abc needs bc, of a higher rank
@example(table(b"abc", b"bc"), "xabc", WHOLE)
@example(table(b"abc", b"bc", b"xabc"), "xabcabc", WHOLE)
@example(table(b"abab"), "abab", WHOLE)  # no merges lead to it
@example(table(b"abab"), "ababa", WHOLE)
@example(table(b"abcd", b"cd", b"ab"), "abcd", WHOLE)  # two higher ranks
@example(table(b"aaa", b"aa"), "aaaaaaa", WHOLE)
@example(table(b"aaa"), "aaa", WHOLE)  # no merges lead to it: all its boundaries have one step
@example(table(b"abc", b"abcd", b"bc"), "xabcd", WHOLE)  # abcd is late only through abc
def test_boundaries_of_any_table_equal_tiktoken_at_every_rank(
    ranks: dict[bytes, int], text: str, pattern: str
) -> None:
    tokenizer = from_ranks("any", pattern, ranks, {})
    boundaries = tokenizer.boundaries(text)
    raw = text.encode()
    for step in range(tokenizer.steps + 2):
        expected = first_ranks(ranks, step, pattern, text)
        assert boundaries.ids(step).tolist() == expected
        assert tokenizer.at_step(step).encode(text) == expected
        pieces = [raw[a:b] for a, b in pairwise((0, *boundaries.token_ends(step)))]
        assert pieces == [*map(tokenizer.token_bytes, expected)]
        assert boundaries.as_changes().ids(step).tolist() == expected
        if step <= tokenizer.steps:
            assert boundaries.token_counts[step] == len(expected)
    assert boundaries.ids(tokenizer.steps).tolist() == tokenizer.encode(text)


def test_boundaries_change_when_a_merge_needs_a_higher_rank() -> None:
    """abc needs bc, which has a higher rank, so abc appears at the step of bc."""
    late = from_ranks("late", WHOLE, table(b"abc", b"bc"), {})
    assert late.parents(256) == (ord("a"), 257)
    boundaries = late.boundaries("xabc")
    assert isinstance(boundaries, ChangingBoundaries)
    assert [boundaries.ids(step).tolist() for step in range(3)] == [
        [*b"xabc"],
        [*b"xabc"],
        [ord("x"), 256],
    ]
    of_a_pre_token = late.boundaries("abc")  # a token, so it is not split
    assert [of_a_pre_token.ids(step).tolist() for step in range(3)] == [[*b"abc"], [256], [256]]


def test_unreachable_tokens_are_whole_pre_tokens_only() -> None:
    unreached = from_ranks("unreached", WHOLE, table(b"abab"), {})
    assert (unreached.parents(256), unreached.merge_step(256)) == (None, 0)
    assert unreached.boundaries("abab").permanent.tolist() == [False, False, False, True]
    assert unreached.boundaries("xabab").permanent.tolist() == [True] * 5


def test_gaps_in_the_ranks_are_steps_without_merges() -> None:
    """p50k_base leaves out the rank of its special token."""
    ranks = SINGLE_BYTES | {b"ab": 256, b"abc": 258}
    tokenizer = from_ranks("gap", WHOLE, ranks, {"<end>": 257})
    assert (tokenizer.steps, tokenizer.vocab_size) == (3, 259)
    boundaries = tokenizer.boundaries("abc")
    assert boundaries.merged_at.tolist() == [0, 2, NEVER]
    assert boundaries.token_counts.tolist() == [3, 2, 2, 1]


def test_boundaries_use_permuted_byte_ids() -> None:
    ranks = {bytes([i]): (i + 1) % 256 for i in range(256)} | {b"ab": 256}
    tokenizer = from_ranks("permuted", WHOLE, ranks, {})
    assert tokenizer.boundaries("abz").atom_ids.tolist() == [98, 99, 123]
    assert tokenizer.boundaries("abz").ids(1).tolist() == [256, 123]


@pytest.mark.parametrize(
    "ranks",
    [
        {},
        {b"a": 0, b"b": 1},
        {**SINGLE_BYTES, b"a": 256, b"ab": 97},
        {**{bytes([i]): i for i in range(255)}, b"\xff": 256},
    ],
    ids=["none", "two", "a byte after a merge", "a gap among the bytes"],
)
def test_from_ranks_requires_the_bytes_first(ranks: dict[bytes, int]) -> None:
    refusal(from_ranks, "wrong", WHOLE, ranks, {}, naming="255")


def test_boundaries_reject_patterns_that_skip_text() -> None:
    tokenizer = from_ranks("holes", r"\w+", SINGLE_BYTES, {})
    assert len(tokenizer.boundaries("ab")) == 2
    refusal(tokenizer.boundaries, "a b")


# Long tokens and long pre-tokens


@many(300)
@given(tables(), st.binary(max_size=3) | st.text("abc", max_size=30).map(str.encode))
def test_merged_equals_the_educational_encoder_of_tiktoken(
    ranks: dict[bytes, int], raw: bytes
) -> None:
    parts, events = merged(raw, ranks.get)
    expected = tiktoken._educational.bpe_encode(ranks, raw, visualise=None)
    assert [ranks[part] for part in parts] == expected
    gone = {middle for *_, middle in events}
    ends = [end for end in range(1, len(raw) + 1) if end not in gone]
    assert [raw[a:b] for a, b in pairwise((0, *ends))] == parts


def test_boundaries_of_a_token_of_thousands_of_bytes() -> None:
    doublings = [b"a" * 2**i for i in range(1, 16)]
    tokenizer = from_ranks("long", WHOLE, table(*doublings), {})
    boundaries = tokenizer.boundaries("a" * 2**15)
    assert boundaries.token_counts.tolist() == [2 ** (15 - step) for step in range(16)]
    assert tokenizer.parents(256 + 14) == (256 + 13, 256 + 13)


def test_boundaries_of_a_chain_of_thousands_of_tokens() -> None:
    text = "x" + "y" * 3_000
    chain = [text[:size].encode() for size in range(2, len(text) + 1)]
    tokenizer = from_ranks("chain", WHOLE, table(*chain), {})
    boundaries = tokenizer.boundaries(text)
    assert boundaries.merged_at.tolist() == [*range(len(chain)), NEVER]


# Panics of tiktoken's matcher


class PanicException(BaseException):
    """A replacement for the exception of a Rust panic, which cannot be imported."""


class Panics:
    """An encoding whose matcher always panics."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding

    def __getattr__(self, name: str) -> object:
        return getattr(self._encoding, name)

    def encode_to_numpy(self, text: str, **_options: object) -> NDArray[np.uint32]:
        raise PanicException(text[:0])


def panicking(tokenizer: RankTokenizer) -> RankTokenizer:
    return RankTokenizer(Panics(tokenizer._encoding))  # type: ignore[arg-type]


@many(300)
@given(tables(), st.text("abc", max_size=30))
def test_encode_of_any_table_falls_back_when_tiktoken_panics(
    ranks: dict[bytes, int], text: str
) -> None:
    tokenizer = from_ranks("any", "[ab]+|c", ranks, {})
    assert panicking(tokenizer).encode(text) == tokenizer.encode(text)


@pytest.mark.parametrize("name", NAMES)
def test_long_white_space_has_the_ids_of_tiktoken_without_its_matcher(
    name: str, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = load(name)
    refusing = panicking(tokenizer)
    used = []

    def encode(self: Panics, text: str, **_options: object) -> NDArray[np.uint32]:
        used.append(len(text))
        return np.zeros(0, np.uint32)

    monkeypatch.setattr(Panics, "encode_to_numpy", encode)
    for space in (" ", "\n", "\t \r\n", "\u3000 "):
        long = space * (2 * LONG_SPACE // len(space))
        for text in (long, f"a{long}b", f"don't {long}\n x{long}", "a" * 777 + long + "7"):
            assert refusing.encode(text) == tokenizer._encoding.encode_ordinary(text)
    assert used == []
    refusing.encode(f"{long[: LONG_SPACE - 1]}a" * 3)
    assert len(used) == 1


def test_published_patterns_equal_the_named_patterns(load: Load) -> None:
    for name, key in zip(NAMES, ("gpt2", "cl100k", "o200k"), strict=True):
        assert load(name)._encoding._pat_str == PATTERNS[key].expression
    assert catalog.TITLES.keys() == set(NAMES)


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_known_ids_are_the_ids_that_have_bytes(load: Load, name: str) -> None:
    tokenizer = load(name)
    known = [*tokenizer.known_ids()]
    assert known == sorted(set(known))
    for token_id in {*range(tokenizer.vocab_size)} - {*known}:
        refusal(tokenizer.token_bytes, token_id, naming=str(token_id))
    assert len(known) == tokenizer.sizes[-1] + len(tokenizer.special_tokens)
    assert all(tokenizer.token_bytes(token_id) for token_id in known[-30:])


def test_cache_of_merge_trees_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_tokenizer, "CACHED_TREES", 3)
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {bytes([byte, byte]): 256 + byte for byte in range(256)}
    tokenizer = rank_tokenizer.from_ranks("pairs", "(?s:.+)", ranks, {})
    assert [tokenizer.parents(256 + byte) for byte in range(9)] == [(i, i) for i in range(9)]
    assert len(tokenizer._trees) <= 3

"""The BPE trainer against its definition and tiktoken's educational trainer."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import tiktoken._educational
from helpers.candidates import check_candidates
from helpers.properties import examples
from helpers.texts import SMALL_TEXTS
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz import Merge, Training
from bpeviz.pretokenizers.patterns import PATTERNS
from bpeviz.trainers import bpe, pre_tokens
from bpeviz.trainers.base import collector_off

TIES = st.sampled_from(["first", "smallest", "bytes", "largest"])
ATOMS = st.sampled_from(
    [
        {"atoms": "bytes"},
        {"atoms": "characters"},
        {"atoms": "characters", "end_mark": "attached"},
        {"atoms": "characters", "end_mark": "symbol"},
    ]
)


def reference_training(
    training: Training, weighted: dict[str, int], limit: int, **how: Any
) -> tuple[list[Merge], str]:
    """Train with the reference loop on weighted pre-tokens."""
    atom_id = {symbol: i for i, symbol in enumerate(training.alphabet)}
    rows = [
        ([atom_id[s] for s in symbols_of(pre_token, training)], times)
        for pre_token, times in weighted.items()
    ]
    return bpe.train_by_definition(rows, training.alphabet, limit, **how)


def symbols_of(pre_token: str, training: Training) -> list[str]:
    """Return the atoms of a pre-token, by the rules of Sennrich et al. and subword-nmt."""
    how = training.pre_tokenizer
    if how.atoms == "bytes":
        return [chr(byte) for byte in pre_token.encode()]
    letters = list(pre_token)
    if how.end_mark == "none" or not pre_token.strip():
        return letters
    if how.end_mark == "symbol":
        return [*letters, "</w>"]
    return [*letters[:-1], letters[-1] + "</w>"]


def count_pre_tokens(text: str, training: Training) -> dict[str, int]:
    weighted: dict[str, int] = {}
    for pre_token in training.pre_tokenizer.pre_tokens(text):
        weighted[pre_token] = weighted.get(pre_token, 0) + 1
    return weighted


def decided(training: Training) -> tuple[list[Merge], str]:
    """Return the merges and the reason to stop, in the form of `train_by_definition`."""
    return list(training.merges), training.stopped


def fibonacci_word(size: int) -> str:
    a, b = "b", "a"
    while len(b) < size:
        a, b = b, b + a
    return b[:size]


def thue_morse_word(size: int) -> str:
    return "".join("ab"[i.bit_count() % 2] for i in range(size))


@settings(max_examples=examples(400))
@given(
    SMALL_TEXTS,
    ATOMS,
    TIES,
    st.sampled_from(["none", "words", "gpt2"]),
    st.integers(1, 3),
    st.integers(0, 25),
)
def test_merges_equal_reference_loop(
    text: str, how: dict[str, str], ties: str, pattern: str, min_count: int, limit: int
) -> None:
    training = bpeviz.train(
        text, merges=limit, pattern=pattern, ties=ties, min_count=min_count, **how
    )
    expected = reference_training(
        training, count_pre_tokens(text, training), limit, ties=ties, min_count=min_count
    )
    assert decided(training) == expected
    check_candidates(training, text)


@given(SMALL_TEXTS, ATOMS, st.sampled_from(["none", "gpt2"]))
@example("low low lower lowest, ab ab ba", {"atoms": "bytes"}, "gpt2")
def test_candidates_equal_a_slow_count_at_every_step(
    text: str, how: dict[str, str], pattern: str
) -> None:
    training = bpeviz.train(text, merges=9, pattern=pattern, **how)
    boundaries = training.tokenizer().boundaries(text)
    atom_id = {symbol: i for i, symbol in enumerate(training.alphabet)}
    weighted = count_pre_tokens(text, training)
    rows = [([atom_id[s] for s in symbols_of(one, training)], weighted[one]) for one in weighted]
    for step, merge in enumerate(training.merges):
        found = training.candidates(text, boundaries, step, 1_000)
        assert {one.ids: one.count for one in found} == bpe.count(rows)
        pair = merge.left, merge.right
        rows = [(bpe.merge(row, pair, merge.new_id), times) for row, times in rows]


@settings(max_examples=examples(150))
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=8), st.integers(1, 9), max_size=8),
    ATOMS,
    TIES,
    st.integers(1, 12),
)
def test_merges_of_counted_words_equal_reference_loop(
    words: dict[str, int], how: dict[str, str], ties: str, min_count: int
) -> None:
    training = bpeviz.train(words, merges=30, pattern="none", ties=ties, min_count=min_count, **how)
    assert decided(training) == reference_training(
        training, words, 30, ties=ties, min_count=min_count
    )


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["first", "smallest", "bytes", "largest"])
@pytest.mark.parametrize(
    "text",
    ["a" * n for n in (1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 300)]
    + [fibonacci_word(377), fibonacci_word(400), thue_morse_word(256), thue_morse_word(300)]
    + ["ab" * 100 + "ba" * 100, "aab" * 60, "a" * 50 + "b" + "a" * 49],
    ids=lambda text: f"{text[:8]}-{len(text)}",
)
def test_merges_of_worst_cases_equal_reference_loop(text: str, ties: str) -> None:
    training = bpeviz.train(text, merges=60, pattern="none", ties=ties)
    assert decided(training) == reference_training(training, {text: 1}, 60, ties=ties)


@given(SMALL_TEXTS, st.sampled_from(["none", "gpt2"]))
def test_training_does_not_depend_on_character_block_size(text: str, pattern: str) -> None:
    how = {"merges": 9, "atoms": "characters", "pattern": pattern}
    whole = bpeviz.train(text, **how)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pre_tokens, "BLOCK", 3)
        assert bpeviz.train(text, **how) == whole


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, fibonacci_word(200_000), thue_morse_word(200_000)],
    ids=["a", "Fibonacci", "Thue-Morse"],
)
def test_long_worst_cases_finish(text: str) -> None:
    """A trainer that recounts at each step would take minutes."""
    merges = bpeviz.train(text, merges=1_000, pattern="none").merges
    counts = [merge.count for merge in merges]
    assert counts == sorted(counts, reverse=True)


@settings(max_examples=examples(60))
@given(
    SMALL_TEXTS.filter(lambda text: len(text) > 10),
    st.sampled_from(["gpt2", "cl100k", "words", "whitespace"]),
    st.integers(1, 12),
)
@example("aaabdaaabac", "gpt2", 3)
def test_byte_merges_equal_tiktoken_educational_trainer(
    text: str, pattern: str, merges: int
) -> None:
    training = bpeviz.train(text, merges=merges, pattern=pattern)
    tokenizer = training.tokenizer()
    # Its loop stops only at the vocabulary size, so it gets the size that was reached.
    expected = tiktoken._educational.bpe_train(
        text, training.vocab_size, PATTERNS[pattern].expression or "", visualise=None
    )
    assert {tokenizer.token_bytes(i): i for i in range(training.vocab_size)} == expected


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8))
@example([(0, 1), (3, 0), (2, 5)])
@example([(4, 1), (2, 3), (0, 1)])
def test_lexicographic_tie_rules_compare_both_tokens(tied: list[tuple[int, int]]) -> None:
    names = [b"b", b"a", b"ab", b"aa", b"b", b"\xff"]  # by id; two are equal

    def named(pair: tuple[int, int]) -> tuple[bytes, bytes]:
        return names[pair[0]], names[pair[1]]

    assert named(bpe.choose(tied, names, "bytes")) == min(map(named, tied))
    assert named(bpe.choose(tied, names, "largest")) == max(map(named, tied))


def test_smallest_bytes_differ_from_smallest_ids() -> None:
    """After the merge of c and d, its id is larger than that of e, and its bytes are smaller."""
    words = {"cd": 9, "cdx": 2, "ex": 2}

    def second(ties: str) -> tuple[int, int]:
        merge = bpeviz.train(words, merges=2, pattern="none", ties=ties).merges[1]
        return merge.left, merge.right

    assert second("bytes") == (256, ord("x"))
    assert second("smallest") == (ord("e"), ord("x"))


def test_garbage_collector_state_is_restored() -> None:
    """A trainer disables garbage collection while it runs, and restores it on errors."""
    assert gc.isenabled()
    bpeviz.train("abc abc", merges=2)
    assert gc.isenabled()
    with collector_off():
        assert not gc.isenabled()
        bpeviz.train("abc abc", merges=2)
        assert not gc.isenabled()
    with pytest.raises(ValueError, match="either"), collector_off():
        bpeviz.train("abc")
    assert gc.isenabled()


# ---- when training stops


def test_training_stops_at_requested_size() -> None:
    by_merges = bpeviz.train("abcdef", merges=2)
    by_size = bpeviz.train("abcdef", vocab_size=258)
    assert (len(by_merges.merges), by_merges.stopped) == (2, "full")
    assert (by_size.vocab_size, by_size.merges) == (258, by_merges.merges)

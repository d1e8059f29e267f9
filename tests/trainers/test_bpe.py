"""The BPE trainer against its definition and tiktoken's educational trainer."""

from __future__ import annotations

import gc
from collections import Counter
from itertools import count, islice, pairwise
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
from bpeviz.trainers import bpe
from bpeviz.trainers.base import collector_off
from bpeviz.trainers.fast_bpe import pre_tokens

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


def test_counted_word_equals_repeated_word() -> None:
    """A mapping of counts gives the merges of the text it was counted in."""
    words = {"hug": 3, "pug": 2, "hugs": 1}
    text = " ".join(word for word, times in words.items() for _ in range(times))
    from_text = bpeviz.train(text, merges=5, pattern="regex", expression=r"\w+|\s")
    from_words = bpeviz.train(words, merges=5, pattern="none")
    assert decided(from_text) == decided(from_words)


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


def trained_as_in_courses(words: dict[bytes, int], limit: int) -> list[tuple[bytes, bytes]]:
    """Train on byte strings; of equally frequent pairs, the smallest two byte strings win."""
    rows = {tuple(word[i : i + 1] for i in range(len(word))): n for word, n in words.items()}
    merges: list[tuple[bytes, bytes]] = []
    while len(merges) < limit:
        counts: Counter[tuple[bytes, bytes]] = Counter()
        for row, times in rows.items():
            for pair in pairwise(row):
                counts[pair] += times
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        rows = {tuple(replaced(row, best)): times for row, times in rows.items()}
    return merges


def replaced(row: tuple[bytes, ...], pair: tuple[bytes, bytes]) -> list[bytes]:
    done: list[bytes] = []
    at = 0
    while at < len(row):
        size = 2 if row[at : at + 2] == pair else 1
        done.append(b"".join(row[at : at + size]))
        at += size
    return done


@settings(max_examples=examples(150))
@given(SMALL_TEXTS, st.sampled_from(["gpt2", "words", "none"]), st.integers(1, 30))
@example("low low low lower lowest newer newest wider", "gpt2", 20)
def test_smallest_bytes_win_ties_as_in_courses(text: str, pattern: str, limit: int) -> None:
    training = bpeviz.train(text, merges=limit, pattern=pattern, ties="bytes")
    words = {word.encode(): n for word, n in count_pre_tokens(text, training).items()}
    raw = training.tokenizer().token_bytes
    found = [(raw(merge.left), raw(merge.right)) for merge in training.merges]
    assert found == trained_as_in_courses(words, limit)


def test_smallest_bytes_differ_from_smallest_ids() -> None:
    """After the merge of c and d, its id is larger than that of e, and its bytes are smaller."""
    words = {"cd": 9, "cdx": 2, "ex": 2}

    def second(ties: str) -> tuple[int, int]:
        merge = bpeviz.train(words, merges=2, pattern="none", ties=ties).merges[1]
        return merge.left, merge.right

    assert second("bytes") == (256, ord("x"))
    assert second("smallest") == (ord("e"), ord("x"))


@given(SMALL_TEXTS, ATOMS, st.integers(0, 25))
def test_ids_are_dense_and_unique_and_parents_come_first(
    text: str, how: dict[str, str], limit: int
) -> None:
    training = bpeviz.train(text, merges=limit, **how)
    assert [merge.new_id for merge in training.merges] == list(
        islice(count(len(training.alphabet)), len(training.merges))
    )
    assert all(max(merge.left, merge.right) < merge.new_id for merge in training.merges)
    assert len({(merge.left, merge.right) for merge in training.merges}) == len(training.merges)
    assert len(set(training.alphabet)) == len(training.alphabet)


@settings(max_examples=examples(200))
@given(SMALL_TEXTS, TIES, st.sampled_from(["none", "gpt2"]))
def test_byte_merges_make_distinct_tokens(text: str, ties: str, pattern: str) -> None:
    """ab+c and a+bc are never both merged, so a table of ranks by bytes always exists.

    The merges inside a piece of text depend on the piece alone as long as no merge crosses its
    ends. Once ab+c is merged, the piece is one token, and a can no longer be followed by bc.
    """
    training = bpeviz.train(text, merges=40, pattern=pattern, ties=ties)
    tokenizer = training.tokenizer()
    made = {tokenizer.token_bytes(i) for i in range(training.vocab_size)}
    assert len(made) == training.vocab_size


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


# ---- invalid arguments


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"vocab_size": 100}, "at least 256: one entry per byte value, not 100"),
        (
            {"vocab_size": 1, "atoms": "characters"},
            "at least 3: one entry per character of the text, not 1",
        ),
        ({"merges": 1, "pattern": "gpt5"}, "'gpt5'"),
        ({"merges": 1, "pattern": "regex", "expression": "("}, "regular expression"),
    ],
    ids=str,
)
def test_invalid_arguments_raise_value_error(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bpeviz.train("abc", **wrong)

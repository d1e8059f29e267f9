"""Scaffold-BPE against its two algorithms as slow loops, and against the paper's own examples."""

from __future__ import annotations

from typing import Any

import pytest
import reference_scaffold
from helpers.candidates import check_candidates
from helpers.properties import examples, many
from helpers.refusals import refusal
from helpers.steps import check_steps
from helpers.texts import SMALL_TEXTS
from hypothesis import given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz.trainers import texts_of
from bpeviz.trainers.scaffold_bpe import ScaffoldTraining

HOW = st.sampled_from(
    [
        {"pattern": "none"},
        {"pattern": "gpt2", "ties": "smallest"},
        {"pattern": "words", "ties": "largest", "atoms": "characters"},
        {"pattern": "words", "ties": "bytes"},
        {"pattern": "whitespace", "atoms": "characters", "end_mark": "attached", "min_count": 2},
        {"pattern": "none", "atoms": "characters", "end_mark": "symbol", "ties": "smallest"},
    ]
)
TEXTS = SMALL_TEXTS | st.lists(
    st.sampled_from(["abcd", "abc", "bcd", "ab", "cd", "abcdabcd", " "]), max_size=25
).map("".join)


def train(corpus: Any, **how: Any) -> ScaffoldTraining:
    return bpeviz.train(corpus, "scaffold", **how)


def rows_of(training: ScaffoldTraining, pre_tokens: dict[str, int]) -> list[tuple[list[int], int]]:
    atom_id = {symbol: i for i, symbol in enumerate(training.alphabet)}
    symbols = training.pre_tokenizer.symbols
    return [([atom_id.get(s, -1) for s in symbols(c)], times) for c, times in pre_tokens.items()]


def count_pre_tokens(training: ScaffoldTraining, text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for pre_token in training.pre_tokenizer.pre_tokens(text):
        found[pre_token] = found.get(pre_token, 0) + 1
    return found


def reference_training(
    training: ScaffoldTraining, pre_tokens: dict[str, int], how: dict[str, Any], **limit: int
):
    rule = {name: how[name] for name in ("ties", "min_count") if name in how}
    return reference_scaffold.train(
        rows_of(training, pre_tokens), training.alphabet, **limit, **rule
    )


def scaffolds(training: ScaffoldTraining, step: int) -> set[int]:
    """Return the scaffolds after a step, from the times at which they change."""
    first = len(training.alphabet)
    return {
        token
        for token, times in enumerate(training.hidden_times, first)
        if sum(time < step for time in times) % 2
    }


def assert_equals_reference(
    training: ScaffoldTraining, expected: reference_scaffold.Trained
) -> None:
    assert [(merge.left, merge.right) for merge in training.merges] == expected.merges
    for step, hidden in enumerate(expected.scaffolds, 1):
        assert scaffolds(training, step) == hidden
    atoms = len(training.alphabet)
    counts = [0, *(len(hidden) for hidden in expected.scaffolds)]
    assert training.sizes.tolist() == [atoms + i - count for i, count in enumerate(counts)]


@many()
@given(TEXTS, HOW, st.integers(0, 25))
def test_merges_and_scaffolds_equal_reference_loop(
    text: str, how: dict[str, Any], limit: int
) -> None:
    training = train(text, merges=limit, **how)
    assert_equals_reference(
        training, reference_training(training, count_pre_tokens(training, text), how, limit=limit)
    )
    check_candidates(training, text)


@many()
@given(TEXTS, HOW, st.integers(0, 12))
def test_training_stops_when_vocabulary_without_scaffolds_is_full(
    text: str, how: dict[str, Any], room: int
) -> None:
    atoms = len(train(text, merges=0, **how).alphabet)
    training = train(text, vocab_size=atoms + room, **how)
    expected = reference_training(
        training, count_pre_tokens(training, text), how, size=atoms + room
    )
    assert_equals_reference(training, expected)
    assert (training.sizes[-1] == atoms + room) == (training.stopped == "full")
    assert training.sizes.max() <= atoms + room


@pytest.mark.slow
@many()
@given(TEXTS, TEXTS, HOW)
def test_tokens_equal_reference_encoder_at_every_step(
    corpus: str, text: str, how: dict[str, Any]
) -> None:
    """Check the boundaries, and the tokenizer of each step."""
    training = train(corpus, merges=20, **how)
    trained = reference_training(training, count_pre_tokens(training, corpus), how, limit=20)
    tokenizer = training.tokenizer()
    atoms = len(training.alphabet)
    sizes = [1] * atoms
    for left, right in trained.merges:
        sizes.append(sizes[left] + sizes[right])
    for held in (corpus, text):
        pre_tokens = training.pre_tokenizer.pre_tokens(held)
        rows = [rows_of(training, {pre_token: 1})[0][0] for pre_token in pre_tokens]

        def expected(step: int, rows: list[list[int]] = rows) -> list[tuple[int, int]]:
            encoded = (reference_scaffold.encode(row, atoms, trained, step) for row in rows)
            return [(i, 1 if i < 0 else sizes[i]) for ids in encoded for i in ids]

        check_steps(training, held, expected)
        for step in range(training.steps + 1):
            smaller = tokenizer.at_step(step)
            assert smaller.encode(held) == training.at_step(step).encode(held)
            assert smaller.sizes.tolist() == training.sizes[: step + 1].tolist()


# The paper's own examples

ARIZONA = {
    "zona": 3,
    "Arizona": 20,
    "Ari": 16,
    "zon": 9,
    "on": 15,
    "ri": 30,
    "xy": 12,
    "uv": 10,
    "st": 5,
}
"""Words in which `zona` is rare by itself, as in Figures 3 and 4."""


def test_scaffold_zona_is_split_back_outside_arizona() -> None:
    """Figures 3 and 4: `zona` is needed for `Arizona`, but is rare by itself; it is split
    back into `zon` and `a`, and `Arizona` is a token."""
    training = train(ARIZONA, merges=8, pattern="none", atoms="characters")
    tokenizer = training.tokenizer()
    name = training.name
    assert [name(m.new_id) for m in training.merges][:6] == [
        "ri", "on", "Ari", "zon", "zona", "Arizona",
    ]  # fmt: skip
    made = {name(merge.new_id): merge for merge in training.merges}
    assert "zona” is now a scaffold" in made["Arizona"].note
    assert [t.label for t in tokenizer.tokens("Arizona")] == ["Arizona"]
    assert [t.label for t in tokenizer.tokens("zona")] == ["zon", "a"]
    assert scaffolds(training, 8) == {made["zona"].new_id}
    # All merged tokens but zona, besides the atoms.
    assert training.sizes[-1] == len(training.alphabet) + 7
    assert (
        texts_of(training).vocabulary(training, 8)
        == f"{len(training.alphabet)} characters + 8 merges, 1 of them scaffold"
    )


def test_step_of_skipped_size_is_the_step_before() -> None:
    words = {"abc": 5, "ab": 2, "de": 4, "fg": 2}
    training = train(words, merges=4, pattern="none", atoms="characters")
    assert training.sizes.tolist() == [7, 8, 8, 10, 11]
    assert [training.step_of(size) for size in range(7, 12)] == [0, 2, 2, 3, 4]
    for size in (6, 12):
        refusal(training.step_of, size, naming=("7", "11", str(size)))


# Notes


@settings(max_examples=examples(60))
@given(TEXTS, HOW)
def test_details_table_counts_tokens_of_the_corpus(corpus: str, how: dict[str, Any]) -> None:
    training = train(corpus, merges=15, **how)
    boundaries = training.tokenizer().boundaries(corpus)
    for step in range(training.steps + 1):
        table = texts_of(training).details(training, corpus, boundaries, step)[0].content()
        assert {*table["id"]} == scaffolds(training, step)
        cut = training.merger(step).boundaries(corpus).ids(step).tolist()
        assert [*table["times"]] == [cut.count(token) for token in table["id"]]
        for token, larger, times in zip(
            table["id"], table["merged into"], table["times merged"], strict=True
        ):
            into = [merge.new_id for merge in training.merges[:step] if token in merge[:2]]
            assert (larger, times) == (into[:3], len(into))
        since = [*table["since merge"]]
        assert since == sorted(since, reverse=True)
        for token, start in zip(table["id"], since, strict=True):
            assert token in scaffolds(training, start)
            assert token not in scaffolds(training, start - 1)

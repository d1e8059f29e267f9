"""Multilingual BPE against its definition; smoothing raises the weight of small texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from helpers.candidates import check_candidates
from helpers.properties import examples
from helpers.steps import check_steps
from helpers.texts import SMALL_TEXTS, over
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz.trainers import bpe
from bpeviz.trainers.multilingual_bpe import (
    SMOOTHING,
    MultilingualTraining,
)

LARGE = "the cat sat on the mat and looked at the other cat that sat there " * 40
SMALL = "kissa istui matolla ja katsoi toista kissaa joka istui siellä " * 2

PARTS = st.lists(SMALL_TEXTS | over("xy -\n", 40), min_size=1, max_size=4)
HOW = st.fixed_dictionaries(
    {
        "atoms": st.sampled_from(["bytes", "characters"]),
        "smoothing": st.sampled_from([*SMOOTHING]),
        "pattern": st.sampled_from(["none", "gpt2", "words"]),
    }
)


def train(text: Any, merges: int = 20, **how: Any) -> MultilingualTraining:
    training = bpeviz.train(text, "multilingual", merges=merges, **how)
    assert isinstance(training, MultilingualTraining)
    return training


def joined(parts: list[str]) -> str:
    return "\n---\n".join(parts)


def reference_factors(parts: list[str], alpha: float) -> list[int]:
    """Return the weight per byte of each text in hundredths, by the definition."""
    sizes = [len(part.encode()) for part in parts]
    shares = [size / sum(sizes) for size in sizes]
    powers = [share**alpha for share in shares]
    smoothed = [power / sum(powers) for power in powers]
    each = [new / old for new, old in zip(smoothed, shares, strict=True)]
    least = each[sizes.index(max(sizes))]
    hundredths = [round(round(100 * value / least, 6)) for value in each]
    return [times // int(np.gcd.reduce(hundredths)) for times in hundredths]


def reference_parts(text: str) -> list[tuple[str, bool]]:
    """Split a text at lines of three dashes; such a line is a part by itself."""
    found: list[tuple[str, bool]] = [("", False)]
    for line in text.split("\n"):
        if line.rstrip(" \t\r") == "---":
            found += [(line + "\n", True), ("", False)]
        else:
            found[-1] = found[-1][0] + line + "\n", False
    # The last line has no line end; remove the one added above.
    kept = [(part, between) for part, between in found if part]
    if not kept:
        return []
    last, between = kept[-1]
    kept[-1] = last[:-1], between
    return [(part, between) for part, between in kept if part]


def reference_rows(
    training: MultilingualTraining, text: str
) -> tuple[list[tuple[list[int], int]], list[tuple[str, int]]]:
    """Return the training rows with weights, and the pre-tokens with factors."""
    parts = reference_parts(text)
    counted = [part for part, between in parts if not between and part.strip()]
    found = iter(reference_factors(counted, float(training.smoothing)) if counted else [])
    of_part = [0 if between else (next(found) if part.strip() else None) for part, between in parts]
    least = min((times for times in of_part if times), default=1)
    plain = bpeviz.train("", merges=0, pattern=training.pre_tokenizer.pattern).pre_tokenizer
    pre_tokens = [
        (pre_token, least if times is None else times)
        for (part, between), times in zip(parts, of_part, strict=True)
        for pre_token in (part if between else plain.pre_tokens(part))
    ]
    weights: dict[str, int] = {}
    for pre_token, times in pre_tokens:
        weights[pre_token] = weights.get(pre_token, 0) + times
    atom_id = {symbol: i for i, symbol in enumerate(training.alphabet)}
    in_bytes = training.pre_tokenizer.atoms == "bytes"

    def row(pre_token: str) -> list[int]:
        return (
            [*pre_token.encode()] if in_bytes else [atom_id[character] for character in pre_token]
        )

    return [(row(pre_token), times) for pre_token, times in weights.items()], pre_tokens


@settings(max_examples=examples(150))
@given(PARTS, HOW, st.integers(0, 20))
@example([LARGE, SMALL], {"smoothing": "0.5"}, 20)
@example(["a--- b--- ---- ", " ", "---- c--- a"], {"smoothing": "0.0", "pattern": "none"}, 20)
def test_merges_equal_reference_loop(parts: list[str], how: dict[str, Any], limit: int) -> None:
    text = joined(parts)
    training = train(text, limit, **how)
    rows, _ = reference_rows(training, text)
    expected, stopped = bpe.train_by_definition(rows, training.alphabet, limit)
    assert (list(training.merges), training.stopped) == (expected, stopped)
    check_candidates(training, text)


@settings(max_examples=examples(80))
@given(PARTS, PARTS, HOW)
def test_boundaries_equal_reference_segmentation_at_every_step(
    parts: list[str], others: list[str], how: dict[str, Any]
) -> None:
    training = train(joined(parts), **how)
    tokenizer = training.tokenizer()
    pairs = [(merge.left, merge.right) for merge in training.merges]
    atom_id = {symbol: i for i, symbol in enumerate(training.alphabet)}
    plain = bpeviz.train("", merges=0, pattern=how["pattern"]).pre_tokenizer
    for held in (joined(parts), joined(others)):
        pre_tokens = [
            pre_token
            for part, between in reference_parts(held)
            for pre_token in (part if between else plain.pre_tokens(part))
        ]
        if how["atoms"] == "bytes":
            rows = [[*pre_token.encode()] for pre_token in pre_tokens]
        else:
            rows = [[atom_id.get(letter, -1) for letter in pre_token] for pre_token in pre_tokens]

        def expected(step: int, rows: list[list[int]] = rows) -> list[tuple[int, int]]:
            return [
                token
                for row in rows
                for token in reference.segment(row, pairs[:step], len(atom_id))
            ]

        check_steps(training, held, expected)
        if how["atoms"] == "bytes":
            assert tokenizer.decode(tokenizer.encode(held)) == held


@settings(max_examples=examples(80))
@given(PARTS, HOW)
def test_shares_equal_direct_counts(parts: list[str], how: dict[str, Any]) -> None:
    text = joined(parts)
    training = train(text, **how)
    whole = training.tokenizer().boundaries(text)
    held = [part for part, between in reference_parts(text) if not between and part.strip()]
    for step in {0, training.steps // 2, training.steps}:
        shares = training.shares(text, step)
        assert shares == training.shares(text, step, whole)
        assert [share.name for share in shares] == [f"Text {i + 1}" for i in range(len(held))]
        assert [share.size for share in shares] == [len(part.encode()) for part in held]
        assert [share.factor for share in shares] == (
            reference_factors(held, float(training.smoothing)) if held else []
        )
        tokenizer = training.at_step(step)
        tokens = [tokenizer.encode(part) for part in held]
        assert [share.tokens for share in shares] == [len(ids) for ids in tokens]
        trained = [{i for i in ids if not tokenizer.is_atom(i)} for ids in tokens]
        assert [share.used for share in shares] == [len(ids) for ids in trained]
        assert [share.alone for share in shares] == [
            len(ids - set().union(*trained[:k], *trained[k + 1 :])) for k, ids in enumerate(trained)
        ]
        if held:
            assert sum(share.share for share in shares) == pytest.approx(1)
            assert sum(share.smoothed for share in shares) == pytest.approx(1)


# The shares

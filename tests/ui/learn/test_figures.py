"""Figures of the course: known answers, each computed by a slow reference or by tiktoken."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from helpers.properties import many
from helpers.refusals import refusal
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.corpus import samples
from bpeviz.trainers import bpe
from bpeviz.ui.learn import figures
from bpeviz.ui.learn.base import DON_QUIJOTE
from bpeviz.ui.learn.engine import merges_of

BYTES = [*map(chr, range(256))]

Pair = tuple[int, int]


def encode_slowly(text: str, pairs: Sequence[Pair]) -> list[list[int]]:
    """Return the ids of a text after each merge in order, applied to all of it."""
    states = [[*text.encode()]]
    for new_id, pair in enumerate(pairs, 256):
        states.append(bpe.merge(states[-1], pair, new_id))
    return states


# ---- why; real ones


def test_passage_costs_three_times_the_tokens_in_burmese_and_more_in_gpt2() -> None:
    gpt4o, gpt2 = bpeviz.load("o200k_base"), bpeviz.load("gpt2")
    english, burmese = (samples._read(f"languages/{key}") for key in ("english", "burmese"))
    counts = {"english": len(gpt4o.encode(english)), "burmese": len(gpt4o.encode(burmese))}
    counts["burmese_gpt2"] = len(gpt2.encode(burmese))
    assert counts == figures.PASSAGE_TOKENS


# ---- when to stop


@pytest.mark.parametrize(("text", "new"), [("", ""), ("a", "b"), ("aaaa", ""), ("abab", "xy")])
def test_stop_line_of_a_text_that_no_merge_shortens_is_zero(text: str, new: str) -> None:
    line = figures.stop_line(text, new)
    assert line.last == 0
    assert len(line.seen) == len(line.new) == line.training.steps + 1
    assert figures.percent(line.new) == [100 if new else 0] * len(line.new)


# ---- fences


@many()
@given(st.text("ab. ñ", max_size=30), st.sets(st.integers(0, 32)), st.integers(0, 12))
def test_fenced_training_equals_training_on_the_parts(
    text: str, fences: set[int], merges: int
) -> None:
    result = figures.fenced(text, fences, merges)
    parts = [""]
    for place, character in enumerate(text):
        if place in fences:
            parts.append("")
        parts[-1] += character
    # Each part once for each time, in the order of the text.
    rows = [([*part.encode()], 1) for part in parts]
    trained, _ = bpe.train_by_definition(rows, BYTES, merges)
    assert [merge for merge, _ in result.merges] == trained
    encoded = [
        encode_slowly(part, [(merge.left, merge.right) for merge in trained]) for part in parts
    ]
    counts = [sum(map(len, states)) for states in zip(*encoded, strict=True)]
    boundaries = result.training.boundaries(text)
    assert boundaries.token_counts.tolist() == counts
    assert boundaries.ids(len(trained)).tolist() == [
        token_id for states in encoded for token_id in states[-1]
    ]
    assert result.tokens == counts[-1]
    assert result.apart == (not any(map(figures.joins, parts)))


# ---- golf


def test_best_known_merges_need_fewer_than_the_algorithm() -> None:
    greedy = merges_of(DON_QUIJOTE, merges=20).boundaries(DON_QUIJOTE).token_counts.tolist()
    training = figures.own_merges(DON_QUIJOTE, figures.BEST_KNOWN)
    own = training.boundaries(DON_QUIJOTE).token_counts.tolist()
    for tokens, (algorithm, known) in figures.GOLF.items():
        assert [next(i for i, n in enumerate(row) if n <= tokens) for row in (greedy, own)] == [
            algorithm,
            known,
        ]
    assert (own[10], greedy[10]) == (94, 95)


@many()
@given(st.text("abc ñ", min_size=2, max_size=30), st.data())
def test_own_merges_have_the_counts_and_tokens_of_merging_by_hand(
    text: str, data: st.DataObject
) -> None:
    state, states, pairs, counts = [*text.encode()], [[*text.encode()]], [], []
    for new_id in range(256, 256 + data.draw(st.integers(0, 8))):
        if len(state) < 2:
            break
        pair = data.draw(st.sampled_from([*pairwise(state)]))
        counts.append([*pairwise(state)].count(pair))
        state = bpe.merge(state, pair, new_id)
        pairs.append(pair)
        states.append(state)
    training = figures.own_merges(text, pairs)
    assert [(merge.left, merge.right) for merge in training.merges] == pairs
    assert [merge.new_id for merge in training.merges] == [*range(256, 256 + len(pairs))]
    assert [merge.count for merge in training.merges] == counts
    boundaries = training.boundaries(text)
    assert boundaries.token_counts.tolist() == [*map(len, states)]
    for step, ids in enumerate(states):
        assert boundaries.ids(step).tolist() == ids
    assert training.tokenizer().encode(text) == state


def test_own_merges_refuse_a_pair_that_is_not_there() -> None:
    refusal(figures.own_merges, "abab", [(97, 98), (97, 98)], naming="2")

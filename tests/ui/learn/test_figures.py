"""Figures of the course: known answers, each computed by a slow reference or by tiktoken."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from helpers.properties import many
from hypothesis import given
from hypothesis import strategies as st

from bpeviz.trainers import bpe
from bpeviz.ui.learn import figures
from bpeviz.ui.learn.base import DON_QUIJOTE
from bpeviz.ui.learn.chapters import merge
from bpeviz.ui.learn.engine import merges_of

BYTES = [*map(chr, range(256))]

Pair = tuple[int, int]


def encode_slowly(text: str, pairs: Sequence[Pair]) -> list[list[int]]:
    """Return the ids of a text after each merge in order, applied to all of it."""
    states = [[*text.encode()]]
    for new_id, pair in enumerate(pairs, 256):
        states.append(bpe.merge(states[-1], pair, new_id))
    return states


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


# ---- choose the merge, and the goals of the last page


BEST_KNOWN = (
    *((101, 32), (32, 100), (111, 32), (110, 32), (257, 256), (97, 32)),  # e· ·d o· n· ·de· a·
    *((260, 108), (97, 110), (99, 104)),  # ·de·l an ch: 96 tokens
    *((110, 258), (101, 114), (100, 97), (116, 105)),  # no· er da ti: 88 tokens
    *((117, 259), (113, 117), (69, 259), (271, 269), (272, 108)),  # un· qu En· En·un· En·un·l: 81
)
"""The merges of a search that looks ahead."""


def test_best_known_merges_need_fewer_than_the_algorithm() -> None:
    greedy = merges_of(DON_QUIJOTE, merges=20).boundaries(DON_QUIJOTE).token_counts.tolist()
    own = [*map(len, encode_slowly(DON_QUIJOTE, BEST_KNOWN))]
    assert (own[10], greedy[10]) == (merge.CLEVER, 95)
    assert (own.index(81), greedy.index(81)) == (18, 20)

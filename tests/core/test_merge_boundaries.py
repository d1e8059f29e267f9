"""The boundary array equals merging by the definition at every step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from helpers.properties import many
from helpers.texts import SMALL_TEXTS
from hypothesis import given
from hypothesis import strategies as st

import bpeviz
from bpeviz.core.boundaries import MergeBoundaries, ended
from bpeviz.core.merges import MergeTokenizer

HOW = st.sampled_from(
    [
        {"pattern": "none"},
        {"pattern": "gpt2"},
        {"pattern": "words", "ties": "largest"},
        {"pattern": "regex", "expression": "a+|b"},
        {"pattern": "none", "atoms": "characters"},
        {"pattern": "whitespace", "atoms": "characters", "end_mark": "attached"},
        {"pattern": "gpt2", "atoms": "characters", "end_mark": "symbol", "ties": "smallest"},
    ]
)


def train(corpus: str, how: dict[str, Any], merges: int = 25) -> MergeTokenizer:
    return bpeviz.train(corpus, merges=merges, **how).tokenizer()


def reference_tokens(tokenizer: MergeTokenizer, text: str, step: int) -> list[tuple[int, int]]:
    """Return the (id, atoms) of each token after `step` merges; -1 for an unknown atom."""
    atom_id = {symbol: i for i, symbol in enumerate(tokenizer.alphabet)}
    pairs = [(merge.left, merge.right) for merge in tokenizer.merges[:step]]
    found: list[tuple[int, int]] = []
    for pre_token in tokenizer.pre_tokenizer.pre_tokens(text):
        ids = [atom_id.get(symbol, -1) for symbol in tokenizer.pre_tokenizer.symbols(pre_token)]
        found += reference.segment(ids, pairs, len(tokenizer.alphabet))
    return found


@many(300)
@given(SMALL_TEXTS, SMALL_TEXTS, HOW)
def test_boundaries_equal_reference_segmentation_at_every_step(
    corpus: str, text: str, how: dict[str, Any]
) -> None:
    """Check the training text and other text, also as changes, and the last merge of each token."""
    tokenizer = train(corpus, how)
    for held in (corpus, text):
        boundaries = tokenizer.boundaries(held)
        changes = boundaries.as_changes()
        assert changes.token_counts.tolist() == boundaries.token_counts.tolist()
        assert changes.change_steps.tolist() == boundaries.change_steps.tolist()
        for step in range(tokenizer.steps + 2):
            expected = reference_tokens(tokenizer, held, step)
            ids = [i for i, _ in expected]
            ends = np.cumsum([size for _, size in expected], dtype=np.int64)
            for one in (boundaries, changes):
                assert one.token_ends(step).tolist() == ends.tolist()
                assert one.ids(step).tolist() == ids
            last = [tokenizer.merge_step(i) if i >= 0 else -1 for i in ids]
            assert boundaries.last_merges(step).tolist() == last
            if step <= tokenizer.steps:
                assert boundaries.token_counts[step] == len(expected)


# Edges


@pytest.mark.parametrize("last", [2**31 - 1, 2**31])
def test_ends_of_a_large_text_fit_their_type(last: int) -> None:
    ids = merged_at = np.zeros(3, np.int32)
    boundaries = MergeBoundaries(np.array([5, last - 1, last]), ids, 1, merged_at, 0)
    assert boundaries.ends.tolist() == [5, last - 1, last]
    assert boundaries.ends.dtype == (np.int32 if last < 2**31 else np.int64)
    assert boundaries.cuts(0).tolist() == [5, last - 1, last]
    for at in (0, 5, 6, last - 1, last):
        assert ended(boundaries.ends, at) == sum(end <= at for end in (5, last - 1, last))
        assert ended(boundaries.ends, at, before=True) == sum(
            end < at for end in (5, last - 1, last)
        )

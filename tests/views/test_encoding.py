"""The timeline of an encoded text equals a slow encoder."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, islice, pairwise
from typing import Any

import pytest
import tiktoken

import bpeviz
from bpeviz.core.boundaries import INSIDE_ID
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.ui.learn.engine import encoding as stage_of
from bpeviz.ui.learn.engine import on_stage

TEXTS = (
    "strawberry",
    " strawberry",
    "नमस्ते, आप कैसे हैं?",
    "1234567",
    "😃 👩‍👩‍👧 é",
    "def f(x):\n    return x",
    "<|endoftext|>",
    "aaaaa hahaha hahaha",
    "\0",
    "",
)


def encoding(text: str, tokenizer: Tokenizer) -> Any:
    """Return the timeline as the player gets it."""
    return on_stage(stage_of(text, tokenizer))["views"][0]


Step = tuple[int, int, int, int]
"""The left id, the right id, the new id, and the number of places."""


def slow_steps(
    rows: list[list[int]], merged: Callable[[int, int], int | None]
) -> tuple[list[Step], list[list[int]]]:
    """Return the merges of pre-tokens, the lowest id first, and the ids before and after each."""
    steps: list[Step] = []
    states = [[*chain(*rows)]]
    while True:
        pairs = {(merged(*pair), *pair) for row in rows for pair in pairwise(row)}
        possible = [(new, *pair) for new, *pair in pairs if new is not None]
        if not possible:
            return steps, states
        new_id, left, right = min(possible)
        places = 0
        for row in rows:
            at = 0
            while at < len(row) - 1:
                if row[at : at + 2] == [left, right]:
                    row[at : at + 2] = [new_id]
                    places += 1
                at += 1
        steps.append((left, right, new_id, places))
        states.append([*chain(*rows)])


def steps_of(payload: dict[str, Any]) -> list[Step]:
    columns = (payload["steps"][name] for name in ("left", "right", "id", "applied"))
    return [*zip(*columns, strict=True)]


def rows_of(payload: dict[str, Any]) -> list[list[tuple[int, int]]]:
    """Return the (step, id) entries of each atom."""
    changes = payload["changes"]
    entries = zip(changes["steps"], changes["ids"], strict=True)
    rows = [[*islice(entries, count)] for count in changes["counts"]]
    assert [*entries] == []
    return rows


def states_of(payload: dict[str, Any]) -> list[list[int]]:
    """Return the ids after each number of steps, as the browser derives them."""
    states = []
    for step in range(payload["last"] + 1):
        starts = [[i for at, i in row if at < step][-1] for row in rows_of(payload)]
        states.append([i for i in starts if i != INSIDE_ID])
    return states


@pytest.mark.parametrize("text", TEXTS)
def test_encoding_by_o200k_equals_slow_merging_and_ends_as_tiktoken(text: str) -> None:
    payload = encoding(text, bpeviz.load("o200k_base"))
    tiktoken_encoding = tiktoken.get_encoding("o200k_base")
    ranks = tiktoken_encoding._mergeable_ranks
    raw_of = {rank: raw for raw, rank in ranks.items()}
    rows = [[ranks[bytes([b])] for b in part.encode()] for part in pretokenize(text, "o200k")]
    steps, states = slow_steps(rows, lambda left, right: ranks.get(raw_of[left] + raw_of[right]))
    assert steps_of(payload) == steps
    assert states_of(payload) == states
    assert payload["tokenCounts"] == [*map(len, states)]
    assert states[-1] == tiktoken_encoding.encode(text, disallowed_special=())

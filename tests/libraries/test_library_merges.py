"""The merges of foreign files, replayed for one token."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from helpers.properties import many
from hypothesis import given
from hypothesis import strategies as st

from bpeviz.core.boundaries import INSIDE_ID
from bpeviz.libraries import merges as library_merges
from bpeviz.libraries import pool as library_pool
from bpeviz.libraries import worker as library_worker
from bpeviz.libraries.merges import RankedMerges
from bpeviz.libraries.pool import File, LibraryError
from bpeviz.libraries.tokenizer import LibraryTokenizer
from bpeviz.workers.pool import BusyError


def replayed(merges: RankedMerges, atoms: Sequence[int]) -> list[dict[int, int]] | None:
    """Return the changes of each atom, with all ranks computed again after each merge."""
    found = [{-1: atom} for atom in atoms]
    ids, starts, time = [*atoms], [*range(len(atoms))], -1
    while len(ids) > 1:
        ranks = {
            rank: at
            for at, pair in reversed([*enumerate(pairwise(ids))])
            if (rank := merges.rank_of(*pair)) is not None
        }
        if not ranks:
            return None
        at = ranks[rank := min(ranks)]
        time = max(time, rank)
        ids[at : at + 2] = [int(merges.new_ids[rank])]
        found[starts[at]][time] = ids[at]
        found[starts.pop(at + 1)][time] = INSIDE_ID
    return found


PAIRS = st.tuples(st.integers(0, 6), st.integers(0, 6))


@many()
@given(st.lists(PAIRS, max_size=12, unique=True), st.lists(st.integers(0, 2), max_size=12))
def test_replay_equals_one_that_computes_all_ranks_again(
    pairs: list[tuple[int, int]], atoms: list[int]
) -> None:
    ranks = {pair: rank for rank, pair in enumerate(pairs)}
    new_ids = np.array([3 + rank % 4 for rank in range(len(pairs))], np.int32)
    merges = RankedMerges(new_ids, lambda left, right: ranks.get((left, right)))
    expected = replayed(merges, atoms)
    for token_id in range(7):
        found = merges.replay(token_id, atoms)
        if found is None:
            last = expected[0] if expected else {}
            assert expected is None or not atoms or [*last.values()][-1] != token_id
        else:
            assert expected is not None
            counts, steps, entries = found.changes
            assert counts.tolist() == [*map(len, expected)]
            assert steps.tolist() == [step for one in expected for step in one]
            assert entries.tolist() == [entry for one in expected for entry in one.values()]


def test_replay_of_a_long_token_asks_for_few_ranks() -> None:
    asked = 0

    def rank_of(left: int, right: int) -> int | None:
        nonlocal asked
        asked += 1
        return left if left < right == 1_000 else None

    size = 500
    merges = RankedMerges(np.arange(1, size, dtype=np.int32), rank_of)
    assert merges.replay(size - 1, [0, *[1_000] * (size - 1)]) is not None
    assert asked < 4 * size


def test_busy_server_does_not_hide_the_merges_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
    tokenizer = LibraryTokenizer(
        "t", File(library_worker.HUGGING_FACE, json.dumps({"model": model}).encode())
    )

    def busy(*arguments: object, **options: object) -> bytes:
        raise LibraryError("busy") from BusyError(own=False)

    monkeypatch.setattr(library_merges, "ask", busy)
    with pytest.raises(LibraryError):
        tokenizer.boundaries("ab")
    monkeypatch.setattr(library_merges, "ask", library_pool.ask)
    assert tokenizer.steps == 1
    assert tokenizer.boundaries("ab").ids(0).tolist() == [0, 1]


@pytest.mark.parametrize(("size", "known"), [(99, True), (100, True), (101, False)])
def test_template_of_more_than_a_hundred_ids_is_left_out(
    monkeypatch: pytest.MonkeyPatch, size: int, known: bool
) -> None:
    tokenizer = object.__new__(LibraryTokenizer)
    tokenizer.__dict__ |= {
        "file": File(library_worker.SENTENCEPIECE, b""),
        "_spellings": (np.array([7]),),
    }
    answer = json.dumps([[7], [7] * (size - 1)]).encode()
    monkeypatch.setattr(library_pool, "ask", lambda *_: answer)
    assert (tokenizer.template != ((), ())) == known

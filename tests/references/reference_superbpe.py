"""SuperBPE by its definition, slow and simple."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpeviz.core.merges import Merge
from bpeviz.trainers import bpe

WHITE_SPACE = " \t\n\r\f\v"


def lines(text: str) -> list[str]:
    """Split a text after line feeds."""
    found = [line + "\n" for line in text.split("\n")]
    found[-1] = found[-1][:-1]
    return [line for line in found if line]


def group_pre_tokens(pre_tokens: Sequence[str], pieces: Sequence[str]) -> list[list[str]]:
    """Group pre-tokens: a new group begins with a pre-token that contains the end of a piece."""
    piece_ends = {sum(map(len, pieces[: i + 1])) for i in range(len(pieces))}
    groups: list[list[str]] = [[]]
    at = 0
    for pre_token in pre_tokens:
        if piece_ends & set(range(at, at + len(pre_token))):
            groups.append([])
        groups[-1].append(pre_token)
        at += len(pre_token)
    return [group for group in groups if group]


def count_words(name: str) -> int:
    """Count the words of a token, separated by ASCII white space."""
    for space in WHITE_SPACE:
        name = name.replace(space, " ")
    return len([word for word in name.split(" ") if word])


def train(
    groups: Sequence[Sequence[Sequence[int]]],
    symbols: Sequence[str],
    limit: int,
    transition: int,
    max_words: int,
    ties: str,
    min_count: int,
) -> tuple[list[Merge], int, str]:
    """Train on groups of pre-tokens; each pre-token is a row of atom ids.

    Returns:
        The merges, the index of the first merge of phase 2, and why training ended.
    """
    pre_tokens = [(pre_token, 1) for group in groups for pre_token in group]
    steps, why = bpe.train_by_definition(
        pre_tokens, symbols, min(transition, limit), ties, min_count
    )
    if why != "full":
        transition = len(steps)
    if transition >= limit:
        return steps, transition, why
    names = list(symbols)
    rows = [[list(pre_token) for pre_token in group] for group in groups]
    for step in steps:
        names.append(names[step.left] + names[step.right])
        rows = [
            [bpe.merge(pre_token, (step.left, step.right), step.new_id) for pre_token in group]
            for group in rows
        ]
    joined = [[token for pre_token in group for token in pre_token] for group in rows]
    while len(steps) < limit:
        counts = {
            pair: count
            for pair, count in bpe.count([(row, 1) for row in joined]).items()
            if ": " not in names[pair[0]] + names[pair[1]]
            and count_words(names[pair[0]] + names[pair[1]]) <= max_words
        }
        if not counts:
            return steps, transition, "no pair"
        highest = max(counts.values())
        if highest < min_count:
            return steps, transition, "rare"
        tied = [pair for pair, count in counts.items() if count == highest]
        pair = bpe.choose(tied, names, ties)
        new = len(names)
        names.append(names[pair[0]] + names[pair[1]])
        before = sum(map(len, joined))
        joined = [bpe.merge(row, pair, new) for row in joined]
        applied = before - sum(map(len, joined))
        steps.append(Merge(*pair, new, highest, applied, len(tied) - 1))
    return steps, transition, "full"


def segment(
    groups: Sequence[Sequence[Sequence[int]]],
    merges: Sequence[Any],
    transition: int,
    first_id: int,
) -> list[tuple[int, int]]:
    """Apply merges, the first `turn` within pre-tokens; return the id and atoms of each token."""
    found: list[tuple[int, int]] = []
    for group in groups:
        row: list[int] = []
        for pre_token in group:
            ids = list(pre_token)
            for merge in merges[:transition]:
                ids = bpe.merge(ids, (merge.left, merge.right), merge.new_id)
            row += ids
        for merge in merges[transition:]:
            row = bpe.merge(row, (merge.left, merge.right), merge.new_id)
        found += [(token, size_of(token, merges, first_id)) for token in row]
    return found


def size_of(token: int, merges: Sequence[Any], first_id: int) -> int:
    """Return the number of atoms of a token."""
    if token < first_id:
        return 1
    merge = merges[token - first_id]
    return size_of(merge.left, merges, first_id) + size_of(merge.right, merges, first_id)

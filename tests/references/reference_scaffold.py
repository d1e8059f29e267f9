"""Scaffold-BPE by its two algorithms (arXiv:2404.17808), slow and simple.

It recounts everything in each round, with the definition of BPE.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bpeviz.trainers import bpe
from bpeviz.trainers.bpe import Pair, TieRule


class Trained(NamedTuple):
    """The result of training.

    Attributes:
        merges: The pairs, in order.
        scaffolds: The ids of the scaffold tokens after each merge.
    """

    merges: list[Pair]
    scaffolds: list[set[int]]


def train(
    pre_tokens: Sequence[tuple[Sequence[int], int]],
    symbols: Sequence[str],
    *,
    size: int | None = None,
    limit: int | None = None,
    ties: TieRule = "first",
    min_count: int = 1,
) -> Trained:
    """Train by Algorithm 1 until the vocabulary without scaffold tokens has `size` tokens.

    Training also ends after `limit` merges. Scaffold tokens may still return to the vocabulary
    after the last merge.
    """
    rows = [(list(ids), weight) for ids, weight in pre_tokens]
    names = list(symbols)
    vocabulary = set(range(len(symbols)))
    scaffolds: set[int] = set()
    trained = Trained([], [])

    def frequency(token: int) -> int:
        return sum(row.count(token) * weight for row, weight in rows)

    def queue() -> tuple[dict[Pair, int], dict[int, int]]:
        return bpe.count(rows), {token: frequency(token) for token in scaffolds}

    while size is None or len(vocabulary) < size:
        pairs, scaffold_counts = queue()
        highest = max([*pairs.values(), *scaffold_counts.values()], default=0)
        if highest < min_count:
            break
        returning = [token for token, count in scaffold_counts.items() if count == highest]
        if returning:
            scaffolds.remove(min(returning))
            vocabulary.add(min(returning))
            if trained.scaffolds:
                trained.scaffolds[-1] = {*scaffolds}
            continue
        if len(trained.merges) == limit:
            break
        tied = [pair for pair, count in pairs.items() if count == highest]
        pair = bpe.choose(tied, names, ties)
        new = len(names)
        names.append(names[pair[0]] + names[pair[1]])
        rows = [(bpe.merge(row, pair, new), weight) for row, weight in rows]
        vocabulary.add(new)
        for part in pair:
            pairs, scaffold_counts = queue()
            highest = max([*pairs.values(), *scaffold_counts.values()], default=0)
            if part >= len(symbols) and part in vocabulary and frequency(part) < highest:
                vocabulary.remove(part)
                scaffolds.add(part)
        trained.merges.append(pair)
        trained.scaffolds.append({*scaffolds})
    return trained


def encode(ids: Sequence[int], atoms: int, trained: Trained, step: int) -> list[int]:
    """Encode by Algorithm 2 with the first `step` merges."""
    row = list(ids)
    for new, pair in enumerate(trained.merges[:step], atoms):
        row = bpe.merge(row, pair, new)
    scaffolds = trained.scaffolds[step - 1] if step else set()

    def split_back(token: int) -> list[int]:
        if token not in scaffolds:
            return [token]
        a, b = trained.merges[token - atoms]
        return split_back(a) + split_back(b)

    return [part for token in row for part in split_back(token)]

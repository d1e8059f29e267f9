"""Parity-aware BPE by its definition, slow and simple."""

from __future__ import annotations

from collections.abc import Sequence

from bpeviz.core.merges import Merge
from bpeviz.trainers import bpe
from bpeviz.trainers.bpe import Pair

Rows = list[tuple[list[int], int]]


def train(
    texts: Sequence[Rows],
    development: Sequence[Rows],
    units: Sequence[int],
    symbols: Sequence[str],
    limit: int,
    global_merges: int,
    min_count: int,
) -> tuple[list[Merge], list[int], str]:
    """Train: recount everything at each step.

    Args:
        texts: Rows of atom ids, each with its count, of each text.
        development: The same for the texts whose compression is measured.
        units: The number of lines or bytes of each of these.
        symbols: The symbol of each atom, by id.
        limit: The largest number of merges.
        global_merges: The number of first merges for all texts together.
        min_count: Training ends at a lower count.

    Returns:
        The merges, the text of each choice (-1 for all), and why training ended.
    """
    names = list(symbols)
    steps: list[Merge] = []
    chosen: list[int] = []
    while True:
        costs = [
            sum(len(ids) * count for ids, count in rows) / unit
            for rows, unit in zip(development, units, strict=True)
        ]
        text = -1 if len(steps) < global_merges else costs.index(max(costs))
        chosen.append(text)
        if len(steps) == limit:
            return steps, chosen, "full"
        rows = [row for one in texts for row in one] if text == -1 else texts[text]
        counts = bpe.count(rows)
        # -1 is an unknown character of a development text
        highest = max(counts.values(), default=0)
        if not highest:
            return steps, chosen, "no pair"
        if highest < min_count:
            return steps, chosen, "rare"
        tied = [pair for pair, count in counts.items() if count == highest]
        pair = bpe.choose(tied, names, "largest")
        new = len(names)
        names.append(names[pair[0]] + names[pair[1]])

        def merged(some: Sequence[Rows], pair: Pair = pair, new: int = new) -> list[Rows]:
            return [[(bpe.merge(ids, pair, new), count) for ids, count in rows] for rows in some]

        after = reference_length(merged([rows])[0])
        steps.append(Merge(*pair, new, highest, reference_length(rows) - after, len(tied) - 1))
        texts, development = merged(texts), merged(development)


def reference_length(rows: Rows) -> int:
    """Count the tokens of a text."""
    return sum(len(ids) * count for ids, count in rows)

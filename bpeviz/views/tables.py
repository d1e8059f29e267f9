"""The tables of pages and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpeviz.analysis import figures
from bpeviz.analysis.figures import MAIN, OF_TEXT, RELATIVE, Figure, Measured
from bpeviz.analysis.pretokenization import Used, WordLevel
from bpeviz.analysis.pretokenization import name as pre_token_name
from bpeviz.analysis.round_trip import Loss
from bpeviz.analysis.token_lookup import Decoded, Found, about
from bpeviz.core.lattice import Path, score
from bpeviz.core.merges import Merge
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Candidate, Pruning, Training
from bpeviz.text import hexadecimal, shorten
from bpeviz.trainers import texts_of
from bpeviz.views.table import Cell, Table, TokenCell


def decisions(training: Training, last: int) -> Table:
    """Return the first `last` decisions, one per row, numbered from 1.

    The first column is named after the unit of a step. Merges have the columns left, right, token,
    id, score, count, applied, ties and note; prunings have token, id, cost, uses, round and note.
    Columns that say nothing are left out, such as "applied" if it always equals the count.

    Args:
        training: The training history.
        last: The number of decisions.
    """
    name, taken = training.name, training.decisions[:last]
    columns: dict[str, Sequence[Any]] = {texts_of(training).unit: range(1, len(taken) + 1)}
    if merges := [decision for decision in taken if isinstance(decision, Merge)]:
        columns |= {
            "left": [name(merge.left) for merge in merges],
            "right": [name(merge.right) for merge in merges],
            "token": [name(merge.new_id) for merge in merges],
            "id": [merge.new_id for merge in merges],
        }
        if merges[0].score is not None:
            columns[texts_of(training).score or "score"] = [merge.score for merge in merges]
        columns[_counted(training)] = [merge.count for merge in merges]
        if any(merge.applied != merge.count for merge in merges):
            columns["applied"] = [merge.applied for merge in merges]
        columns["ties"] = [merge.ties for merge in merges]
    if prunings := [decision for decision in taken if isinstance(decision, Pruning)]:
        columns |= {
            "token": [name(pruning.id) for pruning in prunings],
            "id": [pruning.id for pruning in prunings],
            texts_of(training).score or "cost": [pruning.loss for pruning in prunings],
            "uses": [pruning.count for pruning in prunings],
            "round": [pruning.round for pruning in prunings],
        }
    if any(decision.note for decision in taken):
        columns["note"] = [decision.note for decision in taken]
    return Table.of(columns)


def _counted(training: Training) -> str:
    return "weighted count" if training.weighted else "count"


def candidates(training: Training, ranked: Sequence[Candidate], step: int) -> Table:
    """Return the best candidates of a step, with their scores and notes.

    Args:
        training: The training history.
        ranked: The candidates, best first.
        step: The step that chose among them, from 1; 0 for the first step, not taken yet.
    """
    taken = training.decisions[max(step, 1) - 1]
    ids = (taken.id,) if isinstance(taken, Pruning) else (taken.left, taken.right)
    best = next(
        ((candidate.score, candidate.count) for candidate in ranked if candidate.ids == ids),
        None,
    )
    scored = any(candidate.score is not None for candidate in ranked)

    def note(candidate: Candidate) -> str:
        if candidate.ids == ids:
            return "winner" if len(ids) == 2 else "cheapest"
        what = candidate.score if scored else candidate.count
        same = f"same {(texts_of(training).score or 'score') if scored else 'count'}"
        return same if best and what == best[0 if scored else 1] else ""

    names = ("left", "right") if len(ids) == 2 else ("token",)
    listed = [candidate for candidate in ranked if len(candidate.ids) == len(names)]
    columns: dict[str, Sequence[Any]] = {
        name: [training.name(candidate.ids[i]) for candidate in listed]
        for i, name in enumerate(names)
    }
    if scored:
        columns[texts_of(training).score or "score"] = [candidate.score for candidate in listed]
    columns[_counted(training) if len(ids) == 2 else "uses"] = [
        candidate.count for candidate in listed
    ]
    return Table.of(columns | {"note": [note(candidate) for candidate in listed]})


def segmentations(paths: Sequence[Path], name: Callable[[int], str]) -> Table:
    """Return segmentations, one per row, with their log probabilities, the best first."""
    values = [*map(score, paths)]
    return Table.of(
        {
            "segmentation": [" | ".join(name(edge.id) for edge in path) for path in paths],
            "tokens": [len(path) for path in paths],
            "log probability": values,
            "relative to the best": [f"{exp(value - values[0]):.2g}" for value in values],
        }
    )


def samples(segmentations: Sequence[tuple[TokenCell, int]], draws: int) -> Table:
    """Return how often each segmentation was drawn, most frequent first, for bars."""
    most = segmentations[0][1]
    return Table(
        ["segmentation", "share of the samples"],
        [
            [tokens for tokens, _ in segmentations],
            [Cell(f"{times / draws:.1%}", times / most) for _, times in segmentations],
        ],
    )


def metrics(
    columns: Sequence[Measured],
    baseline: str = "the baseline",
    chosen: Sequence[Figure] | None = None,
) -> Table:
    """Return the figures of a text, one per row, with a column per tokenizer and their meaning.

    Args:
        columns: The text under each tokenizer.
        baseline: The term for the tokenizer that the others are compared with.
        chosen: Some of the figures. Except `MAIN`, those that all tokenizers share are left out.
    """
    drops = any(measured.column.dropped for measured in columns)
    words = {
        "baseline": baseline,
        "whole": ", dropped text included" * drops,
        "one_boundary": "; dropped text is one boundary" * drops,
    }
    costs = [figures.cost.of(measured) for measured in columns]
    known = {figures.dropped: drops, figures.cost: any(cost is not None for cost in costs)}
    known |= dict.fromkeys(RELATIVE, any(measured.baseline is not None for measured in columns))
    rows = [
        [figure.name, *values, figure.meaning.format(**words)]
        for figure in chosen or OF_TEXT
        if known.get(figure, True)
        for form in [figures.cost_in(costs) if figure is figures.cost else figure]
        for values in [[form.text(figure.of(measured)) for measured in columns]]
        if chosen is None or figure in MAIN or len({*values}) > 1 or len(columns) == 1
    ]
    titles = [measured.column.title for measured in columns]
    return Table.of_rows(["metric", *titles, "meaning"], rows)


def ruled_out(
    tokens: Sequence[str], places: Sequence[tuple[str, Sequence[int]]], most: int = 12
) -> Table:
    """Return the most frequent of these merges, a column for each, for a picture.

    Args:
        tokens: The tokens of the merges.
        places: For each pre-tokenization its title, and how often each token lies in one
            pre-token. The first is without pre-tokenization.
        most: The largest number of merges.
    """
    (_, whole), *rows = places
    listed = sorted(range(len(tokens)), key=lambda i: -whole[i])[:most]

    def cell(count: int) -> Cell:
        return Cell(f"{count:,}", sqrt(count / max(whole))) if count else Cell("", mark="ruled out")

    return Table(
        [
            "pre-tokenization",
            "ruled out",
            *(f"{pre_token_name(tokens[i])}\n{whole[i]:,}×" for i in listed),
        ],
        [
            [title for title, _ in rows],
            [f"{counts.count(0)} of {len(counts)}" for _, counts in rows],
            *([cell(counts[i]) for _, counts in rows] for i in listed),
        ],
    )


def alternatives(rows: Sequence[Used]) -> Table:
    """Return the alternatives of an expression, one per row, in their order."""
    return Table.of(
        {
            "order": range(1, len(rows) + 1),
            "alternative": [use.alternative.expression for use in rows],
            "matches": [use.alternative.about for use in rows],
            "sample": [pre_token_name(use.alternative.sample) for use in rows],
            "match in the sample": ["   ".join(map(pre_token_name, use.sample)) for use in rows],
            "in this text": [f"{use.count:,}" for use in rows],
        }
    )


def word_level(vocabulary: WordLevel) -> Table:
    """Return the entries of a word-level vocabulary, most frequent first."""
    return Table.of(
        {
            "rank": range(1, len(vocabulary.entries) + 1),
            "word": [pre_token_name(word) for word, _ in vocabulary.entries],
            "count": [count for _, count in vocabulary.entries],
        }
    )


def vocabulary(tokenizer: Tokenizer, uses: NDArray[np.int64]) -> Table:
    """Return all tokens of a vocabulary with their uses in a text: those learned first, by id.

    Args:
        tokenizer: The tokenizer.
        uses: How often each id occurs. int64 [at most the largest id + 1].
    """
    others = {*tokenizer.special_tokens.values(), tokenizer.unknown_id}

    def is_given(token_id: int) -> bool:
        is_in_base = tokenizer.base_of(token_id) is not None
        return token_id in others or is_in_base or tokenizer.is_atom(token_id)

    known = [about(token_id, tokenizer) for token_id in sorted(tokenizer.known_ids(), key=is_given)]
    table = tokens(known)
    times = [int(uses[token.id]) if token.id < len(uses) else 0 for token in known]
    return Table([*table.names, "uses"], [*table.columns, times])


def losses(reasons: Sequence[Loss]) -> Table:
    """Return what decoding does not restore, one reason per row."""
    return Table.of(
        {
            "lost": [loss.title for loss in reasons],
            "times": [loss.times for loss in reasons],
            "first positions": [
                "   ".join(f"{at:,}: {was} → {became}" for at, was, became in loss.places)
                for loss in reasons
            ],
            "why": [loss.why for loss in reasons],
        }
    )


def decoded(ids: Sequence[Decoded]) -> Table:
    """Return ids with the token of each, one per row."""
    return Table.of(
        {
            "id": [token.id for token in ids],
            "token": [shorten(token.label) for token in ids],
            "bytes": [
                "–" if token.raw is None else shorten(hexadecimal(token.raw)) for token in ids
            ],
            "note": [token.note for token in ids],
        }
    )


def tokens(known: Sequence[Found]) -> Table:
    """Return tokens of a vocabulary, one per row."""
    return Table.of(
        {
            "id": [token.id for token in known],
            "token": [shorten(token.label) for token in known],
            "bytes": [shorten(hexadecimal(token.raw)) for token in known],
            "kind": [token.place for token in known],
        }
    )

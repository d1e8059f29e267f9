"""Payloads of scores: the rows of a stage at one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bpeviz.analysis import hues as coloring
from bpeviz.analysis import verdict
from bpeviz.analysis.hues import Coloring, Hues
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import DROPPED_ID, SPECIAL_ID, UNKNOWN_ID, Ends, Part, ended
from bpeviz.text import counted, digest_of, hexadecimal, shorten
from bpeviz.views.parts import part_of
from bpeviz.views.payloads import Score, ScoreRow, ScoreToken
from bpeviz.views.stage import Row, Stage

_NO_TOKENS = {UNKNOWN_ID: "not in the vocabulary", DROPPED_ID: "dropped: no token"}
"""What a score shows in place of a token."""

_AROUND = 60
"""Characters before the first change in `before_and_after`."""


def hues_at(stage: Stage) -> Hues:
    """Return the color indices of a stage at one step, by default those of this step alone."""
    if stage.colors is not None:
        return stage.colors
    return coloring.hues(
        Coloring(
            coloring.contacts_at(row.column.ids[slice(*_tokens_within(row))].tolist()),
            row.names.key,
        )
        for row in stage.rows
    )


def payload(
    stage: Stage, baseline: int | None = 0, *, ids: bool = False, colors: bool = False
) -> Score:
    """Return the payload of a stage at one step, as plain JSON values.

    Args:
        stage: The rows of a text, each at the step of its column.
        baseline: The row that the others are compared with, if there is one.
        ids: Whether to show the id of each token.
        colors: Whether to color also tokens that all rows have.
    """
    hues, columns = hues_at(stage), stage.columns
    drawn: list[ScoreRow] = []
    standings = [verdict.standing(column) for column in columns]
    # A mark for the best makes sense only if there are others.
    best = verdict.best(standings)
    best = best if baseline is not None and len(best) < len(columns) else []
    for number, row in enumerate(stage.rows):
        ends, tokens, distinct = _tokens(row, hues)
        drawn.append(
            {
                "title": row.title,
                "tokenCount": standings[number].tokens,
                "notes": [] if baseline is None else _notes(columns, standings, number, baseline),
                "isBest": number in best,
                "tokenEnds": ends,
                "tokens": tokens,
                "distinct": distinct,
            }
        )
    first = stage.rows[0]
    data: Score = {
        "key": "",
        "text": first.text[first.part.first : first.part.last],
        "rows": drawn,
        "showIds": ids,
        "colorsAll": colors,
    }
    if len(places := first.column.breaks):
        part = _bytes_of(first)
        inside = (places >= part.start) & (places < part.end)
        data["rowEnds"] = (places[inside] - part.start).tolist()
    data["key"] = digest_of(data)
    return data


def colors_of(row: ScoreRow) -> dict[int, int]:
    """Return the color indices of the ids in a row of a payload."""
    looks = ((token_id, color) for token_id, _, _, color, _ in row["distinct"])
    return {i: color for i, color in looks if isinstance(i, int) and isinstance(color, int)}


def before_and_after(row: Row, step: int, hues: Hues | None = None) -> Score | None:
    """Return the payload of two rows: a text before and after a step, around its first change.

    Args:
        row: The row.
        step: The step, from 1.
        hues: The color indices; by default those of these two alone.

    Returns:
        The payload, or None if the step does not change the boundaries of the text.
    """
    text, boundaries = row.text, row.boundaries
    before, after = (boundaries.boundary_mask(at) for at in (step - 1, step))
    change = _first_change(boundaries.ends, before, after)
    if change is None:
        return None
    at = len(text.encode()[:change].decode(errors="ignore"))
    first = text.rfind(" ", max(0, at - _AROUND), at - _AROUND // 2) + 1 if at > _AROUND else 0
    part = part_of(text, first, min(len(text), first + 3 * _AROUND))
    # A text may have millions of tokens. Only the tokens of the part are computed.
    around = boundaries.slice(*_whole_tokens(boundaries.ends, before & after, part))
    local = replace(row, column=replace(row.column, boundaries=around))
    names = {step - 1: "Before", step: "After"}
    rows = [local.at(at, f"{name} {row.words.unit} {step:,}") for at, name in names.items()]
    data = payload(Stage(rows, hues).showing(part), None, colors=True)
    counts = boundaries.token_counts[step - 1 : step + 1].tolist()
    for drawn, count in zip(data["rows"], counts, strict=True):
        drawn["tokenCount"] = count
    data["key"], data["ariaLabel"] = f"{data['key']} {counts}", "The text before and after"
    return data


def _first_change(ends: Ends, before: NDArray[np.bool_], after: NDArray[np.bool_]) -> int | None:
    """Return the first byte boundary inside the text that only one of two masks has, if any.

    Several atoms may end at a byte: marks have no bytes.
    """
    for end in map(int, ends[before != after]):
        same = slice(ended(ends, end, before=True), ended(ends, end))
        if 0 < end < ends[-1] and before[same].any() != after[same].any():
            return end
    return None


def _whole_tokens(ends: Ends, boundary: NDArray[np.bool_], part: Part) -> tuple[int, int]:
    """Return the range of atoms from the last boundary before a part to the first one after it."""
    begin = ended(ends, part.start)
    stop = ended(ends, part.end)
    before = boundary[:begin][::-1]
    after = boundary[stop:]
    return (
        begin - int(before.argmax()) if before.any() else 0,
        stop + int(after.argmax()) + 1 if after.any() else len(ends),
    )


def _notes(
    columns: Sequence[Column], standings: Sequence[verdict.Standing], number: int, baseline: int
) -> list[str]:
    """Return how a column differs from the baseline, in the whole text."""
    column = columns[number]
    special = int((column.boundaries.ids(column.step) <= SPECIAL_ID).sum())
    notes = [f"{counted(special, 'special token')}, split off as in training"] * bool(special)
    if len(columns) == 1:
        return notes
    if number == baseline:
        return ["Baseline", *notes]
    return [verdict.compared_with(standings[number].tokens, standings[baseline]), *notes]


def _bytes_of(row: Row) -> Part:
    """Return the part of a row in bytes."""
    return part_of(row.text, row.part.first, row.part.last)


def _tokens_within(row: Row) -> tuple[int, int]:
    """Return the range of the tokens in the part of a row, those at its edges included."""
    ends, part = row.column.cuts, _bytes_of(row)
    last = max(ended(ends, part.end), ended(ends, part.end, before=True) + 1)
    return ended(ends, part.start), last


def _tokens(row: Row, hues: Hues) -> tuple[list[int], list[int], list[ScoreToken]]:
    """Return the tokens of a part: their ends in bytes, the index of each, and the distinct ones.

    Each of these is an id, a label, the bytes in hex, a color index, and the labels of the two
    tokens that it was merged from, if any; without a vocabulary, None, a label, a note, a color
    index, and another note. Tokens at the edges are cropped.
    """
    column, (label, key, parents, _, note) = row.column, row.names
    first, last = _tokens_within(row)
    ids, indices = np.unique(column.ids[first:last], return_inverse=True)
    distinct: list[ScoreToken] = []
    label = cache(label)
    for token_id in ids.tolist():
        color = hues.index(key(token_id))
        if note is not None:
            about, rule = note(token_id)
            distinct.append([None, label(token_id), about, color, rule])
        elif token_id in _NO_TOKENS:
            distinct.append([token_id, _NO_TOKENS[token_id], "", -1, []])
        else:
            raw = shorten(hexadecimal(column.tokenizer.token_bytes(token_id)))
            labels = [label(parent) for parent in parents(token_id) or ()]
            distinct.append([token_id, label(token_id), raw, color, labels])
    part = _bytes_of(row)
    token_ends = np.minimum(column.cuts[first:last], part.end) - part.start
    return token_ends.tolist(), indices.tolist(), distinct

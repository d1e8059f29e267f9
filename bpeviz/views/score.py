"""Payloads of scores: a text under several tokenizers, without steps."""

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
from bpeviz.corpus.documents import Documents, breaks_of, whole_text
from bpeviz.text import color_key, counted, digest_of, hexadecimal, shorten
from bpeviz.views.payloads import Score, ScoreRow, ScoreToken
from bpeviz.views.stage import Row

_NO_TOKENS = {UNKNOWN_ID: "not in the vocabulary", DROPPED_ID: "dropped: no token"}
"""What a score shows in place of a token."""

_AROUND = 60
"""Characters before the first change in `before_and_after`."""


def hues_of_columns(columns: Sequence[Column], part: Part) -> Hues:
    """Return the color indices of a part of a text in columns; `part` is in bytes."""
    return coloring.hues(
        Coloring(
            coloring.contacts_at(column.ids[slice(*_tokens_within(column, part))].tolist()),
            coloring.keys_of(column.tokenizer),
        )
        for column in columns
    )


def payload(
    text: str | Documents,
    columns: Sequence[Column],
    part: Part,
    baseline: int,
    *,
    ids: bool = False,
    colors: bool = False,
    hues: Hues | None = None,
) -> Score:
    """Return the payload of a text under several tokenizers, as plain JSON values.

    Args:
        text: The whole text, or documents, of which each is encoded alone.
        columns: Tokenizers with their boundaries.
        part: The part to show; `start` and `end` are bytes.
        baseline: The column that the others are compared with.
        ids: Whether to show the id of each token.
        colors: Whether to color also tokens that all columns have.
        hues: The color indices; by default those of these columns alone.
    """
    hues = hues or hues_of_columns(columns, part)
    drawn: list[ScoreRow] = []
    standings = [verdict.standing(column) for column in columns]
    # A mark for the best makes sense only if there are others.
    best = verdict.best(standings)
    best = best if len(best) < len(columns) else []
    for number, column in enumerate(columns):
        ends, tokens, distinct = _tokens(column, part, hues)
        drawn.append(
            {
                "title": column.title,
                "tokenCount": column.tokens,
                "notes": _notes(columns, standings, number, baseline),
                "isBest": number in best,
                "tokenEnds": ends,
                "tokens": tokens,
                "distinct": distinct,
            }
        )
    data: Score = {
        "key": "",
        "text": whole_text(text)[part.first : part.last],
        "rows": drawn,
        "baseline": baseline,
        "showIds": ids,
        "colorsAll": colors,
    }
    if isinstance(text, Documents):
        places = breaks_of(text)
        inside = (places >= part.start) & (places < part.end)
        data["rowEnds"] = (places[inside] - part.start).tolist()
    data["key"] = digest_of(data)
    return data


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
    last = min(len(text), first + 3 * _AROUND)
    part = Part(len(text[:first].encode()), len(text[:last].encode()), first, last)
    # A text may have millions of tokens. Only the tokens of the part are computed.
    around = boundaries.slice(*_whole_tokens(boundaries.ends, before & after, part))
    columns = [
        replace(row.column(at), title=f"{name} {row.words.unit} {step:,}", boundaries=around)
        for name, at in (("Before", step - 1), ("After", step))
    ]
    data = payload(text, columns, part, 0, colors=True, hues=hues)
    counts = boundaries.token_counts[step - 1 : step + 1].tolist()
    for drawn, count in zip(data["rows"], counts, strict=True):
        drawn.update({"tokenCount": count, "notes": [], "isBest": False})
    data["key"] = f"{data['key']} {counts}"
    data["baseline"], data["ariaLabel"] = -1, "The text before and after"
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


def _tokens_within(column: Column, part: Part) -> tuple[int, int]:
    """Return the range of the tokens in a part, those at its edges included."""
    ends = column.cuts
    last = max(ended(ends, part.end), ended(ends, part.end, before=True) + 1)
    return ended(ends, part.start), last


def _tokens(
    column: Column, part: Part, hues: Hues
) -> tuple[list[int], list[int], list[ScoreToken]]:
    """Return the tokens of a part: their ends in bytes, the index of each, and the distinct ones.

    Each of these is an id, a label, the bytes in hex, a color index, and the labels of the two
    tokens that it was merged from, if any. Tokens at the edges are cropped.
    """
    tokenizer = column.tokenizer
    ends = column.cuts
    first, last = _tokens_within(column, part)
    ids, indices = np.unique(column.ids[first:last], return_inverse=True)
    distinct: list[ScoreToken] = []
    label = cache(lambda token_id: shorten(tokenizer.token_label(token_id)))
    for token_id in ids.tolist():
        if token_id in _NO_TOKENS:
            distinct.append([token_id, _NO_TOKENS[token_id], "", -1, []])
            continue
        raw = tokenizer.token_bytes(token_id)
        color = -1 if tokenizer.is_atom(token_id) else hues.index(color_key(raw))
        labels = [label(parent) for parent in tokenizer.parents(token_id) or ()]
        distinct.append([token_id, label(token_id), shorten(hexadecimal(raw)), color, labels])
    token_ends = np.minimum(ends[first:last], part.end) - part.start
    return token_ends.tolist(), indices.tolist(), distinct

"""Payloads of scores: the rows of a stage at one step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise

import numpy as np

from bpeviz.analysis import hues as coloring
from bpeviz.analysis import verdict
from bpeviz.analysis.hues import Coloring, Contacts, Hues
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import DROPPED_ID, SPECIAL_ID, UNKNOWN_ID, Part, ended
from bpeviz.palette import HUES
from bpeviz.text import counted, digest_of, hexadecimal, shorten
from bpeviz.views.parts import part_of
from bpeviz.views.payloads import Score, ScoreRow, ScoreToken
from bpeviz.views.stage import Row, Stage

_NO_TOKENS = {UNKNOWN_ID: "not in the vocabulary", DROPPED_ID: "dropped: no token"}
"""What a score shows in place of a token."""


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


Token = tuple[int, int, int]
"""The start and the end of a token in the text, in bytes, and its color key."""


def hues_of_differences(stage: Stage) -> Hues:
    """Return color indices for rows in which only tokens that differ have color.

    Tokens of one place, at whose ends alone all rows end a token, differ in hue as far as the hues
    reach; so do those that touch or lie over each other at any place. Rows of tokenizers that were
    trained on the text are not compared. Without differences, all tokens have color.
    """
    compared = [row for row in stage.rows if not row.column.in_sample]
    pairs: set[tuple[int, int]] = set()
    keys: dict[int, None] = {}
    last: Sequence[int] = ()
    for place in _places(compared) if len(compared) > 1 else ():
        here = {key for tokens in place for *_, key in tokens if key >= 0}
        keys |= dict.fromkeys(sorted(here))
        pairs.update(combinations(sorted(here), 2) if len(here) <= HUES else _meeting(place))
        pairs.update((key, tokens[0][2]) for key, tokens in zip(last, place, strict=bool(last)))
        last = [tokens[-1][2] for tokens in place]
    if not keys:
        return hues_at(stage)
    return coloring.hues([Coloring(Contacts(pairs, keys, [*keys]), int)], stage.colors or Hues())


def _places(rows: Sequence[Row]) -> Iterator[Sequence[Sequence[Token]]]:
    """Yield the tokens of each row at each place where rows differ, in the order of the text."""
    of_rows = []
    for row in rows:
        first, last = _tokens_within(row)
        ends, key = row.column.cuts[first:last], cache(row.names.key)
        keys = [key(token_id) for token_id in row.column.ids[first:last].tolist()]
        starts = [int(row.column.cuts[first - 1]) if first else 0, *ends.tolist()]
        of_rows.append([*zip(starts, ends.tolist(), keys, strict=False)])
    common = sorted(set.intersection(*({end for _, end, _ in tokens} for tokens in of_rows)))
    at = [0] * len(rows)
    for stop in common:
        place = []
        for i, tokens in enumerate(of_rows):
            begin = at[i]
            while at[i] < len(tokens) and tokens[at[i]][1] <= stop:
                at[i] += 1
            place.append(tokens[begin : at[i]])
        if any(len(tokens) > 1 for tokens in place):
            yield place


def _meeting(place: Sequence[Sequence[Token]]) -> Iterator[tuple[int, int]]:
    """Yield the color keys of tokens that touch in a row, or overlap in two rows."""
    for tokens in place:
        yield from ((left[2], right[2]) for left, right in pairwise(tokens))
    for upper, lower in combinations(place, 2):
        i = k = 0
        while i < len(upper) and k < len(lower):
            yield upper[i][2], lower[k][2]
            i, k = i + (upper[i][1] <= lower[k][1]), k + (lower[k][1] <= upper[i][1])


def payload(
    stage: Stage, *, ids: bool = False, ranks: bool = True, own: int | None = None
) -> Score:
    """Return the payload of a stage at one step, as plain JSON values.

    Args:
        stage: The rows of a text, each at the step of its column.
        ids: Whether to show the id of each token.
        ranks: Whether the rows are tokenizers, of which some need the fewest tokens.
        own: The row of the user's own tokenizer.
    """
    hues, columns = hues_of_differences(stage), stage.columns
    drawn: list[ScoreRow] = []
    standings = []
    if ranks:
        standings = [verdict.standing(stage.rows[0].text, column) for column in columns]
    best = verdict.best(standings)
    # A mark for the best makes sense only if there are others.
    best = best if len(best) < len(verdict.compared(standings)) else []
    for number, row in enumerate(stage.rows):
        ends, tokens, distinct = _tokens(row, hues)
        drawn.append(
            {
                "title": row.title,
                "tokenCount": row.column.tokens,
                "notes": _notes(row.column) if ranks else [],
                "isBest": number in best,
                "isOwn": number == own,
                "isInSample": row.column.in_sample and len(columns) > 1,
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
    }
    if len(places := first.column.breaks):
        part = _bytes_of(first)
        inside = (places >= part.start) & (places < part.end)
        data["rowEnds"] = (places[inside] - part.start).tolist()
    data["key"] = digest_of(data)
    return data


def _notes(column: Column) -> list[str]:
    """Return why the count of a column differs from what one expects."""
    special = int((column.boundaries.ids(column.step) <= SPECIAL_ID).sum())
    notes = {
        "trained on this text": column.in_sample,
        f"{counted(special, 'special token')}, split off as in training": bool(special),
    }
    return [note for note, holds in notes.items() if holds]


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

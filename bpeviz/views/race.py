"""The payload of the race: the best candidates of each step, which the player draws as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpeviz.analysis.hues import Hues
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.training import Candidate, Training
from bpeviz.text import counted
from bpeviz.trainers import texts_of
from bpeviz.views.player import WINDOW

Rows = list[list[Any]]
"""The candidates of a step, each a list of ids (a pair, or a piece) and the value that decides."""

BEST = 5
"""The number of candidates at each step."""

COUNTED = 2_500_000
"""The most bytes or characters of a text whose candidates are counted at each step. This takes a
third of a second, during which all users wait."""

STEPS = 1_000
"""The most steps whose candidates are sent in advance. They take a second for the longest text."""

IN_FILE = 40_000_000
"""The most steps times atoms whose candidates a file contains. They take one or two seconds."""


def in_file(
    training: Training,
    text: str,
    boundaries: Boundaries,
    last: int,
    hues: Hues,
    timeline: str,
    races: int = 1,
    steps: Sequence[int] | None = None,
) -> dict[str, Any] | None:
    """Return the payload of the race in a file, which gets no others; None for a long text.

    Args:
        training: The training history.
        text: The training text.
        boundaries: The boundaries of the text.
        last: The number of steps of the file.
        hues: The color indices.
        timeline: The identity of the player's timeline.
        races: How many races the file has, which share the limits.
        steps: The steps of the training that the file has, or None for the first ones.
    """
    if not last or len(boundaries) > COUNTED:
        return None
    most = min(STEPS // races, IN_FILE // races // len(boundaries))
    decided = (range(last) if steps is None else steps)[:most]
    rows = [_rows(training.candidates(text, boundaries, step, BEST)) for step in decided]
    data = payload(training, rows, hues, timeline)
    if most < last:
        data["note"] = f"Shown for the first {counted(most, texts_of(training).unit)}."
    return data


def first_rows(
    training: Training,
    text: str,
    boundaries: Boundaries,
    most: int,
    steps: Sequence[int] | None = None,
) -> list[Rows]:
    """Return the best candidates of the first `most` steps, or of some steps, the best first.

    A text that is too long for the player at once has only those at rest (`with_rest`).
    """
    if len(boundaries) > WINDOW:
        return []
    decided = range(training.steps) if steps is None else steps
    return [_rows(training.candidates(text, boundaries, step, BEST)) for step in decided[:most]]


def payload(
    training: Training, first: list[Rows] | None, hues: Hues, timeline: str
) -> dict[str, Any]:
    """Return the payload of the race, as plain JSON values.

    Args:
        training: The training history.
        first: The rows of its first steps, or None if they are sent once the player moves.
        hues: The color indices.
        timeline: The identity of the player's timeline.
    """
    return {
        "timelineId": timeline,
        "heading": texts_of(training).race,
        "measure": texts_of(training).score or "count",
        "first": first or [],
        "isUnwatched": first is None,
        "styles": _styles(training, first or [], hues),
        "atRest": None,
    }


def with_rest(
    data: dict[str, Any],
    training: Training,
    text: str,
    boundaries: Boundaries,
    step: int,
    hues: Hues,
) -> dict[str, Any]:
    """Return the payload with the candidates that decided a step at rest, if it lacks them."""
    previous = max(step, 1) - 1
    if previous < len(data["first"]) or previous >= training.steps:
        return data
    rows = _rows(training.candidates(text, boundaries, previous, BEST))
    styles = data["styles"] | _styles(training, [rows], hues)
    return data | {"atRest": {"step": previous, "rows": rows}, "styles": styles}


def _rows(candidates: Sequence[Candidate]) -> Rows:
    return [
        [
            list(candidate.ids),
            candidate.count if candidate.score is None else float(f"{candidate.score:.3g}"),
        ]
        for candidate in candidates
    ]


def _styles(training: Training, listed: Sequence[Rows], hues: Hues) -> dict[int, list[Any]]:
    """Return the name and the color index of each id in some rows."""
    ids = {token_id for rows in listed for ids, _ in rows for token_id in ids}
    return {i: [training.name(i), hues.index(training.color_key(i))] for i in sorted(ids)}

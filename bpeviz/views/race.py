"""The payload of the race: the best candidates of each step, which the player draws as bars."""

from __future__ import annotations

from collections.abc import Sequence

from bpeviz.analysis.hues import Hues
from bpeviz.text import counted
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.views.parts import WINDOW
from bpeviz.views.payloads import Race, RaceRow, Style
from bpeviz.views.stage import Row

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
    row: Row, hues: Hues, timeline: str, last: int | None = None, races: int = 1
) -> Race | None:
    """Return the payload of the race in a file, which gets no others; None for a long text.

    Args:
        row: The row, whose training text is known.
        hues: The color indices.
        timeline: The identity of the player's timeline.
        last: The number of steps of the file; by default all.
        races: How many races the file has, which share the limits.
    """
    last = row.steps if last is None else last
    training, atoms = row.training, 0 if row.trained_on is None else len(row.trained_on.boundaries)
    if training is None or row.trained_on is None or not last or atoms > COUNTED:
        return None
    most = min(STEPS // races, IN_FILE // races // atoms)
    data = payload(row, [candidates(row, step) for step in range(min(last, most))], hues, timeline)
    if most < last:
        data["note"] = f"Shown for the first {counted(most, texts_of(training).unit)}."
    return data


def first_rows(row: Row, most: int = STEPS) -> list[list[RaceRow]]:
    """Return the best candidates of the first `most` steps, the best first.

    A text that is too long for the player at once has only those at rest (`with_rest`).
    """
    if row.trained_on is None or len(row.trained_on.boundaries) > WINDOW:
        return []
    return [candidates(row, step) for step in range(min(row.steps, most))]


def candidates(row: Row, step: int) -> list[RaceRow]:
    """Return the best candidates of the decision after `step` steps of a row.

    Pairs that occur too rarely to be merged are none.
    """
    if row.training is None or row.trained_on is None:
        return []
    known = {option.name: option.default for option in TRAINERS[row.training.algorithm].options}
    least = int(str((known | dict(row.options or {})).get("min_count", 1)))
    decision = step if row.events is None else row.events[step]
    of_text = row.trained_on.text, row.trained_on.boundaries
    listed = row.training.candidates(*of_text, decision, BEST)
    return [
        (
            [*candidate.ids],
            candidate.count if candidate.score is None else float(f"{candidate.score:.3g}"),
        )
        for candidate in listed
        if candidate.score is not None or candidate.count >= least
    ]


def payload(row: Row, first: list[list[RaceRow]] | None, hues: Hues, timeline: str) -> Race:
    """Return the payload of the race.

    Args:
        row: The row, which was trained here.
        first: The candidates of its first steps, or None if they are sent once the player moves.
        hues: The color indices.
        timeline: The identity of the player's timeline.
    """
    if row.training is None:
        raise ValueError("Only a row that was trained here has candidates.")
    texts = texts_of(row.training)
    return {
        "timelineId": timeline,
        "heading": texts.race,
        "measure": texts.score or "count",
        "first": first or [],
        "isUnwatched": first is None,
        "styles": _styles(row, first or [], hues),
        "atRest": None,
    }


def with_rest(data: Race, row: Row, step: int, hues: Hues) -> Race:
    """Return the payload with the candidates that decided a step at rest, if it lacks them."""
    previous = max(step, 1) - 1
    if previous < len(data["first"]) or previous >= row.steps:
        return data
    rows = candidates(row, previous)
    styles = data["styles"] | _styles(row, [rows], hues)
    return {**data, "atRest": {"step": previous, "rows": rows}, "styles": styles}


def _styles(row: Row, listed: Sequence[Sequence[RaceRow]], hues: Hues) -> dict[int, Style]:
    """Return the name and the color index of each id in some candidates."""
    look = row.look(hues)
    ids = {token_id for rows in listed for ids, _ in rows for token_id in ids}
    return {i: [*look(i)] for i in sorted(ids)}

"""The payload of the race: the best candidates of each step in groups, which the player draws."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby

from bpeviz.analysis.hues import Hues
from bpeviz.text import counted
from bpeviz.trainers import TRAINERS, texts_of
from bpeviz.views.parts import WINDOW
from bpeviz.views.payloads import Race, RaceGroup, Style
from bpeviz.views.stage import Row

GROUPS, MEMBERS = 4, 8
"""The most groups of a step, and of each the most candidates that are sent."""

_RANKED = 60
"""How many candidates are ranked at first. Most steps have more groups among them."""

COUNTED = 2_500_000
"""The most bytes or characters of a text whose candidates are counted at each step. This takes a
third of a second, during which all users wait."""

STEPS = 1_000
"""The most steps whose candidates are sent in advance. They take a second for the longest text."""

IN_FILE = 40_000_000
"""The most steps times atoms whose candidates a file contains. They take one or two seconds."""


def in_file(row: Row, hues: Hues, last: int | None = None, races: int = 1) -> Race | None:
    """Return the payload of the race in a file, which gets no others; None for a long text.

    Args:
        row: The row, whose training text is known.
        hues: The color indices.
        last: The number of steps of the file; by default all.
        races: How many races the file has, which share the limits.
    """
    last = row.steps if last is None else last
    training, atoms = row.training, 0 if row.trained_on is None else len(row.trained_on.boundaries)
    if training is None or row.trained_on is None or not last or atoms > COUNTED:
        return None
    most = min(STEPS // races, IN_FILE // races // atoms)
    data = payload(row, [groups(row, step) for step in range(min(last, most))], hues)
    if most < last:
        data["note"] = f"Shown for the first {counted(most, texts_of(training).unit)}."
    return data


def first_groups(row: Row, most: int = STEPS) -> list[list[RaceGroup]]:
    """Return the groups of the first `most` steps (`groups`).

    A text that is too long for the player at once has only those at rest (`with_rest`).
    """
    if row.trained_on is None or len(row.trained_on.boundaries) > WINDOW:
        return []
    return [groups(row, step) for step in range(min(row.steps, most))]


def groups(row: Row, step: int) -> list[RaceGroup]:
    """Return the best candidates of the decision after `step` steps of a row, by their value.

    Pairs that occur too rarely to be merged are none. The first group begins with the decision; all
    other candidates of a group are in the order of the text.
    """
    if row.training is None or row.trained_on is None:
        return []
    known = {option.name: option.default for option in TRAINERS[row.training.algorithm].options}
    least = int(str((known | dict(row.options or {})).get("min_count", 1)))
    decision = step if row.events is None else row.events[step]
    text, boundaries = row.trained_on.text, row.trained_on.boundaries
    tied = []
    for limit in (_RANKED, sys.maxsize):
        ranked = row.training.candidates(text, boundaries, decision, limit)
        able = [each for each in ranked if each.score is not None or each.count >= least]
        tied = [(value, [*ties]) for value, ties in groupby(able, key=lambda each: each.value)]
        if len(tied) > GROUPS or len(able) < limit:
            break
    return [
        (
            float(f"{value:.3g}") if ties[0].score is not None else ties[0].count,
            len(ties),
            [[*each.ids] for each in ties[:MEMBERS]],
        )
        for value, ties in tied[:GROUPS]
    ]


def payload(row: Row, first: list[list[RaceGroup]] | None, hues: Hues) -> Race:
    """Return the payload of the race.

    Args:
        row: The row, which was trained here.
        first: The groups of its first steps, or None if they are sent once the player moves.
        hues: The color indices.
    """
    if row.training is None:
        raise ValueError("Only a row that was trained here has candidates.")
    texts = texts_of(row.training)
    return {
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
    at_rest = groups(row, previous)
    styles = data["styles"] | _styles(row, [at_rest], hues)
    return {**data, "atRest": {"step": previous, "groups": at_rest}, "styles": styles}


def _styles(row: Row, steps: Sequence[Sequence[RaceGroup]], hues: Hues) -> dict[int, Style]:
    """Return the name and the color index of each id in some groups."""
    look = row.look(hues)
    return {i: [*look(i)] for i in sorted(ids_of(steps))}


def ids_of(steps: Sequence[Sequence[RaceGroup]]) -> set[int]:
    """Return the ids of all candidates of some steps."""
    return {i for groups in steps for *_, members in groups for ids in members for i in ids}

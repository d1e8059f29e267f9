"""Boundaries that reappear equal the timeline of each pre-token at every step."""

from __future__ import annotations

import numpy as np
from helpers.properties import many
from hypothesis import given
from hypothesis import strategies as st

from bpeviz.core.boundaries import (
    DROPPED_ID,
    UNKNOWN_ID,
    ChangingBoundaries,
    Timeline,
    boundaries_from_changes,
    changes_of_timeline,
)

STEPS = 6
Frame = list[tuple[int, int]]  # (id, atoms) of each token


@st.composite
def cuts(draw: st.DrawFn, atoms: int) -> Frame:
    """Draw a segmentation of some atoms; dropped tokens are single atoms."""
    frame: Frame = []
    while atoms:
        length = draw(st.integers(1, atoms))
        low = DROPPED_ID if length == 1 else UNKNOWN_ID
        frame.append((draw(st.integers(low, 4)), length))
        atoms -= length
    return frame


@st.composite
def timelines(draw: st.DrawFn) -> list[tuple[int, Frame]]:
    """Draw the frames of a row of atoms; successive frames may be equal."""
    atoms = draw(st.integers(0, 7))
    times = sorted(draw(st.sets(st.integers(0, STEPS - 1), max_size=STEPS)))
    return [(time, draw(cuts(atoms))) for time in (-1, *times)]


def as_timeline(frames: list[tuple[int, Frame]]) -> Timeline:
    return [
        (time, [token_id for token_id, _ in frame], [length for _, length in frame])
        for time, frame in frames
    ]


def boundaries_of(
    rows: list[list[tuple[int, Frame]]], order: list[int], steps: int = STEPS
) -> tuple[ChangingBoundaries, list[int]]:
    """Return the boundaries of a text of such rows, and the size of each atom in bytes."""
    atoms = sum(length for i in order for _, length in rows[i][0][1])
    sizes = [(i * 7) % 4 for i in range(atoms)]  # 0 for a mark that is not text
    found = boundaries_from_changes(
        [changes_of_timeline(as_timeline(row)) for row in rows],
        np.array(order, np.int64),
        np.cumsum(sizes, dtype=np.int64),
        np.zeros(atoms, np.int32),
        steps,
    )
    return found, sizes


def frame_at(row: list[tuple[int, Frame]], step: int) -> Frame:
    """Return the last frame of a row before a step, by a loop over all frames."""
    now: Frame = []
    for time, frame in row:
        if time < step:
            now = frame
    return now


def read(rows: list[list[tuple[int, Frame]]], order: list[int], step: int) -> Frame:
    return [token for i in order for token in frame_at(rows[i], step)]


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[list[tuple[int, Frame]]], list[int]]:
    rows = draw(st.lists(timelines(), min_size=1, max_size=4))
    order = draw(st.lists(st.integers(0, len(rows) - 1), max_size=6))
    return rows, order


@many(300)
@given(texts())
def test_changing_boundaries_equal_timelines_at_every_step(
    text: tuple[list[list[tuple[int, Frame]]], list[int]],
) -> None:
    rows, order = text
    boundaries, sizes = boundaries_of(rows, order)
    assert len(boundaries) == len(sizes)
    always = [True] * len(sizes)
    for step in range(STEPS + 3):  # beyond the last step, nothing changes
        tokens = read(rows, order, step)
        ends = [sum(length for _, length in tokens[: i + 1]) for i in range(len(tokens))]
        kept = [atom + 1 in ends for atom in range(len(sizes))]
        assert boundaries.boundary_mask(step).tolist() == kept
        assert boundaries.token_ends(step).tolist() == ends
        assert boundaries.ids(step).tolist() == [token_id for token_id, _ in tokens]
        assert boundaries.cuts(step).tolist() == [sum(sizes[:end]) for end in ends]
        if step <= STEPS:
            counted = sum(token_id != DROPPED_ID for token_id, _ in tokens)
            assert boundaries.token_counts[step] == counted
            always = [a and b for a, b in zip(always, kept, strict=True)]
    assert boundaries.permanent.tolist() == always
    assert len(boundaries.token_counts) == STEPS + 1

"""The merge diagram: all tokens of a short text over all steps, in one picture.

Each token is a block on the letters, and lies on those that it was merged from. The blocks of a
second tokenizer hang below the letters. `components/merge_diagram/` draws it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.core.boundaries import INSIDE_ID, Boundaries, ended
from bpeviz.text import character_stand_in, digest_of
from bpeviz.views.payloads import Diagram, DiagramSide, DiagramSign
from bpeviz.views.stage import token_styles

MAX_DRAWN = 120
"""The largest text that stays readable in the diagram, in bytes."""


@dataclass(frozen=True, eq=False)
class Side:
    """A tokenizer in the diagram.

    Attributes:
        title: The name of the tokenizer.
        boundaries: The boundaries of the text.
        last: The last step of the boundaries in the diagram.
        total: The number of steps of the tokenizer.
        look: Returns the label and color index of an id.
        unit: The name of a step.
        numbers: The tokenizer's step for each step of the boundaries, if they differ.
        note: Words after the number of tokens, or "".
    """

    title: str
    boundaries: Boundaries
    last: int
    total: int
    look: Callable[[int], tuple[str, int]]
    unit: str = "merge"
    numbers: Sequence[int] | None = None
    note: str = ""


def payload(raw: bytes, sides: Sequence[Side], start: int = 0) -> Diagram:
    """Return the payload of the diagram, as plain JSON values.

    A column is a byte; a mark without text has a column of its own. Tokens are [first column, end
    column, step of creation, step of its end (-1: never), id].

    Args:
        raw: The bytes to show, a part of the text in UTF-8.
        sides: One or two tokenizers.
        start: The position of the first of these bytes in the text.
    """
    if not 1 <= len(sides) <= 2:
        raise ValueError(f"The diagram has one side or two, not {len(sides)}.")
    parts = [_part(side.boundaries, start, start + len(raw)) for side in sides]
    # Before each byte, as many columns for marks as the side with the most of them there needs.
    marks = np.zeros(len(raw) + 1, np.int64)
    for part in parts:
        sizes = np.diff(part.ends, prepend=start)
        at = part.ends[sizes == 0] - start
        marks = np.maximum(marks, np.bincount(at, minlength=len(marks))[: len(marks)])
    behind = np.cumsum(marks)  # marks up to a byte, those before it included
    data: Diagram = {
        "key": "",
        "columnCount": len(raw) + int(behind[-1]),
        "signs": _signs(raw, behind),
        "sides": [_side(side, part, start, marks) for side, part in zip(sides, parts, strict=True)],
    }
    data["key"] = digest_of(data)
    return data


def _part(boundaries: Boundaries, start: int, end: int) -> Boundaries:
    """Return the boundaries of bytes `start` to `end` of the text."""
    first = ended(boundaries.ends, start) if start else 0
    return boundaries.slice(first, ended(boundaries.ends, end))


def _signs(raw: bytes, behind: NDArray[np.int64]) -> list[DiagramSign]:
    """Return the graphemes along the x axis: [first column, end column, label, bytes in hex].

    A byte outside a character is a grapheme of its own.
    """
    graphemes: list[DiagramSign] = []
    at = 0
    for sign in regex.findall(r"\X", raw.decode(errors="surrogateescape")):
        part = sign.encode(errors="surrogateescape")
        if len(sign) > 1:
            label = sign
        elif "\udc80" <= sign <= "\udcff":
            label = f"⟨{part.hex().upper()}⟩"
        else:
            label = character_stand_in(sign)
        columns = [i + int(behind[i]) for i in range(at, at + len(part))]
        cells: list[list[int | str]] = [
            [column, f"{byte:02X}"] for column, byte in zip(columns, part, strict=True)
        ]
        graphemes.append([columns[0], columns[-1] + 1, label, cells])
        at += len(part)
    return graphemes


def _side(side: Side, part: Boundaries, start: int, marks: NDArray[np.int64]) -> DiagramSide:
    """Return the tokens of a side, each with its columns and steps."""
    places = _columns(part, start, marks)
    happen = part.change_steps[part.change_steps < side.last].tolist()
    tokens: list[list[int]] = []
    standing: dict[tuple[int, int, int], int] = {}
    for time in [-1, *happen]:
        taken = 0 if time < 0 else 1 + (time if side.numbers is None else side.numbers[time])
        now = _standing(part, time + 1)
        for token in standing.keys() - now:
            first, last, token_id = token
            if standing[token] < taken:
                tokens.append([places[first][0], places[last][1], standing[token], taken, token_id])
            del standing[token]
        for token in now:
            standing.setdefault(token, taken)
    for (first, last, token_id), since in standing.items():
        tokens.append([places[first][0], places[last][1], since, -1, token_id])
    tokens.sort()
    ids = {token_id for *_, token_id in tokens}
    return {
        "title": side.title,
        "unit": side.unit,
        "stepCount": side.total,
        "note": side.note,
        "tokens": tokens,
        **token_styles(ids, side.look),
    }


def _standing(part: Boundaries, step: int) -> dict[tuple[int, int, int], None]:
    """Return the tokens of a part after a step: (first atom, last atom, id)."""
    ends = part.token_ends(step).tolist()
    ids = part.ids(step).tolist()
    if len(ids) < len(ends):  # the first one begins before the stretch
        ids = [INSIDE_ID, *ids]
    starts = [0, *ends]
    return dict.fromkeys(
        (first, end - 1, token_id) for first, end, token_id in zip(starts, ends, ids, strict=False)
    )


def _columns(part: Boundaries, start: int, marks: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the first and the end column of each atom."""
    behind = np.cumsum(marks)
    columns: list[tuple[int, int]] = []
    before = start
    taken = 0  # columns for marks that are taken at this byte
    for end in part.ends.tolist():
        if end == before:
            first = before - start + int(behind[before - start] - marks[before - start]) + taken
            taken += 1
            columns.append((first, first + 1))
            continue
        low, high = before - start, end - start
        columns.append((low + int(behind[low]), high + int(behind[high] - marks[high])))
        before, taken = end, 0
    return columns

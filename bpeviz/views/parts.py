"""The parts of a long text, of which the player and the score show one at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import Boundaries, Part, ended

WINDOW = 20_000
"""The largest number of atoms in the player; longer texts are divided into parts."""


def parts(text: str, boundaries: Boundaries, size: int = WINDOW) -> list[Part]:
    """Divide a text into parts of at most `size` atoms.

    A part ends at a boundary of every step if its second half has one, else between two characters.
    """
    atoms = len(boundaries)
    if atoms <= size:
        return [Part(0, atoms, 0, len(text))]
    # A character ends before the first byte of the next one, or at the end of the text.
    raw = np.frombuffer(f"{text}\n".encode(), np.uint8)
    parts: list[Part] = []
    half = size // 2
    start = first = past = 0
    while start < atoms:
        # One part at a time is several times faster for a long text.
        ends = boundaries.ends[start : start + size + 1]
        begins = (raw[past : ends[-1] + 1] & 0xC0) != 0x80
        end = min(start + size, atoms)
        if end < atoms:
            # Of several atoms that end at one byte (a character and a mark), only the last counts.
            later = ends[half:-1]
            between_characters = begins[later - past] & (later != ends[half + 1 :])
            between_tokens = between_characters & boundaries.permanent[start + half : end]
            last_of_all = _last(between_tokens) or _last(between_characters)
            end = start + (half + last_of_all if last_of_all else size)
        upto = int(boundaries.ends[end - 1])
        last = first + int(np.count_nonzero(begins[1 : upto - past + 1]))
        parts.append(Part(start, end, first, last))
        start, first, past = end, last, upto
    return parts


def part_of(text: str, first: int, last: int) -> Part:
    """Return the part of some characters of a text, in bytes."""
    start = len(text[:first].encode())
    return Part(start, start + len(text[first:last].encode()), first, last)


def characters_of(
    text: str, part: Part, breaks: Sequence[int] | NDArray[np.integer]
) -> tuple[int, int, int]:
    r"""Return the first and the last character of a part, and their number in the whole text.

    Line ends between rows are not characters of them.

    Args:
        text: The whole text.
        part: The part.
        breaks: The places of line ends between rows, in bytes.

    >>> characters_of("ab\ncd\nef", Part(3, 5, 3, 5), [2, 5])
    (2, 4, 6)
    """
    if not len(breaks):
        return part.first, part.last, len(text)
    places = [len(text[:place].encode()) for place in (part.first, part.last)]
    before, upto = np.searchsorted(breaks, places).tolist()
    return part.first - before, part.last - upto, len(text) - len(breaks)


def part_between(boundaries: Boundaries, part: Part, text: str) -> Part:
    """Return the part of other boundaries with the same characters.

    Args:
        boundaries: Boundaries of the whole text.
        part: A part of boundaries over bytes, as from `metrics.common_boundaries`.
        text: The whole text.
    """
    ends = boundaries.ends
    # A mark without bytes belongs to the preceding atom, or to the first one.
    start = ended(ends, part.start) if part.start else 0
    end = len(ends) if part.last == len(text) else ended(ends, part.end)
    return Part(start, end, part.first, part.last)


def _last(places: NDArray[np.bool_]) -> int:
    """Return the index after the last true value, or 0."""
    true_places = np.flatnonzero(places)
    return int(true_places[-1]) + 1 if len(true_places) else 0

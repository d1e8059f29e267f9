"""Colored text as the browser draws it, to export."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import Part
from bpeviz.views.parts import part_of
from bpeviz.views.payloads import Score
from bpeviz.views.stage import Stage

HELD = 20_000
"""The largest size of an exported text, in bytes."""


@dataclass(frozen=True)
class ColoredText:
    """A part of a text under one or several tokenizers.

    Attributes:
        title: The heading.
        text: The whole text.
        part: The part, in bytes.
        score: The payload of the part, as from `Stage.score`.
        settings: The settings in words.
        breaks: The places of line ends between rows in the text, in bytes.
    """

    title: str
    text: str
    part: Part
    score: Score
    settings: Sequence[str] = ()
    breaks: Sequence[int] | NDArray[np.integer] = ()


def colored(title: str, stage: Stage, *, settings: Sequence[str] = ()) -> ColoredText:
    """Return the text of a stage at one step, at most `HELD` bytes; see `Stage.score`."""
    row = stage.rows[0]
    text, first = row.text, row.part.first
    held = text[first : row.part.last].encode()[:HELD].decode(errors="ignore")
    part = part_of(text, first, first + len(held))
    payload = stage.showing(part).score()
    return ColoredText(title, text, part, payload, settings, row.column.breaks)

"""Colored text as the browser draws it: in files, in pictures and on slides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID, Part
from bpeviz.views import score as scores
from bpeviz.views.credit import parts
from bpeviz.views.parts import characters_of, part_of
from bpeviz.views.payloads import Picture, Score
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
        score: The payload of the part, as from `score.payload`.
        settings: The settings in words.
        breaks: The places of line ends between rows in the text, in bytes.
    """

    title: str
    text: str
    part: Part
    score: Score
    settings: Sequence[str] = ()
    breaks: Sequence[int] | NDArray[np.integer] = ()

    @property
    def notes(self) -> list[str]:
        """The explanations of the marks that occur."""
        rows = self.score["rows"]
        ends = [row["tokenEnds"] for row in rows]
        ids = {token_id for row in rows for token_id, *_ in row["distinct"]}
        marks = {
            "Color shows where rows differ. A tick ends a token that all rows have.": (
                ends != ends[:1] * len(ends)
            ),
            "The strip below a character of several bytes shows them by token.": (
                not self.score["text"].isascii()
            ),
            "A wavy underline marks tokens that are not in the vocabulary.": UNKNOWN_ID in ids,
            "Pale text is dropped: it does not become a token.": DROPPED_ID in ids,
        }
        return [words for words, occurs in marks.items() if occurs]

    def payload(self, link: str = "") -> Picture:
        """Return the payload for the component `picture`. link: opens it again, or ""."""
        about = [" · ".join(self.settings)] if self.settings else []
        first, last, total = characters_of(self.text, self.part, self.breaks)
        if last - first < total:
            about.append(f"Characters {first + 1:,} to {last:,} of {total:,}.")
        return {
            "title": self.title,
            "about": about,
            "notes": self.notes,
            "credit": parts(link),
            "score": self.score,
        }


def colored(title: str, stage: Stage, *, settings: Sequence[str] = ()) -> ColoredText:
    """Return the text of a stage at one step, at most `HELD` bytes; see `score.payload`."""
    row = stage.rows[0]
    text, first = row.text, row.part.first
    held = text[first : row.part.last].encode()[:HELD].decode(errors="ignore")
    part = part_of(text, first, first + len(held))
    payload = scores.payload(stage.showing(part))
    return ColoredText(title, text, part, payload, settings, row.column.breaks)

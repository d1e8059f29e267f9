"""Colored text as the browser draws it: in files, in pictures and on slides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bpeviz.analysis.hues import Hues
from bpeviz.analysis.metrics import Column
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID, Part
from bpeviz.views.credit import parts
from bpeviz.views.player import score_payload

HELD = 20_000
"""The largest size of an exported text, in bytes."""


@dataclass(frozen=True)
class ColoredText:
    """The colored text to export.

    text: the whole text.
    columns: tokenizers with their boundaries.
    title: the heading.
    baseline: the column that the others are compared with.
    first, last: the characters to export. At most `HELD` bytes are, and the file says so.
    settings: the settings in words.
    """

    text: str
    columns: Sequence[Column]
    title: str
    baseline: int = 0
    first: int = 0
    last: int | None = None
    hues: Hues | None = None
    settings: Sequence[str] = ()


@dataclass(frozen=True)
class Drawing:
    """The rows of a text, with the legend of their marks.

    payload: the rows for the browser, as from `player.score_payload`.
    part: the part of the text, in bytes.
    """

    about: list[str]
    notes: list[str]
    payload: dict[str, Any]
    part: Part


def payload(picture: ColoredText, link: str = "") -> dict[str, Any]:
    """Return the payload of the colored text for the component `picture`.

    Args:
        picture: The colored text.
        link: The address that opens it again, or "".
    """
    drawing = drawing_of(picture)
    words = {"title": picture.title, "about": drawing.about, "notes": drawing.notes}
    return words | {"credit": parts(link), "score": drawing.payload}


def drawing_of(picture: ColoredText) -> Drawing:
    """Return the score of a colored text, with the words around it."""
    text, columns, first = picture.text, picture.columns, picture.first
    last = len(text) if picture.last is None else picture.last
    raw = text[first:last].encode()
    if len(raw) > HELD:
        raw = raw[:HELD].decode(errors="ignore").encode()
        last = first + len(raw.decode())
    start = len(text[:first].encode())
    part = Part(start, start + len(raw), first, last)
    data = score_payload(text, columns, part, picture.baseline, hues=picture.hues)
    about = [" · ".join(picture.settings)] if picture.settings else []
    if (first, last) != (0, len(text)):
        about.append(f"Characters {first + 1:,} to {last:,} of {len(text):,}.")
    return Drawing(about, _legend(data), data, part)


def _legend(data: dict[str, Any]) -> list[str]:
    """Return the explanations of the marks in some columns."""
    rows = data["rows"]
    ids = {token_id for row in rows for token_id, *_ in row["distinct"]}
    marks = {
        "The strip below a character of several bytes shows them by token.": (
            not data["text"].isascii()
        ),
        "A wavy underline marks tokens that are not in the vocabulary.": UNKNOWN_ID in ids,
        "Pale text is dropped: it does not become a token.": DROPPED_ID in ids,
    }
    return [words for words, occurs in marks.items() if occurs]

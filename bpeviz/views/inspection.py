"""The payload of the grid: characters, bytes, normalized text, pre-tokens, tokens and ids."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from bpeviz.analysis.hues import OWN_HUES, Hues
from bpeviz.analysis.normalization import Unit
from bpeviz.analysis.round_trip import LABEL_CHARACTERS
from bpeviz.analysis.token_lookup import color_index_of
from bpeviz.analysis.trace import Inspection, Piece
from bpeviz.core.boundaries import DROPPED_ID, Part
from bpeviz.text import character_stand_in, digest_of, hexadecimal, label, shorten
from bpeviz.views.payloads import Grid, GridNote, GridToken

_SHAPED = regex.compile(
    r"(?:\U0001F3F4|\p{Extended_Pictographic}(?!.*[\U000E0000-\U000E007F])"
    r"|(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{L}[\p{L}\p{M}\u200C\u200D]*$)"
)
"""Graphemes whose shape depends on joiners and tags, as `JOINED` in the scripts (`cells.js`)."""


@dataclass(frozen=True)
class _GridColumns:
    """The columns of a part of a text: one for each byte, and one for each mark before its byte.

    Attributes:
        low: The first byte of the part.
        high: The end of the part.
        marks: The positions of the tokens without bytes, ascending.
    """

    low: int
    high: int
    marks: Sequence[int]

    def first(self, byte: int) -> int:
        """Return the column of a byte, after the marks at its position."""
        return byte - self.low + bisect_right(self.marks, byte)

    def end(self, byte: int) -> int:
        """Return the column where a span that ends before a byte ends, before the marks there."""
        return byte - self.low + bisect_left(self.marks, byte)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return a span of bytes in columns, cropped to the part."""
        return self.first(max(start, self.low)), self.end(min(end, self.high))

    def overlaps(self, start: int, end: int) -> bool:
        """Return whether a span of bytes is partly inside the part."""
        return start < self.high and end > self.low

    def spans(self, ends: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
        """Yield the start and end, in bytes and in columns, of items inside the part."""
        for i in range(bisect_left(ends, self.low + 1), len(ends)):
            start = ends[i - 1] if i else 0
            if start >= self.high:
                break
            yield (start, ends[i], *self.span(start, ends[i]))


def grid(
    inspection: Inspection, part: Part, *, decimal: bool = False, colors: Hues = OWN_HUES
) -> Grid:
    """Return the payload of the grid, as plain JSON values: characters, bytes, tokens and ids.

    A column is a byte. A token without bytes (a mark) has a column before its position. Spans are
    in columns.

    Args:
        inspection: The encoded text.
        part: A part of `inspection.cuts`.
        decimal: Show bytes in decimal, not in hexadecimal.
        colors: The color indices.
    """
    raw, low, high = inspection.raw, part.start, part.end
    last = high if high < len(raw) else high + 1  # marks at the end of the text are shown
    pieces = [
        piece
        for piece in inspection.pieces_with_template
        if (piece.end > low and piece.start < high)
        or (piece.start == piece.end and low <= piece.start < last)
    ]
    marks = sorted(piece.start for piece in pieces if piece.start == piece.end)
    columns = _GridColumns(low, high, marks)
    ends = inspection.pre_token_ends
    data: Grid = {
        "key": "",
        "firstByte": low,
        "columnCount": high - low + len(marks),
        "graphemes": [
            [start, end, _shown(raw[a:b].decode())]
            for a, b, start, end in columns.spans(inspection.grapheme_ends)
        ],
        "codePoints": [
            [start, end, f"{ord(point):04X}", unicodedata.name(point, "")]
            for a, b, start, end in columns.spans(inspection.point_ends)
            for point in raw[a:b].decode()
        ],
        "bytes": [[columns.first(at), raw[at]] for at in range(low, high)],
        "decimal": decimal,
        "normalized": _normalized(inspection, columns),
        "preTokens": None
        if ends is None
        else [
            [start, end, shorten(label(raw[max(a, low) : min(b, high)]), LABEL_CHARACTERS)]
            for a, b, start, end in columns.spans(ends)
        ],
        "tokens": _tokens(inspection, pieces, columns, colors),
        "innerBoundaries": [
            [columns.end(at), kind] for at, kind in inspection.cuts_inside() if low < at < high
        ],
    }
    data["key"] = digest_of(data)
    return data


def _normalized(inspection: Inspection, columns: _GridColumns) -> list[GridNote] | None:
    """Return the normalized text of each unit, with its span and the changes in words."""
    placed = [(unit, _bytes_of(inspection, unit)) for unit in inspection.units]
    rows: list[GridNote] = [
        [
            *columns.span(*at),
            shorten(label(unit.normalized.encode()), LABEL_CHARACTERS),
            unit.description,
        ]
        for unit, at in placed
        if columns.overlaps(*at)
    ]
    return rows or None


def _tokens(
    inspection: Inspection, pieces: Sequence[Piece], columns: _GridColumns, colors: Hues
) -> list[GridToken]:
    """Return the tokens of the grid with their spans; marks are in their order."""
    tokens: list[GridToken] = []
    place = 0  # of the next mark
    for piece in pieces:
        if piece.start == piece.end:
            start = piece.start - columns.low + place
            end = start + 1
            place += 1
        else:
            start, end = columns.span(piece.start, piece.end)
        tokens.append(_token(inspection, piece, (start, end), colors))
    return tokens


def _bytes_of(inspection: Inspection, unit: Unit) -> tuple[int, int]:
    """Return where a unit starts and ends."""
    ends = inspection.point_ends
    return ends[unit.start - 1] if unit.start else 0, ends[unit.end - 1]


def _shown(grapheme: str) -> str:
    """Return a grapheme, with a stand-in for each invisible character that does not shape it."""
    return grapheme if _SHAPED.match(grapheme) else "".join(map(character_stand_in, grapheme))


def _token(inspection: Inspection, piece: Piece, span: tuple[int, int], colors: Hues) -> GridToken:
    """Return a token of the grid in its span, with label, color index and note."""
    start, end = span
    tokenizer, raw = inspection.tokenizer, inspection.raw
    if piece.id == DROPPED_ID:
        return {
            "start": start,
            "end": end,
            "id": None,
            "label": "",
            "color": -1,
            "hex": hexadecimal(raw[piece.start : piece.end]),
            "note": "dropped: not part of any token",
            "kind": "left out",
        }
    token = tokenizer.token_bytes(piece.id)
    kind, notes = "", []
    is_special = piece.id in tokenizer.special_tokens.values()
    if is_special and piece.start == piece.end:
        kind = "special"
        notes.append("a special token, added by the template: not part of the text")
    elif piece.id == tokenizer.unknown_id:
        kind = "unknown"
        notes.append("not in the vocabulary: its characters are lost")
    elif is_special:
        kind = "special"
        notes.append("a special token")
    elif piece.id in tokenizer.added_ids and piece.start < piece.end:
        kind = "special"
        notes.append("an added token: found in the text before the model tokenizes the rest")
    elif piece.start == piece.end:
        notes.append("not part of the text")
    else:
        notes += _partial(inspection, piece)
        if notes:
            kind = "partial"
    return {
        "start": start,
        "end": end,
        "id": piece.id,
        "label": shorten(tokenizer.token_label(piece.id), LABEL_CHARACTERS),
        "color": -1
        if kind in ("unknown", "special")
        else color_index_of(tokenizer, piece.id, colors),
        "hex": shorten(hexadecimal(token), 3 * LABEL_CHARACTERS),
        "note": "; ".join(notes),
        "kind": kind,
    }


def _partial(inspection: Inspection, piece: Piece) -> list[str]:
    """Return notes about characters of which a token contains only some bytes."""
    notes = []
    for i in sorted({piece.first, piece.last - 1}):
        start = inspection.point_ends[i - 1] if i else 0
        end = inspection.point_ends[i]
        held = min(end, piece.end) - max(start, piece.start)
        if held < end - start:
            sign = character_stand_in(inspection.text[i])
            notes.append(f"{held} of the {end - start} bytes of {sign}")
    return notes

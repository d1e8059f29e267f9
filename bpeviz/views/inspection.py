"""Payloads of the Inspect page: the grid from characters to ids, and the steps of one text.

`grid` aligns characters, bytes, the normalized text, pre-tokens, tokens and ids. `timeline` shows
the steps of a tokenizer that change the text, `encoding` the first of them.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from bpeviz.analysis import hues, trace
from bpeviz.analysis.hues import OWN_HUES, Hues
from bpeviz.analysis.normalization import Unit
from bpeviz.analysis.round_trip import NAME
from bpeviz.analysis.token_lookup import color_index_of, look_of
from bpeviz.analysis.trace import Event, Inspection, Piece
from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID, ChangingBoundaries, Part
from bpeviz.core.merges import Merge
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.core.training import Pruning, Training
from bpeviz.text import character_stand_in, counted, digest_of, hexadecimal, label, shorten
from bpeviz.trainers import texts_of
from bpeviz.trainers.screen_texts import every_atom_is_a_token
from bpeviz.views.player import decision_columns, end_marks


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


def hues_of(
    inspection: Inspection, training: Training | None = None, given: Hues = OWN_HUES
) -> Hues:
    """Return the color indices of a text at all steps.

    Args:
        inspection: The encoded text.
        training: The training history of the tokenizer, if known.
        given: Color indices that stay, those of another tokenizer.
    """
    tokenizer, special = inspection.tokenizer, inspection.special_ids

    def key(token_id: int) -> int:
        if training is not None and token_id not in special:
            return training.color_key(token_id)
        return hues.key_of(tokenizer, token_id)

    def parents(token_id: int) -> tuple[int, int] | None:
        if training is not None and token_id not in special:
            return training.parents(token_id)
        return tokenizer.parents(token_id)

    return hues.hues([hues.Row(inspection.contacts, key, parents)], given)


def grid(
    inspection: Inspection, part: Part, *, decimal: bool = False, colors: Hues = OWN_HUES
) -> dict[str, Any]:
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
    data: dict[str, Any] = {
        "title": inspection.tokenizer.name,
        "firstByte": low,
        "columnCount": high - low + len(marks),
        "marks": [mark - low + i for i, mark in enumerate(marks)],
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
        "added": [columns.span(*added) for added in inspection.added if columns.overlaps(*added)],
        "normalized": _normalized(inspection, columns),
        "preTokens": None
        if ends is None
        else [
            [start, end, shorten(label(raw[max(a, low) : min(b, high)]), NAME)]
            for a, b, start, end in columns.spans(ends)
        ],
        "tokens": _tokens(inspection, pieces, columns, colors),
        "innerBoundaries": [
            [columns.end(at), kind] for at, kind in inspection.cuts_inside() if low < at < high
        ],
    }
    return data | {"key": digest_of(data)}


def _normalized(inspection: Inspection, columns: _GridColumns) -> list[list[Any]] | None:
    """Return the normalized text of each unit, with its span and the changes in words."""
    placed = [(unit, _bytes_of(inspection, unit)) for unit in inspection.units]
    rows = [
        [*columns.span(*at), shorten(label(unit.normalized.encode()), NAME), unit.description]
        for unit, at in placed
        if columns.overlaps(*at)
    ]
    return rows or None


def _tokens(
    inspection: Inspection, pieces: Sequence[Piece], columns: _GridColumns, colors: Hues
) -> list[dict[str, Any]]:
    """Return the tokens of the grid with their spans; marks are in their order."""
    tokens = []
    place = 0  # of the next mark
    for piece in pieces:
        if piece.start == piece.end:
            start = piece.start - columns.low + place
            end = start + 1
            place += 1
        else:
            start, end = columns.span(piece.start, piece.end)
        tokens.append({"start": start, "end": end, **_token(inspection, piece, colors)})
    return tokens


def _bytes_of(inspection: Inspection, unit: Unit) -> tuple[int, int]:
    """Return where a unit starts and ends."""
    ends = inspection.point_ends
    return ends[unit.start - 1] if unit.start else 0, ends[unit.end - 1]


def _shown(grapheme: str) -> str:
    """Return a grapheme, or a stand-in for an invisible one."""
    return character_stand_in(grapheme) if len(grapheme) == 1 else grapheme


def _token(inspection: Inspection, piece: Piece, colors: Hues) -> dict[str, Any]:
    """Return a token of the grid, with label, color index and note."""
    tokenizer, raw = inspection.tokenizer, inspection.raw
    if piece.id == DROPPED_ID:
        return {
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
    if inspection.is_added(piece) and piece.start < piece.end:
        notes.append("added by the chat template")
    return {
        "id": piece.id,
        "label": shorten(tokenizer.token_label(piece.id), NAME),
        "color": -1
        if kind in ("unknown", "special")
        else color_index_of(tokenizer, piece.id, colors),
        "hex": shorten(hexadecimal(token), 3 * NAME),
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


def unit_of(training: Training | None) -> str:
    """Return the name of a step of a tokenizer."""
    return "merge" if training is None else texts_of(training).unit


def timeline(
    inspection: Inspection,
    part: Part,
    title: str,
    training: Training | None = None,
    colors: Hues = OWN_HUES,
) -> dict[str, Any]:
    """Return the timeline of one text, in the format of `player.timeline`.

    Only merges that change the part have a step. A note gives the number of each in the vocabulary.
    Counts are those of the part.

    Args:
        inspection: The encoded text.
        part: The part to show.
        title: The name of the tokenizer.
        training: The training history of the tokenizer, if known.
        colors: The color indices.
    """
    tokenizer, text = inspection.tokenizer, inspection.text
    kind = tokenizer.atoms
    cut, events = part_of(inspection, part)
    states = [cut.ids(step).tolist() for step in range(len(events) + 1)]
    steps = decision_columns([*_decisions(inspection, cut, events, states, training)])
    atom_ids = cut.atom_ids.tolist()
    ids = {*atom_ids, *cut.entries.tolist(), *steps["id"], *steps["left"], *steps["right"]}
    look = look_of(tokenizer, training, inspection.special_ids, colors)
    before = int(inspection.boundaries.ends[part.start - 1]) if part.start else 0
    size = int(cut.ends[-1]) - before if len(cut) else 0
    unit = unit_of(training)
    whole = part.last - part.first == len(text)
    shown = "this text" if whole else "this part of the text"
    unknown = tokenizer.unknown_id
    data: dict[str, Any] = {
        "text": text[part.first : part.last],
        "atomKind": kind,
        "atomBytes": part.atom_sizes(text, inspection.boundaries, kind),
        "endMarks": end_marks(tokenizer, cut.atom_ids),
        "atomIds": atom_ids,
        **cut.payload(),
        "tokenStyles": {i: [*look(i)] for i in sorted(ids) if i >= 0},
        "unknownLabel": None if unknown is None else tokenizer.token_label(unknown),
        "steps": steps,
        # A note has the number of the merge, which differs where merges are left out.
        "unit": unit if len(events) == tokenizer.steps else "step",
        "initialMessage": _beginning(tokenizer, training, len(events), title, shown),
        "emptyMessage": f"No {unit} of {title} changes {shown}.",
        "tokenCounts": cut.token_counts.tolist(),
        "changingSteps": None,
        "byteCount": size,
        "part": None if whole else [part.first, part.last, len(text)],
    }
    digest = digest_of(data)
    return data | {"key": digest, "timelineId": digest, "last": len(events)}


def encoding(
    text: str, tokenizer: Tokenizer, upto: int | None = None, colors: Hues | None = None
) -> dict[str, Any]:
    """Return the timeline of a text that a tokenizer encodes, merge by merge.

    Its identity and its colors do not depend on `upto`, so that a player with fewer merges extends.

    Args:
        text: The text.
        tokenizer: A tokenizer that applies its merges in their order.
        upto: The number of merges that the payload may contain, of those that change the text; by
            default all.
        colors: The color indices; by default those of this text alone.
    """
    whole = trace.inspect(text, tokenizer)
    colors = colors or hues_of(whole)
    events = whole.events[:upto]
    table = whole.boundaries
    early = table.times < len(events)
    cut = replace(
        table,
        steps=len(events),
        rows=np.append(0, np.cumsum(early))[table.rows],
        times=table.times[early],
        entries=table.entries[early],
    )
    part = Part(0, len(cut), 0, len(whole.text))
    inspected = replace(whole, boundaries=cut, events=events)
    data = timeline(inspected, part, tokenizer.name, None, colors)
    # Its usual sentences count all merges.
    start = f"{every_atom_is_a_token(tokenizer.atoms)} The merges follow in their order."
    identity = digest_of(whole.text, tokenizer.name, data["atomIds"], colors.indices)
    return data | {
        "key": identity,
        "timelineId": identity,
        "unit": "step",
        "algorithm": "Encoding",
        "rule": "merges in the order of the vocabulary",
        "initialMessage": start,
        "emptyMessage": start if upto is not None else data["emptyMessage"],
    }


def part_of(inspection: Inspection, section: Part) -> tuple[ChangingBoundaries, list[Event]]:
    """Return the boundaries of a part, with only the events that change it."""
    part = inspection.boundaries.slice(section.start, section.end)
    happen = part.change_steps
    times = np.where(part.times < 0, -1, np.searchsorted(happen, part.times)).astype(np.int32)
    cut = replace(part, steps=len(happen), times=times)
    return cut, [inspection.events[i] for i in happen.tolist()]


def _decisions(
    inspection: Inspection,
    cut: ChangingBoundaries,
    events: Sequence[Event],
    states: Sequence[Sequence[int]],
    training: Training | None,
) -> Iterator[Merge | Pruning]:
    """Yield the decision of each event, with its counts in this text and its number in a note."""
    tokenizer = inspection.tokenizer
    occurrences = Counter(zip(cut.times.tolist(), cut.entries.tolist(), strict=True))
    pre_token_ends = {*(inspection.pre_token_ends or ())}
    decisions = () if training is None else training.decisions
    for number, event in enumerate(events):
        decision = decisions[event.step] if decisions else None
        note = "" if decision is None else decision.note
        if isinstance(decision, Pruning):
            where = f"pruning {event.step + 1:,} of {len(decisions):,}"
            yield replace(decision, note="; ".join(filter(None, (where, note))))
            continue
        if decision is None:
            # Without a training history, an event is a merge of the tokenizer (see `_Rows`).
            token_id = event.id if event.id is not None else UNKNOWN_ID
            parents = None if token_id < 0 else tokenizer.parents(token_id)
            pair = parents or (UNKNOWN_ID, UNKNOWN_ID)
        else:
            token_id, pair = decision.new_id, (decision.left, decision.right)
        applied = count = occurrences[number, token_id]
        if pair[0] == pair[1]:
            ends = cut.cuts(number).tolist()
            count = max(applied, _side_by_side(states[number], ends, pair[0], pre_token_ends))
        where = f"merge {event.step + 1:,} of {tokenizer.steps:,}"
        unused = "" if applied else "not used here, but other tokens change"
        note = "; ".join(filter(None, (where, note, unused)))
        yield Merge(*pair, token_id, count, applied, 0, note=note)


def _side_by_side(
    ids: Sequence[int], ends: Sequence[int], token_id: int, pre_token_ends: Collection[int]
) -> int:
    """Count neighboring pairs of one token within pre-tokens, overlaps included."""
    return sum(
        left == right == token_id and end not in pre_token_ends
        for (left, right), end in zip(pairwise(ids), ends, strict=False)
    )


def _beginning(
    tokenizer: Tokenizer, training: Training | None, steps: int, title: str, changed: str
) -> str:
    start = (
        every_atom_is_a_token(tokenizer.atoms)
        if training is None
        else texts_of(training).beginning(training)
    )
    total, unit = tokenizer.steps, unit_of(training)
    verb = "changes" if steps == 1 else "change"
    which = f"All {total:,} {unit}s of {title}"
    if steps != total or total == 1:
        which = f"{steps:,} of {title}’s {counted(total, unit)}"
    return f"{start} {which} {verb} {changed}."

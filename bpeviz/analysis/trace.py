"""Traces of one text from characters to ids, under one tokenizer.

`grid` aligns characters, bytes, the normalized text, pre-tokens, tokens and ids. `timeline` shows
the steps of a tokenizer that change the text. Positions are UTF-8 bytes unless stated otherwise, so
that all tokenizers agree.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Literal

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.analysis.normalization import Unit, units
from bpeviz.analysis.token_lookup import color_index_of, look_of
from bpeviz.core.boundaries import (
    DROPPED_ID,
    INSIDE_ID,
    NEVER,
    UNKNOWN_ID,
    ChangingBoundaries,
    MergeBoundaries,
    Part,
)
from bpeviz.core.merges import Merge
from bpeviz.core.tokenizer import Tokenizer, Word
from bpeviz.core.training import Pruning, Training
from bpeviz.text import (
    Normalized,
    character_stand_in,
    clean,
    digest_of,
    hexadecimal,
    label,
    shorten,
)
from bpeviz.trainers import texts_of

NAME = 40
"""The largest number of characters of a token label on screen."""


@dataclass(frozen=True)
class Piece:
    """A token of a text, or a part of the text without a token (with the id `DROPPED_ID`).

    start, end: bytes; equal for a mark without text. first, last: the characters that it spans,
    including partial ones.
    """

    id: int
    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True)
class Event:
    """A step of the tokenizer that changes a text.

    step: its number, from 0. id: the token that it creates, or None if unknown.
    """

    step: int
    id: int | None


@dataclass(frozen=True, eq=False)
class Inspection:
    """A text encoded by a tokenizer.

    special_tokens: names that are encoded as special tokens. pre_token_ends: bytes, or None if
    unknown. boundaries: step k is the state after the first k of `events`. normalized: the text as
    the tokenizer changes it before it splits it. template: the ids added before and after the text.
    message: the characters, from the first to after the last, that a chat template did not add.
    """

    text: str
    tokenizer: Tokenizer
    special_tokens: tuple[str, ...]
    pieces: tuple[Piece, ...]
    pre_token_ends: tuple[int, ...] | None
    boundaries: ChangingBoundaries
    events: tuple[Event, ...]
    normalized: Normalized
    template: tuple[Sequence[int], Sequence[int]] = (), ()
    message: tuple[int, int] | None = None

    @cached_property
    def raw(self) -> bytes:
        """The text in UTF-8."""
        return self.text.encode()

    @cached_property
    def units(self) -> list[Unit]:
        """The units of the normalization; none if it does not change the text."""
        return units(self.text, self.normalized)

    @property
    def ids(self) -> list[int]:
        """The ids of the text, with those of the template."""
        before, after = self.template
        return [*before, *self.text_ids, *after]

    @property
    def text_ids(self) -> list[int]:
        """The ids of the text, without those of the template."""
        return [piece.id for piece in self.pieces if piece.id != DROPPED_ID]

    @property
    def pieces_with_template(self) -> tuple[Piece, ...]:
        """The pieces, between marks for the tokens of the template."""
        before, after = self.template
        size, length = len(self.raw), len(self.text)
        return (
            *(Piece(token_id, 0, 0, 0, 0) for token_id in before),
            *self.pieces,
            *(Piece(token_id, size, size, length, length) for token_id in after),
        )

    @cached_property
    def added(self) -> list[tuple[int, int]]:
        """The stretches that a chat template added around the message, in bytes."""
        if self.message is None:
            return []
        ends = [0, *self.point_ends]
        first, last = (ends[at] for at in self.message)
        return [(start, end) for start, end in ((0, first), (last, len(self.raw))) if start < end]

    @property
    def added_count(self) -> int:
        """The number of tokens that a template or a chat template added."""
        around = sum(self.is_added(piece) for piece in self.pieces if piece.id != DROPPED_ID)
        return len(self.ids) - len(self.text_ids) + around

    def is_added(self, piece: Piece) -> bool:
        """Return whether a chat template added a token."""
        return any(start <= piece.start and piece.end <= end for start, end in self.added)

    @property
    def special_ids(self) -> Collection[int]:
        """The ids of the special tokens that this text may contain."""
        return [self.tokenizer.special_tokens[name] for name in self.special_tokens]

    @cached_property
    def point_ends(self) -> list[int]:
        """The end of each code point."""
        return [*accumulate(len(point.encode()) for point in self.text)]

    @cached_property
    def grapheme_ends(self) -> list[int]:
        """The end of each grapheme cluster, a user-perceived character (UAX #29)."""
        found = regex.findall(r"\X", self.text)
        return [*accumulate(len(grapheme.encode()) for grapheme in found)]

    @cached_property
    def cuts(self) -> MergeBoundaries:
        """Boundaries over bytes where a token and a grapheme end, for dividing long texts."""
        merged_at = np.zeros(len(self.raw), np.int32)
        ends = {piece.end for piece in self.pieces} & {*self.grapheme_ends}
        merged_at[[end - 1 for end in ends]] = NEVER
        size = len(self.raw)
        return MergeBoundaries(np.arange(1, size + 1), np.zeros(size, np.int32), 1, merged_at, 0)

    def cuts_inside(self) -> list[tuple[int, Literal["character", "grapheme"]]]:
        """Return token boundaries inside a code point, or between code points of a grapheme."""
        ends = sorted({piece.end for piece in self.pieces} - {0, len(self.raw)})
        points, graphemes = {*self.point_ends}, {*self.grapheme_ends}
        return [
            (end, "grapheme" if end in points else "character")
            for end in ends
            if end not in graphemes
        ]


def inspect(
    text: str,
    tokenizer: Tokenizer,
    special_tokens: Collection[str] = (),
    *,
    template: bool = False,
    message: tuple[int, int] | None = None,
) -> Inspection:
    """Encode a text and record every step that changes it.

    Args:
        text: The text.
        tokenizer: The tokenizer.
        special_tokens: Names to encode as special tokens.
        template: Whether to add the tokens of the tokenizer's template.
        message: The characters that a chat template did not add.

    Raises:
        ValueError: The tokenizer cannot encode the text.
    """
    text = clean(text)
    sizes = np.fromiter((len(point.encode()) for point in text), np.int64, len(text))
    character = np.repeat(np.arange(len(text)), sizes)
    pieces: list[Piece] = []
    pre_token_ends: list[int] | None = []
    rows = _Rows(tokenizer)
    normalized, starts = "", list[int]()
    at = before = 0
    for part, special in tokenizer._parts(text, special_tokens):
        size = len(part.encode())
        found = [(tokenizer.special_tokens[part], size)] if special else tokenizer._pieces(part)
        if sum(length for _, length in found) != size:
            raise ValueError(
                f"The pre-tokenization pattern of {tokenizer.name} skips a part of this text."
            )
        start = at
        for token_id, length in found:
            first = int(character[at]) if at < len(character) else len(text)
            last = int(character[at + length - 1]) + 1 if length else first
            pieces.append(Piece(token_id, at, at + length, first, last))
            at += length
        ends = np.array([size]) if special else tokenizer.pre_token_ends(part)
        if ends is None:
            pre_token_ends = None
        elif pre_token_ends is not None:
            pre_token_ends += (start + ends).tolist()
        if special:
            rows.add_special(part)
        else:
            rows.add(part)
        seen = Normalized.of(part) if special else tokenizer.normalized(part)
        normalized += seen.text
        starts += [before + start for start in seen.starts]
        before += len(part)
    boundaries, events = rows.finished()
    return Inspection(
        text,
        tokenizer,
        tuple(special_tokens),
        tuple(pieces),
        None if pre_token_ends is None else tuple(pre_token_ends),
        boundaries,
        events,
        Normalized(normalized, starts),
        tokenizer.template if template else ((), ()),
        message,
    )


def scored_words(inspection: Inspection) -> list[Word]:
    """Return the words of the text without its special tokens, as `Tokenizer.scored_words`."""
    tokenizer = inspection.tokenizer
    found: list[Word] = []
    start = 0
    for part, special in tokenizer._parts(inspection.text, inspection.special_tokens):
        words = [] if special else tokenizer.scored_words(part)
        found += [Word(text, start + first, start + last) for text, first, last in words]
        start += len(part)
    return found


def ids_between(inspection: Inspection, first: int, last: int) -> list[int]:
    """Return the ids of the tokens of the text from a character to before another one."""
    return [
        piece.id
        for piece in inspection.pieces
        if piece.id != DROPPED_ID and first <= piece.first < last and piece.last <= last
    ]


Key = tuple[int, int, int]
"""Sort key of events: step of the tokenizer, depth of the token's merge tree, id."""


class _Rows:
    """Collects changes per atom, part by part, and numbers the events."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.keys: dict[int, Key] = {}
        self.entries: list[list[tuple[Key | None, int]]] = []  # per atom, in time order
        self.sizes: list[int] = []
        self.atom_ids: list[int] = []

    def add_special(self, part: str) -> None:
        """Add a special token, which no step changes."""
        in_bytes = self.tokenizer.atoms == "bytes"
        sizes = [1] * len(part.encode()) if in_bytes else [len(p.encode()) for p in part]
        self.sizes += sizes
        self.atom_ids += [UNKNOWN_ID] * len(sizes)
        self.entries.append([(None, self.tokenizer.special_tokens[part])])
        self.entries += [[] for _ in sizes[1:]]

    def add(self, part: str) -> None:
        boundaries = self.tokenizer.boundaries(part)
        self.sizes += np.diff(boundaries.ends, prepend=0).tolist()
        self.atom_ids += boundaries.atom_ids.tolist()
        changes = boundaries.as_changes()
        times, ids = changes.times.tolist(), changes.entries.tolist()

        def key_of(time: int) -> Key | None:
            return None if time < 0 else (time, 0, self.tokenizer.merged_id(time))

        for start, end in pairwise(changes.rows.tolist()):
            self.entries.append([(key_of(times[i]), ids[i]) for i in range(start, end)])

    def _key(self, token_id: int) -> Key:
        """Return the sort key of a token, which is after those of its parents."""
        waiting = [token_id]
        while waiting:  # no recursion: a tree may be as deep as its token is long
            at = waiting[-1]
            pair = None if at in self.keys else self.tokenizer.parents(at)
            if at in self.keys or pair is None:
                self.keys.setdefault(at, (-1, 0, at))
                waiting.pop()
                continue
            todo = [one for one in pair if one not in self.keys]
            if todo:
                waiting += todo
                continue
            waiting.pop()
            of_pair = [self.keys[one] for one in pair]
            step = max(self.tokenizer.merge_step(at), *(key[0] for key in of_pair))
            self.keys[at] = step, 1 + max(key[1] for key in of_pair), at
        return self.keys[token_id]

    def _inside(self, token_id: int) -> tuple[int, list[tuple[int, Key | None, int]]]:
        """Return the number of atoms of a token, and its changes: (atom, sort key, id)."""
        found: list[tuple[int, Key | None, int]] = []
        length = 0
        # Tokens to expand, leftmost last, each with later changes at its first atom.
        waiting: list[tuple[int, list[tuple[Key | None, int]]]] = [(token_id, [])]
        while waiting:
            at, later = waiting.pop()
            pair = self.tokenizer.parents(at) if at >= 0 else None
            if pair is not None:
                key = self._key(at)
                later.append((key, at))
                waiting += ((pair[1], [(key, INSIDE_ID)]), (pair[0], later))
                continue
            later.append((None, at))
            found += [(length, key, entry) for key, entry in reversed(later)]
            # A token without parents can have many bytes: a whole pre-token of a rank table.
            in_bytes = self.tokenizer.atoms == "bytes" and at >= 0
            length += len(self.tokenizer.token_bytes(at)) if in_bytes else 1
        return length, found

    def finished(self) -> tuple[ChangingBoundaries, tuple[Event, ...]]:
        keys = sorted({key for row in self.entries for key, _ in row if key is not None})
        number = {key: i for i, key in enumerate(keys)}
        flat = [
            (-1 if key is None else number[key], entry)
            for row in self.entries
            for key, entry in row
        ]
        counts = np.fromiter(map(len, self.entries), np.int64, len(self.entries))
        boundaries = ChangingBoundaries(
            np.cumsum(np.array(self.sizes, np.int64)),
            np.array(self.atom_ids, np.int32),
            len(keys),
            np.concatenate(([0], np.cumsum(counts))),
            np.fromiter((time for time, _ in flat), np.int32, len(flat)),
            np.fromiter((entry for _, entry in flat), np.int32, len(flat)),
        )
        events = [Event(step, token_id if token_id >= 0 else None) for step, _, token_id in keys]
        return boundaries, tuple(events)


def grid(inspection: Inspection, shown: Part, *, decimal: bool = False) -> dict[str, Any]:
    """Return the payload of the grid, as plain JSON values: characters, bytes, tokens and ids.

    A column is a byte. A token without bytes (a mark) has a column before its position. Spans are
    in columns.

    Args:
        inspection: The encoded text.
        shown: A part of `inspection.cuts`.
        decimal: Show bytes in decimal, not in hexadecimal.
    """
    tokenizer, raw = inspection.tokenizer, inspection.raw
    low, high = shown.start, shown.end
    whole = high == len(raw)
    pieces = [
        piece
        for piece in inspection.pieces_with_template
        if (piece.end > low and piece.start < high)
        or (
            piece.start == piece.end
            and (low <= piece.start < high or (whole and piece.end == high))
        )
    ]
    marks = sorted(piece.start for piece in pieces if piece.start == piece.end)

    def column(byte: int, *, behind_marks: bool) -> int:
        """Return the column of a byte, after or before the marks at its position."""
        before = sum(mark <= byte if behind_marks else mark < byte for mark in marks)
        return byte - low + before

    def span(start: int, end: int) -> tuple[int, int]:
        start, end = max(start, low), min(end, high)
        return column(start, behind_marks=True), column(end, behind_marks=False)

    def spans(ends: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
        """Yield the start and end, in bytes and in columns, of items inside the part."""
        for i in range(bisect_left(ends, low + 1), len(ends)):
            start = ends[i - 1] if i else 0
            if start >= high:
                break
            yield (start, ends[i], *span(start, ends[i]))

    tokens = []
    place = 0  # of the next mark
    for piece in pieces:
        if piece.start == piece.end:
            start = piece.start - low + place
            place += 1
            end = start + 1
        else:
            start, end = span(piece.start, piece.end)
        tokens.append({"start": start, "end": end, **_token(inspection, piece)})
    points = [raw[a:b].decode() for a, b, *_ in spans(inspection.point_ends)]
    data: dict[str, Any] = {
        "title": tokenizer.name,
        "firstByte": low,
        "columnCount": high - low + len(marks),
        "marks": [mark - low + i for i, mark in enumerate(marks)],
        "graphemes": [
            [start, end, _shown(raw[a:b].decode())]
            for a, b, start, end in spans(inspection.grapheme_ends)
        ],
        "codePoints": [
            [start, end, f"{ord(point):04X}", unicodedata.name(point, "")]
            for point, (_, _, start, end) in zip(points, spans(inspection.point_ends), strict=True)
        ],
        "bytes": [[column(at, behind_marks=True), raw[at]] for at in range(low, high)],
        "decimal": decimal,
        "added": [
            span(start, end) for start, end in inspection.added if start < high and end > low
        ],
        "normalized": [
            [*span(start, end), shorten(label(unit.normalized.encode()), NAME), unit.description]
            for unit in inspection.units
            for start, end in [_bytes_of(inspection, unit)]
            if start < high and end > low
        ]
        or None,
        "preTokens": None
        if inspection.pre_token_ends is None
        else [
            [start, end, shorten(label(raw[max(a, low) : min(b, high)]), NAME)]
            for a, b, start, end in spans(inspection.pre_token_ends)
        ],
        "tokens": tokens,
        "innerBoundaries": [
            [column(at, behind_marks=False), kind]
            for at, kind in inspection.cuts_inside()
            if low < at < high
        ],
    }
    return data | {"key": digest_of(data)}


def _bytes_of(inspection: Inspection, unit: Unit) -> tuple[int, int]:
    """Return where a unit starts and ends."""
    ends = inspection.point_ends
    return ends[unit.start - 1] if unit.start else 0, ends[unit.end - 1]


def _shown(grapheme: str) -> str:
    """Return a grapheme, or a stand-in for an invisible one."""
    return character_stand_in(grapheme) if len(grapheme) == 1 else grapheme


def _token(inspection: Inspection, piece: Piece) -> dict[str, Any]:
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
    if inspection.is_added(piece):
        notes.append("added by the chat template")
    return {
        "id": piece.id,
        "label": shorten(tokenizer.token_label(piece.id), NAME),
        "color": -1 if kind in ("unknown", "special") else color_index_of(tokenizer, piece.id),
        "hex": shorten(hexadecimal(token), 3 * NAME),
        "note": "; ".join(notes),
        "kind": kind,
    }


def _partial(inspection: Inspection, piece: Piece) -> list[str]:
    """Return notes about characters of which a token contains only some bytes."""
    found = []
    for i in sorted({piece.first, piece.last - 1}):
        start = inspection.point_ends[i - 1] if i else 0
        end = inspection.point_ends[i]
        held = min(end, piece.end) - max(start, piece.start)
        if held < end - start:
            sign = character_stand_in(inspection.text[i])
            found.append(f"{held} of the {end - start} bytes of {sign}")
    return found


def timeline(
    inspection: Inspection, shown: Part, title: str, training: Training | None = None
) -> dict[str, Any]:
    """Return the timeline of one text, in the format of `bpeviz.views.player.timeline`.

    Only merges that change the part have a step. A note gives the number of each in the vocabulary.
    Counts are those of the part.

    Args:
        inspection: The encoded text.
        shown: The part to show.
        title: The name of the tokenizer.
        training: The training history of the tokenizer, if known.
    """
    tokenizer, text = inspection.tokenizer, inspection.text
    kind = tokenizer.atoms
    cut, events = _part_of(inspection, shown)
    states = [cut.ids(step).tolist() for step in range(len(events) + 1)]
    steps = decision_columns([*_decisions(inspection, cut, events, states, training)])
    atom_ids = cut.atom_ids.tolist()
    ids = {*atom_ids, *cut.entries.tolist(), *steps["id"], *steps["left"], *steps["right"]}
    look = look_of(tokenizer, training, inspection.special_ids)
    before = int(inspection.boundaries.ends[shown.start - 1]) if shown.start else 0
    size = int(cut.ends[-1]) - before if len(cut) else 0
    unit = "merge" if training is None else texts_of(training).unit
    whole = shown.last - shown.first == len(text)
    unknown = tokenizer.unknown_id
    data: dict[str, Any] = {
        "text": text[shown.first : shown.last],
        "atomKind": kind,
        "atomBytes": shown.atom_sizes(text, inspection.boundaries, kind),
        "endMarks": end_marks(tokenizer, cut.atom_ids),
        "atomIds": atom_ids,
        **cut.payload(),
        "tokenStyles": {i: [*look(i)] for i in sorted(ids) if i >= 0},
        "unknownLabel": None if unknown is None else tokenizer.token_label(unknown),
        "steps": steps,
        "unit": unit,
        "initialMessage": _beginning(tokenizer, training, len(events), title, unit),
        "emptyMessage": f"No {unit} of {title} changes this text.",
        "tokenCounts": cut.token_counts.tolist(),
        "byteCount": size,
        "part": None if whole else [shown.first, shown.last, len(text)],
    }
    digest = digest_of(data)
    return data | {"key": digest, "timelineId": digest, "last": len(events)}


def _part_of(inspection: Inspection, shown: Part) -> tuple[ChangingBoundaries, list[Event]]:
    """Return the boundaries of a part, with only the events that change it."""
    part = inspection.boundaries.slice(shown.start, shown.end)
    happen = part.change_steps
    times = np.where(part.times < 0, -1, np.searchsorted(happen, part.times)).astype(np.int32)
    cut = replace(part, steps=len(happen), times=times)
    return cut, [inspection.events[i] for i in happen.tolist()]


def decision_columns(decisions: Sequence[Merge | Pruning]) -> dict[str, Any]:
    """Return the columns of decisions for the player: lists of equal length, or empty."""
    names = ("id", "left", "right", "count", "applied", "ties", "score", "round")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    kind = "merge"
    for decision in decisions:
        columns["count"].append(decision.count)
        if isinstance(decision, Pruning):
            kind = "pruning"
            columns["id"].append(decision.id)
            columns["score"].append(decision.loss)
            columns["round"].append(decision.round)
            continue
        columns["id"].append(decision.new_id)
        columns["left"].append(decision.left)
        columns["right"].append(decision.right)
        columns["applied"].append(decision.applied)
        columns["ties"].append(decision.ties)
        if decision.score is not None:
            columns["score"].append(decision.score)
    notes = {number: one.note for number, one in enumerate(decisions) if one.note}
    return {"kind": kind, "notes": notes, **columns}


def _decisions(
    inspection: Inspection,
    cut: ChangingBoundaries,
    events: Sequence[Event],
    states: Sequence[Sequence[int]],
    training: Training | None,
) -> Iterator[Merge | Pruning]:
    """Yield the decision of each event, with its counts in this text and its number in a note."""
    tokenizer = inspection.tokenizer
    made = Counter(zip(cut.times.tolist(), cut.entries.tolist(), strict=True))
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
        applied = count = made[number, token_id]
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
    tokenizer: Tokenizer, training: Training | None, steps: int, title: str, unit: str
) -> str:
    if training is not None:
        start = texts_of(training).beginning(training)
    else:
        start = "No merges yet: every byte is a token."
    total = tokenizer.steps
    verb = f"{unit} changes" if steps == 1 else f"{unit}s change"
    return f"{start} {steps:,} of {title}’s {total:,} {verb} this text."


def end_marks(tokenizer: Tokenizer, atom_ids: NDArray[np.int32]) -> list[int]:
    """Return the indices of atoms with an end-of-word mark."""
    found: list[int] = np.flatnonzero(np.isin(atom_ids, [*tokenizer.end_of_word_ids])).tolist()
    return found


def merge_steps(
    token_id: int, tokenizer: Tokenizer, limit: int = 120
) -> tuple[bytes, ChangingBoundaries, tuple[Event, ...]] | None:
    """Return the bytes, boundaries and events of a single token, following its merge tree.

    Pre-tokenization is not applied. The result is None for a token without parents, or with more
    than `limit` atoms.
    """
    if tokenizer.parents(token_id) is None:
        return None
    rows = _Rows(tokenizer)
    length, found = rows._inside(token_id)
    if length > limit:
        return None
    rows.entries = [[] for _ in range(length)]
    for place, key, entry in found:
        rows.entries[place].append((key, entry))
    rows.atom_ids = [row[0][1] for row in rows.entries]
    rows.sizes = [len(tokenizer.token_bytes(atom)) for atom in rows.atom_ids]
    return tokenizer.token_bytes(token_id), *rows.finished()

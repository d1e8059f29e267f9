"""One text on its way from characters to ids and back, under one tokenizer.

What stands under what (`grid`), whether the way back returns the text (`round_trip`), the steps of
a tokenizer that change this text (`film`), ids that somebody brings along (`read_ids`, `decoded`),
and single tokens (`look_up`, `ancestry`).

Positions are UTF-8 bytes of the text where nothing else is said: all tokenizers agree in them.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Literal, Protocol

import numpy as np
import regex
from numpy.typing import NDArray

from bpeviz.boundaries import (
    DROPPED,
    INSIDE,
    NEVER,
    UNKNOWN_ID,
    ChangingBoundaries,
    MergeBoundaries,
)
from bpeviz.demolition import DemolishingTokenizer
from bpeviz.encodings import RankTokenizer
from bpeviz.learners.adaptive import AdaptiveTokenizer
from bpeviz.longest import LongestMatchTokenizer
from bpeviz.merging import Merge
from bpeviz.splitting import END_OF_WORD
from bpeviz.text import character_stand_in, clean, hexadecimal, hue, label, shorten
from bpeviz.tokenizer import LearntTokenizer, Tokenizer
from bpeviz.training import Training

MOST_IDS = 2_000
"""How many ids are decoded at once."""

LONGEST_LIST = 40_000
"""Characters of a list of ids that are read."""

PLACES = 5
"""How many places of each kind of loss are told."""

NAME = 40
"""Characters of a token's name that are shown."""


class Stretch(Protocol):
    """A stretch of a text, as `bpeviz.replay.Part`: atoms `start` to `end`, characters `first` to
    `last`. Where the atoms are said to be bytes, `start` and `end` are."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...


# From a text to its ids


@dataclass(frozen=True)
class Piece:
    """A token of a text, or a stretch of it that becomes none (its id is `DROPPED`).

    start, end: in bytes; equal for a mark that is no text. first, last: the characters that it
    spans; of a character that is cut, each of its tokens spans all of it.
    """

    id: int
    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True)
class Event:
    """A step that changes a text: `step` counts the tokenizer's, from 0. `id`: the token that it
    makes, or None where that does not follow from the tokenizer."""

    step: int
    id: int | None


@dataclass(frozen=True, eq=False)
class Inspection:
    """A text under a tokenizer.

    special_tokens: those that count as such in this text. chunk_ends: where each chunk ends, or
    None where that is not known. boundaries: how the text is cut after each event: its step k is
    the state after the first k of `events`.
    """

    text: str
    tokenizer: Tokenizer
    special_tokens: tuple[str, ...]
    pieces: tuple[Piece, ...]
    chunk_ends: tuple[int, ...] | None
    boundaries: ChangingBoundaries
    events: tuple[Event, ...]

    @cached_property
    def raw(self) -> bytes:
        """The text in UTF-8."""
        return self.text.encode()

    @property
    def ids(self) -> list[int]:
        """The ids of the text."""
        return [piece.id for piece in self.pieces if piece.id != DROPPED]

    @property
    def special_ids(self) -> Collection[int]:
        """The ids of special tokens that may stand in this text."""
        return [self.tokenizer.special_tokens[name] for name in self.special_tokens]

    @cached_property
    def point_ends(self) -> list[int]:
        """Where each code point ends."""
        return [*accumulate(len(point.encode()) for point in self.text)]

    @cached_property
    def grapheme_ends(self) -> list[int]:
        """Where each grapheme cluster ends: what a reader takes for one character (UAX #29)."""
        found = regex.findall(r"\X", self.text)
        return [*accumulate(len(grapheme.encode()) for grapheme in found)]

    @cached_property
    def cuts(self) -> MergeBoundaries:
        """Boundaries over bytes that stay where a token and a grapheme end, so that the text can be
        parted there (`bpeviz.replay.parts`)."""
        vanishes = np.zeros(len(self.raw), np.int32)
        ends = {piece.end for piece in self.pieces} & {*self.grapheme_ends}
        vanishes[[end - 1 for end in ends]] = NEVER
        size = len(self.raw)
        return MergeBoundaries(np.arange(1, size + 1), np.zeros(size, np.int32), 1, vanishes, 0)

    def cuts_inside(self) -> list[tuple[int, Literal["character", "grapheme"]]]:
        """Return where a token ends inside a character, or between two code points of a grapheme.

        A character is a code point here: one that is cut is in no token as a whole.
        """
        ends = sorted({piece.end for piece in self.pieces} - {0, len(self.raw)})
        points, graphemes = {*self.point_ends}, {*self.grapheme_ends}
        return [
            (end, "grapheme" if end in points else "character")
            for end in ends
            if end not in graphemes
        ]


def inspect(text: str, tokenizer: Tokenizer, special_tokens: Collection[str] = ()) -> Inspection:
    """Look at a text under a tokenizer; `special_tokens` are those that count as such.

    Raises `ValueError` with a sentence where the tokenizer cannot take the text.
    """
    text = clean(text)
    sizes = np.fromiter((len(point.encode()) for point in text), np.int64, len(text))
    character = np.repeat(np.arange(len(text)), sizes)
    pieces: list[Piece] = []
    chunk_ends: list[int] | None = []
    rows = _Rows(tokenizer)
    at = 0
    for part, special in tokenizer._parts(text, special_tokens):
        size = len(part.encode())
        found = [(tokenizer.special_tokens[part], size)] if special else tokenizer._pieces(part)
        if sum(length for _, length in found) != size:
            raise ValueError(
                f"The split pattern of {tokenizer.name} leaves out a part of the text."
            )
        start = at
        for token_id, length in found:
            first = int(character[at]) if at < len(character) else len(text)
            last = int(character[at + length - 1]) + 1 if length else first
            pieces.append(Piece(token_id, at, at + length, first, last))
            at += length
        ends = [size] if special else _chunk_ends(tokenizer, part)
        if ends is None:
            chunk_ends = None
        elif chunk_ends is not None:
            chunk_ends += [start + end for end in ends]
        if special:
            rows.add_special(part)
        else:
            rows.add(part)
    boundaries, events = rows.finished()
    return Inspection(
        text,
        tokenizer,
        tuple(special_tokens),
        tuple(pieces),
        None if chunk_ends is None else tuple(chunk_ends),
        boundaries,
        events,
    )


def _chunk_ends(tokenizer: Tokenizer, part: str) -> list[int] | None:
    """Return where each chunk of a part ends, in bytes, or None where nothing is known of them."""
    if isinstance(tokenizer, RankTokenizer):
        return [*accumulate(map(len, tokenizer._chunks(part)))]
    if isinstance(tokenizer, AdaptiveTokenizer):
        chunks = tokenizer.splitting.chunks(part)
        return [*accumulate(len(chunk.encode()) for chunk in chunks)]
    learnt = _learnt(tokenizer)
    if learnt is not None:
        atoms = learnt.chunk_ends(part)
        _, ends = learnt.atoms_in(learnt.splitting.chunks(part))
        found: list[int] = np.unique(ends[atoms - 1]).tolist()
        return [end for end in found if end]  # a mark at the start is a chunk of no bytes
    return None


# How a text comes to be cut as it is


Key = tuple[int, int, int]
"""Orders events: by the tokenizer's step, how deep the tree of the token is, and its id."""


class _Rows:
    """Collects what happens at the atoms of a text, part by part, then numbers the events."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.keys: dict[int, Key] = {}
        self.inside: dict[int, tuple[int, list[tuple[int, Key | None, int]]]] = {}
        self.entries: list[list[tuple[Key | None, int]]] = []  # of each atom, in time
        self.sizes: list[int] = []
        self.atom_ids: list[int] = []

    def add_special(self, part: str) -> None:
        """Add a special token: it is one from the beginning."""
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
        if isinstance(boundaries, ChangingBoundaries):
            times, ids = boundaries.times.tolist(), boundaries.entries.tolist()

            def key_of(time: int) -> Key | None:
                return None if time < 0 else (time, 0, _made_by(self.tokenizer, time))

            for start, end in pairwise(boundaries.rows.tolist()):
                self.entries.append([(key_of(times[i]), ids[i]) for i in range(start, end)])
            return
        if isinstance(self.tokenizer, RankTokenizer):
            # tiktoken's own ids: where a merge of a lower rank waits for one of a higher rank, the
            # boundaries do not tell which of the two a token is.
            tokens = self.tokenizer._encode_ordinary(part)
        else:
            tokens = boundaries.ids(boundaries.steps).tolist()
        for token_id in tokens:
            if token_id not in self.inside:
                self.inside[token_id] = self._inside(token_id)
            length, found = self.inside[token_id]
            rows: list[list[tuple[Key | None, int]]] = [[] for _ in range(length)]
            for place, key, entry in found:
                rows[place].append((key, entry))
            self.entries += rows

    def _key(self, token_id: int) -> Key:
        """Return when a token is made: after both its parents, whatever their steps."""
        waiting = [token_id]
        while waiting:  # not by recursion: a tree may be as deep as its token is long
            at = waiting[-1]
            pair = None if at in self.keys else parents(self.tokenizer, at)
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
            step = max(made_at(self.tokenizer, at), *(key[0] for key in of_pair))
            self.keys[at] = step, 1 + max(key[1] for key in of_pair), at
        return self.keys[token_id]

    def _inside(self, token_id: int) -> tuple[int, list[tuple[int, Key | None, int]]]:
        """Return how many atoms a token has, and what happens at them: (atom, when, id)."""
        found: list[tuple[int, Key | None, int]] = []
        length = 0
        # Tokens to look into, the leftmost last, each with what comes to its first atom later on.
        waiting: list[tuple[int, list[tuple[Key | None, int]]]] = [(token_id, [])]
        while waiting:
            at, later = waiting.pop()
            pair = parents(self.tokenizer, at) if at >= 0 else None
            if pair is not None:
                key = self._key(at)
                later.append((key, at))
                waiting += ((pair[1], [(key, INSIDE)]), (pair[0], later))
                continue
            later.append((None, at))
            found += [(length, key, entry) for key, entry in reversed(later)]
            length += len(self.tokenizer.token_bytes(at)) if self._counts_bytes(at) else 1
        return length, found

    def _counts_bytes(self, token_id: int) -> bool:
        # A token to which no merges lead is taken whole where it is a chunk.
        return token_id >= 0 and isinstance(self.tokenizer, RankTokenizer)

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


# What is known of a token


def _learnt(tokenizer: Tokenizer) -> LearntTokenizer | None:
    """Return what knows chunks and atoms: the tokenizer, or one that it gives other ids to."""
    inner = getattr(tokenizer, "inner", tokenizer)
    return inner if isinstance(inner, LearntTokenizer) else None


def _merger(tokenizer: Tokenizer) -> Any:
    """Return what knows the merges that a tokenizer's pieces come from."""
    if isinstance(tokenizer, LongestMatchTokenizer):
        return tokenizer._merger
    return tokenizer.merger if isinstance(tokenizer, DemolishingTokenizer) else tokenizer


def parents(tokenizer: Tokenizer, token_id: int) -> tuple[int, int] | None:
    """Return the two ids that a token is merged from, or None for one that no merge makes."""
    if isinstance(tokenizer, AdaptiveTokenizer) and token_id < tokenizer.first_merge_id:
        return parents(tokenizer.base, token_id)
    if token_id < 0 or token_id in _special_ids(tokenizer):
        return None
    ask = getattr(_merger(tokenizer), "parents", None)
    pair: tuple[int, int] | None = ask(token_id) if ask is not None else None
    return pair


def made_at(tokenizer: Tokenizer, token_id: int) -> int:
    """Return the tokenizer's step, from 0, that makes a token, or -1."""
    if token_id in _special_ids(tokenizer):
        return -1
    ask = getattr(_merger(tokenizer), "merge_step", None)
    return int(ask(token_id)) if ask is not None else -1


def _special_ids(tokenizer: Tokenizer) -> Collection[int]:
    return tokenizer.special_tokens.values()


def _made_by(tokenizer: Tokenizer, step: int) -> int:
    """Return the id that a step, from 0, makes, or -1 where steps make none."""
    source = getattr(tokenizer, "inner", tokenizer)
    first = getattr(_merger(source), "first_merge_id", None)
    if first is None:
        return UNKNOWN_ID
    numbers = getattr(tokenizer, "numbers", None)  # other ids, in the order of its own
    return int(first + step if numbers is None else numbers[first + step])


def unknown_id(tokenizer: Tokenizer) -> int | None:
    """Return the id that stands for what is not in the vocabulary, or None."""
    learnt = _learnt(tokenizer)
    if learnt is None or learnt.splitting.unknown is None:
        return None
    return tokenizer.special_tokens.get(learnt.splitting.unknown)


def _hue(tokenizer: Tokenizer, token_id: int) -> int:
    return -1 if tokenizer.is_atom(token_id) else hue(tokenizer.token_bytes(token_id))


def look_of(
    tokenizer: Tokenizer,
    training: Training | None = None,
    special: Collection[int] = (),
) -> Callable[[int], tuple[str, int]]:
    """Return what tells the name of a token and the number of its colour (-1: none).

    training: what the tokenizer was learnt by; it also knows pieces that are pruned by now, whose
        ids may since have become those of special tokens. special: ids that do stand for such.
    """

    def look(token_id: int) -> tuple[str, int]:
        if training is not None and token_id not in special:
            return training.name(token_id), training.hue(token_id)
        return shorten(tokenizer.token_label(token_id)), _hue(tokenizer, token_id)

    return look


# The grid


def grid(inspection: Inspection, shown: Stretch) -> dict[str, Any]:
    """Return what the grid shows, as plain JSON values: characters down to ids, byte by byte.

    shown: a part of `inspection.cuts`. A column is a byte; a token of no bytes (a mark) has a
    column of its own, before the byte at which it stands. Spans are in columns.
    """
    tokenizer, raw = inspection.tokenizer, inspection.raw
    low, high = shown.start, shown.end
    whole = high == len(raw)
    pieces = [
        piece
        for piece in inspection.pieces
        if (piece.end > low and piece.start < high)
        or (
            piece.start == piece.end
            and (low <= piece.start < high or (whole and piece.end == high))
        )
    ]
    marks = sorted(piece.start for piece in pieces if piece.start == piece.end)

    def column(byte: int, *, behind_marks: bool) -> int:
        """Return the column of a byte, or, not behind the marks before it, where it ends."""
        before = sum(mark <= byte if behind_marks else mark < byte for mark in marks)
        return byte - low + before

    def span(start: int, end: int) -> tuple[int, int]:
        start, end = max(start, low), min(end, high)
        return column(start, behind_marks=True), column(end, behind_marks=False)

    def spans(ends: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
        """Yield of what reaches into the window: its start and end in bytes and in columns."""
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
        "first": low,
        "columns": high - low + len(marks),
        "marks": [mark - low + i for i, mark in enumerate(marks)],
        "graphemes": [
            [start, end, _shown(raw[a:b].decode())]
            for a, b, start, end in spans(inspection.grapheme_ends)
        ],
        "points": [
            [start, end, f"{ord(point):04X}", unicodedata.name(point, "")]
            for point, (_, _, start, end) in zip(points, spans(inspection.point_ends), strict=True)
        ],
        "bytes": [[column(at, behind_marks=True), f"{raw[at]:02X}"] for at in range(low, high)],
        "chunks": None
        if inspection.chunk_ends is None
        else [
            [start, end, shorten(label(raw[max(a, low) : min(b, high)]), NAME)]
            for a, b, start, end in spans(inspection.chunk_ends)
        ],
        "tokens": tokens,
        "cuts": [
            [column(at, behind_marks=False), kind]
            for at, kind in inspection.cuts_inside()
            if low < at < high
        ],
    }
    digest = hashlib.blake2b(repr(data).encode(), digest_size=12)
    return data | {"key": digest.hexdigest()}


def _shown(grapheme: str) -> str:
    """Return a grapheme as it is shown: a stand-in for one that cannot be seen."""
    return character_stand_in(grapheme) if len(grapheme) == 1 else grapheme


def _token(inspection: Inspection, piece: Piece) -> dict[str, Any]:
    """Return how a token of the grid looks."""
    tokenizer, raw = inspection.tokenizer, inspection.raw
    if piece.id == DROPPED:
        return {
            "id": None,
            "label": "",
            "hue": -1,
            "hex": hexadecimal(raw[piece.start : piece.end]),
            "note": "left out: it becomes no token",
            "kind": "left out",
        }
    token = tokenizer.token_bytes(piece.id)
    kind, notes = "", []
    if piece.id == unknown_id(tokenizer):
        kind = "unknown"
        notes.append("not in the vocabulary: which characters it was is lost")
    elif piece.id in _special_ids(tokenizer):
        kind = "special"
        notes.append("a special token")
    elif piece.start == piece.end:
        notes.append("stands for no byte of the text")
    else:
        notes += _partial(inspection, piece)
        if notes:
            kind = "partial"
    return {
        "id": piece.id,
        "label": shorten(tokenizer.token_label(piece.id), NAME),
        "hue": -1 if kind in ("unknown", "special") else _hue(tokenizer, piece.id),
        "hex": shorten(hexadecimal(token), 3 * NAME),
        "note": "; ".join(notes),
        "kind": kind,
    }


def _partial(inspection: Inspection, piece: Piece) -> list[str]:
    """Say which characters a token holds only some bytes of: the first and the last may be cut."""
    found = []
    for i in sorted({piece.first, piece.last - 1}):
        start = inspection.point_ends[i - 1] if i else 0
        end = inspection.point_ends[i]
        held = min(end, piece.end) - max(start, piece.start)
        if held < end - start:
            sign = character_stand_in(inspection.text[i])
            found.append(f"{held} of the {end - start} bytes of {sign}")
    return found


# There and back


Reason = Literal["unknown", "lower case", "white space", "space put in", "prefix", "other"]
"""Why the way back does not return what was there."""

WHY: dict[Reason, tuple[str, str]] = {
    "unknown": (
        "unknown",
        "It is not in the vocabulary, so it became {unknown}: which characters it was is lost.",
    ),
    "lower case": ("lower case", "Letters were put into lower case before the text was cut."),
    "white space": (
        "white space",
        "White space parts words and becomes no token. Decoding puts one space between words, "
        "whatever stood there.",
    ),
    "space put in": (
        "space put in",
        "Nothing stood between these two words. Decoding puts one space between any two.",
    ),
    "prefix": (
        "dummy prefix",
        "The ▁ before a line is no text, and decoding takes it off at the start of a line. Here "
        "that start is not to be seen any more, since what stood before it is lost.",
    ),
    "other": ("changed", "Decoding writes something else here."),
}
"""What each reason is called, and what is said of it."""


@dataclass(frozen=True)
class Edit:
    """Bytes `start` to `end` of the text come back as `became`."""

    start: int
    end: int
    became: bytes
    reason: Reason


@dataclass(frozen=True)
class Loss:
    """What is lost for one reason. places: (number of the character from 1, what was there, what
    came back) of the first `PLACES`, as they are shown."""

    title: str
    why: str
    times: int
    places: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True)
class RoundTrip:
    """Whether decoding what was encoded returns the text, and else what it does not return.

    edits: from left to right; with them made in the text, it is `decoded`.
    """

    lossless: bool
    decoded: str
    edits: tuple[Edit, ...]
    losses: tuple[Loss, ...]


def round_trip(inspection: Inspection) -> RoundTrip:
    """Decode what was encoded, and find out what did not come back, and why."""
    tokenizer, text = inspection.tokenizer, inspection.text
    ids = inspection.ids
    decoded = tokenizer.decode(ids)
    if decoded == text:
        return RoundTrip(True, decoded, (), ())
    found = _edits(inspection, decoded.encode())
    edits = _difference(inspection, decoded) if found is None else found
    return RoundTrip(False, decoded, tuple(edits), tuple(_losses(inspection, edits)))


def _edits(inspection: Inspection, decoded: bytes) -> list[Edit] | None:
    """Walk along the tokens and what they were decoded to; None where they do not fit together.

    A token comes back as its bytes, with a space put before it (WordPiece), or without the space
    that it begins with (the dummy prefix of SentencePiece).
    """
    tokenizer, raw = inspection.tokenizer, inspection.raw
    unknown = unknown_id(tokenizer)
    learnt = _learnt(tokenizer)
    prefixed = learnt is not None and getattr(learnt.splitting, "prefix", "no") == "yes"
    edits: list[Edit] = []

    def note(start: int, end: int, became: bytes, reason: Reason) -> None:
        if raw[start:end] != became:
            edits.append(Edit(start, end, became, reason))

    at = 0
    left_out = 0  # from where on nothing became a token
    for piece in inspection.pieces:
        if piece.id == DROPPED:
            continue
        token = tokenizer.token_bytes(piece.id)
        bare = token[1:] if token[:1] == b" " else token
        longer = len(token) == piece.end - piece.start + 1  # by a dummy prefix, it may be
        ways = [(b"", token), (b" ", token), (b"", bare)]
        for put_in, became in ways[::-1] if longer else ways:
            if decoded.startswith(put_in + became, at):
                break
        else:
            return None
        at += len(put_in) + len(became)
        gap = left_out < piece.start
        note(
            left_out,
            piece.start,
            put_in,
            "white space" if gap else "prefix" if prefixed else "space put in",
        )
        left_out = piece.end
        was = raw[piece.start : piece.end]
        if piece.id == unknown:
            note(piece.start, piece.end, became, "unknown")
        elif became == b" " + was and prefixed:
            note(piece.start, piece.start, b" ", "prefix")
        else:
            lowered = "".join(map(str.lower, was.decode(errors="replace"))).encode()
            reason: Reason = "lower case" if became == lowered else "other"
            note(piece.start, piece.end, became, reason)
    note(left_out, len(raw), b"", "white space")
    return edits if at == len(decoded) else None


def _difference(inspection: Inspection, decoded: str) -> list[Edit]:
    """Return all between the first and the last difference as one edit."""
    text = inspection.text
    start = next(
        (i for i, (a, b) in enumerate(zip(text, decoded, strict=False)) if a != b),
        min(len(text), len(decoded)),
    )
    most = min(len(text), len(decoded)) - start
    same = next((i for i in range(most) if text[-1 - i] != decoded[-1 - i]), most)
    before = len(text[:start].encode())
    end = len(inspection.raw) - len(text[len(text) - same :].encode())
    return [Edit(before, end, decoded[start : len(decoded) - same].encode(), "other")]


def _losses(inspection: Inspection, edits: Sequence[Edit]) -> Iterator[Loss]:
    tokenizer = inspection.tokenizer
    unknown = unknown_id(tokenizer)
    name = "" if unknown is None else tokenizer.token_label(unknown)
    for reason, times in Counter(edit.reason for edit in edits).items():
        title, why = WHY[reason]
        some = [edit for edit in edits if edit.reason == reason][:PLACES]
        places = []
        for edit in some:
            number = bisect_left(inspection.point_ends, edit.start + 1) + 1
            was = shorten(label(inspection.raw[edit.start : edit.end]), NAME)
            became = name if reason == "unknown" else shorten(label(edit.became), NAME)
            places.append((number, was or "nothing", became or "nothing"))
        yield Loss(title, why.format(unknown=name), times, tuple(places))


# Step by step


def film(
    inspection: Inspection, shown: Stretch, title: str, training: Training | None = None
) -> dict[str, Any]:
    """Return what the player shows (as `bpeviz.replay.film` does): how this text comes to be cut.

    Of a vocabulary of 100,000 merges only those have a step here that change the stretch shown, in
    their order; a note tells the number of each in its vocabulary. Counts are those of the
    stretch. training: what the tokenizer was learnt by; it tells what each step decided.
    """
    tokenizer, text = inspection.tokenizer, inspection.text
    kind = tokenizer.atoms
    cut, events = _part_of(inspection, shown)
    states = [cut.ids(step).tolist() for step in range(len(events) + 1)]
    steps = _steps(inspection, cut, events, states, training)
    atom_ids = cut.atom_ids.tolist()
    ids = {*atom_ids, *cut.entries.tolist(), *steps["id"], *steps["left"], *steps["right"]}
    look = look_of(tokenizer, training, inspection.special_ids)
    before = int(inspection.boundaries.ends[shown.start - 1]) if shown.start else 0
    size = int(cut.ends[-1]) - before if len(cut) else 0
    unit = "merge" if training is None else training.unit
    whole = shown.last - shown.first == len(text)
    unknown = unknown_id(tokenizer)
    data: dict[str, Any] = {
        "text": text[shown.first : shown.last],
        "atoms": kind,
        "sizes": _sizes(inspection, cut, before, shown),
        "marks": _marks(tokenizer, cut.atom_ids),
        "atomIds": atom_ids,
        "vanish": None,
        "firstId": None,
        "changes": {
            "rows": cut.rows.tolist(),
            "times": cut.times.tolist(),
            "ids": cut.entries.tolist(),
        },
        "looks": {i: [*look(i)] for i in sorted(ids) if i >= 0},
        "unknown": None if unknown is None else tokenizer.token_label(unknown),
        "steps": steps,
        "unit": unit,
        "beginning": _beginning(tokenizer, training, len(events), title, unit),
        "still": f"No {unit} of {title} changes this text.",
        "tokens": cut.token_counts.tolist(),
        "bytes": size,
        "part": None if whole else [shown.first, shown.last, len(text)],
    }
    digest = hashlib.blake2b(repr(data).encode(), digest_size=12).hexdigest()
    return data | {"key": digest, "film": digest, "last": len(events)}


def _part_of(inspection: Inspection, shown: Stretch) -> tuple[ChangingBoundaries, list[Event]]:
    """Return the boundaries of a stretch, with only the events that change it."""
    boundaries = inspection.boundaries
    rows = boundaries.rows[shown.start : shown.end + 1]
    entries = slice(rows[0], rows[-1]) if len(rows) else slice(0, 0)
    times = boundaries.times[entries]
    happen = np.unique(times[times >= 0])
    cut = ChangingBoundaries(
        boundaries.ends[shown.start : shown.end],
        boundaries.atom_ids[shown.start : shown.end],
        len(happen),
        rows - rows[0] if len(rows) else np.zeros(1, np.int64),
        np.where(times < 0, -1, np.searchsorted(happen, times)).astype(np.int32),
        boundaries.entries[entries],
    )
    return cut, [inspection.events[i] for i in happen.tolist()]


def _steps(
    inspection: Inspection,
    cut: ChangingBoundaries,
    events: Sequence[Event],
    states: Sequence[Sequence[int]],
    training: Training | None,
) -> dict[str, Any]:
    """Return what is told of each event, as `bpeviz.replay` does."""
    tokenizer = inspection.tokenizer
    names = ("id", "left", "right", "count", "applied", "ties", "score", "round")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    kind = "merge"
    notes: dict[int, str] = {}
    made = Counter(zip(cut.times.tolist(), cut.entries.tolist(), strict=True))
    chunk_ends = {*(inspection.chunk_ends or ())}
    for number, event in enumerate(events):
        note = ""
        if training is not None:
            decision = training.decisions[event.step]
            note = decision.note
            if not isinstance(decision, Merge):
                kind = "pruning"
                columns["id"].append(decision.id)
                columns["count"].append(decision.count)
                columns["score"].append(decision.loss)
                columns["round"].append(decision.round)
                where = f"pruning {event.step + 1:,} of {len(training.decisions):,}"
                notes[number] = f"{where}; {note}" if note else where
                continue
            token_id, pair = decision.new_id, (decision.left, decision.right)
            where = f"merge {event.step + 1:,} of {tokenizer.steps:,}"
        else:
            # Without a training an event is a merge of which the tokenizer tells (`_Rows`).
            token_id = event.id if event.id is not None else UNKNOWN_ID
            pair = parents(tokenizer, token_id) or (UNKNOWN_ID, UNKNOWN_ID)
            where = f"merge {event.step + 1:,} of {tokenizer.steps:,}"
        applied = made[number, token_id]
        count = applied
        if pair[0] == pair[1]:
            ends = cut.cuts(number).tolist()
            count = max(applied, _side_by_side(states[number], ends, pair[0], chunk_ends))
        columns["id"].append(token_id)
        columns["left"].append(pair[0])
        columns["right"].append(pair[1])
        columns["count"].append(count)
        columns["applied"].append(applied)
        columns["ties"].append(0)
        if not applied:
            note = "; ".join(filter(None, (note, "it is not used here, but other tokens change")))
        notes[number] = f"{where}; {note}" if note else where
    return {"kind": kind, "note": notes, **columns}


def _side_by_side(
    ids: Sequence[int], ends: Sequence[int], token_id: int, chunk_ends: Collection[int]
) -> int:
    """Count how often a token stands beside itself within a chunk, overlaps included."""
    return sum(
        left == right == token_id and end not in chunk_ends
        for (left, right), end in zip(pairwise(ids), ends, strict=False)
    )


def _beginning(
    tokenizer: Tokenizer, training: Training | None, steps: int, title: str, unit: str
) -> str:
    if training is not None:
        start = training.beginning
    else:
        start = "Nothing is merged yet: every byte is a token."
    total = tokenizer.steps
    kept = f"the one {unit}" if steps == 1 else f"the {steps:,} {unit}s"
    return f"{start} Of {title}’s {total:,} {unit}s, {kept} that change this text are shown."


def _sizes(
    inspection: Inspection, cut: ChangingBoundaries, before: int, shown: Stretch
) -> list[int] | None:
    """Return the bytes of each atom shown, or None where they are those of its kind."""
    if inspection.tokenizer.atoms == "bytes":
        return None
    sizes: list[int] = np.diff(cut.ends, prepend=before).tolist()
    usual = [len(point.encode()) for point in inspection.text[shown.first : shown.last]]
    return None if sizes == usual else sizes


def _marks(tokenizer: Tokenizer, atom_ids: NDArray[np.int32]) -> list[int]:
    """Return which of the atoms shown carry an end-of-word mark."""
    learnt = _learnt(tokenizer)
    if learnt is None or learnt.splitting.end_mark != "attached":
        return []
    numbers = getattr(tokenizer, "numbers", range(len(learnt.alphabet)))
    marked = [numbers[i] for i, name in enumerate(learnt.alphabet) if name.endswith(END_OF_WORD)]
    found: list[int] = np.flatnonzero(np.isin(atom_ids, marked)).tolist()
    return found


# From ids to text


class IdsError(ValueError):
    """The sentence that says why a list of ids cannot be read."""


_LISTS = ("ids", "input_ids", "tokens", "token_ids")
_NUMBER = regex.compile(r"[+-]?\d+")
_BETWEEN = regex.compile(r"[\s,;|\[\](){}]+")


def read_ids(text: str) -> list[int]:
    """Read ids from a list in any usual manner: spaces, commas, brackets, lines, JSON.

    A JSON object may hold them under "ids", "input_ids", "tokens" or "token_ids". Raises
    `IdsError` with a sentence that names what is no id.

    >>> read_ids("[15339, 1917]"), read_ids("9468 239,235"), read_ids('{"ids": [1]}')
    ([15339, 1917], [9468, 239, 235], [1])
    """
    if len(text) > LONGEST_LIST:
        raise IdsError(
            f"These are {len(text):,} characters, and up to {LONGEST_LIST:,} are read. Paste fewer "
            "ids."
        )
    if ":" in text:
        text = _from_object(text)
    found = []
    at = 0
    for word in _BETWEEN.split(text):
        at = text.find(word, at)
        if not word:
            continue
        if not _NUMBER.fullmatch(word) or not word.isascii():
            raise IdsError(
                f"“{shorten(word, 20)}” at character {at + 1:,} is no id: ids are whole numbers."
            )
        # A number of thousands of digits is no id of anything; it is not worth computing.
        found.append(int(word) if len(word) <= 18 else 10**18)
        at += len(word)
    if len(found) > MOST_IDS:
        raise IdsError(
            f"These are {len(found):,} ids, and up to {MOST_IDS:,} are decoded. Paste fewer."
        )
    return found


def _from_object(text: str) -> str:
    """Return the list that a JSON object holds, as text."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise IdsError(f"There is a colon here, but this is no JSON object{where}.") from error
    if isinstance(given, dict):
        for name in _LISTS:
            value = given.get(name)
            if isinstance(value, list):
                flat = value[0] if len(value) == 1 and isinstance(value[0], list) else value
                if all(isinstance(one, int) and not isinstance(one, bool) for one in flat):
                    return " ".join(f"{one:d}" if abs(one) < 10**18 else "9" * 18 for one in flat)
                raise IdsError(f"“{name}” holds something that is no whole number.")
    raise IdsError(f"This JSON object has no list under any of: {', '.join(_LISTS)}.")


@dataclass(frozen=True)
class Decoded:
    """An id with what it stands for; `raw` is None for an id that is not in the vocabulary.

    note: what else is to be said: an unknown id, part of a character, a special token.
    """

    id: int
    raw: bytes | None
    label: str
    hue: int
    note: str


def decoded(ids: Sequence[int], tokenizer: Tokenizer) -> list[Decoded]:
    """Return of each id what it stands for by itself, with those that are unknown named as such."""
    seen: dict[int, Decoded] = {}
    for token_id in ids:
        if token_id not in seen:
            seen[token_id] = _decoded(token_id, tokenizer)
    return [seen[token_id] for token_id in ids]


def _decoded(token_id: int, tokenizer: Tokenizer) -> Decoded:
    try:
        raw = tokenizer.token_bytes(token_id)
    except ValueError:
        return Decoded(token_id, None, "", -1, f"{tokenizer.name} has no such id")
    note = ""
    if token_id == unknown_id(tokenizer):
        note = "stands for what is not in the vocabulary"
    elif token_id in _special_ids(tokenizer):
        note = "a special token"
    else:
        try:
            raw.decode()
        except UnicodeDecodeError:
            note = "holds only a part of a character"
    return Decoded(token_id, raw, tokenizer.token_label(token_id), _hue(tokenizer, token_id), note)


def text_of(ids: Iterable[int], tokenizer: Tokenizer) -> str:
    """Return the text of the ids that the tokenizer knows, with stand-ins for what is not seen.

    Bytes that together are no character are shown as such, not as U+FFFD.
    """
    known = []
    for token_id in ids:
        try:
            tokenizer.token_bytes(token_id)
        except ValueError:
            continue
        known.append(token_id)
    return label(tokenizer.decode_bytes(known))


# A single token


@dataclass(frozen=True)
class Found:
    """A token that was looked up. part: what it is in the vocabulary, in words."""

    id: int
    raw: bytes
    label: str
    hue: int
    place: str


def look_up(query: str, tokenizer: Tokenizer) -> list[Found]:
    """Return the tokens that a query names: by id, by text, or by the name that is shown.

    A dot · is a space where no token has one, so that a name can be typed as it is seen.
    """
    ids: list[int] = []
    if regex.fullmatch(r"[0-9]{1,18}", query.strip()):
        ids.append(int(query))
    ids += _ids_by_text(query, tokenizer)
    found = []
    for token_id in dict.fromkeys(ids):
        try:
            tokenizer.token_bytes(token_id)
        except ValueError:
            continue
        found.append(about(token_id, tokenizer))
    return found


def _ids_by_text(query: str, tokenizer: Tokenizer) -> Iterator[int]:
    if not query:
        return
    if query in tokenizer.special_tokens:
        yield tokenizer.special_tokens[query]
    wanted = {query.encode(), query.replace("·", " ").encode()}
    if isinstance(tokenizer, RankTokenizer):
        for raw in sorted(wanted):
            rank = tokenizer._ranks.get(raw)
            if rank is not None:
                yield rank
        return
    special = {*_special_ids(tokenizer)}
    for token_id in tokenizer.known_ids():
        if token_id not in special and (
            tokenizer.token_bytes(token_id) in wanted or tokenizer.token_label(token_id) == query
        ):
            yield token_id


def about(token_id: int, tokenizer: Tokenizer) -> Found:
    """Return what is known of a token. Raises `ValueError` for an unknown id."""
    raw = tokenizer.token_bytes(token_id)
    return Found(
        token_id,
        raw,
        tokenizer.token_label(token_id),
        _hue(tokenizer, token_id),
        _place(token_id, tokenizer),
    )


def _place(token_id: int, tokenizer: Tokenizer) -> str:
    if token_id == unknown_id(tokenizer):
        return "stands for what is not in the vocabulary"
    if token_id in _special_ids(tokenizer):
        return "a special token"
    step = made_at(tokenizer, token_id)
    if step >= 0:
        return f"merge {step + 1:,} of {tokenizer.steps:,}"
    if isinstance(tokenizer, AdaptiveTokenizer):
        return f"of the vocabulary it began with: {_place(token_id, tokenizer.base)}"
    if not tokenizer.is_atom(token_id):
        return "a piece that was not pruned"
    return "a single byte" if tokenizer.atoms == "bytes" else "a single character"


def neighbours(token_id: int, tokenizer: Tokenizer, each_side: int = 4) -> list[Found]:
    """Return the tokens before and after one in the order of the ids, with itself among them."""
    found = []
    for other in range(max(0, token_id - each_side), token_id + each_side + 1):
        try:
            found.append(about(other, tokenizer))
        except ValueError:  # vocabularies have gaps
            continue
    return found


@dataclass(frozen=True)
class Ancestor:
    """A token on the way down to bytes: its level below the token asked for, and its parents."""

    level: int
    token: Found
    parents: tuple[Found, Found] | None


def ancestry(token_id: int, tokenizer: Tokenizer, limit: int = 100) -> list[Ancestor]:
    """Return a token, its parents, theirs, and so on down to what no merge makes, level by level.

    Each of them once; at most `limit`.
    """
    found: list[Ancestor] = []
    seen = {token_id}
    waiting = [(0, token_id)]
    for level, at in waiting:
        if len(found) == limit:
            break
        pair = parents(tokenizer, at)
        both = None if pair is None else (about(pair[0], tokenizer), about(pair[1], tokenizer))
        found.append(Ancestor(level, about(at, tokenizer), both))
        for parent in pair or ():
            if parent not in seen:
                seen.add(parent)
                waiting.append((level + 1, parent))
    return found


def spelt(
    token_id: int, tokenizer: Tokenizer, limit: int = 120
) -> tuple[bytes, ChangingBoundaries, tuple[Event, ...]] | None:
    """Return a token's bytes, and how they come to be one token: its boundaries and its events.

    None where no merge makes it, or where it has more than `limit` atoms. It is cut as its tree
    says, whatever the split would do to its text.
    """
    if parents(tokenizer, token_id) is None:
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

"""There and back: whether decoding what was encoded returns a text, and what is lost, and why."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bpeviz.analysis.trace import NAME, Inspection
from bpeviz.core.boundaries import DROPPED
from bpeviz.text import label, shorten

PLACES = 5
"""How many places of each kind of loss are told."""

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
    unknown, prefixed = tokenizer.unknown_id, tokenizer.adds_prefix
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
    unknown = tokenizer.unknown_id
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

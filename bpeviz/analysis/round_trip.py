"""Round trips: whether decoding restores an encoded text, and which parts are lost and why."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bpeviz.analysis.trace import Inspection
from bpeviz.core.boundaries import DROPPED_ID
from bpeviz.core.special_names import shared
from bpeviz.text import label, shorten

LABEL_CHARACTERS = 40
"""The largest number of characters of a token label on screen."""

PLACES = 5
"""Number of positions listed for each kind of loss."""

Reason = Literal[
    "unknown",
    "lower case",
    "white space",
    "unmatched",
    "inserted space",
    "prefix",
    "inner prefix",
    "stripped",
    "other",
]
"""Why decoding does not restore a part of the text."""

WHY: dict[Reason, tuple[str, str]] = {
    "unknown": (
        "unknown",
        "Not in the vocabulary: encoded as {unknown}, so the characters are lost.",
    ),
    "lower case": ("lower case", "Letters are converted to lower case before tokenization."),
    "white space": (
        "white space",
        "White space separates words and does not become a token. Decoding inserts one space "
        "between words.",
    ),
    "unmatched": (
        "dropped text",
        "Pre-tokenization or normalization drops this text, so it does not become a token.",
    ),
    "inserted space": (
        "inserted space",
        "These two words had no space between them. Decoding inserts one between all words.",
    ),
    "prefix": (
        "dummy prefix",
        "The ▁ before a line is not part of the text, and decoding removes it at the start of a "
        "line. Here the characters before it are lost, so the start is no longer visible.",
    ),
    "inner prefix": (
        "dummy prefix",
        "The tokenizer adds a ▁ after a special token, as at the start of a text. Decoding removes "
        "it only at the start.",
    ),
    "stripped": (
        "white space beside a special token",
        "Special tokens with the flag lstrip or rstrip contain the white space beside them. "
        "Decoding returns only their names.",
    ),
    "other": ("changed", "Decoding returns a different text here."),
}
"""Title and explanation of each reason."""


@dataclass(frozen=True)
class Edit:
    """Bytes `start` to `end` of the text are decoded as `became`."""

    start: int
    end: int
    became: bytes
    reason: Reason


@dataclass(frozen=True)
class Loss:
    """The losses for one reason.

    places: the first `PLACES`: number of the character from 1, original text, decoded text.
    """

    title: str
    why: str
    times: int
    places: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True)
class RoundTrip:
    """The result of encoding and decoding a text.

    edits: from left to right; applied to the text, they give `decoded`.
    """

    lossless: bool
    decoded: str
    edits: tuple[Edit, ...]
    losses: tuple[Loss, ...]


def round_trip(inspection: Inspection) -> RoundTrip:
    """Decode the ids of a text, and explain every difference."""
    tokenizer, text = inspection.tokenizer, inspection.text
    ids = inspection.text_ids
    decoded = tokenizer.decode(ids)
    if decoded == text:
        return RoundTrip(True, decoded, (), ())
    aligned = _edits(inspection, decoded.encode())
    edits = _difference(inspection, decoded) if aligned is None else aligned
    return RoundTrip(False, decoded, tuple(edits), tuple(_losses(inspection, edits)))


def _edits(inspection: Inspection, decoded: bytes) -> list[Edit] | None:
    """Align tokens with the decoded bytes; return None if they do not fit.

    A token is decoded as its bytes, with a space before it (WordPiece), or without its leading
    space (the dummy prefix of SentencePiece).
    """
    tokenizer, raw = inspection.tokenizer, inspection.raw
    unknown, prefixed = tokenizer.unknown_id, tokenizer.adds_prefix
    unknown_names: list[tuple[bytes, bytes]] = []  # as the libraries decode it
    if unknown is not None and unknown in inspection.text_ids:
        names = tokenizer.token_label(unknown), tokenizer.decode([unknown])
        unknown_names = [(put_in, name.encode()) for put_in in (b"", b" ") for name in names]
    added = {*tokenizer.special_tokens.values(), *tokenizer.added_ids}
    edits: list[Edit] = []

    def note(start: int, end: int, became: bytes, reason: Reason) -> None:
        if raw[start:end] != became:
            edits.append(Edit(start, end, became, reason))

    at = 0
    text_end = 0  # the end of the text that has become tokens
    is_inner = False  # whether the text before this token is an added one
    for piece in inspection.pieces:
        if piece.id == DROPPED_ID:
            continue
        token = tokenizer.token_bytes(piece.id)
        bare = token[1:] if token[:1] == b" " else token
        longer = len(token) == piece.end - piece.start + 1  # possibly by a dummy prefix
        ways = [(b"", token), (b" ", token), (b"", bare)]
        ways = ways[::-1] if longer else ways
        for put_in, became in ways + unknown_names if piece.id == unknown else ways:
            if decoded.startswith(put_in + became, at):
                break
        else:
            return None
        at += len(put_in) + len(became)
        prefix: Reason = "inner prefix" if is_inner else "prefix"
        reason: Reason = prefix if prefixed else "inserted space"
        note(text_end, piece.start, put_in, _loss_of(raw[text_end : piece.start]) or reason)
        text_end = piece.end
        was = raw[piece.start : piece.end]
        if piece.id == unknown:
            note(piece.start, piece.end, became, "unknown")
        elif became == b" " + was and prefixed:
            note(piece.start, piece.start, b" ", prefix)
        elif piece.id in added and became == was.strip():
            note(piece.start, piece.end, became, "stripped")
        else:
            lowered = "".join(map(str.lower, was.decode(errors="replace"))).encode()
            reason = "lower case" if became == lowered else "other"
            note(piece.start, piece.end, became, reason)
        is_inner = piece.id in added or (is_inner and not was)
    note(text_end, len(raw), b"", _loss_of(raw[text_end:]) or "other")
    return edits if at == len(decoded) else None


def _loss_of(raw: bytes) -> Reason | None:
    """Return why text without a token is lost, or None if there is none."""
    if not raw:
        return None
    return "white space" if raw.decode(errors="replace").isspace() else "unmatched"


def _difference(inspection: Inspection, decoded: str) -> list[Edit]:
    """Return the stretch from the first to the last difference as one edit."""
    text = inspection.text
    start = shared(text, decoded)
    same = shared(text[start:][::-1], decoded[start:][::-1])
    first, last = (len(text[:place].encode()) for place in (start, len(text) - same))
    return [Edit(first, last, decoded[start : len(decoded) - same].encode(), "other")]


def _losses(inspection: Inspection, edits: Sequence[Edit]) -> Iterator[Loss]:
    """Yield the losses of each reason, with the first places and what became of them."""
    tokenizer = inspection.tokenizer
    unknown = tokenizer.unknown_id
    name = "" if unknown is None else tokenizer.token_label(unknown)
    for reason, times in Counter(edit.reason for edit in edits).items():
        title, why = WHY[reason]
        some = [edit for edit in edits if edit.reason == reason][:PLACES]
        places = []
        for edit in some:
            number = bisect_left(inspection.point_ends, edit.start + 1) + 1
            was = shorten(label(inspection.raw[edit.start : edit.end]), LABEL_CHARACTERS)
            became = name if reason == "unknown" else shorten(label(edit.became), LABEL_CHARACTERS)
            places.append((number, was or "nothing", became or "nothing"))
        yield Loss(title, why.format(unknown=name), times, tuple(places))

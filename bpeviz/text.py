"""Small things about text that every room needs: cleaning, color indices, and readable names."""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Iterator

COLORS = 12
"""How many token colors there are; the colors themselves stand in `ui/components/cells.css`."""

_PRIME = 1_000_003
_SHORT_NAMES = {" ": "·", "\t": "→", "\n": "↵", "\r": "␍"}


def clean(text: str) -> str:
    """Return `text` with surrogate pairs joined and lone surrogates replaced by U+FFFD.

    Lone surrogates are not Unicode text: they have no UTF-8 bytes, so no tokenizer can hold
    them. tiktoken repairs its input in the same way (`tiktoken/core.py`, `Encoding.encode`).
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def color_index(raw: bytes) -> int:
    """Return the number of the color of a token, 0 to `COLORS` - 1, from its bytes alone.

    So a token looks the same on every page, under every tokenizer, and in every export. The bytes
    are read as one number and reduced by a prime, so the color index of a long token follows from its
    parents' remainders (`joined_remainder`).
    """
    return remainder(raw) % COLORS


def remainder(raw: bytes) -> int:
    """Return the remainder from which a token's color index is taken."""
    return int.from_bytes(raw) % _PRIME


def joined_remainder(left: int, right: int, right_length: int) -> int:
    """Return the remainder of two tokens joined, the right one `right_length` bytes long."""
    return (left * pow(256, right_length, _PRIME) + right) % _PRIME


def character_stand_in(character: str) -> str:
    """Return what is shown for one character: itself, or a stand-in if it cannot be seen."""
    short = _SHORT_NAMES.get(character)
    if short is not None:
        return short
    if unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"):
        return f"⟨{ord(character):04X}⟩"
    return character


def visible(name: str) -> str:
    """Return a name without anything that a terminal would obey.

    >>> visible("a b" + chr(27))
    'a b⟨001B⟩'
    """
    return "".join(sign if sign == " " else character_stand_in(sign) for sign in name)


def _decoded(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the characters of `raw`, and the bytes that belong to none as ("", byte)."""
    while raw:
        try:
            good, rest = raw.decode(), b""
        except UnicodeDecodeError as error:
            good, rest = raw[: error.start].decode(), raw[error.start :]
        yield from ((character, b"") for character in good)
        if rest:
            yield "", rest[:1]
        raw = rest[1:]


def label(raw: bytes) -> str:
    """Return a readable name for a token's bytes: what cannot be seen gets a stand-in.

    >>> label(b" the"), label("é".encode()), label("é".encode()[:1])
    ('·the', 'é', '⟨C3⟩')
    """
    with contextlib.suppress(UnicodeDecodeError):
        name = raw.decode()
        if name.isprintable():  # as nearly all are, and of these only the blank has a stand-in
            return name.replace(" ", character_stand_in(" "))
    return "".join(
        character_stand_in(character) if character else f"⟨{byte.hex().upper()}⟩"
        for character, byte in _decoded(raw)
    )


def shorten(name: str, most: int = 80) -> str:
    """Return a name of at most `most` characters: the middle of a longer one is left out.

    >>> shorten("abcdefghij", 7)
    'abc…hij'
    """
    if len(name) <= most:
        return name
    side = (most - 1) // 2
    return f"{name[:side]}…{name[-side:]}"


def hexadecimal(raw: bytes) -> str:
    """Return bytes as two hexadecimal digits each: `hexadecimal(b"th")` is "74 68"."""
    return raw.hex(" ").upper()

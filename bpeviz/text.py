"""Text utilities: cleaning, color keys, readable labels, JSON, and digests."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from reprlib import repr as short_repr
from typing import Any, TypeVar

import orjson

Item = TypeVar("Item")

_PRIME, _FACTOR = 2**61 - 1, 0x1E3779B97F4A7C15
_SHORT_NAMES = {" ": "·", "\t": "→", "\n": "↵", "\r": "␍"}


@dataclass(frozen=True)
class Normalized:
    """A text as a tokenizer changes it before it splits it.

    starts: for each of its characters, the first character of the original that it comes from.
    """

    text: str
    starts: Sequence[int]

    @classmethod
    def of(cls, characters: Iterable[str]) -> Normalized:
        """Return the text in which each character of the original becomes the given string.

        >>> Normalized.of(["▁a", "", "b"])
        Normalized(text='▁ab', starts=[0, 0, 2])
        """
        parts = [*characters]
        return cls("".join(parts), [i for i, part in enumerate(parts) for _ in part])


def clean(text: str) -> str:
    """Return `text` with surrogate pairs joined and lone surrogates replaced by U+FFFD.

    Lone surrogates are not Unicode text: they have no UTF-8 bytes. tiktoken repairs its input in
    the same way (`tiktoken/core.py`, `Encoding.encode`).

    Raises:
        ValueError: It is not a text, which only a program can give.
    """
    if not isinstance(text, str):
        raise ValueError(f"Give a text, not {short_repr(text)}.")
    if text.isascii():  # known without reading the text
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_each(texts: Sequence[str]) -> Sequence[str]:
    """Return texts, each cleaned. One check of all is much faster than one of each."""
    try:
        "".join(texts).encode()
    except (TypeError, UnicodeEncodeError):
        return [*map(clean, texts)]
    return texts


def items_of(values: Iterable[Item], kind: str) -> list[Item]:
    """Return values as a list. kind: what was asked for, such as "a list of texts".

    Raises:
        ValueError: It is a text or a single value, which only a program can give.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"Give {kind}, not {short_repr(values)}.")
    return [*values]


def id_list(ids: Iterable[int]) -> list[int]:
    """Return ids as a list.

    Raises:
        ValueError: They are not whole numbers, which only a program can give.
    """
    ids = items_of(ids, "a list of ids")
    for kind in {*map(type, ids)}:
        if not issubclass(kind, Integral):
            wrong = next(token_id for token_id in ids if type(token_id) is kind)
            raise ValueError(f"An id is a whole number, not {short_repr(wrong)}.")
    return ids


def color_key(raw: bytes) -> int:
    """Return the color key of a token: a multiple of its bytes as one number, modulo a prime.

    Tokens of the same bytes have the same key in every tokenizer. The key of a long token follows
    from those of its parents (`joined_color_key`).
    """
    return int.from_bytes(raw) * _FACTOR % _PRIME


def joined_color_key(left: int, right: int, right_length: int) -> int:
    """Return the color key of two tokens joined, the right one `right_length` bytes long."""
    return (left * pow(256, right_length, _PRIME) + right) % _PRIME


def character_stand_in(character: str) -> str:
    """Return a character itself, or a stand-in if it is invisible."""
    short = _SHORT_NAMES.get(character)
    if short is not None:
        return short
    if unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"):
        return f"⟨{ord(character):04X}⟩"
    return character


def visible(name: str) -> str:
    """Return a name with stand-ins for the control characters of a terminal.

    >>> visible("a b" + chr(27))
    'a b⟨001B⟩'
    """
    return "".join(sign if sign == " " else character_stand_in(sign) for sign in name)


def _decoded(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the characters of `raw`, and bytes that are not part of one as ("", byte)."""
    while raw:
        try:
            good, rest = raw.decode(), b""
        except UnicodeDecodeError as error:
            good, rest = raw[: error.start].decode(), raw[error.start :]
        yield from ((character, b"") for character in good)
        if rest:
            yield "", rest[:1]
        raw = rest[1:]


@lru_cache(4_096)
def label(raw: bytes) -> str:
    """Return a readable label of a token's bytes, with stand-ins for invisible characters.

    >>> label(b" the"), label("é".encode()), label("é".encode()[:1]), label("\u0e34".encode())
    ('·the', 'é', '⟨C3⟩', '◌\u0e34')
    """
    with contextlib.suppress(UnicodeDecodeError):
        name = raw.decode()
        if name.isprintable():  # the usual case: only the space has a stand-in
            return _on_circle(name.replace(" ", character_stand_in(" ")))
    return _on_circle(
        "".join(
            character_stand_in(character) if character else f"⟨{byte.hex().upper()}⟩"
            for character, byte in _decoded(raw)
        )
    )


def _on_circle(name: str) -> str:
    """Return a name whose first character, if it is a combining mark, stands on a dotted circle.

    The vowels am of Thai and Lao also have a part on the letter before them.
    """
    first = name[:1] or " "
    is_mark = first in "\u0e33\u0eb3" or unicodedata.category(first).startswith("M")
    return f"◌{name}" if is_mark else name


def split_lines(text: str) -> list[str]:
    r"""Return the lines of a text without line ends; the last one may lack its own.

    >>> split_lines("a\n\nb\n"), split_lines("")
    (['a', '', 'b'], [])
    """
    return text.removesuffix("\n").split("\n") if text else []


def shorten(name: str, most: int = 80) -> str:
    """Return a name of at most `most` characters, with the middle of a longer one omitted.

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


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "byte"), counted(2_000, "byte")
    ('1 byte', '2,000 bytes')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number_word(number: int) -> str:
    """Return a small number as a word: "two"."""
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def times(count: int) -> str:
    """Return how often something occurs, as in "once" and "7 times"."""
    return "once" if count == 1 else f"{count:,} times"


def joined(names: Sequence[str]) -> str:
    """Return one name or more as a part of a sentence.

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def listed(names: Sequence[str], most: int) -> str:
    """Return the first `most` names, and the number of the others.

    >>> listed(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def distinct(names: Iterable[str], key: Callable[[str], str] = str) -> list[str]:
    """Return names, those that equal an earlier one with a number.

    Args:
        names: The names.
        key: Returns the same for names that count as equal.

    >>> distinct(["a", "b", "a"]), distinct(["a", "A"], str.casefold)
    (['a', 'b', 'a 2'], ['a', 'A 2'])
    """
    unique: dict[str, str] = {}
    for name in names:
        title, number = name, 1
        while key(title) in unique:
            number += 1
            title = f"{name} {number}"
        unique[key(title)] = title
    return [*unique.values()]


def as_json(value: object, default: Callable[[Any], object] | None = None) -> bytes:
    """Return a value as JSON.

    Args:
        value: Plain values; keys may be numbers.
        default: Replaces an object that JSON does not know.

    Raises:
        TypeError: There is such an object, and no `default`.

    >>> as_json({"a": [1, None], 2: "b"})
    b'{"a":[1,null],"2":"b"}'
    """
    try:
        options = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS
        return orjson.dumps(value, default, options)
    except TypeError:  # an integer of more than 64 bits, or a lone surrogate
        return json.dumps(value, default=default).encode()


def digest_of(*values: object) -> str:
    """Return a digest of texts and of other values, to recognize equal content.

    An object that JSON does not know is represented by its `repr`.
    """
    digest = hashlib.blake2b(digest_size=12)
    for value in values:
        digest.update(value.encode() if isinstance(value, str) else as_json(value, repr))
    return digest.hexdigest()


_FORMULA = re.compile(r"(?![+-]?[\d.,]*\d%?\Z)[=+\-@＝＋－＠\t\r\n]")
"""The beginning of a text that a spreadsheet takes for a formula, and not for a number."""


def without_formula(cell: object) -> object:
    r"""Return a cell, after an apostrophe if a spreadsheet would take its text for a formula.

    >>> [without_formula(cell) for cell in ("=1+1", "\n=1", "＝1", "-5.2%", "a=b", -3)]
    ["'=1+1", "'\n=1", "'＝1", '-5.2%', 'a=b', -3]
    """
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell

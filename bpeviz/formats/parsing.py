"""Strict parsing of text and JSON: within size limits, and with the place in each error message.

The JSON reader is the standard library's: msgspec is faster, but takes the last of duplicate keys.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NoReturn

from bpeviz import limits
from bpeviz.formats.base import FormatError, UnsupportedError, printable_name
from bpeviz.text import shorten

MAX_FILE = limits.TOKENIZER_FILES * 1_000_000
"""Bytes of the files of a tokenizer. Gemma 3's tokenizer.json has 33 million."""

MAX_ENTRIES = 1_000_000
"""Entries of a vocabulary, and merges of a list."""

MAX_JSON_VALUES = 4_000_000
"""Values in a JSON file, counted by its commas: each takes some 60 bytes of memory."""

MAX_ID = 2_000_000
"""The largest id: pages and counts use arrays of that length."""

MAX_SPELLED = 10_000_000
"""Bytes of all tokens together."""

MAX_TOKEN = 1_000_000
"""Bytes of one token."""


def quoted(value: object) -> str:
    """Return a value from a file for a message: short and printable."""
    printable = isinstance(value, str) and value.isprintable()
    return shorten(repr(value) if printable else ascii(value), 60)


def error_at(file: str, place: str, reason: str) -> FormatError:
    """Return the error for a place in a file, such as a line or a key ("": the whole file)."""
    return FormatError(f"{printable_name(file)}{', ' if place else ''}{place}: {reason}.")


# ---- Text


def decode_text(file: str, content: bytes) -> str:
    """Return the text of a UTF-8 file with LF line ends. Raises `FormatError`."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise error_at(file, "", "this is UTF-16; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte {error.start + 1:,} is invalid (0x{content[error.start]:02X})"
        raise error_at(file, "", f"not UTF-8 text: {byte}") from None
    return text.replace("\r\n", "\n")


def split_lines(file: str, content: bytes) -> list[str]:
    """Return the lines of a file. Raises `FormatError` also for too many."""
    count = content.count(b"\n")
    if count > MAX_ENTRIES:
        raise error_at(file, "", f"{count:,} lines are too many; the limit is {MAX_ENTRIES:,}")
    lines = decode_text(file, content).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def parse_int(file: str, place: str, text: str, least: int = 0, most: int = MAX_ID) -> int:
    """Return a whole number that is written in decimal digits. Raises `FormatError`."""
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise error_at(file, place, f"expected a whole number, not {quoted(text)}")
    number = int(text)
    if not least <= number <= most:
        raise error_at(file, place, f"expected a number from {least:,} to {most:,}, not {text}")
    return number


def parse_base64(file: str, place: str, text: str, whole: str = "base64") -> bytes:
    """Return the bytes of a token that is written in base64. Raises `FormatError`.

    whole: what is expected in this place, for the message.
    """
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise error_at(file, place, f"{quoted(text)} is not base64; expected {whole}") from None
    if not 0 < len(raw) <= MAX_TOKEN:
        raise error_at(file, place, f"a token has 1 to {MAX_TOKEN:,} bytes, not {len(raw):,}")
    return raw


def parse_pair(file: str, place: str, line: str) -> tuple[str, str]:
    """Return the two tokens of a merge, which one space separates. Raises `FormatError`."""
    pair = line.split(" ")
    if len(pair) != 2 or not all(pair):
        reason = f"expected two tokens with one space between them, not {quoted(line)}"
        raise error_at(file, place, reason)
    return pair[0], pair[1]


def checked_text(file: str, place: str, text: str) -> str:
    """Return a text that can be encoded as UTF-8. Raises `FormatError`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise error_at(file, place, f"{quoted(text)} contains a lone surrogate") from None
    return text


# ---- JSON


class _InvalidJSONError(ValueError):
    pass


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _InvalidJSONError(f"the key {quoted(key)} occurs twice")
            seen.add(key)
    return entries


def _short_int(digits: str) -> int:
    if len(digits) > 19:
        raise _InvalidJSONError(f"the number {digits[:12]}… has {len(digits):,} digits")
    return int(digits)


def _finite_float(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise _InvalidJSONError(f"the number {shorten(digits, 20)} is too large")
    return value


def _no_constant(word: str) -> NoReturn:
    raise _InvalidJSONError(f"{word} is not a number in JSON")


def parse_json(file: str, content: bytes, place: str = "") -> Node:
    """Parse JSON strictly: no duplicate keys, NaN, huge numbers, or too many or too deep values.

    Args:
        file: name of the file.
        content: the JSON text in UTF-8.
        place: where in the file it is, such as a line.

    Raises:
        FormatError: the content is not such JSON.
    """
    text = decode_text(file, content)
    if text.count(",") > MAX_JSON_VALUES:
        raise error_at(file, place, f"more than {MAX_JSON_VALUES:,} values are too many")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_int=_short_int,
            parse_float=_finite_float,
            parse_constant=_no_constant,
        )
    except _InvalidJSONError as error:
        raise error_at(file, place, str(error)) from None
    except json.JSONDecodeError as error:
        line = f"line {error.lineno:,}, " if "\n" in text else ""
        ends_early = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        why = ": the file ends too early. Download it again" if ends_early else ""
        raise error_at(
            file,
            f"{place or line}{', ' if place else ''}column {error.colno:,}",
            f"not valid JSON ({error.msg}){why}",
        ) from None
    except RecursionError:
        raise error_at(file, place, "the JSON is nested too deeply") from None
    return Node(f"{file}, {place}" if place else file, value)


def describe(value: object) -> str:
    """Return a JSON value for a message, in a few words."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        type_ = value.get("type")
        return f"an object of type {quoted(type_)}" if isinstance(type_, str) else "an object {…}"
    return "a list […]" if isinstance(value, list) else shorten(json.dumps(value), 60)


@dataclass(frozen=True)
class Node:
    """A value in a JSON file, with its path for error messages.

    A missing member of an object is a node of None. `reject_unknown_keys` refuses the members
    that were never looked up.
    """

    file: str
    value: Any
    path: str = ""
    _looked_up: set[str] = field(default_factory=set, repr=False)

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def __getitem__(self, key: str) -> Node:
        """Return the member of an object. Raises `FormatError` if this is not an object."""
        if not isinstance(self.value, dict):
            raise self.expected("an object {…}")
        self._looked_up.add(key)
        return Node(self.file, self.value.get(key), f"{self.path}.{key}" if self.path else key)

    def error(self, reason: str) -> FormatError:
        """Return the error for this value."""
        return error_at(self.file, self.path, reason)

    def entry_error(self, entry: object, reason: str) -> FormatError:
        """Return the error for an entry of this object or list, which need not exist."""
        place = entry if isinstance(entry, int) else quoted(entry)
        return error_at(self.file, f"{self.path}[{place}]" if self.path else str(place), reason)

    def expected(self, what: str) -> FormatError:
        """Return the error for a value that is not as expected."""
        return self.error(f"expected {what}, not {describe(self.value)}")

    def expect(self, *allowed: object, why: str = "") -> Any:
        """Return the value, which must be one of these (None: also a missing one).

        Raises:
            FormatError: it is another one; `why` explains the restriction.
        """
        for expected in allowed:
            if self.value is expected or (
                type(self.value) is type(expected) and self.value == expected
            ):
                return self.value
        listed = " or ".join(map(json.dumps, allowed))
        raise self.error(f"expected {listed}, not {describe(self.value)}{why and f': {why}'}")

    def text(self) -> str:
        """Return the value, which must be a text. Raises `FormatError`."""
        if not isinstance(self.value, str):
            raise self.expected("a text")
        return checked_text(self.file, self.path, self.value)

    def id(self) -> int:
        """Return the value, which must be an id. Raises `FormatError`."""
        if type(self.value) is not int or not 0 <= self.value <= MAX_ID:
            raise self.expected(f"a whole number from 0 to {MAX_ID:,}")
        return self.value

    def list(self) -> Sequence[Any]:
        """Return the value, which must be a list. Raises `FormatError`."""
        if not isinstance(self.value, list):
            raise self.expected("a list […]")
        if len(self.value) > MAX_ENTRIES:
            raise self.error(f"{len(self.value):,} entries exceed the limit of {MAX_ENTRIES:,}")
        return self.value

    def nodes(self) -> Iterator[Node]:
        """Yield the entries of a list as nodes. Raises `FormatError`."""
        for place, value in enumerate(self.list()):
            yield Node(self.file, value, f"{self.path}[{place}]")

    def vocabulary(self) -> dict[str, int]:
        """Return an object of ids by text, each id once. Raises `FormatError`."""
        if not isinstance(self.value, dict):
            raise self.expected("an object {…}")
        if len(self.value) > MAX_ENTRIES:
            raise self.error(f"{len(self.value):,} entries exceed the limit of {MAX_ENTRIES:,}")
        if (total := sum(map(len, self.value))) > MAX_SPELLED:
            raise self.error(f"{total:,} characters in all exceed the limit of {MAX_SPELLED:,}")
        entry_of: dict[int, str] = {}
        for entry, token_id in self.value.items():
            if type(token_id) is not int or not 0 <= token_id <= MAX_ID:
                raise self.entry_error(
                    entry, f"expected a whole number from 0 to {MAX_ID:,}, not {describe(token_id)}"
                )
            if token_id in entry_of:
                other = quoted(entry_of[token_id])
                raise self.entry_error(entry, f"{other} already has the id {token_id}")
            entry_of[token_id] = entry
        try:
            "".join(self.value).encode()
        except UnicodeEncodeError:
            raise self.error("an entry contains a lone surrogate") from None
        return self.value

    def special_tokens(self) -> dict[str, int]:
        """Return an object of ids by special token. Raises `FormatError`."""
        ids = self.vocabulary()
        if "" in ids:
            raise self.error("a special token is empty")
        return ids

    def reject_unknown_keys(self) -> None:
        """Raise `FormatError` if a member of this object was never looked up."""
        for key in self.value:
            if key not in self._looked_up:
                raise error_at(self.file, self[shorten(key, 40)].path, "unknown key")


def dump_json(value: object) -> bytes:
    """Return compact JSON in UTF-8. Raises `UnsupportedError` for lone surrogates."""
    return encoded(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) + b"\n"


def encoded(text: str) -> bytes:
    """Return the UTF-8 bytes of a file that is written. Raises `UnsupportedError`."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise UnsupportedError("a special token contains a lone surrogate") from None

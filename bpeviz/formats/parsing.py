"""What is common to reading and writing files: a file is data, and what is wrong with it is said.

Whatever is read is limited in size before anything is made of it, and is never executed. What is
wrong is said in one sentence, with the line or the key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn

from bpeviz.text import shorten

MAX_FILE = 50_000_000
"""How many bytes a file may have. o200k as a tokenizer.json has some 20 million."""

MAX_ENTRIES = 1_000_000
"""How many entries a vocabulary, and how many merges a list, may have."""

MAX_VALUES = 4_000_000
"""How many values JSON may hold, counted by its commas: each takes some 60 bytes of memory."""

MAX_ID = 2_000_000
"""No id may be larger: pages and counts go by the largest."""

MAX_SPELT = 10_000_000
"""How many bytes all tokens together may have, spelt out."""

MAX_TOKEN = 1_000_000
"""How many bytes one token may have."""


class FormatError(ValueError):
    """A file that cannot be read, or a tokenizer that cannot be written; the message is a
    sentence, in which what cannot be seen is spelt out."""

    def __init__(self, sentence: str) -> None:
        super().__init__("".join(map(_visible, sentence)))


def _visible(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


@dataclass(frozen=True)
class Format:
    """A way to write a tokenizer down.

    files: the names of what is written; about: one sentence.
    """

    key: str
    title: str
    about: str
    files: tuple[str, ...]


def shown(value: object) -> str:
    """Return a value from a file as a sentence may hold it: short, and without odd characters."""
    return shorten(ascii(value) if not _readable(value) else repr(value), 60)


def _readable(value: object) -> bool:
    return isinstance(value, str) and value.isprintable()


def wrong(name: str, where: str, why: str) -> FormatError:
    """Return the error for a file, the line or key in it, and what is wrong there."""
    place = f", {where}" if where else ""  # nothing, where the whole file is meant
    return FormatError(f"{shown_name(name)}{place}: {why}.")


def shown_name(name: str) -> str:
    """Return a file's name as a sentence may hold it."""
    return shorten("".join(c if c.isprintable() else "?" for c in name), 60)


def text_of(name: str, content: bytes) -> str:
    """Return the text of a file, its line ends as `\\n`."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(f"{shown_name(name)} is UTF-16; save it as UTF-8.")
    if content[:1] == b"\x80":
        raise FormatError(f"{shown_name(name)} looks like a pickle, which is never read here.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{shown_name(name)} is no UTF-8 text: byte {error.start + 1:,} "
            f"(0x{content[error.start]:02X}) belongs to no character."
        ) from None
    return text.replace("\r\n", "\n")


def lines_of(name: str, content: bytes) -> list[str]:
    """Return the lines of a file, without the empty one behind the last.

    Raises `FormatError`, also where there are too many.
    """
    count = content.count(b"\n")
    if count > MAX_ENTRIES:
        raise FormatError(
            f"{shown_name(name)} has {count:,} lines, and at most {MAX_ENTRIES:,} are taken."
        )
    lines = text_of(name, content).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def number(name: str, where: str, text: str, least: int = 0, most: int = MAX_ID) -> int:
    """Read a whole number that stands in a file as text."""
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise wrong(name, where, f"expected a whole number from {least} on, not {shown(text)}")
    found = int(text)
    if not least <= found <= most:
        raise wrong(name, where, f"the number must be from {least:,} to {most:,}, not {text}")
    return found


class _DuplicateError(ValueError):
    pass


def json_of(name: str, content: bytes) -> Any:
    """Read JSON strictly: no key twice, no NaN, no endless numbers, not too much, not too deep."""
    text = text_of(name, content)
    if text.count(",") > MAX_VALUES:
        raise FormatError(
            f"{shown_name(name)} holds more than {MAX_VALUES:,} values, which is too much."
        )

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        known = dict(found)
        if len(known) < len(found):
            seen: set[str] = set()
            for key, _ in found:
                if key in seen:
                    raise _DuplicateError(f"the key {shown(key)} comes twice")
                seen.add(key)
        return known

    def whole(digits: str) -> int:
        if len(digits) > 19:
            raise _DuplicateError(f"the number {digits[:12]}… has {len(digits):,} digits")
        return int(digits)

    def real(digits: str) -> float:
        value = float(digits)
        if not isfinite(value):
            raise _DuplicateError(f"the number {shorten(digits, 20)} is too large")
        return value

    def constant(word: str) -> NoReturn:
        raise _DuplicateError(f"{word} is no JSON")

    try:
        return json.loads(
            text,
            object_pairs_hook=pairs,
            parse_int=whole,
            parse_float=real,
            parse_constant=constant,
        )
    except _DuplicateError as error:
        raise FormatError(f"{shown_name(name)} is not taken: {error}.") from None
    except json.JSONDecodeError as error:
        line = f"line {error.lineno:,}, " if "\n" in text else ""
        raise wrong(
            name, f"{line}column {error.colno:,}", f"this is no JSON ({error.msg})"
        ) from None
    except RecursionError:
        raise FormatError(f"{shown_name(name)} is not taken: its JSON is nested too deeply.") from (
            None
        )


@dataclass(frozen=True)
class Keys:
    """An object of a JSON file, whose keys are asked for one by one.

    path: how one gets there. What is not asked for in the end is refused by `done`.
    """

    name: str
    path: str
    values: Mapping[str, Any]
    asked: set[str]

    @classmethod
    def of(cls, name: str, path: str, value: object) -> Keys:
        if not isinstance(value, dict):
            raise wrong(name, path, f"expected an object {{…}}, not {_kind(value)}")
        return cls(name, path, value, set())

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def get(self, key: str, default: object = None) -> Any:
        self.asked.add(key)
        return self.values.get(key, default)

    def wrong(self, key: str, why: str) -> FormatError:
        return wrong(self.name, self.at(key), why)

    def expect(self, key: str, *allowed: object, why: str = "") -> Any:
        """Return a value that must be one of these (None stands for a missing one, too)."""
        value = self.get(key)
        if not any(value is one or (type(value) is type(one) and value == one) for one in allowed):
            listed = " or ".join("null" if one is None else json.dumps(one) for one in allowed)
            reason = f": {why}" if why else ""
            raise self.wrong(key, f"expected {listed}, not {_kind(value)}{reason}")
        return value

    def text(self, key: str) -> str:
        value = self.get(key)
        if not isinstance(value, str):
            raise self.wrong(key, f"expected a text, not {_kind(value)}")
        return checked_text(self.name, self.at(key), value)

    def keys(self, key: str) -> Keys:
        return Keys.of(self.name, self.at(key), self.get(key))

    def listed(self, key: str, most: int = MAX_ENTRIES) -> Sequence[Any]:
        return listed(self.name, self.at(key), self.get(key), most)

    def done(self) -> None:
        for key in self.values:
            if key not in self.asked:
                raise wrong(self.name, self.at(shorten(key, 40)), "this key is not known here")


def listed(name: str, path: str, value: object, most: int = MAX_ENTRIES) -> Sequence[Any]:
    """Return a value that must be a list."""
    if not isinstance(value, list):
        raise wrong(name, path, f"expected a list […], not {_kind(value)}")
    if len(value) > most:
        raise wrong(name, path, f"it has {len(value):,} entries, and at most {most:,} are taken")
    return value


def checked_text(name: str, where: str, text: str) -> str:
    """Return a text that must have UTF-8 bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise wrong(name, where, f"{shown(text)} holds half a surrogate pair") from None
    return text


def _kind(value: object) -> str:
    if value is None:
        return "nothing (null)"
    if isinstance(value, dict):
        kind = value.get("type")
        return f"an object of type {shown(kind)}" if isinstance(kind, str) else "an object {…}"
    if isinstance(value, list):
        return "a list […]"
    return shorten(json.dumps(value), 60)


def kind(value: object) -> str:
    """Return in a few words what stands in a JSON file."""
    return _kind(value)


def vocabulary(name: str, path: str, value: object) -> dict[str, int]:
    """Return a mapping of texts to ids, each id once."""
    if not isinstance(value, dict):
        raise wrong(name, path, f"expected an object {{…}}, not {_kind(value)}")
    if len(value) > MAX_ENTRIES:
        raise wrong(name, path, f"{len(value):,} entries are more than {MAX_ENTRIES:,}")
    together = sum(map(len, value))
    if together > MAX_SPELT:
        raise wrong(
            name,
            path,
            f"its entries have {together:,} characters together, and at most {MAX_SPELT:,} are "
            "taken",
        )
    seen: dict[int, str] = {}
    for entry, token_id in value.items():
        where = f"{path}[{shown(entry)}]" if path else shown(entry)
        checked_id(name, where, token_id)
        if token_id in seen:
            raise wrong(
                name, where, f"the id {token_id} is that of {shown(seen[token_id])} already"
            )
        seen[token_id] = entry
    try:
        "".join(value).encode()
    except UnicodeEncodeError:
        raise wrong(name, path, "an entry holds half a surrogate pair") from None
    return value


def checked_id(name: str, where: str, value: object) -> int:
    """Return a value that must be an id."""
    if type(value) is not int or not 0 <= value <= MAX_ID:
        raise wrong(
            name, where, f"expected a whole number from 0 to {MAX_ID:,}, not {_kind(value)}"
        )
    return value


def as_json(value: object, title: str) -> bytes:
    """Return JSON in UTF-8, as `dump` writes it."""
    try:
        written = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise FormatError(
            f"{title} cannot hold this tokenizer: a name in it is half a surrogate pair."
        ) from None
    return written + b"\n"

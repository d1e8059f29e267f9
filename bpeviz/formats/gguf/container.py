"""The metadata of a GGUF file, which precede its tensors.

Source: `docs/gguf.md` in ggml-org/ggml, versions 2 and 3. Only metadata about the tokenizer are
kept, and nothing after them is read, so the beginning of a file is enough.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bpeviz.formats.base import FormatError
from bpeviz.formats.parsing import MAX_ENTRIES, MAX_SPELLED, error_at, quoted

MAGIC = b"GGUF"

_VERSIONS = (2, 3)
_KEPT = ("tokenizer.", "general.name", "general.architecture")
_MAX_KEYS = 10_000
_MAX_TEXTS = 3 * MAX_ENTRIES  # in all lists together
_LONGEST_KEY = 65_535  # by definition

_BOOL, _STRING, _ARRAY = 7, 8, 9
_NUMBERS = {
    0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4",
    _BOOL: "?", 10: "<u8", 11: "<i8", 12: "<f8",
}  # fmt: skip
"""The NumPy type of each type of numbers."""

_COUNT, _TYPE = struct.Struct("<Q"), struct.Struct("<I")

Value = bool | int | float | str | list[str] | NDArray[Any]
Kind = TypeVar("Kind", bool, int, str, list[str])


@dataclass(frozen=True)
class Metadata:
    """Metadata of a file by key; a missing key gives None."""

    file: str
    values: Mapping[str, Value]

    def error(self, key: str, reason: str) -> FormatError:
        """Return the error for a key."""
        return error_at(self.file, key, reason)

    def _value(self, key: str, kind: type[Kind], expected: str) -> Kind | None:
        value = self.values.get(key)
        if value is None or type(value) is kind:
            return value
        raise self.error(key, f"expected {expected}")

    def text(self, key: str) -> str | None:
        """Return a text. Raises `FormatError` for another type."""
        return self._value(key, str, "a text")

    def flag(self, key: str) -> bool | None:
        """Return a truth value. Raises `FormatError` for another type."""
        return self._value(key, bool, "true or false")

    def index(self, key: str, size: int) -> int | None:
        """Return an index of a list; None also for one outside of it, as llama.cpp does.

        Raises:
            FormatError: it is not a whole number.
        """
        value = self._value(key, int, "a whole number")
        return value if value is not None and 0 <= value < size else None

    def texts(self, key: str) -> list[str] | None:
        """Return a list of texts. Raises `FormatError` for another type."""
        return self._value(key, list, "a list of texts")

    def numbers(self, key: str, kinds: str) -> NDArray[Any] | None:
        """Return a list of numbers.

        Args:
            key: the key.
            kinds: their kinds in NumPy, such as "i" for signed ones.

        Raises:
            FormatError: the value is of another type.
        """
        value = self.values.get(key)
        if value is None or (isinstance(value, np.ndarray) and value.dtype.kind in kinds):
            return value
        raise self.error(key, "expected a list of numbers of another type")


def read_metadata(file: str, content: bytes) -> Metadata:
    """Return the metadata about the tokenizer. Raises `FormatError`."""
    return _Reader(file, content).metadata()


class _Reader:
    def __init__(self, file: str, content: bytes) -> None:
        self._file, self._content, self._at = file, content, len(MAGIC)
        self._left = _MAX_TEXTS

    def _error(self, reason: str) -> FormatError:
        return error_at(self._file, f"byte {self._at:,}", reason)

    def _truncated(self) -> FormatError:
        size = len(self._content)
        return self._error(f"the file ends in its metadata, after {size:,} bytes: it is truncated")

    def _take(self, size: int) -> bytes:
        start, end = self._at, self._at + size
        if end > len(self._content):
            raise self._truncated()
        self._at = end
        return self._content[start:end]

    def _number(self, form: struct.Struct = _COUNT) -> int:
        number: int = form.unpack(self._take(form.size))[0]
        return number

    def _text(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise self._error(f"{quoted(raw)} is not UTF-8") from None

    def metadata(self) -> Metadata:
        version = self._number(_TYPE)
        if version not in _VERSIONS:
            raise self._error(f"this is GGUF of version {version}; bpeviz reads versions 2 and 3")
        self._number()  # of tensors
        keys = self._number()
        if keys > _MAX_KEYS:
            raise self._error(f"{keys:,} metadata are too many; the limit is {_MAX_KEYS:,}")
        metadata: dict[str, Value] = {}
        for _ in range(keys):
            size = self._number()
            if size > _LONGEST_KEY:
                raise self._error(f"a key has {size:,} bytes; the limit is {_LONGEST_KEY:,}")
            key = self._text(self._take(size))
            value = self._value(kept=key.startswith(_KEPT))
            if key in metadata:
                raise self._error(f"the key {quoted(key)} occurs twice")
            if value is not None:
                metadata[key] = value
        return Metadata(self._file, metadata)

    def _value(self, *, kept: bool) -> Value | None:
        """Return the value at this place, or None if it is not kept."""
        kind = self._number(_TYPE)
        if kind == _STRING:
            raw = self._take(self._number())
            return self._text(raw) if kept else None
        if kind == _ARRAY:
            return self._array(kept=kept)
        value: Value = self._numbers(kind, 1)[0].item()
        return value

    def _array(self, *, kept: bool) -> Value | None:
        kind, count = self._number(_TYPE), self._number()
        if kept and count > MAX_ENTRIES and kind == _STRING:
            raise self._error(f"{count:,} entries exceed the limit of {MAX_ENTRIES:,}")
        if kind == _STRING:
            return self._texts(count, kept=kept)
        numbers = self._numbers(kind, count)
        return numbers if kept else None

    def _numbers(self, kind: int, count: int) -> NDArray[Any]:
        if kind not in _NUMBERS:
            raise self._error(f"unknown type {kind}")
        dtype = np.dtype(_NUMBERS[kind])
        return np.frombuffer(self._take(count * dtype.itemsize), dtype)

    def _texts(self, count: int, *, kept: bool) -> list[str] | None:
        """Return a list of texts, or pass over it. Raises `FormatError`."""
        self._left -= count
        if self._left < 0:
            raise self._error(f"more than {_MAX_TEXTS:,} texts in lists are too many")
        content, at = self._content, self._at
        texts: list[bytes] = []
        for _ in range(count):  # without calls, since there may be a million
            start = at + _COUNT.size
            if start > len(content):
                raise self._truncated()
            at = start + _COUNT.unpack_from(content, at)[0]
            if at > len(content):
                raise self._truncated()
            if kept:
                texts.append(content[start:at])
        self._at = at
        if (total := sum(map(len, texts))) > MAX_SPELLED:
            raise self._error(f"{total:,} bytes in a list exceed the limit of {MAX_SPELLED:,}")
        return [*map(self._text, texts)] if kept else None

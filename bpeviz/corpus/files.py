"""Corpus files: read them as one stream of text, and divide it into independent parts.

The files are concatenated without separators, so a pre-token may begin in one file and end in the
next. A byte order mark at the beginning of a file is not part of the text, and selects UTF-16.
Files of gzip and Zstandard are recognized by their content, and unpacked while they are read.
"""

from __future__ import annotations

import io
import os
from codecs import (
    BOM_UTF8,
    BOM_UTF16_BE,
    BOM_UTF16_LE,
    BOM_UTF32_LE,
    getincrementaldecoder,
    utf_8_decode,
)
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from bpeviz.pretokenizers.patterns import breaks, last_break
from bpeviz.text import visible

PART_BYTES = 1 << 26
"""The approximate size of a part of a corpus in bytes."""

_READ = 1 << 20
"""Number of bytes per read."""

LOOKED_THROUGH = 1 << 16
"""Number of bytes per search for a boundary between two parts."""


_MARKS = {
    BOM_UTF8: "utf-8",
    BOM_UTF32_LE: "utf-32-le",
    BOM_UTF16_LE: "utf-16-le",
    BOM_UTF16_BE: "utf-16-be",
}
"""Encodings by their byte order mark. That of UTF-32 begins with one of UTF-16."""

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""Compressions by the first bytes."""

MAX_TEXT = 1_000_000_000
"""The largest size in bytes of a text that is held as a whole."""


LONGER = (
    "The commands “python -m bpeviz train”, “encode” and “compare” take up to "
    f"{MAX_TEXT // 1_000_000_000} GB, and “count” more."
)
"""What takes a longer text than the pages."""


class CorpusError(ValueError):
    """A file is not readable as text; the message is user-facing."""


class EncodingError(CorpusError):
    """A file is not a text in the encoding that is assumed."""


@dataclass(frozen=True)
class ByteRange:
    """The bytes of a file from `start` to `end`, or to the end of the file if None."""

    path: str
    start: int = 0
    end: int | None = None


@dataclass(frozen=True)
class CorpusPart:
    """A part of a corpus: its spans, and its offset in the corpus in bytes."""

    spans: tuple[ByteRange, ...]
    at: int


STANDARD = "-"
"""The file name of standard input or output."""


def named(path: str) -> str:
    """Return the name of a file for messages, without control characters."""
    return "standard input" if path == STANDARD else visible(path)


def check_text(path: str, text: str) -> str:
    """Return the text of a file. Raises `CorpusError` if it has many zero bytes."""
    if text.count("\0") * 100 > len(text):
        what = "is not text, or in UTF-16 without a byte order mark"
        raise CorpusError(f"{named(path)} contains many zero bytes: it {what}.")
    return text


def open_file(path: str, *, unpacks: bool = True) -> BinaryIO:
    """Open a file to read its bytes, unpacked. Raises `CorpusError`."""
    try:
        return unpacked(open(path, "rb")) if unpacks else open(path, "rb")
    except IsADirectoryError:
        raise CorpusError(f"{named(path)} is a folder. Name the files in it.") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def unpacked(file: Any) -> BinaryIO:
    """Return a binary file, which is unpacked while it is read if it is compressed."""
    buffered: Any = file if hasattr(file, "peek") else io.BufferedReader(file)
    head = buffered.peek(4)
    if name := next((_PACKED[magic] for magic in _PACKED if head.startswith(magic)), ""):
        import pyarrow as pa  # a slow import

        buffered = pa.CompressedInputStream(buffered, name)
    return cast(BinaryIO, buffered)


def text_of(name: str, content: bytes, limit: int) -> str:
    """Return the text of an opened file, which may be compressed. Raises `CorpusError`."""
    text = read_whole(name, lambda _: unpacked(io.BytesIO(content)), limit=limit)
    return check_text(name, text)


def read(
    spans: Iterable[ByteRange],
    opened: Callable[[str], BinaryIO] = open_file,
    encoding: str | None = None,
) -> Iterator[str]:
    """Yield the text of spans in pieces of about a million bytes.

    Each span must begin and end between two characters.

    Raises:
        CorpusError: A file cannot be read as text.
    """
    for span in spans:
        with opened(span.path) as file:
            for i, text in enumerate(_texts(file, span, encoding)):
                yield text if i or span.path == STANDARD else check_text(span.path, text)


def read_whole(
    path: str,
    opened: Callable[[str], BinaryIO] = open_file,
    encoding: str | None = None,
    limit: int | None = None,
) -> str:
    """Return the text of a file of at most `limit` bytes, by default `MAX_TEXT`.

    Raises:
        CorpusError: The file is larger, or cannot be read as text.
    """
    raw = read_bytes(path, limit or MAX_TEXT, opened)
    mark = b"" if encoding else _mark(raw)
    try:
        return str(memoryview(raw)[len(mark) :], encoding or _MARKS.get(mark, "utf-8"))
    except UnicodeDecodeError as error:
        raise _no_text(path, error, len(mark)) from None


def read_bytes(path: str, limit: int, opened: Callable[[str], BinaryIO] = open_file) -> bytes:
    """Return the bytes of a file, unpacked, of at most `limit` bytes. Raises `CorpusError`."""
    too_large = CorpusError(
        f"{named(path)} has more than {limit:,} bytes, the limit for a file that is held in "
        "memory. Use a smaller one; the command `count` reads a larger text in parts."
    )
    pieces, size = [], 0
    with opened(path) as file:
        with suppress(OSError):  # not a file of the system
            if os.fstat(file.fileno()).st_size > limit:
                raise too_large
        try:
            while piece := file.read(min(_READ, limit + 1 - size)):
                pieces.append(piece)
                size += len(piece)
        except OSError as error:
            raise _unreadable(path, error) from error
    if size > limit:
        raise too_large
    return b"".join(pieces)


def _texts(file: BinaryIO, span: ByteRange, encoding: str | None) -> Iterator[str]:
    """Yield the text of a span in pieces that end between two characters. Raises `CorpusError`."""
    at, decoder = span.start, None
    if at:
        file.seek(at)
    while True:
        asked = _READ if span.end is None else min(_READ, span.end - at)
        try:
            new = file.read(asked) if asked else b""
        except OSError as error:
            raise _unreadable(span.path, error) from error
        at, is_end = at + len(new), not new
        if decoder is None:
            mark = _mark(new) if encoding is None and not span.start else b""
            encoding, new = encoding or _MARKS.get(mark, "utf-8"), new[len(mark) :]
            decoder = getincrementaldecoder(encoding)()
        try:
            text = decoder.decode(new, is_end)
        except UnicodeDecodeError as error:
            raise _no_text(span.path, error, at - len(error.object)) from None
        if text:
            yield text
        if is_end:
            break
    if span.end is not None and at < span.end:
        raise CorpusError(f"{named(span.path)} became shorter while it was read.")


def _mark(head: bytes) -> bytes:
    """Return the byte order mark at the beginning of a text, or none."""
    return next((mark for mark in _MARKS if head.startswith(mark)), b"")


def parts(paths: Sequence[str], pattern: str, size: int = PART_BYTES) -> Iterator[CorpusPart]:
    """Divide a corpus into parts of about `size` bytes at boundaries of pre-tokens.

    Only the bytes near the divisions are read. A part without such a boundary (`last_break`) is
    larger.

    Raises:
        CorpusError: A file cannot be read as text.
    """
    spans: list[ByteRange] = []
    begin = at = 0  # the offsets of this part and of the next span in the text, in bytes
    for path in paths:
        with open_file(path, unpacks=False) as file:
            end, start = _extent(file, path)
            while start < end:
                # The offset at which this part reaches its full size.
                full = start + max(0, size - (at - begin))
                cut = _cut(file, path, max(full, start + 1), end, pattern) if full < end else None
                to = end if cut is None else cut
                spans.append(ByteRange(path, start, to))
                at += to - start
                start = to
                if cut is not None:
                    yield CorpusPart(tuple(spans), begin)
                    spans, begin = [], at
    if spans:
        yield CorpusPart(tuple(spans), begin)


def _extent(file: BinaryIO, path: str) -> tuple[int, int]:
    """Return the end of a file and the beginning of its text, in bytes."""
    try:
        if not file.seekable():
            raise CorpusError(f"{named(path)} cannot be read from the middle, so not in parts.")
        head = file.read(4)
        mark = _mark(head)
        if mark not in (b"", BOM_UTF8) or head.startswith((*_PACKED,)):
            why = "is compressed, or in UTF-16, so it is not read in parts. Save it as UTF-8."
            raise CorpusError(f"{named(path)} {why}")
        return file.seek(0, 2), len(mark)
    except OSError as error:
        raise _unreadable(path, error) from error


def _cut(file: BinaryIO, path: str, near: int, end: int, pattern: str) -> int | None:
    """Return a boundary of pre-tokens in a file at or after about `near`, or None."""
    at = near if breaks(pattern) else end
    while at < end:
        try:
            file.seek(at)
            raw = file.read(min(LOOKED_THROUGH, end - at))
        except OSError as error:
            raise _unreadable(path, error) from error
        if not raw:
            break  # the file became shorter; counting reports it
        # The bytes may begin inside a character, which has at most three more bytes.
        inside = next((i for i, byte in enumerate(raw[:3]) if byte & 0xC0 != 0x80), len(raw[:3]))
        try:
            text, decoded = utf_8_decode(raw[inside:], "strict", False)
        except UnicodeDecodeError as error:
            raise _no_text(path, error, at + inside) from None
        place = last_break(text, pattern)
        if place is not None:
            return at + inside + len(text[:place].encode())
        # Search the end again, together with the next bytes.
        ahead = inside + decoded - len(text[-2:].encode())
        at += max(1, ahead)
    return None


def _unreadable(path: str, error: Exception) -> CorpusError:
    why = getattr(error, "strerror", None) or error
    return CorpusError(f"{named(path)} could not be read: {why}.")


def _no_text(path: str, error: UnicodeDecodeError, at: int) -> CorpusError:
    """Return the error of a text. at: the offset of the decoded bytes in the file."""
    what = f"byte {at + error.start + 1:,} is {error.object[error.start]:02X}"
    encoding = error.encoding.upper()
    kind = CorpusError if b"\0" in error.object else EncodingError  # bytes that are no characters
    return kind(f"{named(path)} is not a text in {encoding}: {what}. Save it as UTF-8.")

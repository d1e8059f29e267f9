"""A corpus in files: read as one text, without holding it, and cut into parts that stand alone.

The files count as one text, one behind the other with nothing between: a pre-token may begin in one
file and end in the next, where they are split so. A byte order mark at the head of a file is no
part of it.
"""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, utf_8_decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from bpeviz.pretokenizers.patterns import breaks, last_break
from bpeviz.text import visible

PART = 1 << 26
"""Bytes of a part of a corpus, more or less."""

_READ = 1 << 20
"""Bytes that are read at once."""

LOOKED_THROUGH = 1 << 16
"""Bytes that are looked through at once for a place where a corpus may be cut."""


class CorpusError(ValueError):
    """A file that cannot be read as text; the message is a sentence."""


@dataclass(frozen=True)
class Span:
    """Some bytes of a file, from `start` to before `end`; None: to where it ends."""

    path: str
    start: int = 0
    end: int | None = None


@dataclass(frozen=True)
class Part:
    """A part of a corpus: its spans, and where in the text of the corpus it begins, in bytes."""

    spans: tuple[Span, ...]
    at: int


STANDARD = "-"
"""Stands for standard input or output in place of a file's name."""


def named(path: str) -> str:
    """Return what a file is called in a sentence, without anything that a terminal would obey."""
    return "standard input" if path == STANDARD else visible(path)


def open_file(path: str) -> BinaryIO:
    """Open a file to read its bytes. Raises `CorpusError`."""
    try:
        return open(path, "rb")
    except IsADirectoryError:
        raise CorpusError(f"{named(path)} is a folder. Name the files in it.") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def read(spans: Iterable[Span], opened: Callable[[str], BinaryIO] = open_file) -> Iterator[str]:
    """Yield the text of spans, in pieces of about a million bytes.

    Each span must begin and end between two characters. Raises `CorpusError`.
    """
    for span in spans:
        with opened(span.path) as file:
            yield from _texts(file, span)


def _texts(file: BinaryIO, span: Span) -> Iterator[str]:
    at, rest = span.start, b""  # `rest`: the first bytes of a character; `at`: where they stand
    if at:
        file.seek(at)
    while True:
        asked = _READ if span.end is None else min(_READ, span.end - at - len(rest))
        try:
            new = file.read(asked) if asked else b""
        except OSError as error:
            raise _unreadable(span.path, error) from error
        raw = rest + new
        if at == 0 and raw.startswith(BOM_UTF8):
            raw, at = raw[len(BOM_UTF8) :], len(BOM_UTF8)
        try:
            text, used = utf_8_decode(raw, "strict", not new)
        except UnicodeDecodeError as error:
            raise _no_text(span.path, raw, at, error.start) from None
        if text:
            yield text
        at, rest = at + used, raw[used:]
        if not new:
            break
    if span.end is not None and at < span.end:
        raise CorpusError(f"{named(span.path)} became shorter while it was read.")


def parts(paths: Sequence[str], pattern: str, size: int = PART) -> Iterator[Part]:
    """Cut a corpus into parts of about `size` bytes, whose pre-tokens are together those of the whole.

    Only what stands around the cuts is read. Where no cut is found (`pretokenize.last_break`), a
    part is larger. Raises `CorpusError`.
    """
    spans: list[Span] = []
    begin = at = 0  # of this part and of what comes, in bytes of the text
    for path in paths:
        with open_file(path) as file:
            end, start = _extent(file, path)
            while start < end:
                # From here on this part is large enough.
                full = start + max(0, size - (at - begin))
                cut = _cut(file, path, max(full, start + 1), end, pattern) if full < end else None
                to = end if cut is None else cut
                spans.append(Span(path, start, to))
                at += to - start
                start = to
                if cut is not None:
                    yield Part(tuple(spans), begin)
                    spans, begin = [], at
    if spans:
        yield Part(tuple(spans), begin)


def _extent(file: BinaryIO, path: str) -> tuple[int, int]:
    """Return where a file ends, and where its text begins."""
    try:
        if not file.seekable():
            raise CorpusError(f"{named(path)} cannot be read from the middle, so not in parts.")
        head = file.read(len(BOM_UTF8))
        return file.seek(0, 2), len(head) if head == BOM_UTF8 else 0
    except OSError as error:
        raise _unreadable(path, error) from error


def _cut(file: BinaryIO, path: str, near: int, end: int, pattern: str) -> int | None:
    """Return a place in a file near or behind `near` where the text may be cut, if there is one."""
    at = near if breaks(pattern) else end
    while at < end:
        try:
            file.seek(at)
            raw = file.read(min(LOOKED_THROUGH, end - at))
        except OSError as error:
            raise _unreadable(path, error) from error
        if not raw:
            break  # it became shorter, as will be found when it is counted
        # It may begin, even end, inside a character; that has three more bytes at most.
        inside = next((i for i, byte in enumerate(raw[:3]) if byte & 0xC0 != 0x80), len(raw[:3]))
        try:
            text, used = utf_8_decode(raw[inside:], "strict", False)
        except UnicodeDecodeError as error:
            raise _no_text(path, raw[inside:], at + inside, error.start) from None
        place = last_break(text, pattern)
        if place is not None:
            return at + inside + len(text[:place].encode())
        # What stands at the end is looked at again, with what comes.
        ahead = inside + used - len(text[-2:].encode())
        at += max(1, ahead)
    return None


def _unreadable(path: str, error: Exception) -> CorpusError:
    why = getattr(error, "strerror", None) or error
    return CorpusError(f"{named(path)} could not be read: {why}.")


def _no_text(path: str, raw: bytes, at: int, where: int) -> CorpusError:
    what = f"byte {at + where + 1:,} is {raw[where]:02X}"
    if at == 0 and raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        what = "it looks like UTF-16"
    return CorpusError(f"{named(path)} is not a text in UTF-8: {what}. Save it as UTF-8.")

"""The `Format` protocol: what a file format declares to be saved, read and listed everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import ReferenceType

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.text import shorten

HEAD = 4_096
"""Bytes at the beginning of a file in which expressions recognize its first lines."""


class FormatError(ValueError):
    """A file that cannot be read, or a tokenizer that cannot be written.

    The message is for users; it contains printable characters only.
    """

    def __init__(self, message: str) -> None:
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in message))


class MissingFileError(FormatError):
    """A file needs a second one, which is missing."""


class MissingPatternError(FormatError):
    """Files that are valid, but do not contain the pre-tokenization, which was not chosen."""


class UnsupportedError(Exception):
    """A format cannot represent a tokenizer; the message is a clause with the reason."""


class TransientError(UnsupportedError):
    """A tokenizer cannot be checked at the moment; another attempt may succeed."""


Result = TypeVar("Result")


def of_latest(compute: Callable[..., Result]) -> Callable[..., Result]:
    """Return a function that stores its result for the latest tokenizer and other arguments.

    One tokenizer is usually written in several formats, one after the other. It is compared by
    identity, since two equal ones take long to compare.
    """
    latest: list[tuple[ReferenceType[Any], tuple[object, ...], Result]] = []

    def stored(tokenizer: Tokenizer, *others: object) -> Result:
        for reference, arguments, result in latest:
            if reference() is tokenizer and arguments == others:
                return result
        result = compute(tokenizer, *others)
        latest[:] = [(ReferenceType(tokenizer, lambda _: latest.clear()), others, result)]
        return result

    return stored


def printable_name(name: str) -> str:
    """Return a file name for a message: short and printable."""
    return shorten("".join(c if c.isprintable() else "?" for c in name), 60)


@dataclass(frozen=True)
class Source:
    """The files of one tokenizer.

    Args:
        name: name of the tokenizer.
        files: content by file name.
        pattern: pre-tokenization for files that do not contain theirs, or "".
        expression: regular expression or word list of `pattern`.
        settings: content of the files with settings of the model beside them, by name.
    """

    name: str
    files: Mapping[str, bytes]
    pattern: str = ""
    expression: str = ""
    settings: Mapping[str, bytes] = field(default_factory=dict)

    def single(self) -> tuple[str, bytes]:
        """Return the name and the content of the only file. Raises `FormatError`."""
        if len(self.files) != 1:
            raise FormatError(f"Expected one file, not {self.listing()}.")
        return next(iter(self.files.items()))

    def pair(self) -> tuple[str | None, str | None]:
        """Return the names of the file with JSON and of the other one. Raises `FormatError`."""
        json_files = [name for name in self.files if name.lower().endswith((".json", ".vocab"))]
        others = [name for name in self.files if name not in json_files]
        if len(json_files) > 1 or len(others) > 1:
            raise FormatError(f"These files do not belong together: {self.listing()}.")
        return next(iter(json_files), None), next(iter(others), None)

    def listing(self) -> str:
        """Return the file names for a message."""
        return ", ".join(map(printable_name, self.files))


@dataclass(frozen=True)
class Format:
    """A file format: one file of this package and one line in `bpeviz.formats.registry`.

    A format without suffixes is saved as a folder. In one with suffixes, the first file has the
    path's own name, and the name of each further file starts with that of the first.

    Args:
        key: name in the library and on the command line.
        title: name on the pages.
        about: one sentence on the contents.
        files: names of the files that `write` returns, or usual names.
        read: returns the tokenizer of files. Raises `FormatError` or `UnsupportedError`.
        detect: returns whether the contents of files are in this format. If no format recognizes
            them, `suffixes` decide, so that the message names the format.
        write: returns the content of each file by name, or None for a format that is only read.
            Raises `UnsupportedError`.
        suffixes: endings of a path that select the format, in lower case, with the dot.
        other_files: other names of the same files, as other programs write them.
        algorithms: trainers for whose tokenizers a suffix selects this format before others.
        by_line: whether the format's library encodes lines without ▁ as bpeviz does, and may have
            one token for several unknown characters.
        example: Python code that loads the files with the format's own library, where its usual
            call is not enough.
        assumption: returns what files do not contain and `read` assumes, as a sentence, or "". None
            for a format whose files contain everything.
        guesses_pattern: whether `assumption` is about the pre-tokenization, so that another one can
            be chosen.
    """

    key: str
    title: str
    about: str
    files: tuple[str, ...]
    read: Callable[[Source], Tokenizer]
    detect: Callable[[Mapping[str, bytes]], bool]
    write: Callable[[Tokenizer], dict[str, bytes]] | None = None
    suffixes: tuple[str, ...] = ()
    other_files: tuple[tuple[str, ...], ...] = ()
    algorithms: tuple[str, ...] = ()
    by_line: bool = False
    example: str = ""
    assumption: Callable[[Source], str] | None = None
    guesses_pattern: bool = False


def has_suffix(files: Mapping[str, bytes], *suffixes: str) -> bool:
    """Return whether the name of a file has one of these endings, in any case."""
    return any(name.lower().endswith(suffixes) for name in files)

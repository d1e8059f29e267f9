"""Texts with names, to compare: files, folders, and tables with one column per text."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bpeviz import limits
from bpeviz.cli import files
from bpeviz.cli.errors import CommandError, UsageError
from bpeviz.corpus.files import STANDARD, CorpusError, named
from bpeviz.text import counted, listed, split_lines, visible

_TABLES = (".csv", ".jsonl")

Columns = list[tuple[str, Sequence[str]]]
"""The names and the lines of the columns of a table."""


@dataclass(frozen=True)
class Source:
    """A file with texts.

    Attributes:
        name: The name of its text; empty for a table, whose columns have names.
        path: The path of the file.
        listed: Whether the file is in a folder that the user named.
    """

    name: str
    path: str
    listed: bool = False


def split_name(argument: str) -> tuple[str, str]:
    """Return the name, or "", and the path of an argument.

    Raises:
        UsageError: The name or the path is empty.

    >>> split_name("en=a.txt"), split_name("a.txt"), split_name("./a=b.txt")
    (('en', 'a.txt'), ('', 'a.txt'), ('', './a=b.txt'))
    """
    name, equals, path = argument.partition("=")
    if not equals or "/" in name or os.sep in name:
        return "", argument
    if not name or not path:
        raise UsageError(f"{visible(argument)} is not NAME=FILE. For a file, write ./FILE.")
    return visible(name), path


def sources(arguments: Iterable[str]) -> list[Source]:
    """Return the files that arguments name, and those in folders that they name.

    Raises:
        UsageError: An argument is not valid.
        CommandError: There are too many files, or a folder contains none.
    """
    found: list[Source] = []
    for argument in arguments:
        name, path = split_name(argument)
        if path != STANDARD and os.path.isdir(path):
            inside = [*_files_in(path, name)]
            if not inside:
                raise CommandError(f"{named(path)} is a folder without files.")
            found += inside
        else:
            is_table = not name and path.lower().endswith(_TABLES)
            found.append(Source("" if is_table else name or named(path), path))
    _check_number(len(found))
    return found


def _files_in(folder: str, name: str) -> Iterator[Source]:
    """Yield the files in a folder, in order, without hidden ones."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for file in sorted(names):
            path = os.path.join(at, file)
            if not file.startswith(".") and os.path.isfile(path):
                shown = os.path.join(name, os.path.relpath(path, folder)) if name else path
                yield Source(named(shown), path, listed=True)


def read(found: Iterable[Source]) -> tuple[dict[str, str | Sequence[str]], list[str]]:
    """Return the texts by name, and sentences about files that were left out.

    Raises:
        ValueError: A file is not valid, a name occurs twice, or the texts are too many or too
            large; the message is user-facing.
    """
    texts: dict[str, str | Sequence[str]] = {}
    left_out: list[str] = []
    size = 0
    for source in found:
        try:
            text = files.read_text(source.path)
        except CorpusError:
            if not source.listed:
                raise
            left_out.append(source.name)
            continue
        size += len(text.encode())
        if size > limits.COMPARED_SIZE * 1_000_000:
            raise CommandError(
                f"The texts have more than {limits.COMPARED_SIZE} MB together. Compare fewer or "
                "shorter ones."
            )
        added = [(source.name, text)] if source.name else _columns(source.path, text)
        for name, content in added:
            if name in texts:
                raise CommandError(f"Two texts are named {name}. Name files as NAME=FILE.")
            texts[name] = content
    _check_number(len(texts))
    if not left_out:
        return texts, []
    if not texts:
        raise CommandError(f"No file is a text in UTF-8: {listed(left_out, 5)}.")
    return texts, [f"Left out, since they are not texts in UTF-8: {listed(left_out, 5)}."]


def _check_number(number: int) -> None:
    if number > limits.COMPARED_TEXTS:
        raise CommandError(
            f"There are {number:,} texts. At most {limits.COMPARED_TEXTS} can be compared."
        )


def _columns(path: str, text: str) -> Columns:
    """Return the columns of a table. Raises `CommandError`."""
    rows = _json_rows(path, text) if path.lower().endswith(".jsonl") else _csv_rows(path, text)
    _, header = next(rows, (0, []))
    if not header:
        raise CommandError(f"{named(path)} has no columns.")
    if "" in header:
        raise CommandError(f"{named(path)}: column {header.index('') + 1} has no name.")
    lines: list[list[str]] = []
    for number, row in rows:
        if len(row) != len(header):
            columns = counted(len(row), "column")
            raise CommandError(
                f"{named(path)}, line {number:,}: {columns} instead of {len(header):,}."
            )
        lines.append(row)
    return [(visible(name), [row[i] for row in lines]) for i, name in enumerate(header)]


def _csv_rows(path: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each row; blank lines are not rows."""
    head = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise CommandError(f"{named(path)}, line {reader.line_num:,}: {error}.") from None


def _json_rows(path: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the keys of the objects, then the line number and the values of each."""
    header: list[str] = []
    for number, line in enumerate(split_lines(text), 1):
        if not line.strip():
            continue
        place = f"{named(path)}, line {number:,}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise CommandError(f"{place} is not JSON.") from None
        if not isinstance(row, dict) or not all(isinstance(one, str) for one in row.values()):
            raise CommandError(f'{place} is not an object of texts, such as {{"en": "a text"}}.')
        if not header:
            header = [*row]
            yield number, header
        if {*row} != {*header}:
            raise CommandError(f"{place} has other keys than the first line.")
        yield number, [row[name] for name in header]

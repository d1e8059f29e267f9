"""Texts with names that the command line is given: files and folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bpeviz.cli import files
from bpeviz.cli.errors import CommandError, UsageError
from bpeviz.corpus import named_texts
from bpeviz.corpus.files import STANDARD, CorpusError, is_binary, named
from bpeviz.corpus.named_texts import Table, Texts
from bpeviz.text import listed, visible


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
        ValueError: There are too many files, or a folder contains none.
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
            found.append(Source("" if _is_table(name, path) else name or named(path), path))
    named_texts.check_number(len(found))
    return found


def _is_table(name: str, path: str) -> bool:
    """Return whether the columns of a file are texts: with a name, the file is one text."""
    return not name and named_texts.is_table(path)


def _files_in(folder: str, name: str) -> Iterator[Source]:
    """Yield the files in a folder, in order, without hidden ones."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for file in sorted(names):
            path = os.path.join(at, file)
            if not file.startswith(".") and os.path.isfile(path):
                shown = os.path.join(name, os.path.relpath(path, folder)) if name else path
                yield Source("" if _is_table(name, path) else named(shown), path, listed=True)


def read(found: Sequence[Source], label: str | None) -> tuple[Texts, list[str]]:
    """Return the texts by name, and sentences about tables and files that were left out.

    Args:
        found: The files.
        label: The column of labels of all tables, "" for none, or None to recognize it.

    Raises:
        ValueError: A file is not valid, a name occurs twice, or the texts are too many or too
            large; the message is user-facing.
    """
    if label and all(one.name for one in found):
        raise UsageError("--label is for CSV or JSONL files without a name.")
    contents: list[tuple[str, str | Table]] = []
    left_out: list[str] = []
    notes: list[str] = []
    for source in found:
        try:
            text = files.read_text(source.path)
            if is_binary(text):
                raise CorpusError(f"{named(source.path)} contains many zero bytes: it is not text.")
        except CorpusError:
            if not source.listed:
                raise
            left_out.append(source.name or named(source.path))
            continue
        if source.name:
            contents.append((source.name, text))
            continue
        try:
            table = named_texts.read_table(source.path, text, label)
        except CorpusError as error:
            if not source.listed:
                raise
            notes.append(f"Left out: {error}")
            continue
        contents.append(("", table))
        if table.label or source.listed:
            notes.append(table.about)
    if left_out:
        notes.append(f"Left out, since they are not texts in UTF-8: {listed(left_out, 5)}.")
    if not contents:
        raise CommandError(f"No file is a text to compare. {' '.join(notes)}")
    return named_texts.collect(contents, "Name files as NAME=FILE."), notes

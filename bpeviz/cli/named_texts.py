"""Texts with names that the command line is given: files, tables and folders."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from bpeviz.cli import files
from bpeviz.cli.errors import CommandError, UsageError, print_error
from bpeviz.corpus import files as corpus_files
from bpeviz.corpus import named_texts, parquet, tables
from bpeviz.corpus.documents import Documents
from bpeviz.corpus.files import STANDARD, CorpusError, named
from bpeviz.corpus.named_texts import Texts
from bpeviz.corpus.tables import TextTable
from bpeviz.text import listed, visible
from bpeviz.trainers.multilingual_bpe import texts as split_texts


@dataclass(frozen=True)
class TextFile:
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


def is_table(path: str, options: argparse.Namespace) -> bool:
    """Return whether a file without a name is a table, by ``--as``, its ending or its beginning."""
    kind: str | None = getattr(options, "as")
    if kind is not None:
        return kind == "table"
    beginning = ""
    if tables.ending(path) == ".json":
        with suppress(CorpusError):  # reading it reports the error
            spans = [corpus_files.ByteRange(path)]
            beginning = next(corpus_files.read(spans, encoding=options.encoding), "")
    return tables.is_table(path, beginning)


def read_file(source: TextFile, options: argparse.Namespace) -> str | TextTable:
    """Return the text or the table in a file or on standard input.

    Raises:
        ValueError: The file is not UTF-8 text or a valid table; the message is user-facing.
    """
    read = read_text if source.name else read_table
    return read(source.path, options)


def note_json(path: str, options: argparse.Namespace) -> None:
    """Say of a text in JSON that it is one text, unless ``--as`` does."""
    if tables.ending(path) == ".json" and getattr(options, "as") is None:
        print_error(f"{named(path)}: one text, with the keys and signs of JSON.")


def read_text(path: str, options: argparse.Namespace) -> str:
    """Return the text of a file. Raises `ValueError`."""
    note_json(path, options)
    text = files.read_text(path, options.encoding)
    return text if path == STANDARD else corpus_files.check_text(path, text)


def read_table(path: str, options: argparse.Namespace) -> TextTable:
    """Return the table in a file, with the columns of ``--text`` and ``--label``.

    Raises:
        ValueError: The file is not a valid table; the message is user-facing.
    """
    if tables.ending(path) == ".parquet":
        content = parquet.rows(named(path), files.read_bytes(path, files.MAX_COUNTS))
        return tables.read_table(path, content, options.label, options.text)
    text = corpus_files.check_text(path, files.read_text(path, options.encoding))
    try:
        return tables.read_table(path, text, options.label, options.text)
    except CorpusError as error:
        raise CorpusError(f"{error} To read it as one text, add --as text.") from None


def sources(arguments: Iterable[str], options: argparse.Namespace) -> list[TextFile]:
    """Return the files that arguments name, and those in folders that they name.

    Raises:
        UsageError: An argument is not valid.
        ValueError: There are too many files, or a folder contains none.
    """
    sources: list[TextFile] = []
    for argument in arguments:
        sources += files_at(*split_name(argument), options)
    named_texts.check_number(len(sources))
    times = Counter(source.name for source in sources)
    return [
        replace(source, name=named(source.path))
        if source.listed and source.name and times[source.name] > 1
        else source
        for source in sources
    ]


def files_at(name: str, path: str, options: argparse.Namespace) -> list[TextFile]:
    """Return a file, or those in a folder. name: that of the text, or "". Raises `CommandError`."""
    if path == STANDARD or not os.path.isdir(path):
        is_text = name or not is_table(path, options)  # with a name, a file is one text
        return [TextFile((name or named(path)) if is_text else "", path)]
    if inside := [*_files_in(path, name, options)]:
        return inside
    raise CommandError(f"{named(path)} is a folder without files.")


def files_of(paths: Iterable[str], options: argparse.Namespace) -> list[TextFile]:
    """Return files, and those in folders, in order. Raises `CommandError`."""
    return [source for path in paths for source in files_at("", path, options)]


def _files_in(folder: str, name: str, options: argparse.Namespace) -> Iterator[TextFile]:
    """Yield the files in a folder, in order, without hidden ones.

    A text is named by its path in the folder, without .txt.
    """
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(inner for inner in folders if not inner.startswith("."))
        for file in sorted(names):
            path = os.path.join(at, file)
            if not file.startswith(".") and os.path.isfile(path):
                title = os.path.join(name, os.path.relpath(path, folder)).removesuffix(".txt")
                is_text = name or not is_table(path, options)
                yield TextFile(named(title) if is_text else "", path, listed=True)


def check_columns(sources: Iterable[TextFile], options: argparse.Namespace) -> bool:
    """Return whether a file is a table. Raises `UsageError` for columns without a table."""
    has_table = not all(source.name for source in sources)
    if (options.text or options.label) and not has_table:
        raise UsageError("--text and --label are for tables. --as table reads a file as a table.")
    return has_table


def read(sources: Sequence[TextFile], options: argparse.Namespace) -> tuple[Texts, list[str]]:
    """Return the texts by name, and sentences about tables and files that were left out.

    Args:
        sources: The files.
        options: The arguments, with the columns of all tables.

    Raises:
        ValueError: A file is not valid, a name occurs twice, or the texts are too many or too
            large; the message is user-facing.
    """
    check_columns(sources, options)
    contents: list[tuple[str, str | TextTable]] = []
    notes: list[str] = []
    for source, content in readable(sources, options, notes.append):
        if isinstance(content, TextTable):
            notes.append(content.about())
        contents.append((source.name, content))
    if not contents:
        raise CommandError(f"No file is a text to compare. {' '.join(notes)}")
    texts, _ = named_texts.collect(contents, "Name files as NAME=FILE.")
    return texts, notes


def readable(
    sources: Iterable[TextFile], options: argparse.Namespace, note: Callable[[str], None]
) -> Iterator[tuple[TextFile, str | TextTable]]:
    """Yield files with their texts or tables.

    A file that was found in a folder and cannot be read is left out, with a note.

    Args:
        sources: The files.
        options: The arguments.
        note: Takes sentences about files that were left out.

    Raises:
        CorpusError: A file that the user named is not valid.
    """
    left_out: list[str] = []
    for source in sources:
        try:
            content = read_file(source, options)
        except CorpusError as error:
            if not source.listed:
                raise
            if source.name:
                left_out.append(named(source.path))
            else:
                note(f"Left out: {error}")
            continue
        yield source, content
    if left_out:
        note(f"Left out, since they are not texts in UTF-8: {listed(left_out, 5)}.")


def corpus(
    sources: Sequence[TextFile], options: argparse.Namespace, *, grouped: bool = False
) -> str | Documents:
    """Return the text or the documents to train on, and print which columns of tables they are.

    A file that is not a table is one document.

    Args:
        sources: The files.
        options: The arguments.
        grouped: Whether to label the documents: by file, column and label, and those of a text also
            by its parts between lines of three dashes.

    Raises:
        ValueError: A file is not valid; the message is user-facing.
    """
    pairs: list[tuple[str, str]] = []
    for source, content in readable(sources, options, print_error):
        path = source.path
        if isinstance(content, TextTable):
            print_error(content.about(grouped=grouped))
            columns = content.texts if grouped else content.ungrouped
            pairs += (
                (f"{path}: {name}", text)
                for name, documents in columns.items()
                for text in documents.texts
            )
        elif len(sources) == 1:
            return content
        else:
            parts = [part for part, separates in split_texts(content) if not separates]
            parts = [*filter(str.strip, parts)] if grouped else [content]
            pairs += ((f"{path} {i}", part) for i, part in enumerate(parts))
    labels, texts = zip(*pairs, strict=True) if pairs else ((), ())
    return Documents(texts, labels if grouped else ())

"""Texts with names, to compare: files, tables with one column per text, and pasted texts."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence

import regex

from bpeviz import limits
from bpeviz.corpus.files import CorpusError, named
from bpeviz.text import counted, split_lines, visible

TABLES = (".csv", ".jsonl")
"""The endings of the names of tables."""

Texts = dict[str, str | Sequence[str]]
"""Texts by name, each as a string or as its lines."""

Columns = list[tuple[str, Sequence[str]]]
"""The names and the lines of the columns of a table."""

_NAME = regex.compile(r"^#[ \t]+(\S.*)$", regex.MULTILINE)


def is_table(path: str) -> bool:
    """Return whether a file is a table, from the ending of its name."""
    return path.lower().endswith(TABLES)


def collect(files: Iterable[tuple[str, str, str]], rename: str) -> Texts:
    """Return the texts of files by name.

    Args:
        files: The name of the text, the path and the content of each. The name is empty for a
            table, whose columns have names.
        rename: How to name texts, as a sentence.

    Raises:
        CorpusError: A table is not valid, a name occurs twice, or the texts are too many or too
            large.
    """
    texts: Texts = {}
    size = 0
    for name, path, text in files:
        size += len(text.encode())
        if size > limits.COMPARED_SIZE * 1_000_000:
            raise CorpusError(
                f"The texts have more than {limits.COMPARED_SIZE} MB together. Compare fewer or "
                "shorter ones."
            )
        added: Columns | list[tuple[str, str]] = [(name, text)] if name else _columns(path, text)
        for title, content in added:
            if title in texts:
                raise CorpusError(f"Two texts are named {title}. {rename}")
            texts[title] = content
    check_number(len(texts))
    return texts


def check_number(number: int) -> None:
    """Raise `CorpusError` if there are too many texts."""
    if number > limits.COMPARED_TEXTS:
        raise CorpusError(
            f"There are {number:,} texts. At most {limits.COMPARED_TEXTS} can be compared."
        )


def pasted(text: str) -> list[tuple[str, str]]:
    r"""Return the names and the texts of one text in which a line `# name` precedes each.

    Blank lines around a text are not part of it. A text without such a line is named “text”.

    >>> pasted("# en\nthe river\n\n# es\nel río\n")
    [('en', 'the river'), ('es', 'el río')]
    >>> pasted("the river"), pasted(" ")
    ([('text', 'the river')], [])
    """
    first, *rest = _NAME.split(text)
    pairs = [("text", first), *zip(map(str.strip, rest[::2]), rest[1::2], strict=True)]
    found = [(visible(name), content.strip("\r\n")) for name, content in pairs]
    return found if found[0][1].strip() else found[1:]


def _columns(path: str, text: str) -> Columns:
    """Return the columns of a table. Raises `CorpusError`."""
    rows = _json_rows(path, text) if path.lower().endswith(".jsonl") else _csv_rows(path, text)
    _, header = next(rows, (0, []))
    if not header:
        raise CorpusError(f"{named(path)} has no columns.")
    if "" in header:
        raise CorpusError(f"{named(path)}: column {header.index('') + 1} has no name.")
    lines: list[list[str]] = []
    for number, row in rows:
        if len(row) != len(header):
            columns = counted(len(row), "column")
            raise CorpusError(
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
        raise CorpusError(f"{named(path)}, line {reader.line_num:,}: {error}.") from None


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
            raise CorpusError(f"{place} is not JSON.") from None
        if not isinstance(row, dict) or not all(isinstance(one, str) for one in row.values()):
            raise CorpusError(f'{place} is not an object of texts, such as {{"en": "a text"}}.')
        if not header:
            header = [*row]
            yield number, header
        if {*row} != {*header}:
            raise CorpusError(f"{place} has other keys than the first line.")
        yield number, [row[name] for name in header]

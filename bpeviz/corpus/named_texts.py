"""Texts with names, to compare: files, tables, and pasted texts.

A table has one text per column, or a column of labels and one of text. Then the lines of a label
are one text. A column is recognized as labels by its name (`LABELS`), beside one other column or
one named “text”. In a table of two columns, so is one with few short values that repeat.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf

import regex

from bpeviz import limits
from bpeviz.cached_property import cached_property
from bpeviz.corpus.files import CorpusError, named
from bpeviz.text import counted, listed, split_lines, visible

TABLES = (".csv", ".jsonl")
"""The endings of the names of tables."""

Texts = dict[str, str | Sequence[str]]
"""Texts by name, each as a string or as its lines."""

Columns = list[tuple[str, Sequence[str]]]
"""The names and the lines of the columns of a table."""

LABELS = ("label", "lang", "language", "locale", "class", "category")
"""The names of columns of labels."""

_TEXT = "text"
"""The name of a column of text."""

csv.field_size_limit(2**31 - 1)  # a cell may be a whole document

_LONGEST_LABEL = 40
_UNLABELED = "no label"

_NAME = regex.compile(r"^#[ \t]+(\S.*)$", regex.MULTILINE)


def is_table(path: str) -> bool:
    """Return whether a file is a table, from the ending of its name."""
    return path.lower().endswith(TABLES)


@dataclass(frozen=True)
class Table:
    """The columns of a table.

    Attributes:
        path: The path of its file.
        columns: The columns.
        label: The name of the column of labels, or "" for one text per column.
        size: The size of its file in bytes.
    """

    path: str
    columns: Columns
    label: str
    size: int

    @cached_property
    def texts(self) -> Columns:
        """The texts with their names."""
        if not self.label:
            return self.columns
        labels = next(lines for name, lines in self.columns if name == self.label)
        return [*by_label(zip(labels, self._text[1], strict=True)).items()]

    @property
    def _text(self) -> tuple[str, Sequence[str]]:
        """The column named “text”, or else the one with the most characters beside the labels."""
        others = [one for one in self.columns if one[0] != self.label]
        return max(others, key=lambda one: (_is_text(one[0]), sum(map(len, one[1]))))

    @property
    def about(self) -> str:
        """How the table was understood, as a sentence."""
        if not self.label:
            return f"{named(self.path)}: {counted(len(self.columns), 'text')}, one per column."
        text, _ = self._text
        labels = counted(len(self.texts), "label")
        left_out = [name for name, _ in self.columns if name not in (self.label, text)]
        rest = f" Not compared: {listed(left_out, 5)}." if left_out else ""
        return (
            f"{named(self.path)}: the lines of “{text}”, grouped by the {labels} of "
            f"“{self.label}”.{rest}"
        )


def by_label(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the lines of each label, from pairs of a label and a line.

    >>> by_label([("en", "the river"), ("es", "el río"), ("en", "the sea"), ("", "low")])
    {'en': ['the river', 'the sea'], 'es': ['el río'], 'no label': ['low']}
    """
    grouped: dict[str, list[str]] = {}
    title = cache(lambda label: visible(label.strip()) or _UNLABELED)  # labels are few, lines many
    for label, line in pairs:
        grouped.setdefault(title(label), []).append(line)
    return grouped


def read_table(path: str, text: str, label: str | None = None) -> Table:
    """Return the table in a file.

    Args:
        path: Its path.
        text: Its content.
        label: The name of the column of labels, "" for none, or None to recognize it.

    Raises:
        CorpusError: The table is not valid, or does not have the column beside another one.
    """
    columns = _columns(path, text)
    names = [name for name, _ in columns]
    if label is None:
        label = _label_column(columns)
    if label and label not in names:
        raise CorpusError(
            f"{named(path)} has no column {visible(label)}. Its columns are {listed(names, 8)}."
        )
    if label and len(names) < 2:
        raise CorpusError(f"{named(path)} has no column of text beside {visible(label)}.")
    return Table(path, columns, label, len(text.encode()))


def _label_column(columns: Columns) -> str:
    """Return the name of the column of labels, or "" if the columns are texts."""
    has_text = any(_is_text(name) for name, _ in columns)
    for name, lines in columns:
        is_labels = name.lower() in LABELS and max(map(len, lines), default=0) <= _LONGEST_LABEL
        if is_labels and lines and (len(columns) == 2 or has_text):
            return name
    if len(columns) != 2:
        return ""
    distinct = [len({*lines}) for _, lines in columns]
    for (name, lines), own, other in zip(columns, distinct, reversed(distinct), strict=True):
        is_few = 2 * own <= len(lines) and own < other and own <= limits.COMPARED_TEXTS
        if is_few and max(map(len, lines)) <= _LONGEST_LABEL:
            return name
    return ""


def _is_text(name: str) -> bool:
    return name.lower() == _TEXT


def collect(found: Iterable[tuple[str, str | Table]], rename: str, *, most: float = inf) -> Texts:
    """Return texts by name. Texts of two tables with one name get that of their table before it.

    Args:
        found: The name and the text of each, or "" and a table.
        rename: How to name texts, as a sentence.
        most: The most megabytes of all texts together.

    Raises:
        CorpusError: A name occurs twice, or the texts are too many or too large.
    """
    found = [*found]
    contents = [content for _, content in found]
    sizes = [len(one.encode()) if isinstance(one, str) else one.size for one in contents]
    if sum(sizes) > most * 1_000_000:
        raise CorpusError(
            f"The texts have more than {most} MB together. Compare fewer or shorter ones; the "
            "command line has no such limit."
        )
    tables = [one for one in contents if isinstance(one, Table)]
    times = Counter(title for table in tables for title, _ in table.texts)
    texts: Texts = {}
    for name, content in found:
        pairs = [(name, content)] if isinstance(content, str) else content.texts
        for title, text in pairs:
            if isinstance(content, Table) and times[title] > 1:
                title = f"{named(content.path)}: {title}"
            if title in texts:
                raise CorpusError(f"Two texts are named {title}. {rename}")
            texts[title] = text
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
    ((title, times),) = Counter(header).most_common(1)
    if times > 1:
        raise CorpusError(f"{named(path)} has {times} columns named {visible(title)}.")
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
        if not isinstance(row, dict) or any(isinstance(one, list | dict) for one in row.values()):
            raise CorpusError(f'{place} is not an object of texts, such as {{"en": "a text"}}.')
        if not header:
            header = [*row]
            yield number, header
        if {*row} != {*header}:
            raise CorpusError(f"{place} has other keys than the first line.")
        yield number, [_cell(row[name]) for name in header]


def _cell(value: object) -> str:
    """Return a value of JSON as text; a label may be a number."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)

"""Tables: which of their columns are texts, and which one contains labels.

A column is text if most of its values are running text, and most are distinct. Without another
choice, the one with the most characters is the text of the table. Each of its cells is a document,
and they are grouped by the column of labels, if there is one. Columns of text whose headings are
languages (`languages.txt`) are translations: their documents correspond. Numbers of rows do not
tell translations apart.

In JSON, a column of `{"messages": [{"role": "user", "content": "Hi"}]}` contains conversations.
Each message is a document, with its role as the label. The keys may be `from` and `value`.

A list of objects or of texts in JSON is a table, too, whatever its line ends.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

import regex

from bpeviz import limits
from bpeviz.cached_property import cached_property
from bpeviz.corpus.documents import Documents
from bpeviz.corpus.files import CorpusError, named
from bpeviz.text import clean, counted, listed, split_lines, visible

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
"""The endings of the names of tables."""

Columns = dict[str, list[str]]
"""The cells of columns by name."""

LABELS = ("language", "lang", "locale", "label", "class", "category")
"""The names of columns of labels, the preferred ones first."""

_TEXT = "text"
"""The name of a column that is preferred to longer ones."""

csv.field_size_limit(2**31 - 1)  # a cell may be a whole document

_DELIMITERS = ",;\t|"
_STATED = regex.compile(r'"?sep=([^"\r\n])"?\r?\n', regex.IGNORECASE)
"""A first line that states the separator."""

_LONGEST_LABEL = 40
_MOST_COLUMNS = 1_000
_SAMPLE = 2_000
"""The number of values that show what a column contains."""

_RUNNING = regex.compile(
    r"\p{L}\P{Z}*[\p{Z}\s]+.*?\p{L}|.{21}"
    r"|[\p{Han}\p{Hiragana}\p{Katakana}\p{Tibetan}\p{Line_Break=SA}]{4}",
    regex.DOTALL,
)
"""Two words, more than 20 characters, or some of a script without spaces."""

_DIGIT = regex.compile(r"\p{N}")
_NUMBER = regex.compile(r"[+-]?\p{N}+")
_DATE = regex.compile(
    r"(?:[^\p{L}]|(?<!\p{L})(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu"
    r"|fri|sat|sun)[a-z]*|[ap]m|utc|gmt|t|z)(?!\p{L})|[年月日])+",
    regex.IGNORECASE,
)
"""Dates, times, numbers, and signs without letters."""

_ID = regex.compile(
    r"(?=[!-~]*[0-9_@/:#=&%+\\~$^*|<>{}\[\]])[!-~]+|[!-~]{41,}|\S+://\S*|(?s:<[A-Za-z!?].*>)"
)
"""Identifiers, addresses, paths, and markup."""


_LIST = regex.compile(r'\s*\[\s*[{"]')
"""The beginning of a list of objects or of texts in JSON."""

_LINES = regex.compile(r"\s*+\{[^\r\n]*\}[ \t]*+[\r\n]\s*+\{")
"""The beginning of a list of objects with one in each line."""


def ending(path: str) -> str:
    """Return the ending of the name of a file, without that of a compression.

    >>> ending("chats.JSONL.gz"), ending("a.txt.zst"), ending("low")
    ('.jsonl', '.txt', '')
    """
    path = path.lower().removesuffix(".gz").removesuffix(".zst")
    return PurePath(path).suffix


def is_table(path: str, content: str) -> bool:
    """Return whether a file is a table, from the ending of its name, and of JSON its beginning."""
    kind = ending(path)
    is_list = _LIST.match(content) or _LINES.match(content, endpos=1_000_000)
    return kind in TABLES or (kind == ".json" and is_list is not None)


@dataclass(frozen=True)
class TextTable:
    """The columns of a table.

    Attributes:
        path: The path of its file.
        columns: The columns that can be chosen.
        text: The names of the columns of text, one or more.
        label: The name of the column of labels, or "" for none.
        nested: The names of columns of lists and objects.
        is_parallel: Whether the columns of text are translations.
        size: The size of its file in bytes.
        numbers: The number of the row or the conversation of each cell, from 1.
        raw: The values of all columns by name, if there is a column of conversations, which is
            named `messages`.
        is_whole: Whether it is the whole file, in JSON that is not a table.
        calls: Which tool calls are left out, in words, or "".
    """

    path: str
    columns: Columns
    text: Sequence[str]
    label: str
    nested: Sequence[str]
    is_parallel: bool
    size: int
    numbers: Sequence[int] = ()
    raw: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    messages: str = ""
    is_whole: bool = False
    calls: str = ""

    @property
    def conversations(self) -> Iterator[tuple[int, str]]:
        """The number and the JSON of each conversation, or of each cell of the first column."""
        if not self.messages:
            yield from zip(self.numbers, self.columns[self.text[0]], strict=True)
            return
        for i, messages in enumerate(self.raw[self.messages]):
            others = {name: cells[i] for name, cells in self.raw.items() if cells[i] is not None}
            yield i + 1, json.dumps(others | {"messages": messages}) if messages else ""

    @cached_property
    def texts(self) -> dict[str, Documents]:
        """The documents by name, grouped by labels."""
        return self._labeled.groups if self.label else self.ungrouped

    @property
    def ungrouped(self) -> dict[str, Documents]:
        """The documents of each column of text. Those of several columns correspond.

        A blank cell contains nothing. If it is the only text of its row, it is no document.
        """
        if self.label:
            return {self.text[0]: Documents(self._labeled.texts)}
        several = len(self.text) > 1
        return {
            name: Documents.of(cell for cell in self.columns[name] if several or cell.strip())
            for name in self.text
        }

    @property
    def documents(self) -> Documents:
        """All documents in the order of the table, labeled by labels, or by several columns."""
        if self.label:
            return self._labeled
        pairs = [(text, name) for name, of in self.ungrouped.items() for text in of.texts]
        labels = tuple(name for _, name in pairs) if len(self.text) > 1 else ()
        return Documents(tuple(text for text, _ in pairs), labels)

    @cached_property
    def _labeled(self) -> Documents:
        """The documents of the column of text, with their labels."""
        cells = zip(self.columns[self.text[0]], self.columns[self.label], strict=True)
        pairs = [pair for pair in cells if pair[0].strip()]
        return Documents(tuple(text for text, _ in pairs), tuple(label for _, label in pairs))

    def about(self, *, grouped: bool = True) -> str:
        """Return how the table was understood, as a sentence. grouped: whether by labels."""
        if self.is_whole:
            return f"{named(self.path)}: one text, as it is no JSON list of objects or of texts."
        documents = self.ungrouped
        rows = counted(max(map(len, documents.values())), "row")
        texts = f"{rows} of “{self.text[0]}”, each encoded alone"
        if len(self.text) > 1:
            kind = "parallel text" if self.is_parallel else "text"
            texts = f"{counted(len(self.text), kind)}, one per column: {listed(self.text, 8)}"
            texts += f"; {rows}, each encoded alone"
        label = self.label if grouped else ""
        if label:
            texts += f", grouped by the {counted(len(self.texts), 'label')} of “{label}”"
        others = [name for name in self.columns if name not in (*self.text, label)]
        others += [*self.nested, *filter(None, [self.calls])]
        rest = f" Not used: {listed(others, 5)}." if others else ""
        return f"{named(self.path)}: {texts}.{rest}"


def read_table(
    path: str, content: str, label: str | None = None, text: Sequence[str] = ()
) -> TextTable:
    """Return the table in a file.

    Args:
        path: Its path.
        content: Its content; for Parquet, its rows in JSON (`parquet.rows`).
        label: The name of the column of labels, "" for none, or None to recognize it.
        text: The names of the columns of text, or none to recognize them.

    Raises:
        CorpusError: The table is not valid, or does not have these columns.
    """
    values = _values(path, content)
    if not any(values.values()):
        raise CorpusError(f"{named(path)} has no rows below its headings.")
    is_whole = values == {_TEXT: [content]}
    raw: Mapping[str, Sequence[Any]] = {}
    messages = next((name for name, cells in values.items() if _are_conversations(cells)), "")
    numbers: Sequence[int] = range(1, len(next(iter(values.values()))) + 1)
    if messages and (not text or messages in text):
        raw = values
        numbers = [i for i, cell in enumerate(values[messages], 1) for _ in cell or ()]
        values, role = _with_roles(values, messages)
        label, text = role if label is None else label, text or [messages]
    nested = [name for name in values if any(isinstance(v, list | dict) for v in values[name])]
    written = [message for cell in raw.get(messages, ()) for message in cell or ()]
    calls = sum(any(map(message.get, ("tool_calls", "function_call"))) for message in written)
    columns = {name: [*map(_cell, values[name])] for name in values if name not in nested}
    if not columns:
        raise CorpusError(f"{named(path)} has only lists and objects: {listed(nested, 8)}.")
    for name in filter(None, (*text, label)):
        if name not in columns:
            known = f"Its columns are {listed([*columns], 8)}."
            raise CorpusError(f"{named(path)} has no column {visible(name)}. {known}")
    if label and len(text) > 1:
        raise CorpusError(f"{named(path)}: choose one column of text beside {visible(label)}.")
    text = text or _texts(columns, label)
    if label in text:
        raise CorpusError(f"{named(path)} has no column of text beside {visible(str(label))}.")
    if label is None:
        label = _label(columns, text[0]) if len(text) == 1 else ""
    running = [name for name in text if _is_running(columns[name])]
    size = len(content.encode(errors="replace"))
    is_parallel = are_translations(running)
    omitted_calls = f"the tool calls of {counted(calls, 'message')}" if calls else ""
    how = (is_parallel, size, numbers, raw, messages if raw else "", is_whole, omitted_calls)
    return TextTable(path, columns, text, label, nested, *how)


def as_table(path: str, documents: Documents) -> str:
    """Return the content of a table of this name with documents and their labels."""
    labels = documents.labels or [""] * len(documents)
    rows = [*zip(documents.texts, labels, strict=True)]
    if ending(path) not in (".csv", ".tsv"):
        names = (_TEXT, "label")[: 1 + bool(documents.labels)]
        lines = [dict(zip(names, row, strict=False)) for row in rows]
        return json.dumps(lines, ensure_ascii=False)
    file = io.StringIO(newline="")
    file.write("sep=,\n")
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerows(row[: 1 + bool(documents.labels)] for row in [(_TEXT, "label"), *rows])
    return file.getvalue()


# ---- the kinds of columns


@cache
def _languages() -> dict[str, str]:
    """Return the codes of languages by their names and codes."""
    names = Path(__file__).with_name("languages.txt").read_text(encoding="utf-8").casefold()
    lines = (line.split(", ") for line in names.splitlines())
    return {name: code for code, *others in lines for name in (code, *others)}


def language_of(heading: str) -> str:
    """Return the code of the language that a heading names, or "".

    >>> [language_of(heading) for heading in ("English", "pt-BR", "eng_Latn", "id", "message")]
    ['en', 'pt', 'en', 'id', '']
    """
    name = heading.strip().casefold()
    if regex.fullmatch("[a-z]{2,3}([-_]([a-z]{2}|[a-z]{4}|[0-9]{3}))+", name):
        name = regex.split("[-_]", name)[0]  # the tag of a language with a script or region
    return _languages().get(name, "")


def are_translations(headings: Iterable[str]) -> bool:
    """Return whether headings are at least two languages, and nothing else."""
    codes = {*map(language_of, headings)}
    return len(codes) > 1 and "" not in codes


def _texts(columns: Columns, label: str | None) -> Sequence[str]:
    """Return the names of the columns of text. label: that of labels, if it is known."""
    names = [name for name in columns if name != label] or [*columns]
    likely = [name for name in names if not _most(columns[name], _is_plain)]
    running = [name for name in likely if _is_running(columns[name])]
    languages = [name for name in likely if language_of(name)]
    of_languages = [name for name in running if name in languages]
    is_alone = len(of_languages) == len(running)
    if not label and are_translations(languages if is_alone else of_languages):
        return languages
    likely = [name for name in likely if name.lower() not in LABELS]
    preferred = running + [name for name in likely if name.lower() == _TEXT]

    def rank(name: str) -> tuple[bool, int]:
        return name.lower() == _TEXT, sum(map(len, columns[name]))

    return [max(preferred or likely or names, key=rank)]


def _label(columns: Columns, text: str) -> str:
    """Return the name of the column of labels beside a column of text, or ""."""
    ranks: dict[str, tuple[int, ...]] = {}
    for name, lines in columns.items():
        rows = [line.strip() for line in lines if line.strip()]
        labels = {*rows}
        is_short = 0 < max(map(len, labels), default=0) <= _LONGEST_LABEL
        if name == text or not is_short or len(labels) > limits.COMPARED_TEXTS:
            continue
        are_numbers = all(map(_NUMBER.fullmatch, labels))
        is_date = not are_numbers and any(map(_DATE.fullmatch, labels))
        if name.lower() in LABELS:
            ranks[name] = (0, LABELS.index(name.lower()))
        elif 1 < len(labels) <= len(rows) // 2 and not is_date:
            ranks[name] = (1, not all(map(language_of, labels)), are_numbers, len(labels))
    return min(ranks, key=ranks.__getitem__, default="")


def _most(lines: Iterable[str], test: Callable[[str], object]) -> bool:
    """Return whether most of the first values are so, blank ones aside."""
    sample = [*islice((line.strip() for line in lines if line.strip()), _SAMPLE)]
    return 2 * sum(map(bool, map(test, sample))) > len(sample)


def _is_plain(line: str) -> bool:
    """Return whether a value is a number, a date, an identifier or an address."""
    return bool(_DATE.fullmatch(line) or _ID.fullmatch(line))


def _is_running(lines: Sequence[str]) -> bool:
    """Return whether most values are running text, and most are distinct."""
    is_distinct = 2 * len({line for line in lines if line.strip()}) > len(lines)
    return is_distinct and not _most(lines, _is_plain) and _most(lines, _RUNNING.search)


# ---- conversations


def _are_conversations(cells: Sequence[Any]) -> bool:
    given = [cell for cell in cells if cell is not None]
    messages = [message for cell in given if isinstance(cell, list) for message in cell]
    return (
        bool(messages)
        and all(isinstance(cell, list) for cell in given)
        and all(isinstance(message, dict) for message in messages)
        and all(isinstance(_role(message), str) for message in messages)
    )


def _role(message: dict[str, Any]) -> Any:
    return message.get("role", message.get("from"))


def _with_roles(values: dict[str, list[Any]], name: str) -> tuple[dict[str, list[Any]], str]:
    """Return columns with a row for each message of a column, and the name of that of roles."""
    rows = [(i, message) for i, cell in enumerate(values[name]) for message in cell or ()]
    role = "role" if "role" not in values else f"role in {name}"
    contents = [_content(message.get("content", message.get("value"))) for _, message in rows]
    columns = {other: [cells[i] for i, _ in rows] for other, cells in values.items()}
    return columns | {name: contents, role: [_role(message) for _, message in rows]}, role


def _content(content: Any) -> str:
    """Return the text of a message, whose content may be a list of parts."""
    parts = content if isinstance(content, list) else [{_TEXT: content}]
    texts = [part.get(_TEXT) for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


# ---- formats


def _values(path: str, text: str) -> dict[str, list[Any]]:
    """Return the values of the columns of a table. Raises `CorpusError`."""
    kind = ending(path)
    is_json = kind not in TABLES and (_LIST.match(text) or text.lstrip().startswith("{"))
    if is_json or kind in (".jsonl", ".ndjson", ".parquet"):
        return _json_values(path, text)
    if kind == ".tsv" and any(line.count('"') % 2 for line in split_lines(text)):
        with suppress(CorpusError):  # quotes are plain signs, or enclose cells of several lines
            return _csv_values(path, _csv_rows(path, text, csv.QUOTE_NONE))
    return _csv_values(path, _csv_rows(path, text))


def _csv_values(path: str, rows: Iterator[tuple[int, list[str]]]) -> dict[str, list[Any]]:
    """Return the cells by column; the first row has headings, unless it has numbers."""
    _, first = next(rows, (0, []))
    if not first:
        raise CorpusError(f"{named(path)} is empty.")
    header = _titles(path, [name or f"column {i}" for i, name in enumerate(first, 1)])

    def is_number(cell: str) -> bool:
        return bool(_DATE.fullmatch(cell) and _DIGIT.search(cell))

    lines: list[list[str]] = []
    for number, row in rows:
        if len(row) != len(header):
            columns = f"{counted(len(row), 'column')} instead of {len(header):,}"
            how = "A first line such as sep=; names the separator. Named .txt, it is one text."
            raise CorpusError(f"{named(path)}, line {number:,}: {columns}. {how}")
        lines.append(row)
    for i, name in enumerate(header):
        if is_number(name) and _most((row[i] for row in lines), is_number):  # without headings
            lines.insert(0, first)
            header = [f"column {j}" for j in range(1, len(header) + 1)]
            break
    return {name: [row[i] for row in lines] for i, name in enumerate(header)}


def _titles(path: str, names: Sequence[str]) -> list[str]:
    """Return the titles of columns. Raises `CorpusError` if two are the same."""
    titles = [*map(visible, names)]
    title, times = Counter(titles).most_common(1)[0]
    if times > 1:
        raise CorpusError(f"{named(path)} has {times} columns named {title}.")
    return titles


def _csv_rows(
    path: str, text: str, quoting: Any = csv.QUOTE_MINIMAL
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each row; blank lines are not rows."""
    stated = _STATED.match(text)
    delimiter = "\t" if ending(path) == ".tsv" else ""
    if stated is not None:  # as Excel writes and reads it
        delimiter, text = stated[1], text[stated.end() :]
    skipped = int(stated is not None)
    delimiter = delimiter or _delimiter(text)
    how = {"delimiter": delimiter, "quoting": quoting, "strict": True}  # no quote is lost
    reader = csv.reader(io.StringIO(text, newline=""), **how)
    try:
        for row in reader:
            if row:
                yield reader.line_num + skipped, row
    except csv.Error as error:
        number = reader.line_num + skipped
        raise CorpusError(f"{named(path)}, line {number:,}: {error}.") from None


def _delimiter(text: str) -> str:
    """Return the separator outside quotes that gives all rows the same number of cells.

    Among several, or if there is none, it is the one that gives the first row the most cells.
    """
    ranks: dict[str, tuple[bool, int]] = {}
    for delimiter in _DELIMITERS:
        sizes = [0]
        with suppress(csv.Error):
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            sizes = [len(row) for row in islice(filter(None, rows), _SAMPLE)] or sizes
        ranks[delimiter] = (len({*sizes}) == 1 and sizes[0] > 1, sizes[0])
    return max(_DELIMITERS, key=ranks.__getitem__)


def _json_values(path: str, text: str) -> dict[str, list[Any]]:
    """Return the values of all keys of the objects, None where one lacks a key."""
    rows: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    for place, row in _json_rows(path, text):
        if not isinstance(row, dict):
            raise CorpusError(f'{place} is not an object of texts, such as {{"en": "a text"}}.')
        rows.append(row)
        names |= dict.fromkeys(row)
        if len(names) > _MOST_COLUMNS:
            raise CorpusError(f"{named(path)} has more than {_MOST_COLUMNS:,} columns.")
    if not names:
        raise CorpusError(f"{named(path)} has no rows with texts.")
    titles = _titles(path, [clean(name) or "no name" for name in names])
    return {
        title: [row.get(name) for row in rows] for name, title in zip(names, titles, strict=True)
    }


def _json_rows(path: str, text: str) -> Iterator[tuple[str, Any]]:
    """Yield the places and values of the rows of a list, or of the lines.

    A list of anything else in a .json file is a single row.
    """
    if _LIST.match(text):
        rows = _parsed(named(path), text)
        if isinstance(rows, list) and {*map(type, rows)} in ({str}, {dict}):
            yield from ((path, row if isinstance(row, dict) else {_TEXT: row}) for row in rows)
            return
        if ending(path) not in TABLES:
            yield path, {_TEXT: text}
            return
    for number, line in enumerate(split_lines(text), 1):
        if line.strip():
            place = f"{named(path)}, line {number:,}"
            if (row := _parsed(place, line)) is None:
                raise CorpusError(f"{place} is not JSON.")
            yield place, row


def _parsed(place: str, text: str) -> Any:
    """Return a value of JSON, or None. Raises `CorpusError` for a key that occurs twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            key, times = Counter(key for key, _ in pairs).most_common(1)[0]
            raise CorpusError(f"{place}: an object has {times} values of {visible(key)}.")
        return values

    try:
        return json.loads(text, object_pairs_hook=unique)
    except CorpusError:
        raise
    except (ValueError, RecursionError):
        return None


def _cell(value: object) -> str:
    """Return a value of JSON as text; a label may be a number."""
    if isinstance(value, str):
        return clean(value)
    return "" if value is None else str(value) if type(value) is int else json.dumps(value)

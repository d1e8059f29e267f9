"""The text of a page: typed, a sample, or a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pickle import PickleBuffer
from types import MappingProxyType
from typing import Any, Generic, NamedTuple

import streamlit as st

from bpeviz import limits
from bpeviz.corpus import files as corpus_files
from bpeviz.corpus import parquet, samples, tables
from bpeviz.corpus.documents import Documents, beginning, characters_in
from bpeviz.corpus.files import LONGER, CorpusError, named
from bpeviz.jobs import files
from bpeviz.text import clean, counted, listed, shorten, visible
from bpeviz.ui import components, markdown
from bpeviz.ui.inputs.token_count import token_count
from bpeviz.ui.runtime import long_texts, page_change, uploads
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.widgets import OneOf, SessionValue, SessionValues, TextField, V, Values, Widget
from bpeviz.views.control_payloads import Messages, TextBox

EDITABLE = 100_000
"""The most characters of a file that are put into the text box; of a longer one the page shows
only the name."""

_SEVERAL, _WHOLE = "(all columns of text)", "(the file as it is)"
"""Choices beside the columns of a table."""

_FILES = (
    f"UTF-8 text or table, up to {limits.TEXT:,} characters; longer ones by "
    "“python -m bpeviz train”"
)
"""The files that can be opened."""

OWN_TEXT = "own"
"""The key of the user's own text among the samples."""

THIS_TEXT, LANGUAGES = "this", "languages"
"""The keys of texts to train on beside samples: the text of the page, and all languages."""


SESSION: SessionValue[long_texts.Inbox] = SessionValue("session")
"""The inbox of long texts. A browser that sees another one's token sends its text again."""


@dataclass(frozen=True, kw_only=True)
class SampleChoice(OneOf):
    """The sample of a `TextSource`. A link contains neither the sample nor an open file."""

    source: TextSource

    def for_link(self) -> tuple[str | None, str | None]:
        if self.source.file.present:
            return None, self.source.described()
        return super().for_link()

    def restore(self, value: str) -> None:
        if value != OWN_TEXT:  # the text itself follows, unless it was too long for the link
            self.source.put(value)


class Rows(NamedTuple):
    """The rows of an opened table, each a text of its own.

    Attributes:
        name: The name of the file.
        column: The column of text, or the columns.
        documents: The rows.
    """

    name: str
    column: str
    documents: Documents

    @classmethod
    def of(cls, table: tables.TextTable) -> Rows:
        """Return the rows of a table, in its order, labeled by its labels or columns."""
        column = f"“{table.text[0]}”" if len(table.text) == 1 else listed(table.text, 3)
        column += f" without {table.calls}" if table.calls else ""
        return cls(table.path, column, table.documents)

    @classmethod
    def unpacked(cls, packed: str) -> Rows:
        """Return the rows in a link. Raises `ValueError`."""
        match json.loads(packed):
            case [str(name), str(column), [*texts], [*labels]] if len(labels) in (0, len(texts)):
                if texts and all(isinstance(text, str) for text in (*texts, *labels)):
                    cells = tuple(map(clean, texts)), tuple(map(clean, labels))
                    return cls(clean(name), clean(column), Documents(*cells))
        raise ValueError("The value does not hold rows of a table.")

    def packed(self) -> str:
        """Return the rows as in a link."""
        values = [self.name, self.column, self.documents.texts, self.documents.labels]
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))

    @property
    def about(self) -> str:
        """The number of rows and their column in words."""
        return f"{counted(len(self.documents), 'row')} of {self.column}, each encoded alone"


@dataclass(frozen=True, kw_only=True)
class TableRows(Widget[str]):
    """The rows of a table in place of the text of a `TextSource`, packed."""

    source: TextSource

    def allows(self, value: Any) -> bool:
        try:
            return isinstance(value, str) and bool(unpacked(value))
        except (ValueError, RecursionError):
            return False

    def described(self) -> str:
        return self.source.described()

    def restore(self, value: str) -> None:
        self.source.put_rows(value)


@dataclass(frozen=True, kw_only=True)
class Box(TextField):
    """The text of a `TextSource`."""

    source: TextSource

    def for_link(self) -> tuple[str | None, str | None]:
        is_replaced = self.source.file.present or self.source.table_rows.present
        return (None, None) if is_replaced else super().for_link()

    def described(self) -> str:
        return self.source.described()

    def restore(self, value: str) -> None:
        self.source.own.put(value)
        self.source.put(OWN_TEXT, value)


class _Of(Generic[V]):
    """A value in the session of a `TextSource`, under the names of the source and of the value."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, source: TextSource, owner: type) -> SessionValue[V]:
        return SessionValue(f"{source.name}_{self._name}")


@dataclass(frozen=True)
class TextSource:
    """A text box with samples and files to choose from: its values in the session.

    The values are the session's own, not those of Streamlit widgets: the component `text_box` sends
    changes of the user, and changes of the script have versions. With widgets, a browser could
    repeat an old value after the script had replaced it, so that a pasted text was lost.

    Attributes:
        name: Begins their names in links and their keys in the session.
        label: The label.
        first: The key of the first sample.
        others: Titles of texts beside the samples, by key; the box is not drawn for these, nor for
            samples if there are any.
    """

    name: str
    label: str
    first: str
    others: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    version = _Of[int]()
    """The number of the script's last change."""

    answered = _Of[int]()
    """The number of the last change of the user that was used."""

    typed_at = _Of[int]()
    """The version that the user's last text replaced. The browser has it, if it is the last."""

    component = _Of[dict[str, object]]()
    """The state of the component, whose "change" is the user's last one."""

    own = _Of[str]()
    """The text that the user typed last, also while a sample or a file is used."""

    file = _Of[str]()
    """The text of an opened file that is too long for the box."""

    file_name = _Of[str]()
    """The name of that file, or of the table."""

    joined = _Of[int]()
    """The number of the rows of a table that are joined, until the text is edited."""

    boxed_file = _Of[str]()
    """The name of the file whose text is in the box, until that is edited."""

    table = _Of[tuple[str, str]]()
    """The name and the content of the last file that is a table."""

    column = _Of[str]()
    """The column of it that is used, or `_SEVERAL` or `_WHOLE`."""

    is_new = _Of[bool]()
    """Whether the text is newly written or opened, until a player plays it."""

    failed = _Of[str]()
    """Why the last file cannot be used."""

    upload = _Of[Any]()
    """The uploader. Unlike the box it loses its value when the page changes."""

    @property
    def sample(self) -> SampleChoice:
        """The sample chosen."""
        titles = {**self.others} | {sample.key: sample.title for sample in samples.SAMPLES}
        titles[OWN_TEXT] = "Another text, or a file" if self.others else "Your own text"
        return SampleChoice(f"{self.name}_sample", self.label, titles=titles, source=self)

    @property
    def box(self) -> Box:
        """The text in the box."""
        label = f"Text to {'train on' if self.others else 'use'}"
        return Box(f"{self.name}_box", label, longest=limits.PAGE_TEXT, source=self)

    @property
    def table_rows(self) -> TableRows:
        """The rows of an opened table, which take the place of the text."""
        return TableRows(f"{self.name}_rows", self.label, source=self)

    @property
    def rows(self) -> Rows | None:
        """The same, or None without a table."""
        packed = self.table_rows.get()
        return None if packed is None else unpacked(packed)

    @property
    def has_box(self) -> bool:
        """Whether the box, or the file in its place, is drawn."""
        return not self.others or self.file.present or self.sample.get() == OWN_TEXT

    def widgets(self, values: Values) -> Iterator[Widget[Any]]:
        """Yield the widgets whose values a link contains: the sample's name, or the text."""
        yield self.sample
        if values.get(self.sample) == OWN_TEXT:
            yield self.box
        yield self.table_rows

    def forget_file(self, *, is_boxed: bool = False) -> None:
        """Remove the file, so that the box is used. is_boxed: whether its text stays in the box."""
        for value in (self.file, self.file_name, self.failed, self.table_rows):
            value.clear()
        if not is_boxed:
            self.boxed_file.clear()
            self.joined.clear()

    def put_rows(self, packed: str) -> None:
        """Set the rows of a table in place of any other text; the box keeps the user's own."""
        self.put(OWN_TEXT, self.own.get() or "")
        self.table_rows.put(packed)
        self.file_name.put(unpacked(packed).name)

    def join_rows(self) -> None:
        """Join the rows of the table with a line end between two, to edit them as a text."""
        if rows := self.rows:
            self._put_file(rows.name, rows.documents.as_text)
            self.joined.put(len(rows.documents))

    def _put_file(self, name: str, text: str) -> None:
        """Put the text of a file into the box, or in its place if it is long."""
        if len(text) <= EDITABLE:
            self.put(OWN_TEXT, text)
            self.boxed_file.put(name)
        else:
            self.forget_file()
            self.file.put(text)
            self.file_name.put(name)
            self.send_again()

    def open_file(self, name: str, content: str, column: str | None = None) -> None:
        """Use a file in place of any other text, or store why it cannot be used.

        Args:
            name: Its name.
            content: Its text.
            column: The column of a table, `_SEVERAL`, `_WHOLE`, or None to recognize it.

        Raises:
            CorpusError: The table is not valid.
        """
        packed, table = "", None
        if tables.is_table(name, content) and column != _WHOLE:
            chosen = (column,) if column and column != _SEVERAL else ()
            table = read_table(name, content, None, chosen)
            packed = Rows.of(table).packed()
            column = table.text[0] if len(table.text) == 1 else _SEVERAL
            table = None if table.is_whole else table
        if refusal := uploads.refusal(sys.getsizeof(content) + sys.getsizeof(packed)):
            self.failed.put(refusal)
            return
        if table is None:
            self._put_file(name, content)
        else:
            self.put_rows(packed)
        if column and (table is not None or column == _WHOLE):
            self.table.put((name, content))
            self.column.put(column)

    def put(self, sample: str, own: str = "") -> None:
        """Set the sample, or the user's own text, in place of any other text."""
        self.forget_file()
        self.sample.put(sample)
        if sample not in (OWN_TEXT, *self.others):
            own = samples.by_key(sample).text
        self.box.put(own)
        self.send_again()

    def send_again(self) -> None:
        """Replace the text in the browser by the session's text."""
        self.version.put((self.version.get() or 0) + 1)

    def take(self, change: Any) -> bool:
        """Use a change that the browser sent, unless it was used before; return whether it is new.

        Args:
            change: {"number", "sample": its key, "text"}, or anything else that a browser may send.
                With "isNew", the text replaces another one, and plays. With "isOwn" in place of
                the text, the user's own text is used again. With "isUploaded" in place of the
                text, the text was sent by itself. Without a text, the browser asks for it.
        """
        match change:
            case {"number": int(number), "sample": str(sample)}:
                if number <= (self.answered.get() or 0) or sample not in self.sample.titles:
                    return False
            case _:
                return False
        match change:
            case {"joins": True}:
                self.answered.put(number)
                self.join_rows()
                return True
            case {"isOwn": True}:
                self.answered.put(number)
                text = self.own.get() if self.own.present else self.box.get()
                self.put(OWN_TEXT, text or "")
                return True
            case {"text": str(text)}:
                pass
            case {"text": None}:
                self.answered.put(number)
                self.send_again()
                return True
            case {"isUploaded": True}:
                uploaded = inbox().take(self.name, number)
                if uploaded is None:
                    return False
                text = uploaded
            case _:
                return False
        self.answered.put(number)
        if sample != OWN_TEXT:
            self.put(sample)
            return True
        self.forget_file(is_boxed=text == self.box.get())
        self.sample.put(OWN_TEXT)
        self.box.put(text)
        self.is_new.put(change.get("isNew") is True)
        if not self.boxed_file.present:
            self.own.put(text)
        self.typed_at.put(self.version.get() or 0)
        return True

    def payload(self, most: int) -> Messages:
        """Return what the browser and the server agree on. most: the most characters of a text."""
        own = inbox()
        is_typed = self.typed_at.get() == self.version.get()
        return {
            "name": self.name,
            "session": own.token,
            "version": self.version.get(),
            "answered": self.answered.get() or 0,
            "sample": self.sample.get(),
            "text": None if is_typed else clean(self.box.get() or ""),
            "file": None,
            "limit": most,
            "address": long_texts.address(own, self.name),
            "longest": long_texts.LONGEST_MESSAGE,
            "own": OWN_TEXT,
        }

    def described(self) -> str:
        """Return the label, the file's name and the length, so that others can find the text."""
        name = self.file_name.get() or self.boxed_file.get()
        length = f"{len(self.file.get() or self.box.get() or ''):,} characters"
        if rows := self.rows:
            length = counted(len(rows.documents), "row")
        return (
            f"{self.label}: {shorten(name, 100)}, {length}" if name else f"{self.label}: {length}"
        )


TEXT = TextSource("text", "Text", "seashells")
"""The text of all pages. The first one is small enough to follow every merge."""

TRAIN_ON = TextSource(
    "trained_on",
    "Train on",
    THIS_TEXT,
    MappingProxyType({THIS_TEXT: "This text", LANGUAGES: f"{len(samples.LANGUAGES)} languages"}),
)
"""The text that the user's own tokenizer is trained on."""


def inbox() -> long_texts.Inbox:
    """Return the inbox of this session."""
    if (own := SESSION.get()) is None:
        SESSION.put(own := long_texts.Inbox())
    return own


def choose_text(
    source: TextSource,
    most: int = limits.PAGE_TEXT,
    replaced: Mapping[str, str] = MappingProxyType({}),
    *,
    count: Callable[[str | Documents], str] = token_count,
) -> str | Documents:
    """Draw a text box with samples and files to choose from.

    Args:
        source: Its widgets.
        most: The most characters that the page uses.
        replaced: The keys of texts that the page lacks, each with the one that it uses instead.
        count: Returns the size of the text in words, or "".

    Returns:
        The text, cleaned and cut after `most` characters, or the rows of a table; empty where a
        message says why it cannot be used.
    """
    if not source.box.present:
        source.put(source.first)

    def take_change() -> None:
        source.take((source.component.get() or {}).get("change"))

    def take_file() -> None:
        # The browser may send the upload again after the page has changed; then nothing is there.
        for name, content in uploads.take(source.upload.key):
            try:
                source.open_file(name, read_file(name, content))
                source.is_new.put(True)
            except CorpusError as error:
                source.failed.put(str(error))

    data = _box_data(source, replaced, count)
    change = components.text_box(data, source.component.key, take_change)
    source.take(change)  # the first run of a session that replaces an earlier one has no callbacks
    if failed := source.failed.get():
        st.error(markdown.escape(failed))
    if source.has_box:  # the component opens it; it is only seen while it works, or has failed
        st.file_uploader(
            _FILES, key=source.upload.key, on_change=take_file, max_upload_size=limits.UPLOAD
        )
    _choose_column(source)
    if joined := source.joined.get():
        st.caption(
            f"The {counted(joined, 'row')} are joined, with a line end between two: this is one "
            "text now, and tokens may cross the line ends."
        )
    name = source.boxed_file.get() or source.file_name.get() or ""
    if tables.ending(name) == ".json" and source.rows is None:
        st.caption(f"{markdown.escape(name)}: one text, with the keys and signs of JSON.")
    text = _whole(SessionValues(), source, replaced)
    size = characters_in(text)
    if size > limits.TEXT:
        st.error(
            f"This text has {size:,} characters; the limit is {limits.TEXT:,}. "
            f"Shorten it, or use a part of it. {LONGER}"
        )
        return ""
    part = beginning(text, most)
    if size > most:
        first = f"{len(part):,} of {len(text):,}"
        unit = "characters" if isinstance(text, str) else "rows"
        st.caption(f"This page uses the first {first} {unit}.")
    return part


def text_of(
    values: Values,
    source: TextSource,
    most: int = limits.PAGE_TEXT,
    replaced: Mapping[str, str] = MappingProxyType({}),
) -> str | Documents:
    """Return the text of a source in the session or in a link, as `choose_text` does."""
    text = _whole(values, source, replaced)
    return "" if characters_in(text) > limits.TEXT else beginning(text, most)


def _whole(values: Values, source: TextSource, replaced: Mapping[str, str]) -> str | Documents:
    """Return the text of a source in its length."""
    if (packed := values.get(source.table_rows)) is not None:
        return unpacked(packed).documents
    own = values.get(source.box)
    sample = values.get(source.sample) or (source.first if own is None else OWN_TEXT)
    if sample == OWN_TEXT and own is None:  # it was too long for the link
        sample = source.first
    sample = replaced.get(sample, sample)
    if file := values.get(source.file):
        return clean(file)
    if sample == LANGUAGES:
        return samples.passages()
    if sample in (OWN_TEXT, *source.others):
        return clean(own or "")
    return samples.by_key(sample).text


def _choose_column(source: TextSource) -> None:
    """Draw the choice of the column of an opened table whose text is used."""
    file, content = source.table.get() or ("", "")
    if not file or file not in (source.file_name.get(), source.boxed_file.get()):
        return
    table = read_table(file, content, None, ())
    several = [_SEVERAL] if len(table.text) > 1 else []
    page_change.set_again(source.column.key)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Column of text", width="content")
        st.selectbox(
            f"Column of text in {markdown.escape(visible(file))}",
            [*several, *table.columns, _WHOLE],
            key=source.column.key,
            label_visibility="collapsed",
            width=220,
            on_change=lambda: source.open_file(file, content, source.column.get()),
        )
    page_change.remember({source.column.key: source.column.get()})


@cached()
def read_table(
    name: str, content: str, label: str | None, columns: tuple[str, ...]
) -> tables.TextTable:
    """Return the table in a file, read in a worker; see `tables.read_table`."""
    return files.read(named(name), CorpusError, tables.read_table, name, content, label, columns)


@cached()
def unpacked(packed: str) -> Rows:
    """Return the rows in a link. Raises `ValueError`."""
    return Rows.unpacked(packed)


def _box_data(
    source: TextSource, replaced: Mapping[str, str], count: Callable[[str | Documents], str]
) -> TextBox:
    """Return the payload of the component (`TextBoxPayload` in its `text_state.js`)."""
    file, rows = source.file.get(), source.rows
    text = file or source.box.get() or ""
    named = None
    if rows is not None:
        named = f"{shorten(visible(rows.name), 40)}: {rows.about}"
    elif file is not None:
        named = f"{shorten(visible(source.file_name.get() or ''), 40)}: {len(file):,} characters"
    return {
        **source.payload(limits.TEXT),
        "file": named,
        "hasRows": rows is not None,
        "count": count(rows.documents if rows else text) if source == TEXT else None,
        "label": source.label,
        "boxLabel": source.box.label,
        "placeholder": "Type or paste text.",
        "help": "The text on which your tokenizer is trained."
        if source.others
        else "Start with a sample, or type or paste your own text into the box below.",
        "fileHelp": _FILES,
        "uploader": source.upload.key,
        "others": [*source.others.items()],
        "samples": [
            (group, [(sample.key, f"{sample.title} · {sample.shows}") for sample in listed])
            for group, listed in samples.GROUPS.items()
        ],
        "ownTitle": source.sample.titles[OWN_TEXT],
        "replaced": dict(replaced),
    }


def read_file(name: str, content: bytes) -> str:
    """Return the text of a file without its byte order mark.

    Raises:
        CorpusError: The file is empty, no UTF-8 text, or too long.
    """
    function = parquet.rows if tables.ending(name) == ".parquet" else corpus_files.text_of
    how = (name, PickleBuffer(content), limits.UPLOAD * 1_000_000)
    text = files.read(name, CorpusError, function, *how)
    if not text:
        raise CorpusError(f"{name} is empty. Open another.")
    if len(text) > limits.TEXT:
        raise CorpusError(
            f"{name} has {len(text):,} characters; the limit is {limits.TEXT:,}. Open a part of "
            f"it. {LONGER}"
        )
    return text


def expand_counts(
    text: str | Documents, counted: bool, most: int, tell: Callable[[str], object]
) -> str | Documents:
    """Return the text to train on: a list of words with counts is written out, but no table.

    Where a line cannot be read, the text is empty, and `tell` is called with the reason.
    """
    if not counted or isinstance(text, Documents):
        return text
    try:
        return samples.written_out(text, most)
    except ValueError as error:
        tell(markdown.escape(str(error)))
        return ""

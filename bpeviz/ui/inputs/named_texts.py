"""Many texts with names: pasted, or from files that are opened together."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import streamlit as st

from bpeviz import limits
from bpeviz.analysis.comparison import parallel_texts
from bpeviz.corpus import named_texts, samples, tables
from bpeviz.corpus.documents import unit_of
from bpeviz.corpus.files import CorpusError
from bpeviz.corpus.named_texts import Texts
from bpeviz.corpus.tables import TextTable
from bpeviz.text import counted, listed, visible
from bpeviz.ui import markdown
from bpeviz.ui.inputs.text import TextSource, read_file, read_table
from bpeviz.ui.runtime import uploads
from bpeviz.ui.widgets import (
    OneOf,
    SessionValue,
    SomeOf,
    Switch,
    TextField,
    Values,
    Widget,
    WidgetFamily,
)

PASTED = TextField("pasted_texts", "Texts. Start each with a line: # name", longest=limits.BOX)
FILES: SessionValue[list[tuple[str, str]]] = SessionValue("named_files")
"""The names and the texts of the opened files."""

_FAILED: SessionValue[list[str]] = SessionValue("named_files_failed")
_UPLOAD: SessionValue[Any] = SessionValue("named_files_upload")
_OPEN: SessionValue[list[str]] = SessionValue("named_files_open")
"""The names of the opened files in the box that closes them."""

_TABLES = 5
"""The most tables with a choice of their columns."""

_MOST = limits.COMPARED_TEXTS

_RENAME = "Give each its own name."
_PLACEHOLDER = "# English\nThe river is wide.\n# Spanish\nEl río es ancho."


class _OfTable(Widget[Any]):
    """A choice of columns of a table. A link has no files, so not this either."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, str | list)

    def for_link(self) -> tuple[None, None]:
        return None, None


class _Text(_OfTable, SomeOf):
    """The columns of text."""


class _Label(_OfTable, OneOf):
    """The column of labels, or ""."""


COLUMNS = WidgetFamily(
    "columns_of_", ".+", lambda name, _: _Text(name, "Columns of text", titles={}, most=_MOST)
)
LABELS = WidgetFamily("labels_of_", ".+", lambda name, _: _Label(name, "Grouped by", titles={}))
TRANSLATIONS = Switch("translations", "These are translations")


def widgets(values: Values) -> Iterator[Widget[Any]]:
    """Yield the widgets whose values belong in links, and the choices for tables."""
    yield PASTED
    yield TRANSLATIONS
    yield from values.members(COLUMNS)
    yield from values.members(LABELS)


def add_table(source: TextSource) -> None:
    """Add the table in place of a text: its file, or its rows, if they are from a link."""
    rows = source.rows
    if rows is None:
        return
    table = source.table.get()
    if table is not None and table[0] == rows.name:
        content = table[1]
    else:
        content = tables.as_table(rows.name, rows.documents)
    FILES.put([*(file for file in FILES.get() or [] if file[0] != rows.name), (rows.name, content)])


def choose_texts() -> tuple[Texts, list[str]]:
    """Draw a box for texts, and a button that opens files.

    Returns:
        The texts by name, an example at first; none where a message says why they cannot be used.
        And the names of those that are translations, by their names or by the user's choice.
    """
    typed = PASTED.area(
        height=220,
        placeholder=_PLACEHOLDER,
        help="Texts named as languages, with the same number of lines or rows, are compared as "
        "translations, one by one.",
    )
    message = st.empty()
    with st.popover("Open files", icon=":material/upload_file:", width="stretch"):
        st.file_uploader(
            "Drop files or a folder: UTF-8 texts; or tables in CSV, TSV, JSONL, NDJSON or Parquet. "
            "Larger ones by “python -m bpeviz compare”",
            accept_multiple_files=True,
            key=_UPLOAD.key,
            on_change=_take_files,
            max_upload_size=limits.UPLOAD,
        )
    if files := FILES.get() or []:
        _OPEN.put([name for name, _ in files])
        st.multiselect(
            counted(len(files), "opened file"),
            [name for name, _ in files],
            format_func=visible,
            key=_OPEN.key,
            on_change=_close_files,
            select_all=False,
        )
    elif not typed.strip():
        st.caption(
            "An example: translations of one passage; not by native speakers.",
            help="Under GPT-2 and cl100k, its tokens relative to English are within 16% of the "
            "ratios that Petrov et al. (2023) measured with professional translations, half of "
            "them within 5%.",
        )
        example = samples.languages()
        st.button("Edit the example", on_click=PASTED.put, args=(example,), type="tertiary")
        typed = example
    failed = _FAILED.get() or []
    opened_tables = [_read_table(*file) for file in files if tables.is_table(*file)]
    for table in opened_tables[:_TABLES]:
        _choose_columns(table)
    texts = [file for file in files if not tables.is_table(*file)]
    in_json = any(tables.ending(name) == ".json" for name, _ in texts)
    if texts and (opened_tables or in_json):  # rows are encoded alone, lines are not
        names = listed([visible(name) for name, _ in texts], 5)
        own = "one text with its line ends" if len(texts) == 1 else "texts with their line ends"
        st.caption(markdown.escape(f"{names}: {own}."))
    try:
        contents: list[tuple[str, str | TextTable]] = [*named_texts.pasted(typed), *texts]
        contents += [("", table) for table in opened_tables]
        named, languages = named_texts.collect(contents, _RENAME, most=limits.COMPARED_SIZE)
        same = parallel_texts(named)[1]
        unit = unit_of(*map(named.__getitem__, same))
        how = f"Compare the texts {unit} by {unit}."
        if {*same} - {*languages} and TRANSLATIONS.toggle(help=how):
            languages = same
        return named, languages
    except CorpusError as error:
        failed = [*failed, str(error)]
        return {}, []
    finally:
        if failed:
            others = [f"And {len(failed) - 5} more."] if len(failed) > 5 else []
            message.error(markdown.escape(" ".join([*failed[:5], *others])))


def _read_table(path: str, text: str) -> TextTable:
    """Return the table in a file, with the columns that the user has chosen."""
    columns = tuple(COLUMNS.member(path).get() or ())
    label = LABELS.member(path).get() if len(columns) < 2 else None
    try:
        return read_table(path, text, None if label in columns else label, columns)
    except CorpusError:  # an earlier file with this name had the columns
        return read_table(path, text, None, ())


def _choose_columns(table: TextTable) -> None:
    """Say how a table was understood, and draw the choice of other columns."""
    st.caption(markdown.escape(table.about()))
    names = {name: name for name in table.columns}
    chosen, text = COLUMNS.member(table.path), [*table.text]
    if chosen.present and chosen.get() != text:
        chosen.put(text)
    chosen.multiselect(names, default=text, select_all=False)
    if len(text) == 1 < len(names):
        titles = {"": "Nothing"} | {name: name for name in names if name not in text}
        LABELS.member(table.path).select(titles, index=[*titles].index(table.label))


def _close_files() -> None:
    """Close the files that were removed from the box."""
    TRANSLATIONS.clear()
    kept = _OPEN.get() or ()
    FILES.put([file for file in FILES.get() or () if file[0] in kept])


def _take_files() -> None:
    """Store the uploaded files, in place of others with their names, or why they are not usable."""
    failed: list[str] = []
    uploaded = _with_own_names(uploads.take(_UPLOAD.key))
    for name, content in uploaded:
        try:
            text = read_file(name, content)
            if tables.is_table(name, text):
                read_table(name, text, None, ())
        except CorpusError as error:
            failed.append(str(error))
            continue
        if refusal := uploads.refusal(sys.getsizeof(text)):
            failed.append(refusal)
            break
        FILES.put([*(file for file in FILES.get() or [] if file[0] != name), (name, text)])
    if uploaded or failed:
        TRANSLATIONS.clear()  # they are others
        _FAILED.put(failed)


def _with_own_names(uploaded: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Return the files in order of their names, without hidden ones of a folder.

    The browser sends no paths. So files of one folder and its subfolders may have the same name,
    and are then numbered.
    """
    contents: dict[str, bytes] = {}
    for name, content in sorted(uploaded):
        if name.startswith(".") and len(uploaded) > 1:
            continue
        stem, dot, ending = name.rpartition(".")
        number, own = 1, name
        while own in contents:
            number += 1
            own = f"{stem} ({number}){dot}{ending}" if stem else f"{name} ({number})"
        contents[own] = content
    return [*contents.items()]

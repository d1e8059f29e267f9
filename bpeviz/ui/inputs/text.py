"""The text of a page: typed, a sample, or a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic

import streamlit as st

from bpeviz import limits
from bpeviz.corpus import samples, tables
from bpeviz.corpus.files import LONGER, CorpusError, is_binary
from bpeviz.libraries import worker
from bpeviz.libraries.pool import File, LibraryError, ask
from bpeviz.text import clean, shorten, visible
from bpeviz.ui import components, markdown
from bpeviz.ui.inputs.token_count import token_count
from bpeviz.ui.opened_tokenizers import opened
from bpeviz.ui.runtime import long_texts, page_change, uploads
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.widgets import OneOf, SessionValue, TextField, V, Values, Widget

EDITABLE = 100_000
"""The most characters of a file that are put into the text box; of a longer one the page shows
only the name."""

_SEVERAL, _WHOLE = "(all columns of text)", "(the file as it is)"
"""Choices beside the columns of a table."""

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


@dataclass(frozen=True, kw_only=True)
class Box(TextField):
    """The text of a `TextSource`."""

    source: TextSource

    def for_link(self) -> tuple[str | None, str | None]:
        return (None, None) if self.source.file.present else super().for_link()

    def described(self) -> str:
        return self.source.described()

    def restore(self, value: str) -> None:
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

    component = _Of[dict[str, Any]]()
    """The state of the component, whose "change" is the user's last one."""

    file = _Of[str]()
    """The text of an opened file that is too long for the box."""

    file_name = _Of[str]()
    """The name of that file."""

    boxed_file = _Of[str]()
    """The name of the file whose text is in the box, until that is edited."""

    table = _Of[tuple[str, str]]()
    """The name and the content of the last file that is a table."""

    column = _Of[str]()
    """The column of it that is used, or `_SEVERAL` or `_WHOLE`."""

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
    def has_box(self) -> bool:
        """Whether the box, or the file in its place, is drawn."""
        return not self.others or self.file.present or self.sample.get() == OWN_TEXT

    def widgets(self, values: Values) -> Iterator[Widget[Any]]:
        """Yield the widgets whose values a link contains: the sample's name, or the text."""
        yield self.sample
        if values.get(self.sample) == OWN_TEXT:
            yield self.box

    def forget_file(self) -> None:
        """Remove the file, so that the box is used."""
        for value in (self.file, self.file_name, self.failed, self.boxed_file):
            value.clear()

    def open_file(self, name: str, content: str, column: str | None = None) -> None:
        """Use a file in place of any other text, or store why it cannot be used.

        Args:
            name: Its name.
            content: Its text.
            column: The column of a table, `_SEVERAL`, `_WHOLE`, or None to recognize it.

        Raises:
            CorpusError: The table is not valid.
        """
        text = content
        if is_table := tables.is_table(name) and column != _WHOLE:
            chosen = [column] if column and column != _SEVERAL else ()
            table = tables.read_table(name, content, "", chosen)
            text = "\n".join(documents.as_text for documents in table.ungrouped.values())
            column = table.text[0] if len(table.text) == 1 else _SEVERAL
        size = sys.getsizeof(content) * is_table + sys.getsizeof(text)
        if len(text) <= EDITABLE:
            self.put(OWN_TEXT, text)
            self.boxed_file.put(name)
        elif refusal := uploads.refusal(size):
            self.failed.put(refusal)
            return
        else:
            self.forget_file()
            self.file.put(text)
            self.file_name.put(name)
        if column:
            self.table.put((name, content))
            self.column.put(column)

    def offer(self, sample: str) -> None:
        """Draw a button that puts a sample where the text of the page shows no difference."""
        st.button(
            "Try a text that differs",
            type="tertiary",
            on_click=self.put,
            args=(sample,),
            key="try_another_text",
        )

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
                With "isUploaded" in place of the text, the text was sent by itself. Without a
                text, the browser asks for it.
        """
        match change:
            case {"number": int(number), "sample": str(sample)}:
                if number <= (self.answered.get() or 0) or sample not in self.sample.titles:
                    return False
            case _:
                return False
        match change:
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
        boxed = self.boxed_file.get() if text == self.box.get() else None
        self.forget_file()
        self.sample.put(OWN_TEXT)
        self.box.put(text)
        self.typed_at.put(self.version.get() or 0)
        if boxed is not None:
            self.boxed_file.put(boxed)
        return True

    def described(self) -> str:
        """Return the label, the file's name and the length, so that others can find the text."""
        name = self.file_name.get() or self.boxed_file.get()
        length = f"{len(self.file.get() or self.box.get() or ''):,} characters"
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
) -> str:
    """Draw a text box with samples and files to choose from.

    Args:
        source: Its widgets.
        most: The most characters that the page uses.
        replaced: The keys of texts that the page lacks, each with the one that it uses instead.

    Returns:
        The text, cleaned and cut after `most` characters; empty where a message says why it cannot
        be used.
    """
    _begin(source)

    def take_change() -> None:
        source.take((source.component.get() or {}).get("change"))

    def take_file() -> None:
        # The browser may send the upload again after the page has changed; then nothing is there.
        try:
            files = uploads.take(source.upload.key)
        except uploads.RefusedUploadError as error:
            source.failed.put(str(error))
            return
        for name, content in files:
            try:
                source.open_file(name, read_file(name, content))
            except (UnreadableFileError, CorpusError) as error:
                source.failed.put(str(error))

    data = _box_data(source) | {"replaced": dict(replaced)}
    change = components.text_box(data, source.component.key, take_change)
    source.take(change)  # the first run of a session that replaces an earlier one has no callbacks
    message = st.empty()  # above the button, since its popover covers what is below
    if source.has_box:
        with (
            nullcontext()
            if source.others
            else st.popover("Open a file", icon=":material/upload_file:", width="stretch")
        ):
            st.file_uploader(
                f"UTF-8 text or table, up to {limits.TEXT:,} characters",
                key=source.upload.key,
                on_change=take_file,
                max_upload_size=limits.UPLOAD,
            )
    _choose_column(source)
    if failed := source.failed.get():
        message.error(markdown.escape(failed))
    return text_of(source, most, replaced)


def _begin(source: TextSource) -> None:
    """Set the first sample, if the session has no text yet."""
    if not source.box.present:
        source.put(source.first)


def text_of(
    source: TextSource,
    most: int = limits.PAGE_TEXT,
    replaced: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the text of a source, which may be folded, as `choose_text` does."""
    _begin(source)
    sample = source.sample.get() or ""
    is_passage = replaced.get(sample, sample) == LANGUAGES
    chosen = source.file.get() or (samples.passages() if is_passage else source.box.get())
    chosen = clean(chosen or "")
    if len(chosen) > limits.TEXT:
        st.error(
            f"This text has {len(chosen):,} characters; the limit is {limits.TEXT:,}. "
            f"Shorten it, or use a part of it. {LONGER}"
        )
        return ""
    if len(chosen) > most:
        st.caption(f"This page uses the first {most:,} of {len(chosen):,} characters.")
    return chosen[:most]


def _choose_column(source: TextSource) -> None:
    """Draw the choice of the column of an opened table whose text is used."""
    file, content = source.table.get() or ("", "")
    if not file or file not in (source.file_name.get(), source.boxed_file.get()):
        return
    table = _table(file, content)
    several = [_SEVERAL] if len(table.text) > 1 else []
    page_change.set_again(source.column.key)
    st.selectbox(
        f"Text in {markdown.escape(visible(file))}, one value a line",
        [*several, *table.columns, _WHOLE],
        key=source.column.key,
        on_change=lambda: source.open_file(file, content, source.column.get()),
    )
    page_change.remember({source.column.key: source.column.get()})


@cached()
def _table(name: str, content: str) -> tables.TextTable:
    return tables.read_table(name, content, "")


def _box_data(source: TextSource) -> dict[str, Any]:
    """Return the payload of the component (`TextBoxPayload` in its `text_state.js`)."""
    own = inbox()
    is_typed = source.typed_at.get() == source.version.get()
    file = source.file.get()
    named = f"{source.file_name.get()}: {len(file):,} characters" if file is not None else None
    return {
        "name": source.name,
        "session": own.token,
        "version": source.version.get(),
        "answered": source.answered.get() or 0,
        "sample": source.sample.get(),
        "text": None if is_typed else clean(source.box.get() or ""),
        "file": named,
        "count": token_count(file or source.box.get() or "") if source == TEXT else None,
        "files": [source.file_name.get()] * (file is not None) + [file.title for file in opened()],
        "limit": limits.TEXT,
        "address": long_texts.address(own, source.name),
        "longest": long_texts.LONGEST_MESSAGE,
        "own": OWN_TEXT,
        "label": source.label,
        "boxLabel": source.box.label,
        "placeholder": "Type or paste text.",
        "help": "The text on which your tokenizer is trained."
        if source.others
        else "Start with a sample, or type or paste your own text into the box below.",
        "others": [*source.others.items()],
        "samples": [
            [group, [[sample.key, f"{sample.title} · {sample.shows}"] for sample in listed]]
            for group, listed in samples.GROUPS.items()
        ],
        "ownTitle": source.sample.titles[OWN_TEXT],
    }


class UnreadableFileError(ValueError):
    """A file is not a text that can be used; the message says why."""


def read_file(name: str, content: bytes) -> str:
    """Return the text of a file without its byte order mark.

    Raises:
        UnreadableFileError: The file is empty, no UTF-8 text, or too long.
    """
    try:
        if name.lower().endswith(".parquet"):
            return ask(File(worker.PARQUET, content), worker.LOAD).decode()
        text = content.decode("utf-8-sig")
    except LibraryError as error:
        raise UnreadableFileError(f"{name} cannot be used: {error}.") from None
    except UnicodeDecodeError as error:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            reason = "it looks like UTF-16"
        else:
            reason = f"byte {error.start + 1:,} is {content[error.start]:02X}"
        raise UnreadableFileError(
            f"{name} is not UTF-8 text: {reason}. Save it as UTF-8 and open it again."
        ) from None
    if not text:
        raise UnreadableFileError(f"{name} is empty. Open another.")
    if is_binary(text):
        raise UnreadableFileError(
            f"{name} contains many zero bytes, so it is not text. Open another."
        )
    if len(text) > limits.TEXT:
        raise UnreadableFileError(
            f"{name} has {len(text):,} characters; the limit is {limits.TEXT:,}. Open a part of "
            f"it. {LONGER}"
        )
    return text


def expand_counts(text: str, counted: bool, most: int) -> str:
    """Return the text to train on: a list of words with counts is written out.

    Where a line cannot be read, a message says which, and the text is empty.
    """
    if not counted:
        return text
    try:
        return samples.written_out(text, most)
    except ValueError as error:
        st.error(markdown.escape(str(error)))
        return ""

"""Export of tokenizers and of the colored text, and import of tokenizers from files.

An opened file stays open for the session, on every page, until it is closed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import regex
import streamlit as st

from bpeviz import formats, limits
from bpeviz.core.boundaries import Boundaries
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FORMATS, READERS, FormatError, archive
from bpeviz.formats.base import MissingFileError, TransientError, printable_name
from bpeviz.formats.chat_templates import chat_template
from bpeviz.formats.gguf.container import MAGIC
from bpeviz.formats.known_models import known_title, model_name
from bpeviz.formats.recognition import COMPANIONS
from bpeviz.libraries.chat_template import ChatTemplate
from bpeviz.pretokenizers.patterns import (
    CUSTOM,
    HELP_EXPRESSION,
    MAX_EXPRESSION,
    PATTERNS,
    SplitError,
    pattern_title,
    pretokenize,
)
from bpeviz.pretrained.catalog import TITLES, entry_of
from bpeviz.text import clean, shorten
from bpeviz.ui import hugging_face, markdown
from bpeviz.ui.runtime import uploads
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.widgets import SessionValue
from bpeviz.views import export
from bpeviz.views.export import Picture

YOURS = "Your tokenizer"

MOST_OPEN = limits.TOKENIZERS
"""The most tokenizers from files in a session."""

MOST_BYTES = limits.TOKENIZER_FILES * 1_000_000
"""The most bytes of the files of a tokenizer together, unpacked."""

LONGEST_TITLE = 24

File = tuple[str, bytes]
"""The name and the content of a file."""

OPENED: SessionValue[list[Opened]] = SessionValue("tokenizers_opened")
_CHANGED: SessionValue[bool] = SessionValue("tokenizers_changed")
"""Whether the opened tokenizers have changed since the page was drawn."""

_NUMBER: SessionValue[int] = SessionValue("tokenizers_number")
"""The number of the uploader. Each file replaces it by a new one without files."""

_FAILED: SessionValue[str] = SessionValue("tokenizers_failed")
"""Why the last file cannot be opened."""

_INCOMPLETE: SessionValue[Sequence[File]] = SessionValue("tokenizers_incomplete")
"""A file that needs a second one; the next file may be that one."""

_PENDING: SessionValue[Sequence[File]] = SessionValue("tokenizers_pending")
"""The files for which the pre-tokenization is still to be chosen."""

_PENDING_TITLE: SessionValue[str] = SessionValue("tokenizers_pending_title")
"""The title of these files, if they are those of a model on Hugging Face."""

_REPLACED: SessionValue[str] = SessionValue("tokenizers_replaced")
"""The key of the opened tokenizer that these files replace with another pre-tokenization."""

_PATTERN: SessionValue[str] = SessionValue("split_of_file")
_EXPRESSION: SessionValue[str] = SessionValue("expression_of_file")
"""The pre-tokenization chosen for a file that does not contain it, and its expression."""

# ---- tokenizers from files


@dataclass(frozen=True, eq=False)
class Opened:
    """A tokenizer from a file.

    Attributes:
        key: Its identity, by its content.
        title: Its name on the pages.
        tokenizer: The tokenizer.
        chat: Its chat template.
        assumed: What the files do not contain, and is assumed, as a sentence, or "".
        files: The files, if another pre-tokenization can be chosen for them.
    """

    key: str
    title: str
    tokenizer: Tokenizer
    chat: ChatTemplate | None = None
    assumed: str = ""
    files: Sequence[File] = ()


def opened() -> list[Opened]:
    """Return the tokenizers whose files are open in this session."""
    return OPENED.get() or []


@cached("Tokenizing …")
def boundaries(key: str, text: str, _tokenizer: Tokenizer) -> Boundaries:
    """Return the boundaries of a text under an opened tokenizer. Raises `ValueError`."""
    return _tokenizer.boundaries(text)


def open_here(chosen: Callable[[str], None] = lambda key: None) -> None:
    """Draw the button that opens the dialog for tokenizers from files.

    Args:
        chosen: Called with the key of a tokenizer just opened, before the page is drawn again.
    """
    # Not a popover: if it is drawn only while open, the page runs again when it closes. That run
    # would return a user to the page who closes it with a click on another page.
    if st.button("Open a tokenizer file", icon=":material/upload_file:", key="open_tokenizer"):
        _dialog(chosen)


@st.dialog("Tokenizers from files", width="medium")
def _dialog(chosen: Callable[[str], None]) -> None:
    if _CHANGED.get():
        _CHANGED.clear()
        st.rerun()  # the page behind; the dialog closes
    if len(opened()) < MOST_OPEN or _REPLACED.present:
        _uploader(chosen)
        hugging_face.box(
            f"hugging_face_id_{_NUMBER.get() or 0}",
            lambda title, files: _open_model(title, files, chosen),
        )
    else:
        st.caption(f"{MOST_OPEN} files are open, which is the limit. Close one first.")
    if failed := _FAILED.get():
        st.error(markdown.escape(failed))
    for one in opened():
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(
                "Name of the column",
                one.title,
                max_chars=LONGEST_TITLE,
                key=f"name of {one.key}",
                on_change=_rename,
                args=(one.key,),
            )
            st.button(
                f"Close {markdown.escape(one.title)}",
                icon=":material/close:",
                key=f"Close {one.title}",
                on_click=_close,
                args=(one.key,),
            )
        if one.assumed:
            st.caption(markdown.escape(one.assumed))
        if one.files:
            st.button(
                "Choose another pre-tokenization",
                key=f"pre-tokenization of {one.key}",
                on_click=_choose_again,
                args=(one,),
            )


def _uploader(chosen: Callable[[str], None]) -> None:
    upload = f"tokenizer_upload_{_NUMBER.get() or 0}"

    def uploaded() -> None:
        _FAILED.clear()
        _PENDING.clear()
        _REPLACED.clear()
        try:
            files = uploads.files(upload)
        except uploads.RefusedUploadError as error:
            _FAILED.put(str(error))
            _replace_uploader()
            return
        if files:
            _open(files, "", chosen)

    def pattern_chosen() -> None:
        pattern = _PATTERN.get() or ""
        expression = clean(_EXPRESSION.get() or "") if pattern == CUSTOM else ""
        title = _PENDING_TITLE.get() or ""
        _open(_PENDING.get() or (), pattern, chosen, title, expression)

    st.file_uploader(
        "One tokenizer: a file, or those of its folder",
        accept_multiple_files=True,
        key=upload,
        on_change=uploaded,
        max_upload_size=min(int(st.get_option("server.maxUploadSize")), MOST_BYTES // 1_000_000),
        help="You can pack a larger file as .zip. Of a GGUF model, the first "
        f"{MOST_BYTES // 1_000_000} MB are enough. Files are read as data and never executed. "
        "They stay on this server until you close them or leave.",
    )
    if not _PENDING.present:
        # The most common ones first.
        st.caption(" · ".join(one.title for one in (FORMATS | READERS).values()))
        return
    pattern = st.selectbox(
        "The file does not contain its pre-tokenization. Choose it:",
        (*PATTERNS, CUSTOM),
        format_func=pattern_title,
        key=_PATTERN.key,
    )
    if pattern == CUSTOM:
        st.text_input(
            pattern_title(CUSTOM),
            key=_EXPRESSION.key,
            max_chars=MAX_EXPRESSION,
            placeholder="such as pat_str of tiktoken",
            help=HELP_EXPRESSION,
        )
    st.button("Open", on_click=pattern_chosen, key="open_with_split")


def _replace_uploader() -> None:
    """Replace the uploader by a new one without files."""
    _NUMBER.put((_NUMBER.get() or 0) + 1)
    uploads.remove_all()


def _open_model(title: str, files: Sequence[File], chosen: Callable[[str], None]) -> None:
    _open(files, "", chosen, title)
    # The page behind shows the tokenizer, and the dialog closes; or it shows why that fails.
    changed = _CHANGED.get()
    _CHANGED.clear()
    st.rerun(scope="app" if changed else "fragment")


def _open(
    given: Sequence[File],
    pattern: str,
    chosen: Callable[[str], None],
    title: str = "",
    expression: str = "",
) -> None:
    """Open files as a tokenizer, or note why that fails. The files leave the uploader."""
    _replace_uploader()
    first = _INCOMPLETE.get() or ()
    _INCOMPLETE.clear()
    for some in dict.fromkeys(((*first, *given), tuple(given))):
        try:
            found = _read(some, pattern, title, expression)
        except FormatError as error:
            _FAILED.put(str(error))  # of the files just given, which are the last attempt
            if isinstance(error, MissingFileError):
                _INCOMPLETE.put(some)
            continue
        _FAILED.clear()
        if found is None:
            _PENDING.put(some)
            _PENDING_TITLE.put(title)
            return
        kept = [one for one in opened() if one.key != _REPLACED.get()]
        OPENED.put(kept if found.key in (one.key for one in kept) else [*kept, found])
        _REPLACED.clear()
        _PENDING.clear()
        _INCOMPLETE.clear()
        _CHANGED.put(True)
        chosen(found.key)
        return


def _read(
    given: Sequence[File], pattern: str, title: str = "", expression: str = ""
) -> Opened | None:
    """Return the tokenizer of files, or None where only the pre-tokenization is missing.

    Raises:
        FormatError: The files cannot be read, or the expression is not valid.
    """
    files = _files(given)
    try:
        if pattern == CUSTOM:
            pretokenize("a", pattern, expression)
        tokenizer = formats.parse(files, pattern=pattern, expression=expression)
    except SplitError as error:
        raise FormatError(str(error)) from None
    except FormatError:
        if pattern:
            raise
        # If any pattern makes it readable, only that is missing; otherwise this raises the error.
        formats.parse(files, pattern="none")
        return None
    digest = hashlib.blake2b(repr((sorted(files), pattern, expression)).encode(), digest_size=12)
    for name in sorted(files):
        digest.update(hashlib.blake2b(files[name]).digest())
    name = title or _name(given, files, tokenizer)
    title = _title(name, [one.title for one in opened() if one.key != _REPLACED.get()])
    assumed = formats.assumed(files, pattern=pattern)
    return Opened(
        f"file {digest.hexdigest()}",
        title,
        tokenizer,
        chat_template(files),
        assumed,
        tuple(given) if assumed and not formats.assumed(files, pattern="none") else (),
    )


def _name(given: Sequence[File], files: Mapping[str, bytes], tokenizer: Tokenizer) -> str:
    """Return the name of the model of files, or else of a file."""
    if (entry := entry_of(*files.values())) is not None:
        return entry.title
    if given[0][1].startswith(MAGIC):  # a GGUF file contains the name of its model
        return tokenizer.name
    named = [name for name, _ in given if name not in COMPANIONS]
    return model_name(files) or known_title(tokenizer) or [*named, given[0][0]][0]


def _files(given: Sequence[tuple[str, bytes]]) -> dict[str, bytes]:
    """Return files by name, a .zip unpacked.

    Raises:
        FormatError: There are too many bytes, or two files have the same name.
    """
    files = dict(given)
    if len(files) < len(given):
        raise FormatError(
            f"Two of these files are called {printable_name(given[0][0])}. Choose one."
        )
    if sum(map(len, files.values())) > MOST_BYTES:
        raise FormatError(f"These files exceed the limit of {MOST_BYTES / 1e6:,.0f} MB in total.")
    return dict(archive.opened(files, MOST_BYTES))


def _title(name: str, taken: Sequence[str]) -> str:
    """Return the title of a tokenizer from a file: unique, and without Markdown syntax."""
    kept = regex.sub(r"[^\p{L}\p{M}\p{N}._ -]+", " ", name)
    kept = regex.sub(r"(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])|\.\s|\s+", " ", kept).strip(" .-")
    kept = shorten(regex.sub(" +", " ", kept), LONGEST_TITLE) or "tokenizer"
    found, number = kept, 1
    while found in taken or found in TITLES.values() or found == YOURS:
        number += 1
        found = f"{kept} {number}"
    return found


def _rename(key: str) -> None:
    others = [one.title for one in opened() if one.key != key]
    title = _title(str(st.session_state[f"name of {key}"]), others)
    OPENED.put([replace(one, title=title) if one.key == key else one for one in opened()])
    _CHANGED.put(True)


def _close(key: str) -> None:
    OPENED.put([one for one in opened() if one.key != key])
    if _REPLACED.get() == key:
        _REPLACED.clear()
        _PENDING.clear()
    _FAILED.clear()
    _CHANGED.put(True)


def _choose_again(one: Opened) -> None:
    """Offer the files of a tokenizer with another pre-tokenization, to replace it."""
    _PENDING.put(one.files)
    _PENDING_TITLE.put(one.title)
    _REPLACED.put(one.key)


# ---- export


@dataclass(frozen=True)
class Exported:
    """A tokenizer to export.

    Attributes:
        title: Its name on the page.
        cache_key: Its identity in caches.
        make: Returns it.
        is_large: Whether writing it may take seconds, so that only the chosen format is checked.
    """

    title: str
    cache_key: tuple[object, ...]
    make: Callable[[], Tokenizer]
    is_large: bool = False


@fragment
def along(key: str, picture: Callable[[], Picture], tokenizer: Exported | None = None) -> None:
    """Draw the button that opens the export dialog.

    Args:
        key: The page, for the keys of widgets.
        picture: Returns the colored text. It and the tokenizer are made only on demand.
        tokenizer: The tokenizer, if the page has one to export.
    """
    if st.button("Export", icon=":material/download:", type="tertiary", key=f"along_{key}"):
        _export(key, picture, tokenizer)


@st.dialog("Export", width="medium")
def _export(key: str, picture: Callable[[], Picture], tokenizer: Exported | None) -> None:
    shown = picture()
    if tokenizer is not None:
        _tokenizer(key, tokenizer)
    st.markdown("**Colored text**")
    st.caption(
        "The text as the page shows it, in one self-contained file for a web page, a slide or "
        f"print, up to {export.HELD:,} bytes of text."
    )
    with st.container(horizontal=True):
        _button(key, "tokens.html", "Web page (HTML)", lambda: export.html(shown).encode())
        _button(key, "tokens.svg", "Drawing (SVG)", lambda: export.svg(shown).encode())
    st.caption(
        "To export a chart or a long table, hover over it and use the menu in its corner. "
        "That menu writes the cells of a table unchanged, and a spreadsheet reads cells that begin "
        "with =, +, - or @ as formulas: import the columns as text. The button Download CSV below "
        "a short table marks such cells as text with an apostrophe."
    )


def _tokenizer(key: str, exported: Exported) -> None:
    st.markdown(f"**Tokenizer**: {markdown.escape(exported.title)}")
    listed = [*FORMATS.values()]
    if exported.is_large:
        listed = [
            st.selectbox(
                "File format", listed, format_func=lambda one: one.title, key=f"format of {key}"
            )
        ]
    for one in listed:
        try:
            written = _written(exported, one.key)
        except FormatError as error:
            written = str(error)
        if isinstance(written, str):
            st.caption(markdown.escape(written))
            continue
        file = one.files[0] if len(written) == 1 else f"tokenizer-{one.key}.zip"
        _button(key, file, one.title, partial(_as_one, written))
        st.caption(markdown.escape(one.about))
        if one.example:
            st.code(one.example, "python")


@cached("Checking the file format …")
def _written(exported: Exported, format: str) -> Mapping[str, bytes] | str:
    """Return the files of a tokenizer in a format, or why the format cannot represent it.

    Raises:
        FormatError: This cannot be checked at the moment.
    """
    try:
        return formats.dump(exported.make(), format)
    except FormatError as error:
        if isinstance(error.__cause__, TransientError):
            raise  # an error is not cached
        return str(error)


def _as_one(files: Mapping[str, bytes]) -> bytes:
    return next(iter(files.values())) if len(files) == 1 else archive.packed(files)


def _button(key: str, file: str, label: str, made: Callable[[], Any]) -> None:
    st.download_button(
        label,
        made,
        file,
        icon=":material/download:",
        on_click="ignore",
        key=f"{file} of {key}",
    )

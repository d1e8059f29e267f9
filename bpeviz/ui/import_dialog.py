"""The dialog that opens tokenizers from files or from Hugging Face, names and closes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from bpeviz.formats import FORMATS, MAX_FILE, READERS, FormatError
from bpeviz.formats.base import MissingFileError
from bpeviz.formats.opened import Opened
from bpeviz.pretokenizers.patterns import (
    CUSTOM,
    HELP_EXPRESSION,
    MAX_EXPRESSION,
    PATTERNS,
    pattern_title,
)
from bpeviz.text import clean
from bpeviz.ui import hugging_face, markdown
from bpeviz.ui.opened_tokenizers import (
    LONGEST_TITLE,
    MOST_OPEN,
    OPENED,
    NamedFile,
    opened,
    read_files,
    unique_title,
)
from bpeviz.ui.runtime import uploads
from bpeviz.ui.runtime.dialogs import dialog
from bpeviz.ui.widgets import SessionValue

_CHANGED: SessionValue[bool] = SessionValue("tokenizers_changed")
"""Whether the opened tokenizers have changed since the page was drawn."""

_REPLY: SessionValue[bool] = SessionValue("tokenizers_reply")
"""Whether the dialog has something to say to the last act in it."""

_NUMBER: SessionValue[int] = SessionValue("tokenizers_number")
"""The number of the uploader. Each file replaces it by a new one without files."""

_FAILED: SessionValue[str] = SessionValue("tokenizers_failed")
"""Why the last file cannot be opened."""

_INCOMPLETE: SessionValue[Sequence[NamedFile]] = SessionValue("tokenizers_incomplete")
"""A file that needs a second one; the next file may be that one."""

_PENDING: SessionValue[Sequence[NamedFile]] = SessionValue("tokenizers_pending")
"""The files for which the pre-tokenization is still to be chosen."""

_PENDING_TITLE: SessionValue[str] = SessionValue("tokenizers_pending_title")
"""The title of these files, if they are those of a model on Hugging Face."""

_REPLACED: SessionValue[str] = SessionValue("tokenizers_replaced")
"""The key of the opened tokenizer that these files replace with another pre-tokenization."""

_PATTERN: SessionValue[str] = SessionValue("split_of_file")
_EXPRESSION: SessionValue[str] = SessionValue("expression_of_file")
"""The pre-tokenization chosen for a file that does not contain it, and its expression."""


def import_button(chosen: Callable[[str], None] = lambda key: None) -> None:
    """Draw the button that opens the dialog for tokenizers from files.

    Args:
        chosen: Called with the key of a tokenizer just opened, before the page is drawn again.
    """
    # Not a popover: if it is drawn only while open, the page runs again when it closes. That run
    # would return a user to the page who closes it with a click on another page.
    is_clicked = st.button(
        "Open a tokenizer file", icon=":material/upload_file:", key="open_tokenizer"
    )
    # If somebody acts in the dialog before the page behind it has ended its run, Streamlit runs
    # the whole page, which closes the dialog: it opens again where it has something to say.
    if is_clicked or _REPLY.present:
        _CHANGED.clear()
        _dialog(chosen)


@dialog("Tokenizers from files")
def _dialog(chosen: Callable[[str], None]) -> None:
    _REPLY.clear()
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
    for file in opened():
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(
                "Name of the column",
                file.title,
                max_chars=max(LONGEST_TITLE, len(file.title)),  # it may end in a number
                key=f"name of {file.key}",
                on_change=_rename,
                args=(file.key,),
            )
            st.button(
                f"Close {markdown.escape(file.title)}",
                icon=":material/close:",
                key=f"Close {file.title}",
                on_click=_close,
                args=(file.key,),
            )
        if file.assumption:
            st.caption(markdown.escape(file.assumption))
        if file.files:
            st.button(
                "Choose another pre-tokenization",
                key=f"pre-tokenization of {file.key}",
                on_click=_choose_again,
                args=(file,),
            )


def _uploader(chosen: Callable[[str], None]) -> None:
    upload = f"tokenizer_upload_{_NUMBER.get() or 0}"

    def uploaded() -> None:
        # An uploader whose files were taken says that it has none now.
        if files := uploads.files(upload):
            _forget_pending()
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
        max_upload_size=min(int(st.get_option("server.maxUploadSize")), MAX_FILE // 1_000_000),
        help="You can pack a larger file as .zip. Of a GGUF model, the first "
        f"{MAX_FILE // 1_000_000} MB are enough. Files are read as data and never executed. "
        "They stay on this server until you close them or leave.",
    )
    if not _PENDING.present:
        # The most common ones first.
        st.caption(" · ".join(format.title for format in (FORMATS | READERS).values()))
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


def _forget_pending() -> None:
    _FAILED.clear()
    _PENDING.clear()
    _REPLACED.clear()


def _replace_uploader() -> None:
    """Replace the uploader by a new one without files."""
    _NUMBER.put((_NUMBER.get() or 0) + 1)
    uploads.remove_all()


def _open_model(title: str, files: Sequence[NamedFile], chosen: Callable[[str], None]) -> None:
    _open(files, "", chosen, title)
    # The page behind shows the tokenizer, and the dialog closes; or it shows why that fails.
    changed = _CHANGED.get()
    _CHANGED.clear()
    st.rerun(scope="app" if changed else "fragment")


def _open(
    given: Sequence[NamedFile],
    pattern: str,
    chosen: Callable[[str], None],
    title: str = "",
    expression: str = "",
) -> None:
    """Open files as a tokenizer, or store the error for the dialog; empty the uploader."""
    _replace_uploader()
    _REPLY.put(True)
    first = _INCOMPLETE.get() or ()
    _INCOMPLETE.clear()
    others = [other for other in opened() if other.key != _REPLACED.get()]
    taken = [other.title for other in others]
    for some in dict.fromkeys(((*first, *given), tuple(given))):
        try:
            tokenizer = read_files(some, pattern, title, expression, taken)
        except FormatError as error:
            _FAILED.put(str(error))  # of the files just given, which are the last attempt
            if isinstance(error, MissingFileError):
                _INCOMPLETE.put(some)
            continue
        _FAILED.clear()
        if tokenizer is None:
            _PENDING.put(some)
            _PENDING_TITLE.put(title)
            return
        is_open = tokenizer.key in (other.key for other in others)
        OPENED.put(others if is_open else [*others, tokenizer])
        _REPLACED.clear()
        _PENDING.clear()
        _INCOMPLETE.clear()
        _REPLY.clear()
        _CHANGED.put(True)
        chosen(tokenizer.key)
        return


def _rename(key: str) -> None:
    others = [other.title for other in opened() if other.key != key]
    title = unique_title(str(st.session_state[f"name of {key}"]), others)
    OPENED.put([replace(file, title=title) if file.key == key else file for file in opened()])
    _CHANGED.put(True)


def _close(key: str) -> None:
    OPENED.put([other for other in opened() if other.key != key])
    if _REPLACED.get() == key:
        _REPLACED.clear()
        _PENDING.clear()
    _FAILED.clear()
    _CHANGED.put(True)


def _choose_again(file: Opened) -> None:
    """Offer the files of a tokenizer with another pre-tokenization, to replace it."""
    _PENDING.put(file.files)
    _PENDING_TITLE.put(file.title)
    _REPLACED.put(file.key)
    _REPLY.put(True)

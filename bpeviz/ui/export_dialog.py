"""Export of tokenizers and of the colored text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FORMATS, FormatError, archive
from bpeviz.formats.base import TransientError
from bpeviz.ui import markdown
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.views import export
from bpeviz.views.export import Picture


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
def export_button(
    key: str, picture: Callable[[], Picture], tokenizer: Exported | None = None
) -> None:
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

"""Export of tokenizers and of the colored text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from bpeviz import formats
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import FORMATS, FormatError, archive
from bpeviz.formats.base import TransientError
from bpeviz.ui import markdown
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import session
from bpeviz.ui.runtime.cache import cached
from bpeviz.ui.runtime.dialogs import dialog
from bpeviz.ui.widgets import SessionValue
from bpeviz.views import export, playable
from bpeviz.views.export import ColoredText
from bpeviz.views.playable import Interactive
from bpeviz.views.task import Task

DOWNLOAD = ":material/download:"


@dataclass(frozen=True)
class Exported:
    """A tokenizer to export.

    Attributes:
        title: Its name on the page.
        cache_key: Its identity in caches.
        make: Returns it.
    """

    title: str
    cache_key: tuple[object, ...]
    make: Callable[[], Tokenizer]


@dataclass(frozen=True)
class Export:
    """The exports that a page offers.

    Attributes:
        key: The page, for the keys of widgets.
        picture: Returns the colored text, if the page has one. All exports are made only on demand.
        tokenizer: The tokenizer, if the page has one to export.
        file: Returns a function that makes the interactive page, if there is one. It looks up all
            that the function needs, which runs outside of the page.
        plays: Whether this is an animation.
        questions: Returns the questions on which a room can vote.
    """

    key: str
    picture: Callable[[], ColoredText] | None = None
    tokenizer: Exported | None = None
    file: Callable[[], Callable[[], Interactive]] | None = None
    plays: bool = True
    questions: Callable[[], Sequence[Task[int]]] | None = None

    @property
    def has_files(self) -> bool:
        """Whether the page has anything to export, beside questions for a room."""
        return bool(self.picture or self.tokenizer or self.file)


EXPORT: SessionValue[Export] = SessionValue("offered_export")
"""The exports of the page, for the menu in the header."""


def export_button(page: Page) -> None:
    """Draw the button that opens the export dialog, if the page offers exports."""
    offer = EXPORT.get()
    if (
        offer is not None
        and offer.has_files
        and st.button("Export", icon=DOWNLOAD, type="tertiary", key=f"along_{offer.key}")
    ):
        _export(offer, page)


@dialog("Export", icon=DOWNLOAD)
def _export(offer: Export, shown: Page) -> None:
    key, link = offer.key, session.address_of(shown)
    places = iter(st.columns(2))
    code = ""
    if offer.file is not None:
        label, name = "Interactive web page", "comparison"
        if offer.plays:
            label, name = "Web page that plays", "animation"
        with next(places):
            _button(key, f"{name}.html", label, partial(_interactive, offer.file(), link))
        code = playable.embed_code(f"{name}.html", name.capitalize())
    if offer.picture is not None and offer.plays:  # else the page above has the same rows
        page = partial(_interactive, partial(playable.of_score, offer.picture()), link)
        with next(places):
            _button(key, "tokens.html", "Colored text (HTML)", page)
    st.caption(
        "Each is one file, which works without a network or a server."
        + f" Colored text has up to {export.HELD:,} bytes." * (offer.picture is not None)
    )
    if offer.tokenizer is not None:
        _tokenizer(key, offer.tokenizer)
    st.caption(
        "Charts and long tables have a menu of their own, in their upper right corner. Import CSV "
        "files as text: spreadsheets take cells that begin with =, +, - or @ for formulas."
    )
    if code:
        with st.expander("Embed it in a page of yours"):
            st.markdown("Put the file beside that page, and add this code:")
            st.code(code, "html", wrap_lines=True)


def _interactive(make: Callable[[], Interactive], link: str) -> bytes:
    return playable.html(make(), link).encode()


def _tokenizer(key: str, exported: Exported) -> None:
    """Draw the choice of a format, and its button or the reason why it cannot be."""
    st.markdown(f"**Tokenizer**: {markdown.escape(exported.title)}")
    format = st.selectbox(
        "File format",
        [*FORMATS.values()],
        format_func=lambda format: format.title,
        key=f"format of {key}",
    )
    try:
        written, note = _written(exported, format.key)
    except FormatError as error:
        written, note = None, f"Not possible: {error.__cause__}."
    if written is None:
        st.markdown(markdown.escape(f"{note}{_holder(exported)}"))
        return
    file = format.files[0] if len(written) == 1 else f"tokenizer-{format.key}.zip"
    _button(key, file, f"Save {file}", partial(_as_one, written))
    st.caption(markdown.escape(f"{format.about} {note}".strip()))
    if format.example:
        st.code(format.example, "python")


def _holder(exported: Exported) -> str:
    """Return which format can represent a tokenizer, as a sentence after another one, or ""."""
    for key in ("huggingface", "bpeviz"):
        with suppress(FormatError):
            if _written(exported, key)[0] is not None:
                return f" {FORMATS[key].title} can."
    return ""


@cached("Checking the file format …")
def _written(exported: Exported, format: str) -> tuple[Mapping[str, bytes] | None, str]:
    """Return the files of a tokenizer in a format, or None, and what it cannot represent.

    Raises:
        FormatError: This cannot be checked at the moment.
    """
    try:
        tokenizer = exported.make()
        files = formats.dump(tokenizer, format)
        return files, formats.losses(tokenizer, files, format)
    except FormatError as error:
        if isinstance(error.__cause__, TransientError):
            raise  # an error is not cached
        return None, f"Not possible: {error.__cause__}."


def _as_one(files: Mapping[str, bytes]) -> bytes:
    return next(iter(files.values())) if len(files) == 1 else archive.packed(files)


def _button(key: str, file: str, label: str, make: Callable[[], Any]) -> None:
    st.download_button(
        label,
        make,
        file,
        icon=DOWNLOAD,
        width="stretch",
        on_click="ignore",
        key=f"{file} of {key}",
    )

"""The declaration of a page, and the wording that several pages share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz.ui import markdown
from bpeviz.ui.widgets import Values, Widget
from bpeviz.views.playable import Interactive

TITLE: ContextVar[DeltaGenerator] = ContextVar("title")
"""The place of the title, for a page that knows a better one once it has an answer."""


def answer(title: str, small: str = "") -> None:
    """Draw the answer of a page below its question. small: in Markdown."""
    with TITLE.get().container(gap=None):
        st.title(markdown.escape(title).replace("-", "-\u2060"), anchor=False)  # names stay whole
        st.markdown(small)


@dataclass(frozen=True)
class Page:
    """A page of the app.

    Attributes:
        path: The file that Streamlit runs; it determines the page's address.
        title: The title in the menu.
        question: The question that the page answers.
        widgets: Yields the widgets whose values a link to the page contains. If a widget is drawn
            only for some values of another one, the other one is yielded first.
        content: Returns what the page shows for the values of a link, without a run of it. Raises
            `ValueError` with a user-facing message.
        left_out: Returns a description of each value that a link cannot contain.
        has_inputs: Whether the page has a text and settings.
        has_verdict: Whether the page has an answer as its title, below the question.
        has_long_verdict: Whether that has up to two lines in smaller letters.
        heading: Returns the title of the page, if that is not the question, or "" if the page draws
            a title itself.
        short: Short names of its widgets in typed addresses, each with the name in links.
    """

    path: str
    title: str
    question: str
    widgets: Callable[[Values], Iterator[Widget[Any]]]
    content: Callable[[Values], Interactive]
    left_out: Callable[[], Iterable[str]] = tuple
    has_inputs: bool = True
    has_verdict: bool = False
    has_long_verdict: bool = False
    heading: Callable[[], str] | None = None
    short: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)

"""Values of the widgets of a page, as links and sessions have them, without a run of the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl

import pytest
import streamlit as st
from hypothesis import strategies

from bpeviz import limits
from bpeviz.corpus.documents import Documents
from bpeviz.text import clean
from bpeviz.ui.inputs import named_texts
from bpeviz.ui.inputs.messages import CHAT
from bpeviz.ui.inputs.text import OWN_TEXT, Box, Rows, SampleChoice, TableRows
from bpeviz.ui.inputs.vocabulary_size import SIZE
from bpeviz.ui.learn.page import OwnText
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import links, session
from bpeviz.ui.tokenizers import OWN
from bpeviz.ui.widgets import (
    NumberField,
    OneOf,
    Price,
    Section,
    SessionValues,
    Settings,
    Share,
    SomeOf,
    Switch,
    TextField,
    Values,
    Widget,
    WidgetFamily,
)
from helpers.hostile import HTML, MARKUP

TEXTS = (
    *("", " ", "low lower lowest", "low 3\nlower 2\nb -1", "0 258 9" + "9" * 30, "a\r\nb", "\0"),
    *("true", "007", "a,b&c=d#e", "\ufeffx", "<|endoftext|> <|a|>", " ".join(MARKUP), *HTML),
)


class Drawn(Values):
    """Values of some widgets of a page, each chosen when the page names the widget.

    Attributes:
        taken: The values, by the names in links.
        widgets: Their widgets.
    """

    def __init__(
        self,
        page: Page,
        choose: Callable[[Widget[Any]], Any],
        end: Callable[[WidgetFamily[Any]], str],
    ) -> None:
        """Choose the values of a page.

        Args:
            page: The page.
            choose: Returns the value of a widget, or None where it has none.
            end: Returns the end of the name of a family's member.
        """
        self._end, self.taken, self.widgets = end, dict[str, Any](), dict[str, Widget[Any]]()
        for widget in page.widgets(self):  # some exist only for the values of others
            value = choose(widget) if is_linked(widget) else None
            if value is not None:
                self.taken[widget.link], self.widgets[widget.link] = value, widget

    def get(self, widget: Widget[Any]) -> Any:
        return self.taken.get(widget.link)

    def members(self, family: WidgetFamily[Any]) -> Iterator[Any]:
        yield family.member(self._end(family))


@strategies.composite
def any_values(draw: strategies.DrawFn, page: Page) -> Drawn:
    """Draw values of a page, often the outermost ones."""

    def choose(widget: Widget[Any]) -> Any:
        # A link that names the user's own text has it.
        if isinstance(widget, Box) or draw(strategies.booleans()):
            return draw(strategies.sampled_from(edges(widget)))
        return None

    def end(family: WidgetFamily[Any]) -> str:
        return draw(strategies.from_regex(family.ends, fullmatch=True))

    return Drawn(page, choose, end)


def hostile_values(page: Page, text: str, turn: int) -> Drawn:
    """Return values of all widgets of a page: a text in each field, and each of the choices.

    Args:
        page: The page.
        text: The text of all fields that take any text.
        turn: Which of the choices, counted from 0, or from the end where it is negative.
    """

    def choose(widget: Widget[Any]) -> Any:
        match widget:
            case TableRows():
                return None  # it hides the text
            case SampleChoice():
                return OWN_TEXT
            case OneOf() if OWN in widget.titles:
                return OWN
            case SomeOf() if OWN in widget.titles:
                return [OWN]
            case TextField():
                return text[: widget.longest]
            case OneOf() if not widget.titles:
                return text[:200]
            case OneOf() | SomeOf():
                titles = [*widget.titles] or [text[:200]]
                titles = titles[: 2 if widget.link.endswith("_base") else None]  # GPT-2 is quick
                titles = titles[turn % len(titles) :] + titles[: turn % len(titles)]
                return titles[0] if isinstance(widget, OneOf) else titles[: min(widget.most, 3)]
            case Section():
                return True
            case Switch():
                return turn < 0
            case NumberField():
                usual = 300 if widget.high >= limits.VOCABULARY else 2
                return min(max(widget.low, usual), widget.high)
        return edges(widget)[1]

    return Drawn(page, choose, usual_end)


def usual_end(family: WidgetFamily[Any]) -> str:
    """Return the end of the name of a family's member."""
    ends = ("3", OWN, "anything up to 1.0")
    return next(end for end in ends if re.fullmatch(family.ends, end))


def is_linked(widget: Widget[Any]) -> bool:
    """Return whether links that are made contain the widget: settings fold, and files stay."""
    return not isinstance(widget, Settings | named_texts._OfTable) and widget != CHAT


def edges(widget: Widget[Any]) -> list[Any]:
    """Return values that a widget takes, the outermost among them."""
    match widget:
        case OneOf():
            titles = [*widget.titles]
            return titles or [text[:200] for text in TEXTS]
        case SomeOf():
            names = [*widget.titles][: widget.most] or [f"text {i}" for i in range(widget.most)]
            return [[], names[:1], names, names[::-1]]
        case NumberField():
            high = widget.high if widget != SIZE else limits.VOCABULARY  # which trainings reach
            return [widget.low, (widget.low + high) // 2, high]
        case Share():
            return [0.0, widget.most / 3, widget.most]
        case Price():
            return [0, 0.5, 10**9 - 1]
        case Switch() | Section():
            return [True, False]
        case TextField():
            texts = [*(clean(text)[: widget.longest] for text in TEXTS), "a" * widget.longest]
            return texts[1:] if isinstance(widget, OwnText) else texts  # an empty one is none
        case TableRows():
            rows = (Documents(TEXTS), Documents(("low", "")), Documents(("a", "b"), ("en", "es")))
            return [Rows(TEXTS[-1], "“a”", documents).packed() for documents in rows]
    raise AssertionError(f"There are no values for {type(widget).__name__}.")


@contextmanager
def restored(page: Page, linked: Mapping[str, Any]) -> Iterator[list[str]]:
    """Restore a page from the values of a link in a new session; yield the names refused."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", {})
        yield session.apply(page, linked)


def session_values(page: Page) -> dict[str, Any]:
    """Return the values of a page's widgets in the session, by the names in links."""
    values = {widget.link: widget.get() for widget in page.widgets(SessionValues())}
    return {link: value for link, value in values.items() if value is not None}


def values_of(page: Page, query: str) -> dict[str, Any]:
    """Return the values of a page that a link restores, by their names in links."""
    with restored(page, read(page, query)):
        return {**links.UNCHANGED, **session_values(page)}


def read(page: Page, query: str) -> dict[str, Any]:
    """Return the values of a link."""
    values, _ = links.read(parse_qsl(query, keep_blank_values=True), page.short)
    return values


class Query(dict[str, Any]):
    """The query of an address, as `st.query_params` has it."""

    def get_all(self, name: str) -> list[str]:
        """Return all values of a name."""
        return [self[name]] if isinstance(self[name], str) else self[name]


@contextmanager
def opened_address(page: Page, query: str, **state: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Restore a page from its address in a session; yield the message, and the session.

    Args:
        page: The page.
        query: The part of the address after the question mark.
        **state: Values that the session has before.
    """
    values = Query()
    for name, value in parse_qsl(query, keep_blank_values=True):
        values[name] = [*values.get_all(name), value] if name in values else value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", state)
        patch.setattr(st, "query_params", values)
        patch.setattr(st, "warning", lambda *shown, **options: None)
        session.restore(page)
        _, message = session.MESSAGE.get() or ("", "")
        yield message.replace("\\", ""), state


def same(values: dict[str, Any], widgets: dict[str, Widget[Any]]) -> dict[str, Any]:
    """Return the values of a page without closed sections, and without texts behind a table."""
    behind = [name.removesuffix("_rows") for name in values if name.endswith("_rows")]
    hidden = {f"{name}{end}" for name in behind for end in ("_sample", "_box")}
    return {
        name: value
        for name, value in values.items()
        if name not in hidden and not (isinstance(widgets.get(name), Section) and value is False)
    }

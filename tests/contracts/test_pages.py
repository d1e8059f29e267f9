"""What holds of every page and every widget of a link.

Most is checked on the values of links and sessions, since a run of a page takes half a second.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl

import pytest
from helpers import app_pages
from helpers.hostile import ANY_JSON, HTML, MARKUP, packed
from helpers.properties import many
from helpers.rendered import hostile_strings
from helpers.widget_values import Drawn, any_values, hostile_values, restored, session_values
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from bpeviz import limits
from bpeviz.ui import markdown
from bpeviz.ui.inputs.text import TableRows
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import codec, session, short_links, typed
from bpeviz.ui.registry import PAGES
from bpeviz.ui.widgets import (
    LinkValues,
    NumberField,
    OneOf,
    Price,
    Section,
    SessionValues,
    Share,
    SomeOf,
    TextField,
    Widget,
)

LINKS = st.sampled_from(PAGES).flatmap(lambda page: st.tuples(st.just(page), any_values(page)))
"""A page, and values of some of its widgets as a link has them."""


def same(values: dict[str, Any], widgets: dict[str, Widget[Any]]) -> dict[str, Any]:
    """Return the values of a page without closed sections, and without texts behind a table."""
    behind = [name.removesuffix("_rows") for name in values if name.endswith("_rows")]
    hidden = {f"{name}{end}" for name in behind for end in ("_sample", "_box")}
    return {
        name: value
        for name, value in values.items()
        if name not in hidden and not (isinstance(widgets.get(name), Section) and value is False)
    }


@many()
@given(LINKS)
def test_link_keeps_every_value_up_to_the_bounds(link: tuple[Page, Drawn]) -> None:
    page, drawn = link
    values, widgets = drawn.taken, drawn.widgets
    assert codec.unpack(codec.pack(values, limits.PAGE_TEXT), limits.PAGE_TEXT) == values
    with restored(page, values) as refused:
        assert refused == []
        before = session_values(page)
        assert same({name: before.get(name) for name in values}, widgets) == same(values, widgets)
        packed, left_out = session.make(page, limits.PAGE_TEXT)
        assert left_out == []
    with restored(page, codec.unpack(packed, limits.PAGE_TEXT)) as refused:
        assert refused == []
        assert same(session_values(page), widgets) == same(before, widgets)


@many()
@given(LINKS)
def test_link_by_name_keeps_every_value(link: tuple[Page, Drawn]) -> None:
    """Settings that are short are written by name, in place of a packed value."""
    page, drawn = link
    values, widgets = drawn.taken, drawn.widgets
    switches = dict([pair for pair in values.items() if pair[1] is True][:3])
    assert typed.written(switches, page.short) or not switches
    values = dict([*values.items()][:3])
    query = typed.written(values, page.short)
    assert len(query) <= typed.MAX_WRITTEN
    if not query:
        return
    settings = typed.settings(parse_qsl(query, keep_blank_values=True))
    expanded, _, too_long = typed.expand(settings, page.short)
    with restored(page, expanded) as refused:
        assert (refused, too_long) == ([], [])
        now = session_values(page)
        first = {name: now.get(name, typed.UNCHANGED.get(name)) for name in values}
        assert same(first, widgets) == same(values, widgets)


def beyond(widget: Widget[Any]) -> list[Any]:
    """Return values that a widget does not take, the nearest among them."""
    match widget:
        case NumberField():
            return [widget.low - 1, widget.high + 1]
        case SomeOf():
            names = [f"text {i}" for i in range(widget.most + 1)]
            return [names, [*names[:1], "x" * 300], *([["gone"]] if widget.titles else [])]
        case OneOf():
            return ["gone"] if widget.titles else ["x" * 300]
        case Share() | Price():
            return [-0.5, 1e9, float(widget.most) + 0.1 if isinstance(widget, Share) else -1]
        case TextField():
            return ["a" * (widget.longest + 1)]
        case TableRows():
            return ["[]", '["a","b",["c"]]', '["a","b",["c","d"],["e"]]', '["a","b",[],[]]']
    return ["on", 1, None]


@many()
@given(LINKS, st.data())
def test_value_that_a_widget_does_not_take_is_named_and_no_other_is_lost(
    link: tuple[Page, Drawn], data: st.DataObject
) -> None:
    page, drawn = link
    values, widgets = drawn.taken, drawn.widgets
    name = data.draw(st.sampled_from([*widgets] or [""]))
    if not name:
        return
    value: Any = data.draw(st.sampled_from(beyond(widgets[name])) | ANY_JSON)
    meanings = [each for each in typed.meanings(value) if widgets[name].allows(each)]
    with restored(page, {**values, name: value, "unknown": 1}) as refused:
        now = session_values(page)
        assert refused[-1] == "unknown"
        if meanings:
            assert now[name] in meanings
            return
        assert widgets[name].label in refused
        # Those that it alone brings onto the page are named with it.
        known = {widget.link for widget in page.widgets(SessionValues())}
        lost = {name, re.sub("_box$", "_sample", name)}  # without the text, it is not one's own
        rest = {other: each for other, each in values.items() if other in known - lost}
        assert same({other: now.get(other) for other in rest}, widgets) == same(rest, widgets)
        assert not widgets[name].present or widgets[name].allows(widgets[name].get())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_number_that_is_one_of_so_many_has_as_many_values_as_its_name_says(page: Page) -> None:
    for name, widget in hostile_values(page, "low", 0).widgets.items():
        if isinstance(widget, NumberField) and (number := re.search("of[_ ]([0-9]+)$", name)):
            assert widget.high - widget.low + 1 == int(number[1])


# ---- pages as `AppTest` draws them

EVIL = "![evil](//evil.eu) <evil> www.evil.eu ("
"""Markup as short as the shortest text field, and an invalid expression."""

HOSTILE = " ".join([EVIL, *MARKUP, *HTML[:20]])
TURNS = (0, 1, -1, -2)
NOT_LINKED = "_upload$|^vocabulary_size_|^no_vocabulary_size$|^after/"
"""Inputs of no link, or under another name: files, the size by its range, answers of Learn."""

INPUTS: tuple[str, ...] = (
    "selectbox",
    "text_area",
    "text_input",
    "number_input",
    "slider",
    "radio",
    "toggle",
)
INPUTS += ("button_group", "multiselect", "checkbox", "file_uploader", "select_slider")


def inputs_of(app: AppTest) -> set[str]:
    """Return the keys of all inputs on a page, without buttons, tables and charts."""
    drawn = [element for kind in INPUTS for element in app.get(kind)]
    return {
        getattr(element, "key", None) or element.proto.id.rsplit("-", 1)[-1] for element in drawn
    }


REPLACED = {"worst_text", "worst_under", "mirrored", "explained"}
"""Choices among other values of the page, for which it takes the first one if theirs is missing."""


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_cold_link_draws_hostile_texts_in_every_field(page: Page, turn: int) -> None:
    """One run checks the page, its message about the link, its inputs, and the copied link."""
    drawn = hostile_values(page, HOSTILE, turn)
    values: dict[str, Any] = drawn.taken | {EVIL: EVIL, session.WITHOUT: [HOSTILE]}
    gone = next(widget for widget in drawn.widgets.values() if can_go(page, widget, drawn.taken))
    if turn == TURNS[-1]:
        values[gone.link] = "gone"
    name = short_links.SHORT_LINKS.put(codec.pack(values, session.MAX_SHORT), "somebody")
    query = {"s": name or "", "step": "3"}
    app = app_pages.opened(page.path, query, may_fail=True, copy_link={"request": 1})

    assert hostile_strings(app)
    (message,) = [warning.value for warning in app.warning if "link" in warning.value]
    assert message.count(markdown.escape(EVIL)) == 2
    assert (markdown.escape(gone.label) in message) == (turn == TURNS[-1])
    if page.has_inputs:
        assert app.session_state["text_box"] == HOSTILE
    copied = codec.unpack(app.session_state["made_link"]["packed"], session.MAX_SHORT)
    assert [key for key in inputs_of(app) - {*copied} if not re.search(NOT_LINKED, key)] == []
    names = {*drawn.taken} - REPLACED - {gone.link if gone.link in values else ""}
    expected = same({link: drawn.taken[link] for link in names}, drawn.widgets)
    assert {link: copied.get(link) for link in expected} == expected


def can_go(page: Page, widget: Widget[Any], values: dict[str, Any]) -> bool:
    """Return whether a widget has choices, of which one may go, and no other widget needs it."""
    if type(widget) is not OneOf or not widget.titles:
        return False
    rest = LinkValues({**values, widget.link: "gone"}, [*values])
    return {*values} <= {other.link for other in page.widgets(rest)}


DAMAGED = (
    "nonsense!",
    codec.pack({"text_sample": "spanish", "largest": 300})[:-3],
    "A" * (codec.MAX_PACKED + 1),
    packed(b'{"text_box":"' + b"a" * 5_000_000 + b'"}'),
    packed(b"[1,2]"),
    short_links.MARK + "unknown",
)


@pytest.mark.parametrize(
    ("page", "link"), [*zip(PAGES, DAMAGED, strict=True)], ids=[page.title for page in PAGES]
)
def test_damaged_link_is_named_and_another_one_opens(page: Page, link: str) -> None:
    app = app_pages.opened(page.path, {"s": link, "step": "x"}, compared=["yours"])
    (message,) = [warning.value for warning in app.warning]
    assert "link" in message
    box = {"learn_text": "banana"} if page.title == "Learn" else {"text_box": "banana"}
    app.query_params["s"] = codec.pack({**box, "text_sample": "own"})
    app.run()
    assert {key: app.session_state[key] for key in box} == box
    app.query_params["s"] = "nonsense!"
    app.run()  # keeps what the link before it has set
    assert {key: app.session_state[key] for key in box} == box
    assert len(app.warning) == 1

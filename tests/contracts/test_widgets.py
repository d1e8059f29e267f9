"""What holds of every widget of a link: its values are kept, up to its bounds, or named.

Nothing here runs a page, which takes a quarter of a second.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from helpers.hostile import ANY_JSON
from helpers.properties import many
from helpers.widget_values import (
    Drawn,
    any_values,
    edges,
    hostile_values,
    read,
    restored,
    same,
    session_values,
    usual_end,
)
from hypothesis import given
from hypothesis import strategies as st

from bpeviz import limits
from bpeviz.ui.inputs.text import OWN_TEXT, TableRows
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import links, session
from bpeviz.ui.registry import PAGES
from bpeviz.ui.widgets import (
    NumberField,
    OneOf,
    Price,
    SessionValues,
    Share,
    SomeOf,
    TextField,
    Widget,
)

LINKS = st.sampled_from(PAGES).flatmap(lambda page: st.tuples(st.just(page), any_values(page)))
"""A page, and values of some of its widgets as a link has them."""


@many()
@given(LINKS)
def test_link_keeps_every_value_up_to_the_bounds(link: tuple[Page, Drawn]) -> None:
    page, drawn = link
    values, widgets = drawn.taken, drawn.widgets
    with restored(page, read(page, links.written(values, page.short, {}))) as refused:
        assert refused == []
        before = session_values(page)
        assert same({name: before.get(name) for name in values}, widgets) == same(values, widgets)
        query, left_out = session.make(page, limits.PAGE_TEXT)
        assert left_out == []
    with restored(page, read(page, query)) as refused:
        assert refused == []
        after = links.UNCHANGED | session_values(page)
        after = {name: value for name, value in after.items() if name in before}
        assert same(after, widgets) == same(before, widgets)


def beyond(widget: Widget[Any]) -> list[Any]:
    """Return values that a widget does not take, the nearest among them."""
    match widget:
        case NumberField():
            return [widget.low - 1, widget.high + 1]
        case SomeOf():
            names = [f"text {i}" for i in range(widget.most + 1)]
            return [names, *([["gone"], [{}]] if widget.titles else [[*names[:1], "x" * 300]])]
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
    meanings = [each for each in links.meanings(value) if widgets[name].allows(each)]
    with restored(page, {**values, name: value, "unknown": 1}) as refused:
        now = session_values(page)
        assert refused[-1] == "unknown"
        if meanings:
            assert now.get(name, OWN_TEXT) in meanings  # which is none without the text
            return
        assert widgets[name].label in refused
        # Those that it alone brings onto the page are named with it.
        known = {widget.link for widget in page.widgets(SessionValues())}
        lost = {name, re.sub("_box$", "_sample", name)}  # without the text, it is not one's own
        rest = {other: each for other, each in values.items() if other in known - lost}
        assert same({other: now.get(other) for other in rest}, widgets) == same(rest, widgets)
        assert not widgets[name].present or widgets[name].allows(widgets[name].get())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_no_widget_takes_a_value_beyond_its_bounds(page: Page) -> None:
    drawn = Drawn(page, lambda widget: edges(widget)[-1], usual_end)
    for widget in drawn.widgets.values():
        assert all(map(widget.allows, edges(widget)))
        assert not any(map(widget.allows, beyond(widget)))
    lowest = Drawn(page, lambda widget: edges(widget)[0], usual_end)
    for widget in lowest.widgets.values():
        assert not isinstance(widget, NumberField) or widget.value(7, lowest) == widget.low


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_number_that_is_one_of_so_many_has_as_many_values_as_its_name_says(page: Page) -> None:
    for name, widget in hostile_values(page, "low", 0).widgets.items():
        if isinstance(widget, NumberField) and (number := re.search("of[_ ]([0-9]+)$", name)):
            assert widget.high - widget.low + 1 == int(number[1])

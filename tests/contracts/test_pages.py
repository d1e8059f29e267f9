"""What holds of every page: a cold link draws it, with hostile text in each field, and is kept."""

from __future__ import annotations

import re
from typing import Any

import pytest
from helpers import app_pages
from helpers.earlier_links import pack
from helpers.hostile import HTML, MARKUP, packed
from helpers.rendered import hostile_strings
from helpers.widget_values import hostile_values, same, values_of
from streamlit.testing.v1 import AppTest

from bpeviz.ui import markdown
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import links
from bpeviz.ui.permalink.session import MAX_SHORT
from bpeviz.ui.registry import PAGES
from bpeviz.ui.widgets import LinkValues, OneOf, Widget

pytestmark = pytest.mark.slow

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


REPLACED = {"mirrored", "explained", "inspected_by"}
"""Choices among other values of the page, for which it takes the first one if theirs is missing."""


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_cold_link_draws_hostile_texts_in_every_field(page: Page, turn: int) -> None:
    """One run checks the page, its message about the link, its inputs, and the copied link."""
    drawn = hostile_values(page, HOSTILE, turn)
    values: dict[str, Any] = drawn.taken | {EVIL: EVIL, links.WITHOUT: HOSTILE}
    gone = [widget.link for widget in drawn.widgets.values() if can_go(page, widget, drawn.taken)]
    gone = gone[:1] if turn == TURNS[-1] else []  # Learn has no such choice
    values |= dict.fromkeys(gone, "gone")
    name = links.SHORT_LINKS.put(links.written(values, page.short), "somebody")
    query = {"s": name or "", "step": "3"}
    app = app_pages.opened(page.path, query, may_fail=True, copy_link={"request": 1})

    assert hostile_strings(app)
    (message,) = [warning.value for warning in app.warning if "link" in warning.value]
    assert message.count(markdown.escape(EVIL)) == 3
    assert ("=gone" in message) == bool(gone)
    for box in {"text_box", "messages_box"} & {*drawn.taken}:
        assert app.session_state[box] == HOSTILE
    copied = values_of(page, app.session_state["made_link"]["query"])
    assert [key for key in inputs_of(app) - {*copied} if not re.search(NOT_LINKED, key)] == []
    names = {*drawn.taken} - REPLACED - {*gone}
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
    pack({"text_sample": "spanish", "largest": 300})[:-3],
    "A" * (MAX_SHORT + 1),
    packed(b'{"text_box":"' + b"a" * 5_000_000 + b'"}'),
    packed(b"[1,2]"),
    links.SHORT_MARK + "unknown",
)


@pytest.mark.parametrize(
    ("page", "link"), [*zip(PAGES, DAMAGED, strict=True)], ids=[page.title for page in PAGES]
)
def test_damaged_link_is_named_and_another_one_opens(page: Page, link: str) -> None:
    app = app_pages.opened(page.path, {"s": link, "step": "x"}, compared=["yours"])
    (message,) = [warning.value for warning in app.warning]
    assert "link" in message
    box = {"learn_text": "banana"} if page.title == "Learn" else {"text_box": "banana"}
    app.query_params["s"] = pack({**box, "text_sample": "own"})
    app.run()
    assert {key: app.session_state[key] for key in box} == box
    app.query_params["s"] = "nonsense!"
    app.run()  # keeps what the link before it has set
    assert {key: app.session_state[key] for key in box} == box
    assert len(app.warning) == 1

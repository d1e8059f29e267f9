"""Make links from the session's values, and restore a page from a link.

A link contains the step of the player and the values of the widgets that its page declares
(`bpeviz.ui.pages.base.Page.widgets`). It is applied once, when it is opened; after that the page
behaves as if the user had made these choices. The URL keeps the link, so reloading the page
restores it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from bpeviz.text import shorten
from bpeviz.ui import components, markdown
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import codec
from bpeviz.ui.permalink.codec import MAX_PACKED, LinkError, TooLongError, Value
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.runtime.reconnection import reconnected
from bpeviz.ui.widgets import LinkValues, SessionValue, SessionValues, Widget

PARAMETER = "s"
STEP = "step"
"""The parameters of the URL: all values, packed, and the step, which the browser adds."""

MAX_STEPS = 100_000_000

WITHOUT = "without"
"""The name under which a link lists the values that it does not contain."""

MAX_NAMES = 5
"""The most names that a message lists."""

BUTTON: SessionValue[dict[str, int]] = SessionValue("copy_link")
MADE: SessionValue[dict[str, Any]] = SessionValue("made_link")
"""The last link that was made, and the number of its request."""

OPENED: SessionValue[str] = SessionValue("opened_link")
MESSAGE: SessionValue[tuple[str, str]] = SessionValue("link_message")
"""The page that a link was opened on, and the message about it."""

LINKED_STEP: SessionValue[dict[str, Any]] = SessionValue(components.LINKED_STEP)

FRESH: SessionValue[bool] = SessionValue("link_is_fresh")
"""Whether a link was opened in this run."""


# ---- making a link


def make(page: Page) -> tuple[str, list[str]]:
    """Return the values of a page, packed, and a description of each that is left out."""
    values: dict[str, Value] = {}
    widgets: dict[str, Widget[Any]] = {}
    without: list[str] = []
    for widget in page.widgets(SessionValues()):
        value, missing = widget.for_link()
        if missing is not None:
            without.append(missing)
        if value is not None:
            values[widget.link], widgets[widget.link] = value, widget
    without += [f"Tokenizer: {title}" for title in page.left_out()]
    while True:
        try:
            return codec.pack(values | ({WITHOUT: without} if without else {})), without
        except TooLongError:
            longest = max(values, key=lambda name: len(str(values[name])))
            without.append(widgets[longest].described())
            del values[longest]


def offer(page: Page) -> None:
    """Draw the button that copies a link to the page, after all of its widgets."""
    if FRESH.get():
        FRESH.clear()
        # Streamlit 1.67 drops a value that was set before its widget was ever drawn if the next
        # run is another page's. Once all widgets are drawn, one more run keeps the values.
        st.rerun()
    _button(page)


@fragment
def _button(page: Page) -> None:
    """Draw the button. Each press is a numbered request; the link is made only then."""
    request = (BUTTON.get() or {}).get("request", 0)
    made = MADE.get() or {"request": 0, "packed": ""}
    if request and made["request"] != request:
        packed, without = make(page)
        made = {"request": request, "packed": packed}
        MADE.put(made)
        if without:
            st.toast(
                f"The link does not include {_listed(without)}, which is too long for a link or "
                "comes from a file. Recipients will see a note.",
                icon=":material/link:",
                duration="long",
            )
    components.copy_link(made, BUTTON.key)


# ---- opening a link


def restore(page: Page) -> None:
    """Put the values of a link into the session, once, before any widget is drawn."""
    packed = st.query_params.get(PARAMETER)
    if packed and OPENED.get() != packed[: MAX_PACKED + 1]:
        is_known = not OPENED.present and reconnected()  # the browser has newer values
        OPENED.put(packed[: MAX_PACKED + 1])
        if not is_known:
            MESSAGE.put((page.title, _opened(page, packed)))
    title, message = MESSAGE.get() or ("", "")
    if message and title == page.title:
        st.warning(message, icon=":material/link:")


def _opened(page: Page, packed: str) -> str:
    """Restore packed values; return a message about those that are missing, or an empty one."""
    try:
        found = codec.unpack(packed)
    except LinkError as error:
        return markdown.escape(str(error))
    without = found.pop(WITHOUT, [])
    rejected = _restore(page, found)
    step = st.query_params.get(STEP, "0")
    if re.fullmatch("[0-9]{1,9}", step, re.ASCII) and int(step) <= MAX_STEPS:
        if STEP in st.query_params:
            LINKED_STEP.put({"step": int(step), "timelineId": None})
    else:
        rejected.append("Step")
    FRESH.put(True)
    sentences = []
    if isinstance(without, list) and without:
        sentences.append(
            f"This link does not include {_listed(without)}, which was too long for a link or came "
            "from a file. Open or paste it here to see the same page."
        )
    if rejected:
        sentences.append(f"Ignored, because this page cannot use it: {_listed(sorted(rejected))}.")
    return " ".join(sentences)


def _restore(page: Page, found: Mapping[str, Value]) -> list[str]:
    """Restore the values of a link that the page allows; return the labels of the others."""
    valid: dict[str, Value] = {}
    rejected: list[str] = []
    rest = dict(found)
    allowed: list[tuple[Widget[Any], Value]] = []
    for widget in page.widgets(LinkValues(valid, list(found))):
        if widget.link not in rest:
            continue
        value = rest.pop(widget.link)
        if widget.allows(value):
            valid[widget.link] = value
            allowed.append((widget, value))
        else:
            rejected.append(widget.label)
    for widget, value in allowed:
        widget.restore(value)
    return rejected + list(rest)


def _listed(names: Iterable[str]) -> str:
    """Return names for a message, in quotes and escaped, since they may contain any text."""
    found = list(dict.fromkeys(names))
    listed = [f"“{markdown.escape(shorten(one, 140))}”" for one in found[:MAX_NAMES]]
    more = f" and {len(found) - MAX_NAMES:,} more" if len(found) > MAX_NAMES else ""
    return ", ".join(listed) + more

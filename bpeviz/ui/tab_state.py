"""Restore texts, settings and opened files after a reload of the tab, or a restart of the server.

The browser stores the settings that each run sends, and the texts of the text boxes
(`bpeviz/components/shared/tab.js`). When a tab is reloaded, a script marks the address
(`bpeviz.ui.server.pages`). After a restart, or some minutes without a connection, an open page has
a new session, too; Streamlit's frontend sends it the values of the widgets on screen, but menus are
closed. The first run of the new session then draws only the frame and asks for the state, so that
the results of the default text are never shown. A link in the address replaces the texts and
settings, unless the tab has opened it before. Files are only on the server: the new session takes
them over from the earlier one, which exists for some minutes.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from bpeviz import limits
from bpeviz.text import clean, listed
from bpeviz.ui import components, markdown, tokenizers
from bpeviz.ui.inputs import named_texts
from bpeviz.ui.inputs.messages import MESSAGES
from bpeviz.ui.inputs.text import (
    EDITABLE,
    TEXT,
    TRAIN_ON,
    Box,
    SampleChoice,
    TableRows,
    TextSource,
    inbox,
)
from bpeviz.ui.opened_tokenizers import OPENED, opened
from bpeviz.ui.pages import compare
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import session
from bpeviz.ui.registry import PAGES
from bpeviz.ui.runtime import fragments, long_texts, page_change
from bpeviz.ui.runtime.reconnection import reconnected
from bpeviz.ui.widgets import LinkValues, OneOf, SessionValue, SessionValues, SomeOf, Widget

MARK = "reload"
"""The parameter of the URL that asks for the state from before a reload."""

LONG_VALUE = 10_000
"""The number of characters above which a value is sent to the browser only when it changes."""

_KEY = "tab_state"
_COMPONENT: SessionValue[dict[str, Any]] = SessionValue(_KEY)
_AWAITED: SessionValue[int] = SessionValue("tab_state_awaited")
"""The number of the request to the browser; 0 once it has answered."""

_VALUES: SessionValue[dict[str, Any]] = SessionValue("tab_state_values")
"""The values of all widgets drawn so far, by their names in links."""

_SENT: SessionValue[dict[str, int]] = SessionValue("tab_state_sent")
"""The hashes of the long values that the browser has."""

_STORED: SessionValue[str] = SessionValue("tab_state_stored")
"""The state that the browser has, without long values."""

HELD: tuple[SessionValue[Any], ...] = (OPENED, compare.FILES)
"""The values of the session that a reloaded tab takes over, beside texts."""

_LOST: SessionValue[tuple[str, list[str]]] = SessionValue("tab_state_lost")
"""The page that was reloaded, and the names of the files that the server no longer has."""


def restore(page: Page) -> None:
    """Restore the state of the tab, once; end the run where the browser must send it first.

    A page that another one embeds neither stores nor restores it: frames share the storage.
    """
    if not _AWAITED.present:
        is_lost = reconnected() and not st.context.is_embedded
        _AWAITED.put(1 + secrets.randbelow(10**9) if is_lost or MARK in st.query_params else 0)
    if number := _AWAITED.get():
        own = inbox()
        match (_COMPONENT.get() or {}).get("restored"):
            case {"number": answered, "isSent": is_sent} if answered == number:
                _AWAITED.put(0)
                if is_sent and (sent := own.take(_KEY, number)) is not None:
                    _take(page, sent)
            case _:
                address = f"{long_texts.address(own, _KEY)}/{number}"
                components.tab_state({"address": address, "mark": MARK}, _KEY)
                st.stop()
    title, names = _LOST.get() or ("", [])
    titles = {file.title for file in opened()} | {name for name, _ in named_texts.FILES.get() or ()}
    lost = [f"“{markdown.escape(name)}”" for name in names if name not in titles]
    if title == page.title and lost:
        st.warning(
            f"The server no longer has {listed(lost, session.MAX_NAMES)}. "
            f"Open {'it' if len(lost) == 1 else 'them'} again.",
            icon=":material/draft:",
        )


def _store_after(fragment: str) -> None:
    for page in PAGES:
        if page.title == page_change.current():
            values = ((widget, widget.get()) for widget in page.widgets(SessionValues()))
            store(values, f"{_KEY}_{fragment.strip('_')}")


fragments.after_runs.append(_store_after)


def store(widgets: Iterable[tuple[Widget[Any], Any]], key: str = _KEY) -> None:
    """Send the settings to the browser, after all widgets of a page or fragment.

    Args:
        widgets: The widgets whose values a link to the page contains, each with its value.
        key: The component's key.
    """
    if st.context.is_embedded:
        return
    own, widgets = inbox(), [*widgets]
    values = _VALUES.get() or {}
    held = dict(own.held)
    for widget, value in widgets:
        if isinstance(widget, SampleChoice):
            held |= _held(widget.source)
        elif isinstance(widget, TableRows) and not 0 < len(value or "") <= EDITABLE:
            values.pop(widget.link, None)
        elif not isinstance(widget, Box) and value is not None:
            values[widget.link] = value
    _VALUES.put(values)
    own.held = held | {item.key: item.get() for item in (*HELD, named_texts.FILES)}
    long = {
        name: value
        for name, value in values.items()
        if isinstance(value, str) and len(value) > LONG_VALUE
    }
    hashes = {name: hash(text) for name, text in long.items()}
    sent = _SENT.get() or {}
    _SENT.put(hashes)
    short = {name: value for name, value in values.items() if name not in long}
    files = [own.held[name] for name in own.held if name.endswith("_file_name")]
    files += [file.title for file in opened()] + [name for name, _ in named_texts.FILES.get() or ()]
    state = {
        "values": short,
        "long": sorted(long),
        "session": own.token,
        "files": [name for name in files if name],
        "link": session.OPENED.get(),
    }
    changed = {name: clean(text) for name, text in long.items() if hashes[name] != sent.get(name)}
    packed = json.dumps(state, default=str)
    if key == _KEY or changed or packed != _STORED.get():  # most steps of the player change nothing
        data = {"values": packed, "long": changed, "outdated": session.outdated(widgets)}
        components.tab_state(data, key)
    _STORED.put(packed)


def _held(source: TextSource) -> dict[str, Any]:
    """Return the values of a file in place of a text box that only the server has."""
    items = (source.file, source.table_rows, source.file_name)
    is_held = source.file.present or len(source.table_rows.get() or "") > EDITABLE
    return {item.key: item.get() if is_held else None for item in items}


def _take(page: Page, sent: str) -> None:
    """Restore the state that the browser has sent, as far as it is valid."""
    try:
        records = json.loads(sent)
        state = json.loads(records.get("values", "{}"))
        values, token = dict(state.get("values", {})), str(state.get("session"))
        values |= {name: records[f"long/{name}"] for name in state.get("long", ())}
        texts = {
            name.removeprefix("text/"): (record["sample"], record["text"])
            for name, record in records.items()
            if name.startswith("text/")
        }
        names = list(map(str, state.get("files", ())))
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return  # a browser sends this only if its storage is damaged
    earlier = long_texts.find(token)
    held = {} if earlier is None else earlier.held
    for item in HELD:
        if held.get(item.key) is not None:
            item.put(held[item.key])
    link = session.linked()
    is_opened = bool(link) and link == state.get("link")
    if is_opened:
        session.OPENED.put(link)
        session.restore_step()
    if is_opened or not link:
        for source in (TEXT, TRAIN_ON, MESSAGES):
            if isinstance(own := records.get(f"own/{source.name}"), str):
                source.own.put(clean(own[: limits.TEXT]))
        for name, (sample, text) in texts.items():
            values |= {f"{name}_sample": sample, f"{name}_box": text}
        _put(values, held)
        if held.get(named_texts.FILES.key) is not None:
            named_texts.FILES.put(held[named_texts.FILES.key])
    known = {file.title for file in opened()} | {str(value) for value in held.values()}
    known |= {name for name, _ in held.get(named_texts.FILES.key) or ()}
    _LOST.put((page.title, [name for name in names if name not in known]))
    session.FRESH.put(True)


def _put(values: Mapping[str, Any], held: Mapping[str, Any]) -> None:
    """Set the valid ones of the values of all pages, by their names in links."""
    valid: dict[str, Any] = {}
    widgets: list[Widget[Any]] = []
    for page in PAGES:
        for widget in page.widgets(LinkValues(valid, list(values))):
            if widget.link not in values or widget.link in valid:
                continue
            value = _allowed(widget, values[widget.link])
            if value is not None:
                valid[widget.link] = value
                widgets.append(widget)
    for widget in widgets:
        widget.restore(valid[widget.link])
    for widget in widgets:
        if isinstance(widget, SampleChoice):
            source = widget.source
            for item in (source.file, source.table_rows, source.file_name):
                if held.get(item.key) is not None:
                    item.put(held[item.key])
    page_change.remember({widget.key: widget.get() for widget in widgets})


def _allowed(widget: Widget[Any], value: Any) -> Any:
    """Return a value, without the files that are no longer open, or None if it is not valid."""
    if isinstance(widget, Box):
        widget = replace(widget, longest=limits.TEXT)
    if isinstance(widget, OneOf | SomeOf) and tokenizers.OWN in widget.titles:
        widget = replace(widget, titles={**widget.titles, **tokenizers.names()})
        value, _ = widget.known(value)
    if not widget.allows(value):
        return None
    return clean(value) if isinstance(value, str) else value

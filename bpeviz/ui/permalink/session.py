"""Make links from the session's values, and restore a page from a link.

A link contains the step of the player and the values of the widgets that its page declares
(`bpeviz.ui.pages.base.Page.widgets`), by name (`links`). It is applied once, when it is opened;
after that the page behaves as if the user had made these choices. So its settings leave the address
with the first change. A short link has the name under which the server stores them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import streamlit as st

from bpeviz import limits
from bpeviz.text import clean, listed, shorten
from bpeviz.ui import components, markdown
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import address, links
from bpeviz.ui.permalink.links import NOT_SETTINGS, PACKED, STEP, WITHOUT, LinkError, Value
from bpeviz.ui.runtime.dialogs import dialog
from bpeviz.ui.runtime.reconnection import reconnected
from bpeviz.ui.runtime.user import current_user
from bpeviz.ui.widgets import LinkValues, Section, SessionValue, SessionValues, Widget
from bpeviz.views.control_payloads import CopyLink, LinkAnswer, LinkedStep
from bpeviz.views.playable import FIT_FRAMES

TOUR = "tour"
"""The parameter of the URL with the running tour and its step (`bpeviz.ui.learn.tours`)."""

MAX_STEPS = 100_000_000

MAX_NAMES = 5
"""The most names that a message lists."""

LONG_ADDRESS = 2_000
"""Some proxies and chat programs refuse or shorten addresses with more characters."""

MAX_SHORT = limits.SHORT_LINK * 1_000
"""The largest size of the settings of a short link, in characters."""

BUTTON: SessionValue[dict[str, object]] = SessionValue("copy_link")
MADE: SessionValue[LinkAnswer] = SessionValue("made_link")
"""The last link that was made, and the number of its request."""

OPENED: SessionValue[str] = SessionValue("opened_link")
MESSAGE: SessionValue[tuple[str, str]] = SessionValue("link_message")
"""The page that a link was opened on, and the message about it."""

LINKED_STEP: SessionValue[LinkedStep] = SessionValue(components.LINKED_STEP)

TOLD: SessionValue[bool] = SessionValue("told_about_address")
"""Whether a message has said that others cannot open the links of this server."""

_FIRST: SessionValue[dict[str, Any]] = SessionValue("values_of_typed_link")
"""The first values of the widgets after a typed link was opened, by their keys."""

FRESH: SessionValue[bool] = SessionValue("link_is_fresh")
"""Whether a link was opened in this run."""


# ---- making a link


def make(page: Page, longest: int = limits.LINK) -> tuple[str, list[str]]:
    """Return the settings of a page as a query, and a description of each that is left out.

    Args:
        page: The page.
        longest: The most characters of the query.
    """
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
    while len(query := links.written(values, page.short)) > longest:
        longest_value = max(values, key=lambda name: len(str(values[name])))
        without.append(widgets[longest_value].described())
        del values[longest_value]
    notes = urlencode([(WITHOUT, shorten(name, 300)) for name in without], quote_via=quote)
    return "&".join(filter(None, [query, notes])), without


def address_of(page: Page) -> str:
    """Return the address that restores a page, or "" if a value does not fit into it."""
    query, without = make(page)
    at = address.reachable(st.context.url or "").page
    return "" if without or not at else f"{at}?{query}"


def keep_values() -> None:
    """Run the page again after a link was opened, once all of its widgets are drawn.

    Streamlit 1.67 drops a value that was set before its widget was ever drawn if the next run is
    another page's. One more run keeps the values.
    """
    if FRESH.get():
        FRESH.clear()
        st.rerun()


@dataclass(frozen=True)
class _Request:
    """A press of a button.

    Attributes:
        number: Its number; each is answered once.
        page: The address that the browser shows, without a query.
        step: The step of the player, or None without a player.
        qr: Whether the button is the one for the QR code.
    """

    number: int = 0
    page: str = ""
    step: int | None = None
    qr: bool = False


def _request() -> _Request:
    match (BUTTON.get() or {}).get("request", 0):
        case int(number):
            return _Request(number)
        case {"number": int(number), "page": str(page), "step": int() | None as step, "qr": qr}:
            known = step if step is not None and 0 <= step <= MAX_STEPS else None
            return _Request(number, clean(page), known, bool(qr))
    return _Request()


def link_buttons(page: Page) -> None:
    """Draw the buttons for a link to the page.

    Each press is a numbered request; the link is made only then.
    """
    request = _request()
    answer = MADE.get() or LinkAnswer(request=0, query="")
    if request.number and answer["request"] != request.number:
        query, without = make(page)
        at = address.reachable(request.page)
        answer = {"request": request.number, "query": query, "page": at.page}
        if request.qr:
            _draw_code(*_code(page, request, at, query, without))
        else:
            _tell(without, at, query)
        MADE.put(answer)
    data: CopyLink = {
        **answer,
        "isEmbeddable": address.is_embeddable(),
        "fitFrames": FIT_FRAMES,
    }
    components.copy_link(data, BUTTON.key)


def _tell(without: list[str], at: address.Reachable, query: str) -> None:
    """Show messages about a link that is copied."""
    if without:
        st.toast(
            f"The link does not include {_listed(without)}, which is too long for a link or "
            "comes from a file. Recipients will see a note. “QR code” makes a short link with "
            f"texts of up to {MAX_SHORT // 1_000:,} kB, compressed.",
            icon=":material/link:",
            duration="long",
        )
    elif len(query) > LONG_ADDRESS:
        st.toast(
            f"The link has {len(query):,} characters. Some proxies and chat programs refuse more "
            f"than {LONG_ADDRESS:,}. “QR code” makes a short link.",
            icon=":material/link:",
            duration="long",
        )
    if at.note and not TOLD.get():
        TOLD.put(True)
        st.toast(at.note, icon=":material/link_off:", duration="long")


def _code(
    page: Page, request: _Request, at: address.Reachable, query: str, without: list[str]
) -> tuple[str, str, list[str]]:
    """Return the address, its QR code and notes. A long address is replaced by a short link."""
    notes = [at.note.replace("`", "")] if at.note else []
    link = _address(request, at, query)
    code = "" if without else address.qr_code(link)
    if not code:
        complete, without = make(page, MAX_SHORT)
        name = links.SHORT_LINKS.put(complete, current_user())
        if name is not None:
            link = _address(request, at, f"{PACKED}={name}")
            code = address.qr_code(link)
            notes.append(
                f"The server remembers this short link for {limits.SHORT_LINK_HOURS:,} hours, or "
                "until it is restarted. “Copy link” copies one that lasts."
            )
    if without:
        names = ", ".join(shorten(name, 140) for name in without[:MAX_NAMES])
        notes.append(f"Not included, because it is too long or comes from a file: {names}.")
    if not code:
        notes.append("The address of this page is too long for a QR code.")
    return link, code, notes


@dialog("QR code", icon=":material/qr_code:")
def _draw_code(link: str, code: str, notes: Sequence[str]) -> None:
    address.draw_code(code)
    st.code(link, None, wrap_lines=True)
    for note in notes:
        st.caption(markdown.escape(note))


def _address(request: _Request, at: address.Reachable, query: str) -> str:
    step = "" if request.step is None else f"&{STEP}={request.step}"
    tour = st.query_params.get(TOUR, "")
    return f"{at.page}?{query}{step}" + (f"&{TOUR}={quote(tour)}" if tour else "")


# ---- opening a link


def linked() -> str:
    """Return the settings in the address and the step, as a query."""
    return urlencode([(name, text) for name in _names() for text in st.query_params.get_all(name)])


def _names() -> list[str]:
    """Return the names of settings in the address, and that of the step."""
    return [name for name in st.query_params if name not in NOT_SETTINGS - {PACKED, STEP}]


def outdated(values: Iterable[tuple[Widget[Any], Any]]) -> list[str]:
    """Return the names in the address that describe the page no longer.

    These are all of them, once a value differs from the first one after the link was opened.
    """
    names = _names()
    if not names:
        return []
    now = {widget.key: value for widget, value in values if widget.present}
    first = now | (_FIRST.get() or {})
    _FIRST.put(first)
    return names if any(first[key] != value for key, value in now.items()) else []


def restore(page: Page) -> None:
    """Put the values of a link into the session, once, before any widget is drawn."""
    link = linked()
    if link and OPENED.get() != link:
        is_known = not OPENED.present and reconnected()  # the browser has newer values
        OPENED.put(link)
        _FIRST.clear()
        if not is_known:
            MESSAGE.put((page.title, _opened(page)))
    title, message = MESSAGE.get() or ("", "")
    if message and title == page.title:
        st.container(key="link_notice").warning(message, icon=":material/link:")


def _opened(page: Page) -> str:
    """Restore the values of a link; return a message about the others, or an empty one."""
    try:
        query = [(name, text) for name in _names() for text in st.query_params.get_all(name)]
        values, names = _values(page, query)
    except LinkError as error:
        return markdown.escape(str(error))
    without = values.pop(WITHOUT, [])
    rejected = apply(page, values, names)
    if not restore_step():
        rejected.append("Step")
    sentences = []
    if isinstance(without, list) and without:
        sentences.append(
            f"This link does not include {_listed(without)}, which was too long for a link or came "
            "from a file. Open or paste it here to see the same page."
        )
    if rejected:
        sentences.append(f"Ignored, because this page cannot use it: {_listed(sorted(rejected))}.")
    return " ".join(sentences)


def restore_step() -> bool:
    """Send the player to the step in the address, if there is one; return whether it is valid."""
    step = st.query_params.get(STEP, "0")
    is_valid = bool(re.fullmatch("[0-9]{1,9}", step, re.ASCII)) and int(step) <= MAX_STEPS
    if is_valid and STEP in st.query_params:
        LINKED_STEP.put({"step": int(step), "key": None})
    return is_valid


def values_of(page: Page, query: str) -> LinkValues:
    """Return the values in the address of a page that it can use. Raises `LinkError`."""
    values, _ = _values(page, parse_qsl(query, keep_blank_values=True))
    allowed, _ = _allowed(page, values)
    valid = {widget.link: value for widget, value in allowed}
    return LinkValues(valid, [*valid])


def _values(
    page: Page, query: Sequence[tuple[str, str]]
) -> tuple[dict[str, Value], dict[str, str]]:
    """Return the values in an address, and how messages name them. Raises `LinkError`."""
    packed = dict(query).get(PACKED, "")
    if packed.startswith(links.SHORT_MARK):
        stored = links.SHORT_LINKS.get(packed)
        if stored is None:
            raise LinkError(
                "This short link is not valid on this server: it has expired, or the server was "
                "restarted. Ask for a new link."
            )
        query = parse_qsl(stored, keep_blank_values=True)
        packed = "" if query else stored  # a file of short links may have earlier ones
    if packed:
        return links.earlier(packed, MAX_SHORT), {}
    return links.read(query, page.short)


def apply(
    page: Page, linked: Mapping[str, Value], names: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Set values that the page allows, before it draws widgets.

    Args:
        page: The page.
        linked: The values, by their names in links.
        names: How messages name them, if not by their labels.

    Returns:
        The names of those that the page cannot use.
    """
    allowed, rejected = _allowed(page, linked, names)
    for widget, value in allowed:
        widget.restore(value)
    valid = {widget.link: value for widget, value in allowed}
    values = LinkValues(valid, list(valid))
    for widget in page.widgets(values):
        if isinstance(widget, Section) and widget.link not in linked and widget.has_value(values):
            widget.put(True)
    FRESH.put(True)
    return rejected


def _allowed(
    page: Page, linked: Mapping[str, Value], names: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[tuple[Widget[Any], Any]], list[str]]:
    """Return the widgets of a link with values that the page allows, and the names of the others.

    In a list, a name that the page does not know loses that name only.
    """
    valid: dict[str, Value] = {}
    allowed: list[tuple[Widget[Any], Any]] = []
    rejected: list[str] = []
    rest = dict(linked)
    for widget in page.widgets(LinkValues(valid, list(linked))):
        if widget.link not in rest:
            continue
        name = names.get(widget.link, widget.label)
        known = map(widget.known, links.meanings(rest.pop(widget.link)))
        value, unknown = next((pair for pair in known if widget.allows(pair[0])), (None, ()))
        if value is None:
            rejected.append(name)
        else:
            valid[widget.link] = value
            allowed.append((widget, value))
            rejected += [f"{name.partition('=')[0]}={key}" for key in unknown]
    return allowed, rejected + [names.get(name, name) for name in rest]


def _listed(names: Iterable[str]) -> str:
    """Return names for a message, in quotes and escaped, since they may contain any text."""
    quoted = [f"“{markdown.escape(shorten(name, 140))}”" for name in dict.fromkeys(names)]
    return listed(quoted, MAX_NAMES)

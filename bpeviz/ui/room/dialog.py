"""The button that opens a room or shows a page in it, and addresses of pages for a room."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st

from bpeviz import limits
from bpeviz.room.contents import RoomScore
from bpeviz.room.messages import Invitation
from bpeviz.room.rooms import ROOMS, Room
from bpeviz.room.run import Ready
from bpeviz.room.sheet import MAX_PARTS
from bpeviz.room.votes import VoteQuestion
from bpeviz.text import shorten
from bpeviz.ui import markdown
from bpeviz.ui.export_dialog import EXPORT, Export
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import address, session
from bpeviz.ui.room import sheets
from bpeviz.ui.room.connections import KEY, path
from bpeviz.ui.runtime.user import current_user
from bpeviz.ui.widgets import SessionValue
from bpeviz.views.playable import Interactive

GROUP = ":material/groups:"

MAX_WORDS = 70
"""The most characters of a question on its button."""

PARAMETER = "room"
"""The parameter of an address whose page a room shows: its letters and its leader's token.

The leader's page opens such addresses in a hidden frame. For a part of the run sheet, the index of
the part follows.
"""

SHEET = "sheet"
"""The parameter with the run sheet of a room that is opened again, and the current part."""

_SHOWN: SessionValue[str] = SessionValue("shown_in_room")
"""The parameter for which the page was shown."""


def room_button(page: Page) -> None:
    """Draw the button, if the page has a player, columns, or questions to vote on."""
    offer = EXPORT.get()
    if offer is None or not (_has_content(offer) or offer.questions):
        return
    own = ROOMS.of(current_user())
    verb = "Ask" if offer.questions else "Show"
    label = "Open a room" if own is None else f"{verb} in room {own.letters}"
    if not st.button(label, icon=GROUP, type="tertiary", key=f"room_{offer.key}"):
        return
    try:
        with st.spinner("Preparing the room …"):
            content = _content(offer) if _has_content(offer) else None
            room = own or _new_room()
            if content is not None:
                room.show(content, _link(page))
            questions = offer.questions() if offer.questions else ()
    except ValueError as error:
        _refused(str(error))
    else:
        _opened(room, questions)


def show_in_room(page: Page) -> None:
    """Show the page in the room that its address names, once, and open an ended room again."""
    asked = st.query_params.get(PARAMETER, "")
    offer = EXPORT.get()
    if not asked or _SHOWN.get() == asked or offer is None or not _has_content(offer):
        return
    _SHOWN.put(asked)
    letters, leader, part = (*asked.split("."), "", "")[:3]
    with suppress(ValueError):  # the leader's page waits for the room, then says that there is none
        content = _content(offer)
        room = ROOMS.reopen(letters, leader, current_user(), _join)
        key, _, at = st.query_params.get(SHEET, "").partition(".")
        if room.run is None and key in sheets.offered():
            room.use(replace(sheets.run(key), part=min(_number(at), MAX_PARTS) - 1))
        ready = Ready(content, _link(page), _number(st.query_params.get(session.STEP, "")))
        if part:
            room.prepare(_number(part), ready)
        else:
            room.show(ready.page, ready.link, ready.step)


def _number(digits: str) -> int:
    return int(digits) if re.fullmatch("[0-9]{1,8}", digits) else 0


def _new_room() -> Room:
    """Open a room, with the run sheet of the server if it has one."""
    room = ROOMS.open(current_user(), _join)
    if sheets.OWN in sheets.offered():
        room.use(sheets.run(sheets.OWN))
    return room


def _has_content(offer: Export) -> bool:
    return offer.file is not None


def _content(offer: Export) -> Interactive:
    """Return the content of a page that a room shows.

    Raises:
        ValueError: It has none, or cannot be made; the message is user-facing.
    """
    page = offer.file()() if offer.file else None
    if page is None or not (page.data.get("player") or page.data.get("score")):
        raise ValueError("A room shows one text. Press a number in the table to choose one.")
    return page


def _link(page: Page) -> str:
    """Return the address of the page relative to the app, or "" if a value does not fit into it."""
    packed, without = session.make(page)
    # In a frame, the address of the context is that of the page around it.
    at = Path(page.path).stem if page.path.startswith("pages/") else ""
    return "" if without else f"/{at}?{session.PARAMETER}={packed}"


@st.dialog("Room", width="medium", icon=GROUP)
def _opened(room: Room, questions: Sequence[VoteQuestion]) -> None:
    """Show how to lead a room."""
    code, about = st.columns((2, 3), vertical_alignment="center")
    own = urlsplit(st.context.url or "")
    lead = f"{own.scheme}://{own.netloc}{_path()}/{room.letters}/lead#{room.leader}"
    if questions:
        shows = "votes on the questions that you ask here or on the leader's page. Followers open"
    elif isinstance(room.content, RoomScore):
        shows = "shows these rows, and the token that you point at. Followers open"
    else:
        shows = (
            "shows this text and its steps, from the first one on. Play on the leader's page: "
            "followers see each step. Before you play one, they can vote on it. They open"
        )
    with code:
        address.draw_code(room.join.qr)
    with about:
        icon = ":material/open_in_new:"
        st.link_button("Open the leader's page", lead, type="primary", icon=icon)
        st.markdown(f"Room **{room.letters}** {shows}")
    st.code(room.join.invitation, None, wrap_lines=True)
    if room.join.notes:
        st.caption(markdown.escape(room.join.notes))
    for number, question in enumerate(questions):
        words = markdown.escape(shorten(f"{question.name}: {question.words}", MAX_WORDS))
        if st.button(f"Ask {words}", key=f"room_question_{number}", width="stretch"):
            room.ask(question)
    names = sheets.offered()
    key = st.selectbox(
        "Run sheet",
        ["", *names],
        [*names].index(room.run.key) + 1 if room.run else 0,
        format_func=lambda key: names[key].title if key else "None",
        help="The parts of a workshop, which you click through on the leader's page.",
        key=f"run_sheet_{room.letters}",
    )
    if key != (room.run.key if room.run else ""):
        room.use(sheets.run(key) if key else None)
    who = (
        "This invitation and its QR code open this room without the password, and nothing else."
        if room.join.password
        else "The letters are not a password: anyone who can open this server can follow."
    )
    st.caption(
        "“Share” on a page with a player, on Compare or on Learn works for the same room. "
        f"{who} A room ends {limits.ROOM_HOURS} hours after your last move; the leader's page can "
        "open it again."
    )


@st.dialog("Room", width="medium", icon=GROUP)
def _refused(message: str) -> None:
    st.warning(message)


def _path() -> str:
    base = "/".join(filter(None, st.get_option("server.baseUrlPath").split("/")))
    return path(f"/{base}")


def _join(room: Room) -> Invitation:
    """Return how to join: addresses, their QR code, the password, and why they cannot be opened."""
    at = address.reachable(st.context.url or "")
    parts = urlsplit(at.page or st.context.url or "")
    typed = f"{parts.scheme}://{parts.netloc}{_path()}/{room.letters}"
    password = os.environ.get("BPEVIZ_PASSWORD", "")
    invitation = f"{typed}?{KEY}={room.key}" if password else typed
    code = address.qr_code(invitation) or address.qr_code(typed)
    return Invitation(typed, invitation, code, password, at.note.replace("`", ""))

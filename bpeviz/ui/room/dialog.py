"""The button that opens a room or shows a page in it, and addresses of pages for a room."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import streamlit as st

from bpeviz import limits
from bpeviz.room import tickets
from bpeviz.room.contents import RoomScore
from bpeviz.room.messages import Invitation
from bpeviz.room.rooms import ROOMS, Room
from bpeviz.room.tickets import TICKETS, Ticket
from bpeviz.text import shorten
from bpeviz.ui import markdown
from bpeviz.ui.export_dialog import EXPORT, Export
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import address, session
from bpeviz.ui.room import sheets
from bpeviz.ui.room.connections import KEY, path
from bpeviz.ui.runtime.dialogs import dialog
from bpeviz.ui.runtime.user import browser_of, current_user
from bpeviz.views.playable import Interactive
from bpeviz.views.task import Task

GROUP = ":material/groups:"

QUESTION_CHARACTERS = 70
"""The most characters of a question on its button."""

NO_COOKIES = (
    "This browser refuses cookies. A room needs them: the server knows its leader by one. Allow "
    "cookies of this address, then reload this page."
)


def room_button(page: Page) -> None:
    """Draw the button, if the page has a player, a score, or questions to vote on."""
    offer = EXPORT.get()
    if offer is None or not (offer.file or offer.questions):
        return
    own = ROOMS.of(current_user())
    has_cookies = bool(browser_of(st.context.cookies))
    verb = "Ask" if offer.questions else "Show"
    label = "Open a room" if own is None else f"{verb} in room {own.letters}"
    if not st.button(label, icon=GROUP, type="tertiary", key=f"room_{offer.key}"):
        return
    if not has_cookies:
        _refused(NO_COOKIES)
        return
    try:
        with st.spinner("Preparing the room …"):
            content = _content(offer) if offer.file else None
            room = own or _new_room()
            if content is not None:
                room.show(content, _link(page))
            questions = offer.questions() if offer.questions else ()
    except ValueError as error:
        _refused(str(error))
    else:
        _opened(room, questions)


def _new_room() -> Room:
    """Open a room, with the run sheet of the server if it has one."""
    room = ROOMS.open(current_user(), _join)
    if sheets.OWN_SHEET in sheets.offered():
        room.use(sheets.run(sheets.OWN_SHEET))
    return room


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
    query, without = session.make(page)
    return "" if without else f"{sheets.path_of(page)}?{query}"


@dialog("Room", icon=GROUP)
def _opened(room: Room, questions: Sequence[Task[int]]) -> None:
    """Show how to lead a room."""
    if room.join.notes:
        st.warning(markdown.escape(room.join.notes))
    about = st.container()
    if room.join.qr:
        code, about = st.columns((2, 3), vertical_alignment="center")
        with code:
            address.draw_code(room.join.qr)
    if questions:
        shows = "votes on the questions that you ask here or on the leader's page. Followers open"
    elif isinstance(room.content, RoomScore):
        shows = "shows these rows, and the token that you point at. Followers open"
    else:
        shows = (
            "shows this text and its steps, from the first one on. Play on the leader's page: "
            "followers see each step. Before you play one, they can vote on it. They open"
        )
    with about:
        _leader_button(room.letters, room.nonce)
        st.markdown(f"Room **{room.letters}** {shows}")
    st.code(room.join.invitation, None, wrap_lines=True)
    for number, question in enumerate(questions):
        words = markdown.escape(shorten(f"{question.name}: {question.words}", QUESTION_CHARACTERS))
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
        "This invitation and its QR code open this room without the password, and nothing else, "
        f"as do its letters with the room word {room.word}."
        if room.join.word
        else "The letters are not a password: anyone who can open this server can follow."
    )
    st.caption(
        "“Share” on a page with a player, on Compare or on Learn works for the same room. "
        f"{who} A room ends {limits.ROOM_HOURS} hours after your last move."
    )


@st.fragment(run_every=tickets.TICKET_SECONDS - 10)
def _leader_button(letters: str, nonce: str) -> None:
    """Draw the link to the leader's page, whose ticket is renewed before it expires."""
    own = urlsplit(st.context.url or "")
    ticket = TICKETS.issue(Ticket(letters, nonce, current_user()))
    at = f"{own.scheme}://{own.netloc}{_path()}/{letters}/lead?{tickets.PARAMETER}={ticket}"
    icon = ":material/open_in_new:"
    st.link_button("Open the leader's page", at, type="primary", icon=icon)


@dialog("Room", icon=GROUP)
def _refused(message: str) -> None:
    st.warning(message)


def _path() -> str:
    base = "/".join(filter(None, st.get_option("server.baseUrlPath").split("/")))
    return path(f"/{base}")


def _join(room: Room) -> Invitation:
    """Return how to join: addresses, a QR code, the room word, and why they cannot be opened."""
    at = address.reachable(st.context.url or "")
    parts = urlsplit(at.page or st.context.url or "")
    typed = f"{parts.scheme}://{parts.netloc}{_path()}/{room.letters}"
    word = room.word if os.environ.get("BPEVIZ_PASSWORD") else ""
    invitation = f"{typed}?{KEY}={room.key}" if word else typed
    # A code that no phone can open would only cost time in class.
    code = "" if at.note else address.qr_code(invitation) or address.qr_code(typed)
    return Invitation(typed, invitation, code, word, re.sub("`(.*?)`", r"“\1”", at.note))

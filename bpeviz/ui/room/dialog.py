"""The button that opens a room, or shows the page in the room of this user."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from bpeviz import limits
from bpeviz.room.rooms import ROOMS, Room
from bpeviz.ui.export_dialog import EXPORT
from bpeviz.ui.permalink import address
from bpeviz.ui.room.connections import path
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.runtime.user import current_user

GROUP = ":material/groups:"


@fragment
def room_button() -> None:
    """Draw the button, if the page has a player."""
    offer = EXPORT.get()
    if offer is None or offer.animation is None:
        return
    own = ROOMS.of(current_user())
    label = "Open a room" if own is None else f"Show in room {own.letters}"
    if not st.button(label, icon=GROUP, type="tertiary", key=f"room_{offer.key}"):
        return
    try:
        with st.spinner("Preparing the room …"):
            page = offer.animation()()
            room = own or ROOMS.open(current_user(), _join)
            room.show(page)
    except ValueError as error:
        _refused(str(error))
    else:
        _opened(room)


@st.dialog("A room", width="medium")
def _opened(room: Room) -> None:
    """Show how to lead a room."""
    if room.join["notes"]:
        st.warning(room.join["notes"], icon=":material/link_off:")
    own = urlsplit(st.context.url or "")
    lead = f"{own.scheme}://{own.netloc}{_path()}/{room.letters}/lead#{room.leader}"
    st.link_button("Open the leader's page", lead, type="primary", icon=":material/open_in_new:")
    st.markdown(
        f"Room **{room.letters}** shows this text and its steps, from the first one on. Play on "
        "the leader's page: followers see each step, and vote on the next one. They open"
    )
    st.code(room.join["address"], None)
    st.caption(
        "“Share” on any page with a player shows that page in the same room. The letters are not a "
        "password: anyone who can open this server can follow. A room ends "
        f"{limits.ROOM_HOURS} hours after your last move."
    )


@st.dialog("A room")
def _refused(message: str) -> None:
    st.warning(message)


def _path() -> str:
    base = "/".join(filter(None, st.get_option("server.baseUrlPath").split("/")))
    return path(f"/{base}")


def _join(letters: str) -> dict[str, object]:
    """Return the address for followers, its QR code, and the reason why they cannot open it."""
    at = address.reachable(st.context.url or "")
    parts = urlsplit(at.page or st.context.url or "")
    shown = f"{parts.scheme}://{parts.netloc}{_path()}/{letters}"
    notes = at.note.replace("`", "")
    return {"address": shown, "qr": address.qr_code(shown), "notes": notes}

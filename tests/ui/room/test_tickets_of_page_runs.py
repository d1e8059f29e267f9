"""Only a page run with a ticket of the leader's page changes a room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.app_pages import opened

from bpeviz.room.messages import Invitation
from bpeviz.room.rooms import ROOMS, Room
from bpeviz.room.tickets import PARAMETER, TICKETS, Ticket
from bpeviz.ui.pages.base import Page
from bpeviz.ui.permalink import codec, short_links, typed
from bpeviz.ui.registry import PAGES
from bpeviz.ui.room import dialog, sheets
from bpeviz.ui.widgets import LinkValues

MINE = "browser mine"
LINK = f"/?s={codec.pack({'text_sample': 'spanish'})}&step=3"


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.setattr(dialog, "browser_of", lambda _: MINE)
    opened = ROOMS.open(MINE, lambda _: Invitation())
    opened.use(sheets.run("20-minutes"))
    yield opened
    for other in [*ROOMS._rooms.values()]:
        other.close()
    assert ROOMS.find("") is None  # which removes those that have ended


def state(room: Room) -> Any:
    links = short_links.SHORT_LINKS._links.execute("SELECT * FROM links").fetchall()
    owners = {name: (room.owner, room.number, room.run) for name, room in ROOMS._rooms.items()}
    return owners, links, room.run and [*room.run.ready], room.nonce


def test_cold_links_change_no_room(room: Room) -> None:
    before = state(room)
    spent = TICKETS.issue(Ticket(room.letters, room.nonce, MINE, LINK))
    assert TICKETS.take(spent, MINE, is_page=True)
    foreign = TICKETS.issue(Ticket(room.letters, room.nonce, "browser other", LINK))
    leads = TICKETS.issue(Ticket(room.letters, room.nonce, MINE))
    elsewhere = TICKETS.issue(Ticket(room.letters, room.nonce, MINE, LINK.replace("/", "/Compare")))
    proof = ROOMS.key.proof(room.letters, room.nonce)
    values = {
        "s": codec.pack({"text_sample": "spanish"}),
        "room": f"{room.letters}.{proof}.0",
        "sheet": "20-minutes.3",
        "step": "2",
        "tour": "first",
        "chapter": "merge",
        "embed": "true",
    }
    for name in ("", spent, foreign, leads, elsewhere):
        for page in ("Train", "Learn") if not name else ("Train",):
            opened(page, values | ({PARAMETER: name} if name else {}))
            assert state(room) == before
    given = dict(TICKETS._tickets)
    for name, value in values.items():
        opened("Train", {name: value})
        assert (state(room), TICKETS._tickets) == (before, given), "a cold link gives no ticket"
    opened("Train", {"room": "HACK.token-of-a-stranger"})
    assert ROOMS.find("HACK") is None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_typed_names_change_no_room_owner_or_short_link(page: Page, room: Room) -> None:
    short_links.SHORT_LINKS.put("packed values", MINE)
    before = state(room)
    links = {widget.link for other in PAGES for widget in other.widgets(LinkValues({}, []))}
    doors = ("room", "sheet", "letters", "leader", "lead", "owner", "user", "bpeviz_user", "key")
    others = ("bpeviz_leader", "word", "password", "run", "part", "packed", "copy_link", "share")
    for names in (sorted({*typed.SHORT, *links} - {"chapter"}), (*doors, *others)):
        opened(page.title, dict.fromkeys(names, room.letters))
        assert state(room) == before


def test_ticket_opens_an_ended_room_once(room: Room) -> None:
    room.close()
    run = sheets.run("45-minutes")
    foreign = TICKETS.issue(Ticket(room.letters, room.nonce, "browser other", LINK, run))
    opened("Train", {PARAMETER: foreign})
    assert ROOMS.find(room.letters) is None
    name = TICKETS.issue(Ticket(room.letters, room.nonce, MINE, LINK, run))
    opened("Train", {PARAMETER: name})
    again = ROOMS.find(room.letters)
    assert again
    assert (again.owner, again.run, again.step, again.key) == (MINE, run, 3, room.key)
    again.close()
    opened("Train", {PARAMETER: name})
    assert ROOMS.find(room.letters) is None


def test_ticket_of_a_part_prepares_this_part_of_this_run_sheet(room: Room) -> None:
    run = room.run
    assert run
    earlier = TICKETS.issue(Ticket(room.letters, room.nonce, MINE, LINK, run, 3))
    opened("Train", {PARAMETER: earlier})
    assert [*run.ready] == [3]
    late = TICKETS.issue(Ticket(room.letters, room.nonce, MINE, LINK, run, 4))
    room.use(sheets.run("20-minutes"))
    opened("Train", {PARAMETER: late})
    assert room.run is not None
    assert [*run.ready, *room.run.ready] == [3], "the room has another run sheet since"
    assert (room.number, room.owner) == (0, MINE)


def test_browser_without_cookies_opens_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {*ROOMS._rooms}
    app = opened("Train")
    app.button(
        key=next(button.key for button in app.button if (button.key or "")[:5] == "room_")
    ).click()
    app.run()
    assert "refuses cookies" in app.warning[0].value
    assert {*ROOMS._rooms} == before

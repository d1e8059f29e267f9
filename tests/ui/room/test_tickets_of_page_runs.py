"""No run of a page from its address changes a room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.app_pages import opened

from bpeviz.room.messages import Invitation
from bpeviz.room.rooms import ROOMS, Room
from bpeviz.room.tickets import PARAMETER, TICKETS, Ticket
from bpeviz.ui.permalink import links as permalinks
from bpeviz.ui.room import dialog, sheets

MINE = "browser mine"


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
    links = permalinks.SHORT_LINKS._links.execute("SELECT * FROM links").fetchall()
    owners = {name: (room.owner, room.number, room.run) for name, room in ROOMS._rooms.items()}
    return owners, links, room.run and [*room.run.ready], room.nonce


def test_cold_links_change_no_room(room: Room) -> None:
    before = state(room)
    leads = TICKETS.issue(Ticket(room.letters, room.nonce, MINE))
    proof = ROOMS.key.proof(room.letters, room.nonce)
    values = {
        "sample": "spanish",
        "room": f"{room.letters}.{proof}.0",
        "sheet": "20-minutes.3",
        "step": "2",
        "tour": "first",
        "chapter": "merge",
        "embed": "true",
    }
    for name in ("", leads):
        for page in ("Train", "Learn") if not name else ("Train",):
            opened(page, values | ({PARAMETER: name} if name else {}))
            assert state(room) == before
    given = dict(TICKETS._tickets)
    for name, value in values.items():
        opened("Train", {name: value})
        assert (state(room), TICKETS._tickets) == (before, given), "a cold link gives no ticket"
    opened("Train", {"room": "HACK.token-of-a-stranger"})
    assert ROOMS.find("HACK") is None

"""The pages and websockets of rooms, without a server."""

from __future__ import annotations

import asyncio
import html
import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.asgi import HTML, ask, page, run
from helpers.processes import PATIENCE
from helpers.refusals import refusal
from helpers.stages import played
from starlette.types import Receive, Scope, Send

import bpeviz
from bpeviz import limits
from bpeviz.room import sheet
from bpeviz.room.messages import Invitation
from bpeviz.room.rooms import ROOMS, Room
from bpeviz.room.run import Run
from bpeviz.room.tickets import TICKETS, Ticket
from bpeviz.ui import private
from bpeviz.ui.learn import vote_questions
from bpeviz.ui.room import pages, sheets
from bpeviz.ui.room.connections import FOLLOWER, LEADER, RoomPages, path
from bpeviz.ui.runtime.user import COOKIE
from bpeviz.ui.server.guard import Guard

TEXT = "the thin thing that they think"
PLAYABLE = played(bpeviz.train(TEXT, merges=5), TEXT)
APP = Guard(RoomPages(page, "/base"), "/base", "default-src 'self'", None)


@pytest.fixture
def room() -> Iterator[Room]:
    opened = ROOMS.open("tester", lambda _: Invitation())
    opened.show(PLAYABLE)
    yield opened
    opened.close()


def leads(room: Room) -> str:
    """Return the Cookie header of the leader's browser."""
    return f"{LEADER}={ROOMS.key.proof(room.letters, room.nonce)}; {COOKIE}=mine"


def test_pages_of_rooms_have_a_policy_of_their_own(room: Room) -> None:
    nonces = set()
    for address in (f"/base/room/{room.letters.lower()}", f"/base/room/{room.letters}/lead"):
        answer = ask(APP, address=address, cookie=leads(room), **HTML)
        assert answer.status == 200
        policy = answer.header("content-security-policy")
        assert "default-src 'none'" in policy
        [nonce] = re.findall("script-src 'nonce-([^']{22})';", policy)
        assert answer.body.count(f'<script type="module" nonce="{nonce}">') == 1
        nonces.add(nonce)
        assert all(f'"/base/{font}"' in answer.body for font in private.FONTS.values())
        assert answer.header("x-content-type-options") == "nosniff"
        assert room.nonce not in answer.body
        assert TEXT not in answer.body
    assert len(nonces) == 2


def test_rooms_are_below_the_path_of_the_app() -> None:
    assert [*map(path, ("", "/", "/base", "/base/"))] == ["/room"] * 2 + ["/base/room"] * 2


def test_ticket_makes_the_browser_of_its_page_the_leader_and_no_other(room: Room) -> None:
    lead = f"/base/room/{room.letters}/lead"
    name = TICKETS.issue(Ticket(room.letters, room.nonce, "browser mine"))
    is_leader = []
    for browser in ("student", "mine", "mine", "student"):
        answer = ask(APP, address=f"{lead}?ticket={name}", cookie=f"{COOKIE}={browser}", **HTML)
        assert (answer.status, answer.header("location")) == (303, lead)
        is_leader.append(LEADER in answer.header("set-cookie"))
    assert is_leader == [False, True, False, False]
    stolen = ask(APP, address=lead, cookie=f"{COOKIE}=student", **HTML)
    assert "This is the page of the room's leader." in html.unescape(stolen.body)
    assert room.nonce not in stolen.body


def test_part_of_a_run_sheet_is_the_content_of_its_link(room: Room) -> None:
    room.use(sheets.run("20-minutes"))

    async def scenario() -> None:
        leader = Socket(room.letters, leads(room))
        follower = Socket(room.letters)
        for each in (leader, follower):
            each.send()
        await follower.until("content")
        leader.send(do="part", part=0)
        assert not (await leader.until("part", 0))["problem"]
        assert "She" in room.content.player["views"][0]["text"]
        assert {"sheet", "part", "link"}.isdisjoint(await follower.until("step", 0))
        await asyncio.gather(leader.leave(), follower.leave())

    run(scenario())


def test_part_whose_page_cannot_be_made_says_why(room: Room) -> None:
    listed = sheet.parse(
        "T\n1 min show /Compare?how_many_texts=many\n1 min show /?text=a&pattern=regex&regex=("
    )
    room.use(Run("own", listed))

    async def scenario() -> None:
        leader = Socket(room.letters, leads(room))
        leader.send()
        for part, problem in ((0, "many texts"), (1, "regular expression")):
            leader.send(do="part", part=part)
            assert problem in (await leader.until("part", part))["problem"]
        await leader.leave()

    run(scenario())


def test_file_of_followers_contains_nothing_of_a_room(room: Room) -> None:
    answer = ask(APP, address=f"/base/room/{room.letters}/file", **HTML)
    assert answer.header("content-type").startswith("text/plain")
    assert answer.body == pages.kept()
    assert answer.body.count('<script type="application/json" id="data"></script>') == 1
    assert answer.body.index('id="data">') == answer.body.rindex('id="data">')
    assert answer.body.count("needs JavaScript") == 1


def test_form_leads_to_the_room_of_the_letters(room: Room) -> None:
    assert "Letters of the room" in ask(APP, address="/base/room", **HTML).body
    found = ask(APP, address=f"/base/room?letters={room.letters.lower()}", **HTML)
    assert (found.status, found.header("location")) == (303, f"/base/room/{room.letters}")
    for address in ("/base/room/%3Cb%3E/lead", "/base/room?letters=%3Cb%3E", "/base/room/%3Cb%3E"):
        unknown = ask(APP, address=address, **HTML)
        assert unknown.status == 404
        assert "no room with these letters" in unknown.body
        assert "<b>" not in unknown.body


def test_wrong_address_leads_to_the_form(room: Room) -> None:
    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        await APP(scope | {"app": page}, receive, send)  # as Starlette calls its middleware

    for method, address in (("GET", f"/{room.letters}/no"), ("POST", f"/{room.letters}")):
        wrong = ask(inside, method, f"/base/room{address}", **HTML)
        assert wrong.status == 404
        assert "no page with this address" in wrong.body


def test_run_sheet_of_the_server_is_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "own.txt"
    monkeypatch.setenv(sheets.VARIABLE, str(file))
    refusal(sheets.offered.__wrapped__, naming=str(file))
    for unknown in ("real/next", "merge/first"):
        file.write_text(f"Own\n\n1 min learn {unknown}", encoding="utf-8")
        refusal(sheets.offered.__wrapped__, naming=("Line 3", unknown))
    file.write_text("Own\n1 min learn merge/pair", encoding="utf-8")
    offered = sheets.offered.__wrapped__()
    assert next(iter(offered)) == sheets.OWN_SHEET
    monkeypatch.setattr(sheets, "offered", lambda: offered)
    (part,) = sheets.run(sheets.OWN_SHEET).sheet.parts
    assert part.words == "merge/pair/0"


class Socket:
    """A websocket to the app: messages to it, and those that it sent."""

    def __init__(self, letters: str, cookie: str = "", lead: str = "") -> None:
        self.sent: asyncio.Queue[Any] = asyncio.Queue()
        self.got: list[dict[str, Any]] = []
        lead = lead or ("/lead" if cookie else "")
        headers = [(b"cookie", cookie.encode())]
        at = f"/base/room/{letters}{lead.rstrip('/')}/ws"
        scope = {"type": "websocket", "path": at, "headers": headers}
        self.put({"type": "websocket.connect"})
        self.task = asyncio.create_task(APP(scope, self.sent.get, self.receive))

    def put(self, message: dict[str, Any]) -> None:
        self.sent.put_nowait(message)

    def send(self, **message: Any) -> None:
        self.put({"type": "websocket.receive", "text": json.dumps(message)})

    async def receive(self, message: Any) -> None:
        if message["type"] == "websocket.send":
            self.got.append(json.loads(message["text"]))

    async def until(self, key: str, value: Any = None) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for one in reversed(self.got):
                if one.get(key) is not None and value in (None, one[key]):
                    return one
            await asyncio.sleep(0.01)
        raise AssertionError(f"no message with {key} {value}: {self.got}")

    async def leave(self) -> None:
        self.put({"type": "websocket.disconnect", "code": 1001})
        await self.task


def test_leader_leads_on_while_the_questions_are_computed(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on = threading.Event()

    def late() -> list[Any]:
        going_on.wait(PATIENCE)
        return []

    monkeypatch.setattr(vote_questions, "offered", late)

    async def scenario() -> None:
        leader = Socket(room.letters, leads(room))
        leader.send()
        leader.send(do="list questions")
        leader.send(step=2, content=1)
        await leader.until("step", 2)
        going_on.set()
        await leader.until("questions")
        await leader.leave()

    run(scenario())


def follower_of(room: Room, cookie: str = "") -> str:
    """Return the cookie that the page of a follower sets, or "" where the browser has one."""
    answer = ask(APP, address=f"/base/room/{room.letters}", cookie=cookie, **HTML)
    value, *attributes = answer.header("set-cookie").split("; ")
    if value:
        assert {"HttpOnly", f"Path=/base/room/{room.letters}"} <= {*attributes}
    return value


def test_one_cookie_is_one_place_and_one_vote(room: Room) -> None:
    first, second = follower_of(room), follower_of(room)
    assert follower_of(room, first) == ""
    other = ROOMS.open("tester", lambda _: Invitation())
    forged = ("", f"{FOLLOWER}=me", f"{first}x", follower_of(other))

    async def scenario() -> None:
        leader = Socket(room.letters, leads(room))
        leader.send()
        await leader.until("content")
        leader.send(do="ask")
        tabs = [Socket(room.letters, first, lead="/") for _ in range(50)]
        members = [*tabs, Socket(room.letters, second, lead="/")]
        for i, member in enumerate(members):
            member.send(token=f"invented {i}")
            await member.until("vote")
        for i, member in enumerate(tabs):
            member.send(answer=i % 2, vote=1, token=f"invented {i}")
        members[-1].send(answer=0, vote=1)
        await members[-1].until("vote")
        await leader.until("followers", 2)
        without = [Socket(room.letters, cookie, lead="/") for cookie in forged]
        for member in without:
            member.send()
            state = await member.until("vote")
            assert (state["canVote"], state["vote"]["task"]["isClosed"]) == (False, True)
            member.send(answer=0, vote=1)
        leader.send(do="show")
        await leader.until("followers", 2 + len(forged))
        assert room.vote
        assert sorted(room.vote.answers.values()) == [0, 1], "of two tabs, the later one counts"
        await asyncio.gather(*(each.leave() for each in (leader, *members, *without)))

    run(scenario())
    other.close()


def test_wrong_and_frequent_messages_have_no_effect(room: Room) -> None:
    async def scenario() -> None:
        leader = Socket(room.letters, leads(room))
        leader.send()
        await leader.until("content")
        long = " " * limits.ROOM_MESSAGE
        for text in ("[", "[" * 1_000, "3", long + '{"step": 3, "content": 1}'):
            leader.put({"type": "websocket.receive", "text": text})
        leader.put({"type": "websocket.receive", "bytes": b"\xff"})
        for _ in range(limits.ROOM_RATE):
            leader.send(step=1, content=1)
        leader.send(step=4, content=1)
        await leader.until("step", 1)
        await leader.leave()
        assert room.step == 1
        for letters, lead, reason in (("NONE", "", "ended"), (room.letters, "/lead", "refused")):
            wrong = Socket(letters, lead=lead)
            wrong.send()
            await wrong.until(reason)
            await wrong.task

    run(scenario())

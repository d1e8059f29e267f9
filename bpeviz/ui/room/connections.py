"""The routes of rooms: `{base}/room`, and below a room those of its pages.

A leader is known by a cookie. The pages of a run sheet are made from their links.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from bpeviz import limits
from bpeviz.room import tickets
from bpeviz.room.messages import Message
from bpeviz.room.payloads import Ended, Refusal
from bpeviz.room.rooms import ENDED, ROOMS, Member, Room, RoomError
from bpeviz.room.run import Ready
from bpeviz.room.tickets import TICKETS
from bpeviz.text import as_json
from bpeviz.ui.learn import vote_questions
from bpeviz.ui.room import pages, sheets
from bpeviz.ui.room.component_files import PATH, component_file
from bpeviz.ui.runtime.user import LASTS, browser_of, cookie

_log = logging.getLogger("bpeviz")

KEY = "key"
"""The parameter of an address with the key of a room, which opens it without the password."""

FOLLOWER = "bpeviz_follower"
"""The cookie of a follower's browser, with the path of the room: it has one vote."""

LEADER = "bpeviz_leader"
"""The cookie of a leader, with the path of the room."""

PAUSE, PAUSE_ON_STAGE = 0.02, 0.2
"""Seconds between two messages to a member, of which each has the latest state, and after one with
a stage that was drawn for this member alone."""

_ABOUT_LEARN = ("list questions", "ask question")
"""The commands of a leader that may take long."""

CHECK_SECONDS = 60
"""Seconds between checks of a quiet room, which may have ended."""

NOT_LEADER = (
    "This is the page of the room's leader. It opens by “Share” in the bpeviz tab that opened the "
    "room, which shows its address for a minute, and needs cookies. Followers enter the letters."
)

NO_ROOM = "There is no room with these letters: it may have ended. Ask its leader."

WRONG_ADDRESS = "There is no page with this address. Enter the letters of the room."


def path(base: str) -> str:
    """Return the path of the rooms below that of the app."""
    return f"{base.rstrip('/')}/room"


class RoomPages:
    """Answers requests for rooms, and passes on all others."""

    def __init__(self, app: ASGIApp, base: str) -> None:
        self._app = app
        self._path = path(base)
        self._home = self._path.removesuffix(path(""))
        room = self._path + "/{letters}"
        router = Router(
            [
                Route(self._path, self._choose),
                Route(room, self._follow),
                Route(f"{room}/lead", self._lead),
                Route(f"{room}/notes", self._notes),
                Route(f"{room}/file", _file),
                # Its followers may not have the password of the app.
                Route(room + PATH, component_file),
                WebSocketRoute(f"{room}/ws", _connect),
                WebSocketRoute(f"{room}/lead/ws", _connect),
            ]
        )
        self._router = ExceptionMiddleware(router, {HTTPException: self._wrong_address})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope.get("path", "")
        is_room = asked == self._path or asked.startswith(f"{self._path}/")
        await (self._router if is_room else self._app)(scope, receive, send)

    async def _wrong_address(self, _request: Request, _error: Exception) -> Response:
        return pages.form(self._home, self._path, WRONG_ADDRESS)

    async def _choose(self, request: Request) -> Response:
        letters = request.query_params.get("letters", "").strip().upper()
        if letters and ROOMS.find(letters) is not None:
            return RedirectResponse(f"{self._path}/{letters}", 303)
        return pages.form(self._home, self._path, NO_ROOM if letters else "")

    async def _follow(self, request: Request) -> Response:
        room = ROOMS.find(request.path_params["letters"])
        if room is None:
            return pages.form(self._home, self._path, NO_ROOM)
        at = f"{self._path}/{room.letters}"
        answer = pages.member(room.letters, at, self._home)
        if not _browser(room, request.cookies):
            value = ROOMS.key.follower(room.letters, room.nonce, secrets.token_urlsafe(12))
            answer.headers.append("Set-Cookie", cookie(request.scope, FOLLOWER, value, at, LASTS))
        return answer

    async def _notes(self, request: Request) -> Response:
        """Return the page with the leader's notes, which has them from the leader's page."""
        letters = request.path_params["letters"].upper()
        if ROOMS.find(letters) is None:
            return pages.form(self._home, self._path, NO_ROOM)
        return pages.notes(letters, f"{self._path}/{letters}", self._home)

    async def _lead(self, request: Request) -> Response:
        """Return the leader's page, or set its cookie first."""
        letters = request.path_params["letters"].upper()
        at = f"{self._path}/{letters}"
        browser, proof = browser_of(request.cookies), request.cookies.get(LEADER, "")
        answer: Response
        if name := request.query_params.get(tickets.PARAMETER):
            answer = RedirectResponse(f"{at}/lead", 303)
            ticket = TICKETS.take(name, browser)
            if ticket is not None and ticket.letters == letters:
                value = ROOMS.key.proof(letters, ticket.nonce)
                answer.headers.append("Set-Cookie", cookie(request.scope, LEADER, value, at, LASTS))
        elif ROOMS.leads(letters, proof):
            answer = pages.member(letters, at, self._home, is_leader=True)
        else:
            message = NO_ROOM if ROOMS.find(letters) is None else NOT_LEADER
            answer = pages.form(self._home, self._path, message)
        return answer


def _browser(room: Room, cookies: Mapping[str, str]) -> str:
    """Return the browser of a follower by its cookie, or "" without one."""
    return ROOMS.key.browser(room.letters, room.nonce, cookies.get(FOLLOWER, ""))


async def _file(_request: Request) -> Response:
    """Return the file that followers keep, for their browser to complete."""
    return PlainTextResponse(pages.kept())


async def _connect(socket: WebSocket) -> None:
    """Connect a member until the room ends or the connection does."""
    await socket.accept()
    with suppress(WebSocketDisconnect, RuntimeError):  # it was lost while something is sent
        await _receive(socket)
        changed = asyncio.Event()
        changed.set()
        loop = asyncio.get_running_loop()

        def notify() -> None:
            with suppress(RuntimeError):  # the server stops
                loop.call_soon_threadsafe(changed.set)

        room = ROOMS.find(socket.path_params["letters"])
        member = _enter(socket, room, notify)
        if room is None or not isinstance(member, Member):
            await socket.send_text(json.dumps(member))
            await socket.close()
            return
        sender = asyncio.create_task(_send(socket, room, member, changed))
        try:
            await _listen(socket, room, member)
        finally:
            sender.cancel()
            room.leave(member)


def _enter(
    socket: WebSocket, room: Room | None, notify: Callable[[], None]
) -> Member | Refusal | Ended:
    """Return the new member of a room, or the answer to a connection that becomes none."""
    is_leader = socket.scope["path"].endswith("/lead/ws")
    if room is None:
        return {"ended": ENDED}
    if is_leader and not ROOMS.leads(room.letters, socket.cookies.get(LEADER, "")):
        return {"refused": NOT_LEADER}
    try:
        browser = "" if is_leader else _browser(room, socket.cookies)
        return room.enter(browser, notify, is_leader=is_leader)
    except RoomError as error:
        return {"refused": str(error)}


async def _receive(socket: WebSocket) -> Message:
    """Return the next message, or an empty one if it is not valid."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    text = message.get("text") or ""
    if len(text) > limits.ROOM_MESSAGE:
        return Message()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Message()
    return Message.of(value) if isinstance(value, dict) else Message()


async def _listen(socket: WebSocket, room: Room, member: Member) -> None:
    second, count = 0.0, 0
    asking: asyncio.Task[None] | None = None
    while True:
        message = await _receive(socket)
        now = time.monotonic()
        if now - second >= 1:
            second, count = now, 0
        count += 1
        if message == Message() or count > limits.ROOM_RATE:
            continue
        takes_long = message.do in _ABOUT_LEARN or (
            message.do == "part" and room.lacks_page(message.part)
        )
        if member.is_leader and takes_long:
            asking = asyncio.create_task(_answer(socket, room, message, asking))
        else:
            try:
                room.receive(member, message)
            except Exception:  # a bug here; the others of the room must not notice
                _log.exception("A message of a room failed.")


def _begin_part(room: Room, part: int, user: str) -> None:
    """Make the page of a part of the run sheet for its leader, and begin the part."""
    if (run := room.run) is None:
        return
    try:
        page: Ready | str = sheets.page_of(run.sheet.parts[run.page_of(part)].link, user)
    except ValueError as error:
        page = str(error)
    room.begin_part(run, part, page)


async def _answer(
    socket: WebSocket, room: Room, message: Message, before: asyncio.Task[None] | None
) -> None:
    """Answer a message that may take long, while the leader leads on."""
    if before is not None:
        await asyncio.wait([before])
    with suppress(WebSocketDisconnect, RuntimeError):
        if message.do == "part":
            user = browser_of(socket.cookies)
            await asyncio.to_thread(_begin_part, room, message.part or 0, user)
        elif message.do == "list questions":
            listed = await asyncio.to_thread(vote_questions.offered)
            await socket.send_text(json.dumps({"questions": listed}))
        elif question := await asyncio.to_thread(vote_questions.find, message.key):
            room.ask(question)


async def _send(socket: WebSocket, room: Room, member: Member, changed: asyncio.Event) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), CHECK_SECONDS)
            changed.clear()
            state = room.state(member)
            await socket.send_text(as_json(state).decode())
            if "ended" in state:
                await socket.close()
                return
            await asyncio.sleep(PAUSE_ON_STAGE if "stage" in state else PAUSE)

"""The routes of rooms: `{base}/room`, and below it `KXQF`, `…/lead`, `…/file`, `…/ws`, `…/code`."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import suppress

from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from bpeviz import limits
from bpeviz.room.messages import Message
from bpeviz.room.rooms import ROOMS, Member, Room, RoomError, are_valid
from bpeviz.text import as_json
from bpeviz.ui.learn import vote_questions
from bpeviz.ui.learn.base import NoQuestionError
from bpeviz.ui.room import pages
from bpeviz.ui.room.component_files import PATH, component_file

_log = logging.getLogger("bpeviz")

KEY = "key"
"""The parameter of an address with the key of a room, which opens it without the password."""

PAUSE = 0.02
"""Seconds between two messages to a member, of which each has the latest state."""

LOOK = 60
"""Seconds between checks of a quiet room, which may have ended."""

LOST = "This room has ended, or the server was restarted."

UNKNOWN = "There is no room with these letters: it may have ended. Ask its leader."

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
                Route(f"{room}/file", _file),
                # Its followers may not have the password of the app.
                Route(room + PATH, component_file),
                WebSocketRoute(f"{room}/ws", _connect),
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
        return pages.form(self._home, self._path, UNKNOWN if letters else "")

    async def _follow(self, request: Request) -> Response:
        return self._member(request, is_leader=False)

    async def _lead(self, request: Request) -> Response:
        return self._member(request, is_leader=True)

    def _member(self, request: Request, *, is_leader: bool) -> Response:
        letters = request.path_params["letters"].upper()
        # The leader's page can open an ended room again.
        if ROOMS.find(letters) is None and not (is_leader and are_valid(letters)):
            return pages.form(self._home, self._path, UNKNOWN)
        return pages.member(letters, f"{self._path}/{letters}", self._home, is_leader=is_leader)


async def _file(_request: Request) -> Response:
    """Return the file that followers keep, for their browser to complete."""
    return PlainTextResponse(pages.kept())


async def _connect(socket: WebSocket) -> None:
    """Connect a member until the room ends or the connection does."""
    await socket.accept()
    with suppress(WebSocketDisconnect, RuntimeError):  # it was lost while something is sent
        hello = await _receive(socket)
        room = ROOMS.find(socket.path_params["letters"])
        changed = asyncio.Event()
        changed.set()
        loop = asyncio.get_running_loop()

        def notify() -> None:
            with suppress(RuntimeError):  # the server stops
                loop.call_soon_threadsafe(changed.set)

        try:
            if room is None:
                raise RoomError(LOST)
            member = room.enter(hello.token, hello.leader, notify)
        except RoomError as error:
            reason = "ended" if room is None else "refused"
            await socket.send_text(json.dumps({reason: str(error)}))
            await socket.close()
            return
        sender = asyncio.create_task(_send(socket, room, member, changed))
        try:
            await _listen(socket, room, member)
        finally:
            sender.cancel()
            room.leave(member)


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
        if member.is_leader and message.do in ("list questions", "ask question"):
            asking = asyncio.create_task(_answer(socket, room, message, asking))
        else:
            try:
                room.receive(member, message)
            except Exception:  # a bug here; the others of the room must not notice
                _log.exception("A message of a room failed.")


async def _answer(
    socket: WebSocket, room: Room, message: Message, before: asyncio.Task[None] | None
) -> None:
    """Answer a message about questions of Learn, while the leader leads on: they may take long."""
    if before is not None:
        await asyncio.wait([before])
    with suppress(WebSocketDisconnect, RuntimeError):
        try:
            if message.do == "list questions":
                listed = await asyncio.to_thread(vote_questions.offered)
                await socket.send_text(json.dumps({"questions": listed}))
            elif question := await asyncio.to_thread(vote_questions.find, message.key):
                room.ask(question)
        except NoQuestionError as error:
            await socket.send_text(json.dumps({"note": str(error)}))


async def _send(socket: WebSocket, room: Room, member: Member, changed: asyncio.Event) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), LOOK)
            changed.clear()
            state = room.state(member)
            await socket.send_text(as_json(state).decode())
            if "ended" in state:
                await socket.close()
                return
            await asyncio.sleep(PAUSE)

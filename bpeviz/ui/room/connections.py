"""The routes of rooms: `{base}/room`, `…/room/notes`, and below a room those of its pages.

A leader is known by a cookie. Its page asks over its websocket for tickets, with which page runs of
the same browser prepare pages for the room (`bpeviz.ui.room.dialog`).
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlsplit

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
from bpeviz.room.payloads import Ended, HiddenFrame, Refusal
from bpeviz.room.rooms import ENDED, ROOMS, Member, Room, RoomError
from bpeviz.room.screens import CODE_SECONDS, WAITING
from bpeviz.room.sheet import SheetError, page_link
from bpeviz.room.tickets import TICKETS, Ticket
from bpeviz.room.votes import Vote
from bpeviz.text import as_json
from bpeviz.ui.learn import vote_questions
from bpeviz.ui.learn.base import NoQuestionError
from bpeviz.ui.room import pages, sheets
from bpeviz.ui.room.component_files import PATH, component_file
from bpeviz.ui.runtime.user import COOKIE, LASTS, browser_of, cookie

_log = logging.getLogger("bpeviz")

KEY = "key"
"""The parameter of an address with the key of a room, which opens it without the password."""

LEADER = "bpeviz_leader"
"""The cookie of a leader, with the path of the room."""

SCREEN = "bpeviz_screen"
"""The cookie of a second screen: while it waits, and then with the path of the room."""

PAUSE, PAUSE_ON_STAGE = 0.02, 0.2
"""Seconds between two messages to a member, of which each has the latest state, and after one with
a stage that was drawn for this member alone."""

_ABOUT_LEARN = ("list questions", "preview question", "ask question")
"""The commands of a leader that may take long."""

CHECK_SECONDS = 60
"""Seconds between checks of a quiet room, which may have ended."""

OVER = "This room is over: the server was restarted, and nobody can open the room again."

NOT_LEADER = (
    "This is the page of the room's leader. It opens by “Share” in the bpeviz tab that opened the "
    "room, which shows its address for a minute, and needs cookies. Followers enter the letters."
)

NO_ROOM = "There is no room with these letters: it may have ended. Ask its leader."

NO_CODE = "No phone shows this code, or it was used, or it is older than two minutes."

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
                Route(f"{self._path}/notes", self._await_leader),
                Route(room, self._follow),
                Route(f"{room}/lead", self._lead),
                Route(f"{room}/notes", self._notes),
                Route(f"{room}/file", _file),
                # Its followers may not have the password of the app.
                Route(room + PATH, component_file),
                WebSocketRoute(f"{room}/ws", _connect),
                WebSocketRoute(f"{room}/lead/ws", _connect),
                WebSocketRoute(f"{room}/notes/ws", _connect),
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
        letters = request.path_params["letters"].upper()
        if ROOMS.find(letters) is None:
            return pages.form(self._home, self._path, NO_ROOM)
        return pages.member(letters, f"{self._path}/{letters}", self._home)

    async def _await_leader(self, request: Request) -> Response:
        """Return the code of a device for a leader to type, or lead it to the notes afterwards."""
        secret = request.cookies.get(SCREEN, "")
        answer: Response
        if secret and (room := ROOMS.of_screen(secret)):
            at = f"{self._path}/{room.letters}"
            answer = RedirectResponse(f"{at}/notes", 303)
            answer.headers.append("Set-Cookie", cookie(request.scope, SCREEN, secret, at, LASTS))
            return answer
        if not re.fullmatch(r"[\w-]{22}", secret, re.ASCII):
            secret = secrets.token_urlsafe(16)
        answer = pages.notes_code(self._home, WAITING.code(secret))
        answer.headers.append(
            "Set-Cookie", cookie(request.scope, SCREEN, secret, f"{self._path}/notes", CODE_SECONDS)
        )
        return answer

    async def _notes(self, request: Request) -> Response:
        """Return the page with the leader's notes, for the leader's browser or an admitted one."""
        letters = request.path_params["letters"].upper()
        room = ROOMS.find(letters)
        if room is None or not _may_see_notes(room, request.cookies):
            message = NO_ROOM if room is None else NOT_LEADER
            return pages.form(self._home, self._path, message)
        return pages.notes(letters, f"{self._path}/{letters}", self._home)

    async def _lead(self, request: Request) -> Response:
        """Return the leader's page, which can open an ended room again, or set its cookie first."""
        letters = request.path_params["letters"].upper()
        at = f"{self._path}/{letters}"
        browser, proof = browser_of(request.cookies), request.cookies.get(LEADER, "")
        answer: Response
        if name := request.query_params.get(tickets.PARAMETER):
            answer = RedirectResponse(f"{at}/lead", 303)
            ticket = TICKETS.take(name, browser, is_page=False)
            if ticket is not None and ticket.letters == letters:
                value = ROOMS.key.proof(letters, ticket.nonce)
                answer.headers.append("Set-Cookie", cookie(request.scope, LEADER, value, at, LASTS))
        elif ROOMS.leader(letters, proof):
            answer = pages.member(letters, at, self._home, is_leader=True)
            if not browser:  # it was closed since; tickets need the cookie
                value = secrets.token_urlsafe(16)
                home = self._home or "/"
                answer.headers.append("Set-Cookie", cookie(request.scope, COOKIE, value, home))
        else:
            closed = OVER if proof else NO_ROOM
            message = closed if ROOMS.find(letters) is None else NOT_LEADER
            answer = pages.form(self._home, self._path, message)
        return answer


def _may_see_notes(room: Room, cookies: Mapping[str, str]) -> bool:
    """Return whether a browser is the leader's, or one that the leader has admitted."""
    is_leader = bool(ROOMS.leader(room.letters, cookies.get(LEADER, "")))
    return is_leader or cookies.get(SCREEN, "") in room.screens


async def _file(_request: Request) -> Response:
    """Return the file that followers keep, for their browser to complete."""
    return PlainTextResponse(pages.kept())


async def _connect(socket: WebSocket) -> None:
    """Connect a member until the room ends or the connection does."""
    await socket.accept()
    with suppress(WebSocketDisconnect, RuntimeError):  # it was lost while something is sent
        hello = await _receive(socket)
        changed = asyncio.Event()
        changed.set()
        loop = asyncio.get_running_loop()

        def notify() -> None:
            with suppress(RuntimeError):  # the server stops
                loop.call_soon_threadsafe(changed.set)

        room = ROOMS.find(socket.path_params["letters"])
        member = await _enter(socket, room, hello, notify)
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


async def _enter(
    socket: WebSocket, room: Room | None, hello: Message, notify: Callable[[], None]
) -> Member | Refusal | Ended | HiddenFrame:
    """Return the new member of a room, or the answer to a connection that becomes none."""
    letters = socket.path_params["letters"].upper()
    is_leader = socket.scope["path"].endswith("/lead/ws")
    proof = socket.cookies.get(LEADER, "") if is_leader else ""
    nonce = ROOMS.leader(letters, proof)
    is_screen = socket.scope["path"].endswith("/notes/ws")
    if is_screen and (room is None or not _may_see_notes(room, socket.cookies)):
        return {"refused": NO_ROOM if room is None else NOT_LEADER}
    if is_leader and not (nonce if room else proof):
        return {"refused": NOT_LEADER}
    if room is not None:
        try:
            token = "" if is_screen else hello.token
            return room.enter(token, notify, is_leader=is_leader, is_screen=is_screen)
        except RoomError as error:
            return {"refused": str(error)}
    if nonce and hello.do == "open again":
        browser = browser_of(socket.cookies)
        if frame := await asyncio.to_thread(_again, letters, nonce, hello, browser):
            return frame
    is_over = not nonce if is_leader else ROOMS.is_over(letters)
    return {"ended": OVER if is_over else ENDED, "isOver": is_over}


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
        if not member.is_follower and message.do in _ABOUT_LEARN[: 3 if member.is_leader else 1]:
            asking = asyncio.create_task(_answer(socket, room, message, asking))
        elif member.is_leader and message.do == "prepare":
            if frame := _part(room, message, browser_of(socket.cookies)):
                await socket.send_text(json.dumps(frame))
        elif member.is_leader and message.do == "admit screen":
            secret = WAITING.admit(message.key)
            if secret:
                room.screens.add(secret)
            await socket.send_text(json.dumps({"screen": "" if secret else NO_CODE}))
        else:
            try:
                room.receive(member, message)
            except Exception:  # a bug here; the others of the room must not notice
                _log.exception("A message of a room failed.")


def _again(letters: str, nonce: str, message: Message, browser: str) -> HiddenFrame | None:
    """Return the page run that opens an ended room again, with its run sheet."""
    try:
        link = page_link(message.link)
    except SheetError:
        return None
    run = sheets.run(message.key) if message.key in sheets.offered() else None
    if run is not None:
        run = replace(run, part=max(-1, min(message.part or 0, len(run.addresses) - 1)))
    return _frame(Ticket(letters, nonce, browser, link, run))


def _part(room: Room, message: Message, browser: str) -> HiddenFrame | None:
    """Return the page run that prepares a part of the run sheet."""
    run, part = room.run, message.part
    if run is None or part is None or not 0 <= part < len(run.addresses) or not run.addresses[part]:
        return None
    return _frame(Ticket(room.letters, room.nonce, browser, run.addresses[part], run, part))


def _frame(ticket: Ticket) -> HiddenFrame:
    """Return the page run by a ticket: its address contains nothing else."""
    page = urlsplit(ticket.link).path
    return {"frame": f"{page}?{tickets.PARAMETER}={TICKETS.issue(ticket)}", "part": ticket.part}


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
                if message.do == "ask question":
                    room.ask(question)
                    return
                vote = Vote(0, question)
                preview = {"preview": vote.state("", is_leader=True), "stage": vote.stage("")}
                await socket.send_text(as_json(preview).decode())
        except NoQuestionError as error:
            await socket.send_text(json.dumps({"note": str(error)}))


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

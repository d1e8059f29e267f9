"""An optional password for the whole app, with a login page that does not use Streamlit."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import time
from collections import deque
from collections.abc import Callable
from html import escape
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from bpeviz import limits
from bpeviz.room.rooms import ROOMS, Room, are_valid
from bpeviz.room.server_key import WORD, is_equal
from bpeviz.ui import private
from bpeviz.ui.mark import IMAGE
from bpeviz.ui.room.connections import KEY, path
from bpeviz.ui.runtime.user import LASTS, cookie

COOKIE = "bpeviz_password"
ROOM_COOKIE = "bpeviz_room"
"""The key of an invitation, in a cookie with the path of its room."""

_INVITED = {("GET", ""), ("HEAD", ""), ("GET", "/file"), ("WEBSOCKET", "/ws"), ("GET", "/code")}
"""The methods and addresses below that of a room which its invitation opens."""

_NO_ROOM = (
    "This invitation is not valid: its room may have ended. Ask the leader, or give the password."
)

_LETTERS = (
    "These look like the letters of a room. Type its room word, too, which the leader's page shows "
    "under “How to join”."
)

_LABEL = "Password of this server"
_ROOM_LABEL = "Letters and room word of the leader's page, or the password"
"""What the form asks for, and what it asks for below the path of rooms."""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>bpeviz</title>
<style>
:root {{ color-scheme: light dark; font: 1rem/1.5 sans-serif; }}
body {{ margin: 15vh auto; max-width: 22rem; padding: 0 1rem; }}
h1 img {{ width: 2rem; vertical-align: -0.3rem; }}
label, input, button {{ display: block; font: inherit; }}
input, button {{ box-sizing: border-box; margin-top: 0.5rem; padding: 0.5rem; width: 100%; }}
</style>
</head>
<body>
<main>
<h1>{mark} bpeviz</h1>
<form method="post">
<label for="password">{label}</label>
<input id="password" name="password" type="password" required autofocus
 autocomplete="current-password" aria-describedby="message">
<p id="message" role="alert">{message}</p>
<button>Open</button>
</form>
</main>
</body>
</html>
"""


class PasswordGate:
    """Answers everything but the health check and fonts with a form until the password is given.

    An invitation to a room, or its letters and its room word, open the follower's page of this
    room, as long as the room is open.
    """

    def __init__(
        self, app: ASGIApp, password: str, base: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._app = app
        self._base = base
        root = base.rstrip("/")
        self._rooms = path(base)
        # Followers without the password see the fonts, too.
        self._open = {f"{root}/{path}" for path in (private.HEALTH, *private.FONTS.values())}
        self._room = re.compile(f"({re.escape(self._rooms)}/)([^/]+)((?:/.*)?)", re.DOTALL)
        self._clock = clock
        self._password = password.encode()
        # The key depends on the password alone, so browsers stay logged in after a restart. It
        # takes 50 ms to compute, so a cookie does not help to guess the password.
        self._key = hashlib.scrypt(self._password, salt=b"bpeviz", n=2**14, r=8, p=1)
        self._wrong: deque[tuple[float, str]] = deque()
        """The times of the wrong passwords of the last minute, and their networks."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] in self._open:
            await self._app(scope, receive, send)
            return
        answer: ASGIApp
        connection = HTTPConnection(scope)
        room, at, below = self._asked_room(scope["path"])
        kind = (scope.get("method", "WEBSOCKET"), re.sub(r"^(/code)/[\w-]+\.js$", r"\1", below))
        key = connection.query_params.get(KEY, "") if kind == ("GET", "") else ""
        room_key = connection.cookies.get(ROOM_COOKIE, "")
        logged_in = self._valid(connection.cookies.get(COOKIE, ""))
        is_open = logged_in or (room is not None and kind in _INVITED and room.admits(room_key))
        if scope["type"] == "http" and _is_form(scope):
            # The form has the page's own address, so a link survives the login.
            answer = _to_page(scope) if logged_in else await self._checked(scope, receive)
        elif key and room is not None and room.admits(key):
            answer = self._admitted(scope, room)
        elif is_open:
            answer = RedirectResponse(at, 303) if key else self._app
        elif scope["type"] == "websocket":
            answer = WebSocketClose()
        else:
            answer = self._asked(scope, _NO_ROOM if key or (room_key and not below) else "")
        await answer(scope, receive, send)

    async def _checked(self, scope: Scope, receive: Receive) -> Response:
        """Return the answer to the form."""
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            return Response(status_code=400)
        form = parse_qs(body.decode("utf-8", "replace"))
        now, network = self._clock(), _network(scope)
        while self._wrong and self._wrong[0][0] <= now - 60:
            self._wrong.popleft()
        own = sum(address == network for _, address in self._wrong)
        if own >= limits.PASSWORD_TRIES or len(self._wrong) >= limits.ALL_PASSWORD_TRIES:
            message = "There were too many wrong passwords. Wait a minute and try again."
            return self._form(scope, message, 429)
        given = form.get("password", [""])[0]
        if not hmac.compare_digest(given.encode(), self._password):
            typed = re.sub(r"[\W_]", "", given).upper().removeprefix("ROOM")
            asked, _, _ = self._asked_room(scope["path"])
            room = asked if len(typed) == WORD else ROOMS.find(typed[:-WORD])
            if room is not None and is_equal(typed[-WORD:], room.word):
                return self._admitted(scope, room)
            # A class that types them all must not use up its tries. Rooms are too few to help to
            # guess the password.
            if ROOMS.find(typed) is None:
                self._wrong.append((now, network))
            message = "This password or room word is wrong."
            return self._form(scope, _LETTERS if are_valid(typed) else message, 401)
        answer = _to_page(scope)
        ends = str(int(now) + LASTS)
        token = f"{ends}.{self._signature(ends)}"
        answer.headers.append("Set-Cookie", cookie(scope, COOKIE, token, self._base, LASTS))
        return answer

    def _admitted(self, scope: Scope, room: Room) -> Response:
        """Return a redirection to the follower's page of a room, with the cookie that opens it."""
        at = f"{self._rooms}/{room.letters}"
        answer = RedirectResponse(at, 303)
        answer.headers.append("Set-Cookie", cookie(scope, ROOM_COOKIE, room.key, at, LASTS))
        return answer

    def _asked_room(self, address: str) -> tuple[Room | None, str, str]:
        """Return the open room of an address, the room's own address, and the rest."""
        if not (match := self._room.fullmatch(address)):
            return None, "", "/"
        letters = match[2].upper()
        return ROOMS.find(letters), match[1] + letters, match[3]

    def _asked(self, scope: Scope, message: str) -> Response:
        """Return the form to a browser that opens a page, a short text to any other request."""
        if _opens_page(scope):
            return self._form(scope, message, 401)
        words = message or "Open the app in a browser and give its password."
        return PlainTextResponse(words, 401)

    def _form(self, scope: Scope, message: str, status: int) -> Response:
        is_room = f"{scope['path']}/".startswith(f"{self._rooms}/")
        label = escape(_ROOM_LABEL if is_room else _LABEL)
        page = _PAGE.format(mark=IMAGE, label=label, message=escape(message))
        return HTMLResponse(page, status, {"Cache-Control": "no-store"})

    def _valid(self, token: str) -> bool:
        ends, _, signature = token.partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(ends).encode()):
            return False
        return int(ends) > self._clock()

    def _signature(self, ends: str) -> str:
        return hmac.new(self._key, ends.encode(), "sha256").hexdigest()


def _network(scope: Scope) -> str:
    """Return the address of a browser, or of its network where it can choose among many (IPv6)."""
    given = (scope.get("client") or ("",))[0]
    try:
        address = ipaddress.ip_address(given)
    except ValueError:
        return str(given)
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ipaddress.ip_network((int(address), 64), strict=False))


def _opens_page(scope: Scope) -> bool:
    """Return whether a connection is a browser that opens a page."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    return "text/html" in Headers(scope=scope).get("accept", "")


def _is_form(scope: Scope) -> bool:
    content = Headers(scope=scope).get("content-type", "").partition(";")[0]
    return (scope["method"], content) == ("POST", "application/x-www-form-urlencoded")


def _to_page(scope: Scope) -> Response:
    """Return a redirection to the page whose form was sent."""
    # A path that begins with two slashes would lead to another host.
    path = "/" + scope["raw_path"].decode("latin-1").lstrip("/\\")
    query = scope["query_string"].decode("latin-1")
    return RedirectResponse(f"{path}?{query}" if query else path, 303)

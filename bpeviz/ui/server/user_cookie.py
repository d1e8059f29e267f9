"""The cookie that distinguishes users, for a fair queue."""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bpeviz.ui.runtime.user import COOKIE, cookie


class UserCookie:
    """Sets a random cookie with the first page. The browser deletes it when it closes."""

    def __init__(self, app: ASGIApp, base: str) -> None:
        self._app = app
        self._base = base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                token = secrets.token_urlsafe(16)
                headers = MutableHeaders(scope=message)
                headers.append("Set-Cookie", cookie(scope, COOKIE, token, self._base))
            await send(message)

        new = opens_page(scope) and COOKIE not in HTTPConnection(scope).cookies
        await self._app(scope, receive, send_with_cookie if new else send)


def opens_page(scope: Scope) -> bool:
    """Return whether a connection is a browser that opens a page."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    return "text/html" in Headers(scope=scope).get("accept", "")

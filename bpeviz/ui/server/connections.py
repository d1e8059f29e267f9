"""The number of open tabs, and of the files that the system lets the server open for them."""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from bpeviz import limits
from bpeviz.ui.server.user_cookie import opens_page

try:
    import resource
except ImportError:  # Windows, where sockets are not files
    resource = None  # type: ignore[assignment]

OF_TAB = 4
"""The files of a tab: its connection, and those of an event loop that Streamlit 1.67 creates."""

RESERVED = 500
"""Files for other uses, mainly for sessions that Streamlit stores after their tabs are closed."""

ENOUGH = 65_536
"""A number of files that suffices for any number of users."""


def raise_open_files() -> int:
    """Let this process open as many files as the system allows; return the number.

    By default it is 1,024 on many systems: 250 tabs. Without a file for a new connection, nobody
    can open the app, and the server tries to accept the connection again and again.
    """
    if resource is None:
        return ENOUGH
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        except (OSError, ValueError):  # macOS has a second, lower limit
            return soft
        return most
    return ENOUGH if soft == resource.RLIM_INFINITY else soft


class Connections:
    """Refuses tabs beyond a number, so that those that are open keep working."""

    def __init__(self, app: ASGIApp, files: int) -> None:
        """Wrap an app. files: the number of files that the process may open."""
        self._app = app
        self._most = max(1, min(limits.SESSIONS, (files - RESERVED) // OF_TAB))
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        is_tab = scope["type"] == "websocket"
        if self._open >= self._most and (is_tab or opens_page(scope)):
            answer: ASGIApp = WebSocketClose() if is_tab else _full
            await answer(scope, receive, send)
            return
        self._open += is_tab
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= is_tab


_full = PlainTextResponse(
    "Too many tabs are open on this server. Try again in a minute.",
    503,
    {"Cache-Control": "no-store", "Retry-After": "60"},
)

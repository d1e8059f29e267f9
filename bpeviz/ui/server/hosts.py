"""Refuse requests under names of other hosts, and websockets that pages of other hosts open."""

from __future__ import annotations

import socket
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from bpeviz.ui.permalink.address import is_loopback

_REFUSED = PlainTextResponse(
    "This server was not started for this host name. Start it with --browser.serverAddress NAME "
    "(see bpeviz/DEPLOYMENT.md).",
    403,
)


class KnownHosts:
    """Refuses websockets from pages of other hosts, and on loopback all names of other hosts.

    A page of another host could otherwise let its name resolve to this machine, and so open the
    app of a user as its own (DNS rebinding).

    Streamlit 1.67 compares origins as well, but may ask an external host for its own address first.
    All users wait for that answer, up to two seconds. So no origin reaches it.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], listens: str) -> None:
        """Wrap an app.

        Args:
            app: The app.
            hosts: The names under which a proxy serves the app, and hosts whose pages are accepted.
            listens: The address that the server listens on; empty for all.
        """
        self._app = app
        known = (*hosts, socket.gethostname(), "0.0.0.0")  # noqa: S104
        self._hosts = {host.lower() for host in known if host}
        self._on_loopback = is_loopback(listens)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._accepts(scope):
            answer = self._app
            if scope["type"] == "websocket":
                headers = [header for header in scope["headers"] if header[0] != b"origin"]
                scope = {**scope, "headers": headers}
        else:
            answer = WebSocketClose() if scope["type"] == "websocket" else _REFUSED
        await answer(scope, receive, send)

    def _accepts(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        host, origin = headers.get("host"), headers.get("origin")
        if self._on_loopback and host is not None and not self._knows(f"//{host}"):
            return False
        if scope["type"] != "websocket" or origin is None:  # not from a page
            return True
        return self._knows(origin) or (bool(host) and origin.partition("://")[2] == host)

    def _knows(self, address: str) -> bool:
        try:
            name = (urlsplit(address).hostname or "").rstrip(".")
        except ValueError:
            return False
        return name in self._hosts or is_loopback(name)

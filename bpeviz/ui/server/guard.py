"""The outermost middleware: the size of requests, known hosts, and security headers."""

from __future__ import annotations

import re
import socket
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from bpeviz import limits
from bpeviz.ui import private
from bpeviz.ui.permalink.address import is_loopback
from bpeviz.ui.runtime import long_texts

_UNKNOWN_HOST = PlainTextResponse(
    "This server was not started for this host name. Start it with --browser.serverAddress NAME "
    "(see bpeviz/DEPLOYMENT.md).",
    403,
)


class Guard:
    """Refuses large requests and unknown hosts, and adds security headers to every response.

    It refuses websockets from pages of other hosts, and on loopback all names of other hosts: a
    page of another host could otherwise let its name resolve to this machine, and so open the app
    of a user as its own (DNS rebinding).

    Streamlit 1.67 compares origins as well, but may ask an external host for its own address first.
    All users wait for that answer, up to two seconds. So no origin reaches it.
    """

    def __init__(
        self, app: ASGIApp, base: str, policy: str, hosts: Collection[str] | None, listens: str = ""
    ) -> None:
        """Wrap an app.

        Args:
            app: The app.
            base: The path of the app.
            policy: The content security policy.
            hosts: The names under which a proxy serves the app, and hosts whose pages are accepted;
                None accepts all.
            listens: The address that the server listens on; empty for all.
        """
        self._app = app
        uploads = (f"{base.rstrip('/')}/{private.UPLOAD}", long_texts.path(base))
        self._uploads = re.compile(f"(?:{'|'.join(map(re.escape, uploads))})/.+")
        self._headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            # Links hold the text of the user, which must not get into logs.
            "Referrer-Policy": "no-referrer",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        }
        known = (*(hosts or ()), socket.gethostname(), "0.0.0.0")  # noqa: S104
        self._hosts = {host.lower() for host in known if host}
        self._accepts_all = hosts is None
        self._on_loopback = is_loopback(listens)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)  # rooms have a policy of their own
            await send(message)

        answer = self._app
        if scope["type"] != "lifespan":
            answer = self._refusal(scope) or self._app
        if scope["type"] == "websocket" and not self._accepts_all:
            others = [header for header in scope["headers"] if header[0] != b"origin"]
            scope = {**scope, "headers": others}
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        """Return the answer to a request that is refused."""
        headers = Headers(scope=scope)
        if not (self._accepts_all or self._accepts(headers, is_page=scope["type"] == "http")):
            return _UNKNOWN_HOST if scope["type"] == "http" else WebSocketClose()
        if "transfer-encoding" in headers:
            return PlainTextResponse("The request must state its length.", 411)
        is_upload = scope.get("method") == "PUT" and self._uploads.fullmatch(scope["path"])
        # The form around a file has some bytes, too.
        most = limits.UPLOAD * 1_048_576 + 10_000 if is_upload else limits.REQUEST * 1_000
        if int(headers.get("content-length", "0")) > most:
            return PlainTextResponse(f"The limit is {most:,} bytes.", 413)
        return None

    def _accepts(self, headers: Headers, *, is_page: bool) -> bool:
        host, origin = headers.get("host"), headers.get("origin")
        if self._on_loopback and host is not None and not self._knows(f"//{host}"):
            return False
        if is_page or origin is None:  # not from a page
            return True
        return self._knows(origin) or (bool(host) and origin.partition("://")[2] == host)

    def _knows(self, address: str) -> bool:
        try:
            name = (urlsplit(address).hostname or "").rstrip(".")
        except ValueError:
            return False
        return name in self._hosts or is_loopback(name)

"""Refuse websockets that pages of other hosts open."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

LOCAL = ("localhost", "127.0.0.1", "0.0.0.0")  # noqa: S104
"""The local hosts, which Streamlit accepts as well."""


class SameOrigin:
    """Refuses a websocket from a page of another host.

    Streamlit 1.67 refuses it as well, but first asks an external host for its own address. All
    users wait for that answer, up to two seconds.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        """Wrap an app. hosts: the names of other hosts whose pages are accepted."""
        self._app = app
        self._hosts = {*LOCAL, *hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        accepted = scope["type"] != "websocket" or self._accepts(Headers(scope=scope))
        await (self._app if accepted else WebSocketClose())(scope, receive, send)

    def _accepts(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin is None:
            return True  # not a browser
        try:
            parts = urlsplit(origin)
            return parts.netloc == headers.get("host") or parts.hostname in self._hosts
        except ValueError:
            return False

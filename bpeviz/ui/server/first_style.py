"""The style of the pages, inside the first response.

As an element of a page, the style would arrive with the first run of the script, and then move
everything that is already on the screen.
"""

from __future__ import annotations

import importlib.resources

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bpeviz.ui.runtime.style import STYLE
from bpeviz.ui.server.user_cookie import opens_page

_END = b"</head>"


def _preloads() -> str:
    """Return the links that load the font of tokens early: it would change the lines of a text."""
    fonts = importlib.resources.files("streamlit") / "static" / "static" / "media"
    return "".join(
        f'<link rel="preload" href="./static/media/{font.name}" as="font" crossorigin>'
        for font in fonts.iterdir()
        if font.name.startswith("SourceCodeVF-Upright")
    )


class FirstStyle:
    """Adds the style of the pages to Streamlit's HTML page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._added = (_preloads() + STYLE).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if not opens_page(scope):
            await self._app(scope, receive, send)
            return
        start: Message = {}
        is_html = False
        body = b""

        async def send_with_style(message: Message) -> None:
            nonlocal start, is_html, body
            if message["type"] == "http.response.start":
                start = message
                is_html = Headers(raw=start["headers"]).get("content-type", "")[:9] == "text/html"
            if not is_html:
                await send(message)
            elif message["type"] == "http.response.body":
                body += message.get("body", b"")
                if not message.get("more_body"):
                    body = body.replace(_END, self._added + _END, 1)
                    headers = MutableHeaders(scope=start)
                    headers["Content-Length"] = str(len(body))
                    # It identifies Streamlit's file, which does not change with the style.
                    del headers["ETag"], headers["Last-Modified"]
                    await send(start)
                    await send({"type": "http.response.body", "body": body})

        # Neither a compressed nor an unchanged page could be edited.
        sent = Headers(scope=scope).mutablecopy()
        for name in ("accept-encoding", "if-none-match", "if-modified-since"):
            del sent[name]
        await self._app(scope | {"headers": sent.raw}, receive, send_with_style)

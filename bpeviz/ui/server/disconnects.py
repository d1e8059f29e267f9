"""Handle connections that the browser has closed."""

from __future__ import annotations

import contextlib

from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected


class QuietDisconnects:
    """Ends a connection without a traceback in the log if the browser has closed it.

    Streamlit 1.67 sends a close message to a browser that disconnects while it receives data.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        with contextlib.suppress(WebSocketDisconnected):
            await self._app(scope, receive, send)

"""Connections whose browser has gone."""

from __future__ import annotations

import pytest
from asgi import ask, page
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnected

from bpeviz.ui.server.disconnects import QuietDisconnects


async def closed_twice(scope: Scope, receive: Receive, send: Send) -> None:
    socket = WebSocket(scope, receive, send)
    await socket.close()
    await socket.close()


def test_browser_that_has_gone_raises_no_error() -> None:
    with pytest.raises(WebSocketDisconnected):
        ask(closed_twice, "WEBSOCKET")
    ask(QuietDisconnects(closed_twice), "WEBSOCKET")


def test_other_errors_and_answers_pass() -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("other")

    with pytest.raises(RuntimeError, match="other"):
        ask(QuietDisconnects(broken))
    assert ask(QuietDisconnects(page)).status == 200

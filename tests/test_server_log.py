"""What the tests in a browser overlook in the server's log, and that it is no more than that."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser.serving import ROOT, Server

# As Streamlit 1.67 and Starlette 1.10 write it, with most of the frames left out.
GONE_AWAY = f"""\
ERROR:    Exception in ASGI application
Traceback (most recent call last):
  File "{ROOT}/.venv/lib/site-packages/streamlit/web/starlette_websocket.py", line 516
    data = await websocket.receive_bytes()
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
starlette.websockets.WebSocketDisconnected: WebSocket is not connected. Need to call "accept" first.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "{ROOT}/.venv/lib/site-packages/starlette/websockets.py", line 104, in send
    raise WebSocketDisconnected('Cannot call "send" once a close message has been sent.')
starlette.websockets.WebSocketDisconnected: Cannot call "send" once a close message has been sent.
"""
OURS = f"""\
Traceback (most recent call last):
  File "{ROOT}/bpeviz/ui/pages/train.py", line 7, in draw
    raise ValueError("of ours")
ValueError: of ours
"""


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server("", tmp_path / "server.log", 0)


@pytest.mark.parametrize("log", ["started\n", "started\n" + GONE_AWAY, GONE_AWAY * 2 + "ended\n"])
def test_tracebacks_ignore_disconnected_browsers(server: Server, log: str) -> None:
    server.log.write_text(log)
    assert server.tracebacks() == ""


@pytest.mark.parametrize(
    "log",
    [
        OURS,
        GONE_AWAY + OURS,
        OURS + GONE_AWAY,
        GONE_AWAY.replace("WebSocketDisconnected: WebSocket", "Other: WebSocket"),
        GONE_AWAY.replace(".venv/lib/site-packages/starlette", "bpeviz/ui"),
        GONE_AWAY.replace("starlette.websockets.WebSocketDisconnected: Cannot", "Other: Cannot"),
    ],
)
def test_tracebacks_contain_every_other_error(server: Server, log: str) -> None:
    server.log.write_text(log)
    assert "Traceback" in server.tracebacks()
    assert server.tracebacks() == ""  # each traceback is returned once

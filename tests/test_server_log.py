"""What the tests in a browser overlook in the server's log, and that it is no more than that."""

from __future__ import annotations

from pathlib import Path

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


def test_tracebacks_are_those_of_other_errors_than_of_disconnected_browsers(tmp_path: Path) -> None:
    server = Server("", tmp_path / "server.log", 0)
    server.log.write_text(f"started\n{GONE_AWAY * 2}ended\n")
    assert server.tracebacks() == ""
    for log in (
        f"{GONE_AWAY}{OURS}{GONE_AWAY}",
        GONE_AWAY.replace(".venv/lib/site-packages/starlette", "bpeviz/ui"),
        GONE_AWAY.replace("starlette.websockets.WebSocketDisconnected: Cannot", "Other: Cannot"),
    ):
        server.log.write_text(server.log.read_text() + log)
        assert "Traceback" in server.tracebacks()
        assert server.tracebacks() == ""  # each traceback is returned once

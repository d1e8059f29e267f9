"""What a running app sends to a browser."""

from __future__ import annotations

import urllib.error
import urllib.request
import zlib

import pytest
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from bpeviz.palette import LIGHT
from helpers.asgi import run


def status(address: str, host: str, data: bytes | None = None) -> int:
    """Return the status of the answer to a request under a host name."""
    request = urllib.request.Request(address, data, headers={"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


async def _train(address: str) -> tuple[str, str]:
    """Return the first color of the theme, and all messages of the first run of Train."""
    stream = address.replace("http", "ws", 1) + "/_stcore/stream"
    async with websockets.connect(stream, max_size=None, max_queue=None, open_timeout=60) as opened:
        await opened.send(BackMsg(rerun_script={"query_string": ""}).SerializeToString())
        color, messages = "", []
        while True:
            message = ForwardMsg.FromString(await opened.recv(decode=False))
            messages.append(str(message))
            if data := message.delta.new_element.bidi_component.bytes:
                messages.append(zlib.decompress(data).decode())
            kind = message.WhichOneof("type")
            if kind == "new_session":
                color = message.new_session.custom_theme.light.primary_color
            if kind == "script_finished":
                return color, "\n".join(messages)


async def _open_from(address: str, origin: str) -> None:
    """Open the websocket of a page of another origin."""
    stream = address.replace("http", "ws", 1) + "/_stcore/stream"
    async with websockets.connect(stream, origin=websockets.Origin(origin)):
        pass


def assert_serves_the_app(address: str) -> None:
    """Check that Train has its theme and the sample texts, and what the server refuses."""
    color, messages = run(_train(address))
    assert color == LIGHT.accent
    assert "She sells seashells" in messages
    assert "Traceback" not in messages
    assert status(address, "localhost") == 200
    assert status(address, "evil.example") == 403
    assert status(address, "localhost", b"a" * 65_000) == 413
    with pytest.raises(websockets.InvalidStatus, match="403"):
        run(_open_from(address, "http://evil.example"))
    run(_open_from(address, address))

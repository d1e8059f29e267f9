"""Websocket messages that are not a browser's."""

from __future__ import annotations

from typing import Any

import pytest
from asgi import run
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from bpeviz.ui.server.messages import ValidMessages

VALID = BackMsg(rerun_script={"query_string": "a"}).SerializeToString()


def received(message: Message, kind: str = "websocket") -> Message:
    """Return the message that the app receives."""
    found: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        found.append(await receive())

    async def receive() -> Message:
        return message

    async def send(message: Message) -> None:
        raise AssertionError(message)

    run(ValidMessages(app)({"type": kind}, receive, send))
    return found[0]


@pytest.mark.parametrize(
    "content",
    [{"text": "a"}, {"bytes": VALID[:-1]}, {"bytes": b"\xff" * 9}, {"bytes": b""}, {"bytes": None}],
)
def test_message_that_streamlit_cannot_read_ends_the_connection(content: dict[str, Any]) -> None:
    assert received({"type": "websocket.receive", **content})["type"] == "websocket.disconnect"


@pytest.mark.parametrize(
    "message",
    [{"type": "websocket.receive", "bytes": VALID}, {"type": "websocket.connect"}],
)
def test_other_messages_pass(message: Message) -> None:
    assert received(message) is message


def test_http_requests_pass() -> None:
    message = {"type": "http.request", "body": b"\xff"}
    assert received(message, "http") is message

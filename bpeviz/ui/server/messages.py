"""Websocket messages that are not a browser's."""

from __future__ import annotations

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg


class ValidMessages:
    """Ends a websocket at a message that Streamlit cannot read.

    Streamlit 1.67 logs a traceback for each such message.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""

        async def receive_valid() -> Message:
            message = await receive()
            if message["type"] != "websocket.receive" or _is_valid(message.get("bytes")):
                return message
            return {"type": "websocket.disconnect", "code": 1003}

        await self._app(scope, receive_valid if scope["type"] == "websocket" else receive, send)


def _is_valid(content: bytes | None) -> bool:
    try:
        return content is not None and bool(BackMsg.FromString(content).WhichOneof("type"))
    except DecodeError:
        return False

"""Refuse websocket messages that are invalid, or for which there is not enough memory."""

from __future__ import annotations

import logging

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from bpeviz.ui.server.held_texts import has_room

_log = logging.getLogger("bpeviz")


class ValidMessages:
    """Ends a websocket at a message that Streamlit cannot read, or that exceeds a limit.

    Streamlit 1.67 logs a traceback for each message that it cannot read.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""

        async def receive_valid() -> Message:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            content = message.get("bytes")
            if content is not None and not has_room(len(content)):
                _log.warning(
                    "Message refused: texts of all sessions. %s bytes.", f"{len(content):,}"
                )
                return {"type": "websocket.disconnect", "code": 1013}
            if not _is_valid(content):
                return {"type": "websocket.disconnect", "code": 1003}
            return message

        await self._app(scope, receive_valid if scope["type"] == "websocket" else receive, send)


def _is_valid(content: bytes | None) -> bool:
    try:
        return content is not None and bool(BackMsg.FromString(content).WhichOneof("type"))
    except DecodeError:
        return False

"""Websocket messages that are not a browser's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from asgi import run
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.state.session_state import SessionState

from bpeviz import limits
from bpeviz.ui.server import held_texts
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


def test_large_message_is_refused_where_sessions_hold_too_many_texts(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    large = BackMsg(rerun_script={"query_string": "a" * 2_000_000}).SerializeToString()
    held = limits.ALL_TEXTS * 1_000_000 - len(large)
    for size, kind in ((held, "websocket.receive"), (held + 1, "websocket.disconnect")):
        monkeypatch.setattr(held_texts, "measure", lambda size=size: size)
        monkeypatch.setattr(held_texts, "_total", held_texts._Total())
        assert received({"type": "websocket.receive", "bytes": large})["type"] == kind
        assert received({"type": "websocket.receive", "bytes": VALID})["bytes"] == VALID
    assert len(caplog.records) == 1


def test_texts_of_all_sessions_are_measured_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a" * 3_000_000
    state = SessionState(
        _old_state={"text": text, "history": [text, {"typed": "b" * 10**6}]},
        _new_session_state={"text": text, "step": 3},
    )
    client = ClientState(query_string="c" * 10**6)
    session = SimpleNamespace(session_state=state, _client_state=client)
    manager = SimpleNamespace(list_sessions=lambda: [SimpleNamespace(session=session)])
    monkeypatch.setattr(
        held_texts.runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=manager)
    )
    assert held_texts.measure() == pytest.approx(5_000_000, rel=0.001)

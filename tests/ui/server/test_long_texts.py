"""Requests with the long texts of a text box."""

from __future__ import annotations

import gc

import pytest
from helpers.asgi import Answer, ask, page, run
from starlette.types import Message

from bpeviz import limits
from bpeviz.ui.runtime import long_texts
from bpeviz.ui.server.long_texts import LongTexts


def put(token: str, text: str, base: str = "/", name: str = "text") -> Answer:
    path = f"{long_texts.path(base)}/{token}/{name}/5"
    return ask(LongTexts(page, base), "PUT", path, text.encode())


@pytest.mark.parametrize("base", ["/", "/room", "/a/room"])
def test_text_is_stored_for_its_session(base: str) -> None:
    mine, other = long_texts.Inbox(), long_texts.Inbox()
    assert put(mine.token, "naïve 👋", base).status == 204
    assert mine.size == len("naïve 👋".encode())
    assert other.take("text", 5) is None
    assert mine.take("text", 4) is mine.take("side", 5) is None
    assert mine.take("text", 5) == "naïve 👋"
    assert mine.take("text", 5) is None


def test_last_text_replaces_the_one_before() -> None:
    inbox = long_texts.Inbox()
    put(inbox.token, "one")
    put(inbox.token, "other", name="side")
    assert inbox.take("text", 5) is None
    assert inbox.take("side", 5) == "other"


def test_inbox_ends_with_its_session() -> None:
    inbox = long_texts.Inbox()
    token = inbox.token
    del inbox
    gc.collect()
    answer = put(token, "text")
    assert answer.status == 404
    assert "Reload" in answer.body


def test_token_is_looked_up_before_the_text_arrives() -> None:
    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        answers.append(message)

    answers: list[Message] = []
    scope = {"type": "http", "method": "PUT", "path": "/texts/unknown/text/5", "headers": []}
    run(LongTexts(page, "/")(scope, receive, send))
    assert answers[0]["status"] == 404


def test_text_above_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TEXT", 10)
    inbox = long_texts.Inbox()
    assert put(inbox.token, "a" * 40).status == 204
    answer = put(inbox.token, "b" * 41)
    assert answer.status == 413
    assert "10 characters" in answer.body
    assert inbox.take("text", 5) == "a" * 40


def test_stored_texts_count_as_uploads() -> None:
    inbox = long_texts.Inbox()
    put(inbox.token, "a" * 30)
    assert long_texts.sizes()[inbox.token] == 30


def test_sizes_are_counted_while_a_session_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[long_texts.Inbox] = []

    def begin() -> long_texts.Inbox:
        begun.append(long_texts.Inbox())
        return begun[-1]

    monkeypatch.setitem(long_texts._inboxes.data, "a reference", begin)
    mine = long_texts.Inbox()
    assert long_texts.sizes()[mine.token] == 0
    assert begun


def test_other_requests_pass() -> None:
    app = LongTexts(page, "/")
    assert ask(app, "PUT", "/texts/a/b").status == 200
    assert ask(app, "GET", "/texts/a/b/5").status == 200
    assert ask(app, "WEBSOCKET", "/texts/a/b/5").status == 101

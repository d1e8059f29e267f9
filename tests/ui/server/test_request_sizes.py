"""Limits on the size of requests and uploads."""

from __future__ import annotations

import asyncio
import errno

import pytest
from asgi import Answer, ask, handle, page, run
from starlette.datastructures import Headers, UploadFile
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from bpeviz import limits
from bpeviz.ui.runtime import uploads
from bpeviz.ui.server import held_texts
from bpeviz.ui.server.request_sizes import MB, RequestSizes

SESSION, ALL = limits.SESSION_UPLOADS * MB, limits.ALL_UPLOADS * MB


async def storing(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with what Streamlit would store."""
    body = await Request(scope, receive).body()
    assert int(Headers(scope=scope)["content-length"]) >= len(body)
    if body.startswith(b"--part"):
        form = await Request(scope, _once(body)).form()
        [stored] = form.values()
        assert isinstance(stored, UploadFile)
        body = await stored.read()
    await PlainTextResponse(body.decode("latin-1"))(scope, receive, send)


def _once(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    return receive


def put(size: int, stored: dict[str, int], session: str = "mine", base: str = "/") -> Answer:
    app = RequestSizes(storing, base, lambda: stored)
    path = f"{base.rstrip('/')}/_stcore/upload_file/{session}/file"
    return ask(app, "PUT", path, b"content", content_length=str(size))


@pytest.fixture(autouse=True)
def no_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a server, no session holds texts."""
    monkeypatch.setattr(held_texts, "measure", lambda: 0)
    monkeypatch.setattr(held_texts, "_total", held_texts._Total())


def refusal(answer: Answer) -> str:
    """Return the message that is stored in place of a file, or an empty text."""
    assert answer.status == 200
    content = answer.body.encode("latin-1")
    return content.removeprefix(uploads.refused("")).decode() if content != b"content" else ""


def test_uploads_are_refused_where_sessions_hold_too_many_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(held_texts, "measure", lambda: limits.ALL_TEXTS * MB - 2 * MB)
    assert not refusal(put(2 * MB, {}))
    assert f"{limits.ALL_TEXTS:,} MB" in refusal(put(2 * MB + 1, {}))


@pytest.mark.parametrize("base", ["/", "/room", "/a/room"])
def test_uploads_of_a_session_are_limited_together(base: str) -> None:
    stored = {"mine": SESSION - 10, "other": SESSION}
    assert not refusal(put(10, stored, base=base))
    assert f"{limits.SESSION_UPLOADS} MB" in refusal(put(11, stored, base=base))
    app = RequestSizes(page, base, lambda: stored)
    path = f"{base.rstrip('/')}/texts/mine/text/7"
    assert ask(app, "PUT", path, content_length="10").status == 200
    answer = ask(app, "PUT", path, content_length="11")
    assert answer.status == 413
    assert f"{limits.SESSION_UPLOADS} MB" in answer.body


def test_uploads_of_all_sessions_are_limited_together() -> None:
    stored = {str(number): SESSION for number in range(ALL // SESSION - 1)} | {"mine": 1}
    most = SESSION - 1
    assert not refusal(put(10, stored | {"mine": most - 9}))
    late = {"late": ALL - (ALL // SESSION - 1) * SESSION - 10}
    assert f"{limits.ALL_UPLOADS} MB" in refusal(put(10, stored | late))


def test_upload_is_limited() -> None:
    most = limits.UPLOAD << 20
    assert not refusal(put(most, {}))
    assert f"{limits.UPLOAD} MB" in refusal(put(most + 1, {}))
    assert put(3 * most, {}).status == 413


def test_uploads_that_arrive_count() -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        began.set()
        await go_on.wait()
        await page(scope, receive, send)

    async def two() -> list[int]:
        app = RequestSizes(slow, "/", lambda: {"mine": SESSION - MB})

        def upload(size: int) -> asyncio.Task[Answer]:
            path = "/texts/mine/text/7"
            return asyncio.create_task(handle(app, "PUT", path, content_length=str(size)))

        first = upload(MB)
        await began.wait()
        second = await upload(1)
        go_on.set()
        await first
        return [first.result().status, second.status, (await upload(MB)).status]

    assert run(two()) == [200, 413, 200]


def test_other_requests_are_short() -> None:
    app = RequestSizes(page, "/", dict)
    most = limits.REQUEST * 1_000
    for method in ("POST", "DELETE", "GET"):
        path = "/_stcore/upload_file/mine/file"
        assert ask(app, method, path, content_length=str(most)).status == 200
        assert ask(app, method, path, content_length=str(most + 1)).status == 413


def test_requests_of_unknown_length_are_refused() -> None:
    app = RequestSizes(page, "/", dict)
    for method in ("PUT", "POST"):
        path = "/_stcore/upload_file/mine/file"
        assert ask(app, method, path, transfer_encoding="chunked").status == 411


def test_websocket_passes() -> None:
    assert ask(RequestSizes(page, "/", dict), "WEBSOCKET").status == 101


def test_full_disk_is_reported_in_place_of_the_file() -> None:
    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        first = await receive()
        if first["body"] == b"content":
            raise OSError(code, "")
        await storing(scope, _once(first["body"]), send)

    path = "/_stcore/upload_file/mine/file"
    code = errno.ENOSPC
    app = RequestSizes(failing, "/", dict)
    assert "disk" in refusal(ask(app, "PUT", path, b"content"))
    code = errno.EIO
    with pytest.raises(OSError, match=str(errno.EIO)):
        ask(app, "PUT", path, b"content")

"""Limits on the size of requests and uploads."""

from __future__ import annotations

import asyncio
import errno

import pytest
from asgi import Answer, ask, handle, page, run
from starlette.types import Receive, Scope, Send

from bpeviz import limits
from bpeviz.ui.server.request_sizes import MB, RequestSizes

SESSION, ALL = limits.SESSION_UPLOADS * MB, limits.ALL_UPLOADS * MB


def put(size: int, stored: dict[str, int], session: str = "mine", base: str = "/") -> Answer:
    app = RequestSizes(page, base, lambda: stored)
    path = f"{base.rstrip('/')}/_stcore/upload_file/{session}/file"
    return ask(app, "PUT", path, content_length=str(size))


@pytest.mark.parametrize("base", ["/", "/room", "/a/room"])
def test_uploads_of_a_session_are_limited_together(base: str) -> None:
    stored = {"mine": SESSION - 10, "other": SESSION}
    assert put(10, stored, base=base).status == 200
    answer = put(11, stored, base=base)
    assert answer.status == 413
    assert f"{limits.SESSION_UPLOADS} MB" in answer.body
    path = f"{base.rstrip('/')}/texts/mine/text/7"
    assert (
        ask(RequestSizes(page, base, lambda: stored), "PUT", path, content_length="10").status
        == 200
    )
    assert (
        ask(RequestSizes(page, base, lambda: stored), "PUT", path, content_length="11").status
        == 413
    )


def test_uploads_of_all_sessions_are_limited_together() -> None:
    stored = {str(number): SESSION for number in range(ALL // SESSION - 1)} | {"mine": 1}
    assert put(SESSION - 1, stored).status == 200
    answer = put(SESSION - 10, stored | {"late": 10})
    assert answer.status == 413
    assert f"{limits.ALL_UPLOADS} MB" in answer.body


def test_uploads_that_arrive_count() -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        began.set()
        await go_on.wait()
        await page(scope, receive, send)

    async def two() -> list[int]:
        app = RequestSizes(slow, "/", dict)

        def upload(size: int) -> asyncio.Task[Answer]:
            path = "/_stcore/upload_file/mine/file"
            return asyncio.create_task(handle(app, "PUT", path, content_length=str(size)))

        first = upload(SESSION)
        await began.wait()
        second = await upload(1)
        go_on.set()
        await first
        return [first.result().status, second.status, (await upload(SESSION)).status]

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


def test_full_disk_is_an_answer() -> None:
    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        raise OSError(code, "")

    app = RequestSizes(failing, "/", dict)
    path = "/_stcore/upload_file/mine/file"
    code = errno.ENOSPC
    answer = ask(app, "PUT", path, content_length="9")
    assert answer.status == 507
    assert "disk" in answer.body
    code = errno.EIO
    with pytest.raises(OSError, match=str(errno.EIO)):
        ask(app, "PUT", path, content_length="9")

"""Limits on the size of requests and uploads."""

from __future__ import annotations

import asyncio
import errno

import pytest
from helpers.asgi import Answer, ask, handle, page, run
from starlette.datastructures import Headers, UploadFile
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from bpeviz import limits
from bpeviz.ui.runtime import uploads
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


def refusal(answer: Answer) -> str:
    """Return the message that is stored in place of a file, or an empty text."""
    assert answer.status == 200
    content = answer.body.encode("latin-1")
    return content.removeprefix(uploads.refused("")).decode() if content != b"content" else ""


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


def upload_in_turn(
    app: RequestSizes, *sizes: int, path: str = "/texts/mine/text/7"
) -> list[Answer]:
    """Return the answers to uploads that begin one after the other and end in this order."""

    async def turns() -> list[Answer]:
        uploads = []
        for size in sizes:
            uploads.append(asyncio.create_task(handle(app, "PUT", path, bytes(size))))
            await asyncio.sleep(0)  # it begins
        return list(await asyncio.gather(*uploads))

    return run(turns())


async def slow(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer many turns of the event loop after the body came: later than other requests begin."""
    await receive()
    for _ in range(100):
        await asyncio.sleep(0)
    await page(scope, receive, send)


def test_bytes_that_have_arrived_count() -> None:
    app = RequestSizes(slow, "/", lambda: {"mine": SESSION - MB})
    assert [one.status for one in upload_in_turn(app, MB, 1)] == [200, 413]
    assert [one.status for one in upload_in_turn(app, MB)] == [200]


def test_announced_bytes_do_not_count() -> None:
    """Requests whose bodies never come do not keep others from uploading."""
    never, app = asyncio.Event(), RequestSizes(slow, "/", dict)

    async def waits() -> Message:
        await never.wait()
        return {"type": "http.disconnect"}

    async def upload() -> int:
        headers = [(b"content-length", str(limits.UPLOAD * MB).encode())]
        begun = {"type": "http", "method": "PUT", "path": "/texts/mine/text/7", "headers": headers}
        tasks = [asyncio.create_task(app(begun, waits, no_answer)) for _ in range(21)]
        await asyncio.sleep(0)  # they begin
        status = (await handle(app, "PUT", "/texts/mine/text/8", bytes(MB))).status
        never.set()
        await asyncio.gather(*tasks)
        return status

    assert run(upload()) == 200


async def no_answer(_message: Message) -> None:
    pass


def test_upload_that_exceeds_a_limit_while_it_arrives_is_refused() -> None:
    stored = {"mine": 0}

    async def fills(scope: Scope, receive: Receive, send: Send) -> None:
        stored["mine"] = SESSION  # another upload has ended meanwhile
        await storing(scope, receive, send)

    answer = ask(RequestSizes(fills, "/", lambda: stored), "PUT", "/texts/mine/text/7", b"content")
    assert (answer.status, f"{limits.SESSION_UPLOADS} MB" in answer.body) == (413, True)
    stored["mine"] = 0
    app = RequestSizes(fills, "/", lambda: stored)
    content = ask(app, "PUT", "/_stcore/upload_file/mine/file", b"content")
    assert f"{limits.SESSION_UPLOADS} MB" in refusal(content)


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

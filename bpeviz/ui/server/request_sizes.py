"""Limits on the size of requests, and on the uploads of a session and of all sessions."""

from __future__ import annotations

import errno
import re
from collections import Counter
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bpeviz import limits
from bpeviz.corpus.files import LONGER
from bpeviz.ui import private
from bpeviz.ui.runtime import long_texts, uploads

MB = 1_000_000


def stored_uploads() -> dict[str, int]:
    """Return the bytes of the uploads that are stored, by session, and of long texts."""
    return long_texts.sizes() | private.upload_sizes()


class _FullError(Exception):
    """An upload exceeds a limit while it arrives. The message is for the user."""


class RequestSizes:
    """Refuses requests that are too large.

    In place of a refused upload, Streamlit stores the message, which the page shows
    (`bpeviz.ui.runtime.uploads`). Other requests are answered with status 413.
    """

    def __init__(
        self, app: ASGIApp, base: str, stored: Callable[[], Mapping[str, int]] = stored_uploads
    ) -> None:
        self._app = app
        self._stored = stored
        upload = re.escape(f"{base.rstrip('/')}/{private.UPLOAD}")
        text = re.escape(long_texts.path(base))
        self._upload = re.compile(f"(?:{upload}/([^/]+)|{text}/([^/]+)/[^/]+)/[^/]+")
        self._arriving: Counter[str] = Counter()
        """The bytes of the uploads that are arriving, by session."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        upload = self._upload.fullmatch(scope["path"]) if scope["method"] == "PUT" else None
        size = int(headers.get("content-length", "0"))
        body = _Body(receive)
        if "transfer-encoding" in headers:
            await PlainTextResponse("The request must state its length.", 411)(scope, body, send)
        elif upload is None and size > limits.REQUEST * 1_000:
            await self._refuse(scope, body, send, "The request is too large.", size)
        elif upload is None:
            await self._app(scope, receive, send)
        elif message := self._refusal(upload[1] or upload[2], size):
            await self._refuse(scope, body, send, message, size, is_file=bool(upload[1]))
        else:
            session, is_file = upload[1] or upload[2], bool(upload[1])
            await self._accept(scope, body, send, session, size, is_file=is_file)

    def _refusal(self, session: str, size: int) -> str:
        """Return the message about a limit that an upload exceeds, or an empty text."""
        if size > limits.UPLOAD * 1_048_576:
            return f"The file is larger than {limits.UPLOAD} MB. Use a smaller one. {LONGER}"
        stored = self._stored()
        if stored.get(session, 0) + self._arriving[session] + size > limits.SESSION_UPLOADS * MB:
            return (
                f"The uploads of a tab may have {limits.SESSION_UPLOADS:,} MB together. Reload the "
                "page, then upload this file again."
            )
        if sum(stored.values()) + self._arriving.total() + size > limits.ALL_UPLOADS * MB:
            return (
                f"The uploads of all users may have {limits.ALL_UPLOADS:,} MB together. Try again "
                "in a few minutes."
            )
        return ""

    async def _accept(
        self, scope: Scope, body: _Body, send: Send, session: str, size: int, *, is_file: bool
    ) -> None:
        arrived = 0

        async def receive() -> Message:
            nonlocal arrived
            message = await body()
            more = len(message.get("body", b""))
            arrived += more
            self._arriving[session] += more
            if more and (refusal := self._refusal(session, 0)):
                raise _FullError(refusal)
            return message

        try:
            await self._app(scope, receive, send)
        except _FullError as error:
            await self._refuse(scope, body, send, str(error), size, is_file=is_file)
        except OSError as error:  # Starlette stores long uploads in temporary files
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            message = "The disk of the server is full, so it cannot receive files. Try again later."
            await self._refuse(scope, body, send, message, size, is_file=True)
        finally:
            self._arriving[session] -= arrived
            if not self._arriving[session]:
                del self._arriving[session]

    async def _refuse(
        self,
        scope: Scope,
        body: _Body,
        send: Send,
        message: str,
        size: int,
        *,
        is_file: bool = False,
    ) -> None:
        """Answer a request, but do not pass on its body."""
        if size > 2 * limits.UPLOAD * MB:  # a browser does not send that
            await PlainTextResponse(message, 413)(scope, body, send)
            return
        await body.discard()
        if not is_file:
            await PlainTextResponse(message, 413)(scope, body, send)
            return
        stored = b"\r\n".join(
            [
                b"--part",
                b'Content-Disposition: form-data; name="file"; filename="refused"',
                b"",
                uploads.refused(message),
                b"--part--",
                b"",
            ]
        )
        headers = Headers(scope=scope).mutablecopy()
        headers["Content-Type"] = "multipart/form-data; boundary=part"
        headers["Content-Length"] = str(len(stored))
        await self._app(scope | {"headers": headers.raw}, _Body(body, stored), send)


class _Body:
    """The body of a request, as the app receives it."""

    def __init__(self, receive: Receive, content: bytes | None = None) -> None:
        self._receive, self._content = receive, content
        self._ended = False

    async def __call__(self) -> Message:
        if self._content is not None and not self._ended:
            self._ended = True
            return {"type": "http.request", "body": self._content}
        message = await self._receive()
        self._ended = self._ended or not message.get("more_body")
        return message

    async def discard(self) -> None:
        """Drain the body; a browser shows no response while it uploads."""
        while not self._ended:
            await self()

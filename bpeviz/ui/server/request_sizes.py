"""Limits on the size of requests, and on the uploads of a session and of all sessions."""

from __future__ import annotations

import errno
import re
from collections import Counter
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime

from bpeviz import limits
from bpeviz.ui.runtime import long_texts

MB = 1_000_000


def stored_uploads() -> dict[str, int]:
    """Return the bytes of the uploads that Streamlit stores, by session, and of long texts.

    Streamlit deletes an upload when the user removes it or its session expires.
    """
    manager = runtime.get_instance().uploaded_file_mgr
    storage: Mapping[str, Mapping[str, object]] = getattr(manager, "file_storage", {})
    return long_texts.sizes() | {
        session: sum(len(getattr(file, "data", b"")) for file in [*files.values()])
        for session, files in [*storage.items()]
    }


class RequestSizes:
    """Refuses requests that are too large with status 413."""

    def __init__(
        self, app: ASGIApp, base: str, stored: Callable[[], Mapping[str, int]] = stored_uploads
    ) -> None:
        self._app = app
        self._stored = stored
        upload = re.escape(f"{base.rstrip('/')}/_stcore/upload_file")
        text = re.escape(long_texts.path(base))
        self._upload = re.compile(f"(?:{upload}/([^/]+)|{text}/([^/]+)/[^/]+)/[^/]+")
        self._arriving: Counter[str] = Counter()
        """The bytes of the uploads that are arriving, by session."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        upload = self._upload.fullmatch(scope["path"]) if scope["method"] == "PUT" else None
        size = int(headers.get("content-length", "0"))
        session = (upload[1] or upload[2]) if upload else ""
        if "transfer-encoding" in headers:
            refused = PlainTextResponse("The request must state its length.", 411)
        elif upload is not None:
            refused = self._refused_upload(session, size)
        elif size > limits.REQUEST * 1_000:
            refused = PlainTextResponse("The request is too large.", 413)
        else:
            refused = None
        if refused is not None:
            if size <= 2 * limits.UPLOAD * MB:
                await _discard_body(receive)
            await refused(scope, receive, send)
            return
        self._arriving[session] += size
        try:
            await self._app(scope, receive, send)
        except OSError as error:  # Starlette stores long uploads in temporary files
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            full = PlainTextResponse("The disk of the server is full. Try again later.", 507)
            await full(scope, receive, send)
        finally:
            self._arriving[session] -= size
            if not self._arriving[session]:
                del self._arriving[session]

    def _refused_upload(self, session: str, size: int) -> Response | None:
        """Return the answer to an upload that exceeds a limit."""
        stored = self._stored()
        if stored.get(session, 0) + self._arriving[session] + size > limits.SESSION_UPLOADS * MB:
            return PlainTextResponse(
                f"The uploads of a tab may have {limits.SESSION_UPLOADS:,} MB together. Remove "
                "one, or reload the page.",
                413,
            )
        if sum(stored.values()) + self._arriving.total() + size > limits.ALL_UPLOADS * MB:
            return PlainTextResponse(
                f"The uploads of all tabs may have {limits.ALL_UPLOADS:,} MB together. Try again "
                "later.",
                413,
            )
        return None


async def _discard_body(receive: Receive) -> None:
    """Read a request to its end: a browser that is still sending does not see the answer."""
    while (await receive()).get("more_body"):
        pass

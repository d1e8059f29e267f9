"""Handle requests with a long text, which the browser sends apart from Streamlit's messages."""

from __future__ import annotations

import re

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bpeviz import limits
from bpeviz.ui.runtime import long_texts


class LongTexts:
    """Stores the body of `PUT {base}/texts/{token}/{text box}/{number}` for the session."""

    def __init__(self, app: ASGIApp, base: str) -> None:
        self._app = app
        self._path = re.compile(
            f"{re.escape(long_texts.path(base))}/([\\w-]+)/(\\w+)/([0-9]{{1,16}})", re.ASCII
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_put = scope["type"] == "http" and scope["method"] == "PUT"
        if is_put and (match := self._path.fullmatch(scope["path"])):
            answer = await _stored(Request(scope, receive), *match.groups())
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)


async def _stored(request: Request, token: str, name: str, number: str) -> Response:
    """Store the text of a request; return the answer."""
    inbox = long_texts.find(token)
    if inbox is None:
        return PlainTextResponse("The session has ended. Reload the page.", 404)
    content = bytearray()  # grows in place: joining chunks would keep all users waiting
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > 4 * limits.TEXT:
                return PlainTextResponse(
                    f"The limit is {limits.TEXT:,} characters. Shorten the text.", 413
                )
    except ClientDisconnect:
        return Response(status_code=400)
    inbox.put(name, int(number), content)
    return Response(status_code=204)

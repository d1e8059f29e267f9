"""One HTTP request or websocket connection to an ASGI app, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

T = TypeVar("T")

HTML = {"accept": "text/html"}
"""The headers of a browser that opens a page."""


@dataclass
class Answer:
    """The answer to a request. A refused websocket has the status 403."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: str = ""

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    def header(self, name: str) -> str:
        return ", ".join(self.all(name))


async def page(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer as an app does that accepts everything."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
    else:
        await HTMLResponse("the page behind")(scope, receive, send)


async def handle(
    app: ASGIApp,
    method: str = "GET",
    address: str = "/",
    body: bytes = b"",
    *,
    scheme: str = "http",
    client: str = "127.0.0.1",
    **headers: str,
) -> Answer:
    """Return the answer of an app. Underscores in the names of headers become hyphens."""
    parts, answer = urlsplit(address), Answer()
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if body:
        given = {"content-length": str(len(body))} | given
    scope: dict[str, Any] = {
        "type": "websocket" if method == "WEBSOCKET" else "http",
        "method": method,
        "scheme": scheme,
        "client": (client, 50_000),
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }

    received = False

    async def receive() -> Message:
        nonlocal received
        if received:  # a response that waits for the client to leave must not do so in a busy loop
            await asyncio.Event().wait()
        received = True
        return {"type": "http.request", "body": body}

    async def send(message: Message) -> None:
        kind = message["type"]
        if kind == "http.response.start":
            answer.status = message["status"]
            answer.headers = [(k.decode(), v.decode()) for k, v in message.get("headers", ())]
        elif kind == "http.response.body":
            answer.body += message.get("body", b"").decode(errors="replace")
        else:
            answer.status = 101 if kind == "websocket.accept" else 403

    await app(scope, receive, send)
    return answer


def ask(app: ASGIApp, *request: Any, **options: Any) -> Answer:
    """Return the answer of an app to one request: the arguments of `handle`."""
    return run(handle(app, *request, **options))


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine. The browser tests use the event loop of this thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()

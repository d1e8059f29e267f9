"""The middleware around a running server, below a path and with a password."""

from __future__ import annotations

import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.client import HTTPMessage

import pytest
import websockets
from browser.serving import Server, serving
from helpers import http_server
from helpers.asgi import run
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

pytestmark = pytest.mark.slow

PASSWORD = "room & 7"
FRAMES = "'self' https://course.example"


OUTSIDE: list[str] = []
"""The requests of the server to other hosts."""


class Outside(http_server.Handler):
    def respond(self) -> None:
        OUTSIDE.append(self.path)
        self.answer(502, b"")

    do_CONNECT = respond  # noqa: N815


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    environment = {
        "BPEVIZ_PASSWORD": PASSWORD,
        "BPEVIZ_FRAME_ANCESTORS": FRAMES,
        "STREAMLIT_SERVER_BASE_URL_PATH": "/class/7b",
        "STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION": "false",
    }
    outside = http_server.Server(Outside)
    with http_server.running(outside):
        environment |= dict.fromkeys(("http_proxy", "https_proxy"), outside.address)
        with serving(tmp_path_factory.mktemp("server"), **environment) as running:
            yield running
            assert running.tracebacks() == ""
            assert OUTSIDE == []


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object) -> None:
        return None


OPENER = urllib.request.build_opener(NoRedirect)


def request(
    address: str, method: str = "GET", data: bytes | None = None, **headers: str
) -> tuple[int, HTTPMessage, str]:
    """Return the status, the headers and the text of an answer."""
    asked = urllib.request.Request(address, data, headers, method=method)
    try:
        with OPENER.open(asked, timeout=30) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers, answer.read().decode()


@pytest.fixture(scope="module")
def cookie(server: Server) -> str:
    """Log in; return the Cookie header."""
    data = urllib.parse.urlencode({"password": PASSWORD}).encode()
    status, headers, _ = request(f"{server.address}/Compare?s=abc", "POST", data)
    assert (status, headers["Location"]) == (303, "/class/7b/Compare?s=abc")
    return str(headers["Set-Cookie"]).partition(";")[0]


async def session(
    server: Server, cookie: str, origin: str | None = None, path: str = "/_stcore/stream"
) -> tuple[websockets.ClientConnection, str]:
    """Open a page as a browser does; return the connection and the id of the session."""
    address = server.address.replace("http", "ws", 1) + path
    opened = await websockets.connect(
        address,
        additional_headers={"Cookie": cookie},
        origin=None if origin is None else websockets.Origin(origin),
        max_size=None,
        max_queue=None,  # with a full queue of unread messages, closing takes 10 s
        open_timeout=60,
    )
    await opened.send(BackMsg(rerun_script={"query_string": ""}).SerializeToString())
    while True:
        message = ForwardMsg.FromString(await opened.recv(decode=False))
        if message.WhichOneof("type") == "new_session":
            return opened, message.new_session.initialize.session_id


@pytest.mark.parametrize("path", ["/_stcore/stream", "/room/ABCD/ws"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_websocket_of_another_host_is_refused(
    server: Server, cookie: str, origin: str, path: str
) -> None:
    with pytest.raises(websockets.InvalidStatus, match="403"):
        run(session(server, cookie, origin, path))
    assert OUTSIDE == []


def test_websocket_of_the_same_host_passes(server: Server, cookie: str) -> None:
    parts = urllib.parse.urlsplit(server.address)
    for host in (parts.netloc, "app.localhost:3000", f"[::1]:{parts.port}"):
        opened, _ = run(session(server, cookie, f"{parts.scheme}://{host}"))
        assert opened
    assert OUTSIDE == []


def test_long_request_is_refused(server: Server, cookie: str) -> None:
    assert request(f"{server.address}/", "POST", b"a" * 65_000, Cookie=cookie)[0] == 413

"""The size of requests, names of hosts, websockets of other pages, and security headers."""

from __future__ import annotations

import socket
from collections.abc import Collection

import pytest
from helpers.asgi import Answer, ask, page

from bpeviz import limits
from bpeviz.ui.server.guard import Guard


def guard(base: str = "/", hosts: Collection[str] | None = None, listens: str = "") -> Guard:
    return Guard(page, base, "default-src 'self'", hosts, listens)


OPEN = guard(hosts=["course.example", ""], listens="0.0.0.0")
LOOPBACK = guard(hosts=["Class.example", ""], listens="localhost")


def assert_headers(answer: Answer) -> None:
    assert answer.header("content-security-policy") == "default-src 'self'"
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("referrer-policy") == "no-referrer"
    assert "camera=()" in answer.header("permissions-policy")


def test_every_response_has_the_security_headers() -> None:
    answer = ask(guard())
    assert answer.body == "the page behind"
    assert_headers(answer)
    assert_headers(ask(LOOPBACK, host="evil.example"))
    assert_headers(ask(OPEN, content_length="1000000"))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "teacher.local:8501"},
        {"host": "teacher.local:8501", "origin": "http://teacher.local:8501"},
        {"host": "teacher.local", "origin": "https://teacher.local"},
        {"host": "192.0.2.7:8501", "origin": "http://localhost:3000"},
        {"host": "192.0.2.7:8501", "origin": "https://course.example"},
    ],
)
def test_websocket_of_a_known_host_passes(headers: dict[str, str]) -> None:
    assert ask(OPEN, "WEBSOCKET", **headers).status == 101


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://teacher.local", "null", "", "http://[", "http://localhost.eu"],
)
def test_websocket_of_another_host_is_refused(origin: str) -> None:
    for host in ("teacher.local:8501", ""):
        assert ask(OPEN, "WEBSOCKET", host=host, origin=origin).status == 403
    assert ask(guard(), "WEBSOCKET", origin=origin).status == 101, "origins are not compared"


def test_open_server_answers_requests_under_any_name() -> None:
    assert ask(OPEN, host="a", origin="http://evil.example").status == 200


@pytest.mark.parametrize(
    "host",
    [
        "localhost:8501",
        "LOCALHOST.",
        "127.0.0.1:8501",
        "127.1.2.3",
        "[::1]:8501",
        "bpeviz.localhost",
        socket.gethostname(),
        "class.example",
        "CLASS.example:443",
    ],
)
def test_loopback_answers_under_its_names(host: str) -> None:
    assert ask(LOOPBACK, host=host).status == 200
    assert ask(LOOPBACK, "WEBSOCKET", host=host, origin=f"http://{host}").status == 101


@pytest.mark.parametrize(
    "host", ["evil.example:8501", "localhost.evil.example", "8.8.8.8", "[", ""]
)
def test_loopback_refuses_other_names(host: str) -> None:
    """The name of another host may resolve to this machine (DNS rebinding)."""
    answer = ask(LOOPBACK, host=host)
    assert answer.status == 403
    assert "--browser.serverAddress" in answer.body
    assert ask(LOOPBACK, "WEBSOCKET", host=host, origin=f"http://{host}").status == 403


def test_loopback_answers_a_request_without_a_name() -> None:
    assert ask(LOOPBACK).status == 200


@pytest.mark.parametrize("base", ["/", "/a/room"])
def test_uploads_are_limited_and_other_requests_are_short(base: str) -> None:
    app, below = guard(base), base.rstrip("/")
    for path in (f"{below}/_stcore/upload_file/mine/file", f"{below}/texts/mine/text/7"):
        for method in ("PUT", "POST", "DELETE", "GET"):
            most = limits.UPLOAD << 20 if method == "PUT" else limits.REQUEST * 1_000
            assert ask(app, method, path, content_length=str(most)).status == 200
            assert ask(app, method, path, content_length=str(most + 10_001)).status == 413
            assert ask(app, method, path, transfer_encoding="chunked").status == 411
    assert (
        ask(app, "PUT", f"{below}/", content_length=str(limits.REQUEST * 1_000 + 1)).status == 413
    )

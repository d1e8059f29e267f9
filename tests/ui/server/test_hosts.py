"""Names of hosts, and websockets that pages of other hosts open."""

from __future__ import annotations

import socket

import pytest
from helpers.asgi import ask, page

from bpeviz.ui.server.hosts import KnownHosts

OPEN = KnownHosts(page, ["course.example", ""], "0.0.0.0")
LOOPBACK = KnownHosts(page, ["Class.example", ""], "localhost")


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

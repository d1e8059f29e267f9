"""Websockets that pages of other hosts open."""

from __future__ import annotations

import pytest
from asgi import ask, page

from bpeviz.ui.server.origins import SameOrigin

APP = SameOrigin(page, ["course.example"])


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
    assert ask(APP, "WEBSOCKET", **headers).status == 101


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://teacher.local", "null", "", "http://[", "http://localhost.eu"],
)
def test_websocket_of_another_host_is_refused(origin: str) -> None:
    assert ask(APP, "WEBSOCKET", host="teacher.local:8501", origin=origin).status == 403


def test_other_requests_pass() -> None:
    assert ask(APP, host="a", origin="http://evil.example").status == 200

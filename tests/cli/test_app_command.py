"""The command `app`: its port, its address and its settings."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from bpeviz.cli import app
from bpeviz.cli.main import main


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the settings of each start of the app, which ends at once."""
    settings: list[dict[str, Any]] = []
    monkeypatch.setattr(app, "serve", lambda given: settings.append(given) or 0)
    for name in ("BROWSER_SERVER_ADDRESS", "SERVER_HEADLESS"):
        monkeypatch.delenv(f"STREAMLIT_{name}", raising=False)
    return settings


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port on which another program listens."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_app_listens_on_this_machine_and_opens_a_browser(
    served: list[dict[str, Any]],
    taken: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(app, "PORT", taken)
    assert main(["app"]) == 0
    (settings,) = served
    printed = capsys.readouterr().out
    assert printed.startswith(f"Port {taken} is taken. Trying the next one.\n")
    assert settings["server.address"] == "localhost"
    assert not settings["server.headless"]
    assert settings["server.port"] > taken
    assert "browser.serverAddress" not in settings


def test_app_refuses_a_given_port_that_is_taken(
    served: list[dict[str, Any]], taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["app", "--port", str(taken)]) == 1
    assert f"Port {taken} is taken. Choose another one with --port." in capsys.readouterr().err
    assert served == []


def test_app_for_every_network_names_its_own_address(
    served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise Streamlit asks another host for it."""
    monkeypatch.setattr(app, "network_address", lambda: "192.0.2.7")
    assert main(["app", "--address", "0.0.0.0"]) == 0
    assert served.pop()["browser.serverAddress"] == "192.0.2.7"
    monkeypatch.setenv("STREAMLIT_BROWSER_SERVER_ADDRESS", "class.example")
    monkeypatch.setenv("STREAMLIT_SERVER_HEADLESS", "true")
    assert main(["app", "--address", "0.0.0.0"]) == 0
    assert {"browser.serverAddress", "server.headless"}.isdisjoint(served.pop())


def test_command_without_its_packages_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bpeviz.installation.find_spec", lambda _: None)
    for command in ("app", "room"):
        assert main([command]) == 1
        assert "bpeviz[app]" in capsys.readouterr().err

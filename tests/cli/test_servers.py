"""The commands `app` and `room`: the port, the address and the settings of the server."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bpeviz.cli import app, room
from bpeviz.cli.main import main
from bpeviz.room import sheet


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the settings of each start of a server, which ends at once."""
    settings: list[dict[str, Any]] = []
    monkeypatch.setattr(app, "serve", lambda given: settings.append(given) or 0)
    for name in ("BROWSER_SERVER_ADDRESS", "SERVER_HEADLESS"):
        monkeypatch.delenv(f"STREAMLIT_{name}", raising=False)
    for name in ("BPEVIZ_PASSWORD", "BPEVIZ_ROOM_SHEET"):
        monkeypatch.setenv(name, "")
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


def test_room_listens_on_the_network_with_a_password(
    served: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(app, "free_port", lambda _, port: port)
    assert main(["room", "--address", "teacher.local", "--port", "8080"]) == 0
    assert served == [
        {
            "server.address": "0.0.0.0",
            "server.port": 8080,
            "browser.serverAddress": "teacher.local",
            "server.headless": True,
        }
    ]
    printed = capsys.readouterr().out
    assert "http://teacher.local:8080/room" in printed
    assert len(os.environ["BPEVIZ_PASSWORD"]) == 8
    assert os.environ["BPEVIZ_PASSWORD"] in printed
    monkeypatch.setenv("BPEVIZ_PASSWORD", "tea at four")
    assert main(["room", "--address", "::1"]) == 0
    assert os.environ["BPEVIZ_PASSWORD"] == "tea at four"
    assert "http://[::1]:8501" in capsys.readouterr().out
    monkeypatch.setattr(room, "network_address", lambda: "")
    assert main(["room"]) == 1
    assert "no network" in capsys.readouterr().err
    assert len(served) == 2


def test_room_starts_with_a_run_sheet(
    served: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(app, "free_port", lambda _, port: port)
    own = tmp_path / "own.txt"
    own.write_text("A minute\n1 min show /Compare", encoding="utf-8")
    for name, file in ((str(own), own), ("20-minutes", sheet.FOLDER / "20-minutes.txt")):
        assert main(["room", name, "--address", "teacher.local"]) == 0
        assert served.pop()
        assert os.environ["BPEVIZ_ROOM_SHEET"] == str(file)
    own.write_text("A minute\n1 min dance", encoding="utf-8")
    assert main(["room", str(own), "--address", "teacher.local"]) == 1
    assert "own.txt: Line 2 of the run sheet" in capsys.readouterr().err
    assert served == []

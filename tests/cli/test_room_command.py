"""The command `room`: how it starts the app."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from bpeviz.cli import app, room
from bpeviz.cli.main import main
from bpeviz.room import sheet


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the settings of each start of the app, which ends at once."""
    settings: list[dict[str, Any]] = []
    monkeypatch.setattr(app, "serve", lambda given: settings.append(given) or 0)
    monkeypatch.setattr(app, "free_port", lambda _, port: port)
    for name in ("BPEVIZ_PASSWORD", "BPEVIZ_ROOM_SHEET"):
        monkeypatch.setenv(name, "")
    return settings


def test_room_listens_on_the_network_with_a_password(
    served: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_room_keeps_a_given_password(
    served: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BPEVIZ_PASSWORD", "tea at four")
    assert main(["room", "--address", "::1"]) == 0
    assert os.environ["BPEVIZ_PASSWORD"] == "tea at four"
    assert "http://[::1]:8501" in capsys.readouterr().out


def test_room_needs_a_network(
    served: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(room, "network_address", lambda: "")
    assert main(["room"]) == 1
    assert "no network" in capsys.readouterr().err
    assert served == []


def test_room_starts_with_a_run_sheet(
    served: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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

"""The command `room`: how it starts the app."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any, ClassVar

import pytest

from bpeviz.cli import room
from bpeviz.cli.main import main
from bpeviz.room import sheet


class Started:
    """A server that is started, and ends at once."""

    calls: ClassVar[list[tuple[list[str], dict[str, Any]]]] = []

    def __init__(self, command: list[str], **options: Any) -> None:
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN, "it would print a traceback"
        self.calls.append((command, options))

    def wait(self) -> int:
        return 0

    def terminate(self) -> None:
        pass


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> type[Started]:
    Started.calls.clear()
    monkeypatch.setattr(room.subprocess, "Popen", Started)
    monkeypatch.delenv("BPEVIZ_PASSWORD", raising=False)
    return Started


def test_room_listens_on_the_network_with_a_password(
    started: type[Started], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["room", "--address", "teacher.local", "--port", "8080"]) == 0
    ((command, options),) = started.calls
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    assert command[command.index("--server.address") + 1] == "0.0.0.0"
    assert command[command.index("--browser.serverAddress") + 1] == "teacher.local"
    shown = capsys.readouterr().out
    assert "http://teacher.local:8080/room" in shown
    assert len(options["env"]["BPEVIZ_PASSWORD"]) == 8
    assert options["env"]["BPEVIZ_PASSWORD"] in shown


def test_room_keeps_a_given_password(
    started: type[Started], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BPEVIZ_PASSWORD", "tea at four")
    assert main(["room", "--address", "::1"]) == 0
    assert started.calls[0][1]["env"]["BPEVIZ_PASSWORD"] == "tea at four"
    assert "http://[::1]:8501" in capsys.readouterr().out


def test_room_that_is_terminated_ends_its_server(
    started: type[Started], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []

    def wait(_: Started) -> int:
        if not ended:
            signal.raise_signal(signal.SIGTERM)
        return 0

    monkeypatch.setattr(started, "wait", wait)
    monkeypatch.setattr(started, "terminate", lambda _: ended.append("server"))
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit, match="143"):
        main(["room", "--address", "teacher.local"])
    assert ended == ["server"]
    assert signal.getsignal(signal.SIGTERM) == handler


def test_room_needs_a_port(started: type[Started], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["room", "--address", "teacher.local", "--port", "65536"])
    assert "expected 65535 or less" in capsys.readouterr().err


def test_room_needs_a_network(
    started: type[Started], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(room, "network_address", lambda: "")
    assert main(["room"]) == 1
    assert "no network" in capsys.readouterr().err
    assert started.calls == []


def test_room_starts_with_a_run_sheet(
    started: type[Started], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("A minute\n1 min show /Compare", encoding="utf-8")
    for name, file in ((str(own), own), ("20-minutes", sheet.FOLDER / "20-minutes.txt")):
        assert main(["room", name, "--address", "teacher.local"]) == 0
        assert started.calls.pop()[1]["env"]["BPEVIZ_ROOM_SHEET"] == str(file)
    own.write_text("A minute\n1 min dance", encoding="utf-8")
    assert main(["room", str(own), "--address", "teacher.local"]) == 1
    assert "own.txt: Line 2 of the run sheet" in capsys.readouterr().err
    assert main(["room", "missing.txt"]) == 1
    assert "missing.txt" in capsys.readouterr().err
    assert started.calls == []

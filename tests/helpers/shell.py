"""The command line in this process, in a working folder, and in a process of its own."""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = "low lower lowest slow slower slowest, newest and widest: été 👋🏽\n" * 5


class Shell:
    """The output of the last command, in the working folder."""

    def __init__(
        self, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._captured, self._monkeypatch = capsysbinary, monkeypatch
        self.code = 0
        self.out = b""
        self.err = ""

    def __call__(self, *arguments: str, text: str | bytes = "") -> Shell:
        """Run a command with `text` on standard input; a wrong one has the code 2."""
        from bpeviz.__main__ import main  # not where no test calls it

        raw = text.encode() if isinstance(text, str) else text
        self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))
        try:
            self.code = main(arguments)
        except SystemExit as stop:
            self.code = int(str(stop.code))
        output = self._captured.readouterr()
        self.out, self.err = output.out, output.err.decode()
        return self

    @property
    def sentence(self) -> str:
        """Return the error message; check that it is one line."""
        assert self.code == 1
        assert self.out == b""
        assert self.err.count("\n") == 1
        assert self.err.endswith((".\n", "?\n"))
        assert "Traceback" not in self.err
        return self.err.strip()


@pytest.fixture
def shell(
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Shell:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_bytes(TEXT.encode())
    return Shell(capsysbinary, monkeypatch)


_TRAINED: list[bytes] = []


@pytest.fixture
def trained(shell: Shell) -> Shell:
    """Write a tokenizer that `train` has trained on `text.txt`, once per process, to `t.json`."""
    if not _TRAINED:
        assert shell("train", "text.txt", "--merges", "12", "--output", "t.json").code == 0
        _TRAINED.append(Path("t.json").read_bytes())
    Path("t.json").write_bytes(_TRAINED[0])
    return shell


def started(*arguments: str, before: Sequence[str] = (), **more: object) -> subprocess.Popen[bytes]:
    """Start the command line in a process of its own, with Ctrl-C enabled as on a terminal.

    A process inherits an ignored SIGINT, for example from a shell that runs the tests in the
    background, and Python then leaves it ignored.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""}
    interrupt = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [sys.executable, *before, "-m", "bpeviz", *arguments],
        **{"env": environment, "stderr": subprocess.PIPE, "preexec_fn": interrupt, **more},
    )


def run_as_shown(shell: Shell, line: str) -> str:
    """Run a line as a reader would, and return what it prints.

    A line that is one command alone runs in this process, which is quicker.
    """
    line = re.sub(r"(?<!\S)(\.venv/bin/)?python -m", '"$PYTHON" -m', line)
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    python, _, _, *arguments = words
    if python == "$PYTHON" and not {"|", "<", ">"} & {*arguments} and "*" not in line:
        shell(*arguments)
        assert shell.code == 0, (line, shell.err)
        return shell.out.decode()
    done = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", line],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHON": sys.executable},
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, (line, done.stderr.decode())
    assert b"Traceback" not in done.stderr
    return done.stdout.decode()


def contents() -> dict[Path, bytes]:
    """Return the content of every file in the working folder and in the folders in it."""
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}

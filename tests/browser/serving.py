"""Start the app on a free port of this machine, and find a browser."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
HEADLESS_SHELL = "chromium-headless-shell"
"""A Chromium without windows. It renders the same pages in two thirds of the processor time."""

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
"""The flags of the browser: no graphics card, and no requests in the background."""

OPTIONS = {
    "viewport": {"width": 1366, "height": 768},
    # Drawing Streamlit's animations would take a quarter of the processor time.
    "reduced_motion": "reduce",
    "color_scheme": "light",
    "permissions": ["clipboard-read", "clipboard-write"],
}
"""The options of a browser context."""

# Streamlit 1.67 logs this traceback if a browser disconnects while it receives data. Users do not
# see it. A traceback with another error, or with a line of our code, does not match.
DISCONNECTED = re.compile(
    r".*Exception in ASGI application\n"
    rf"(?:(?!.*{re.escape(str(ROOT))}/(?:app\.py|bpeviz|pages))"
    r"(?:Traceback|During|  |starlette\.websockets\.WebSocketDisconnected: |(?=\n)).*\n)+"
    r"starlette\.websockets\.WebSocketDisconnected: Cannot call \"send\" .*"
)


def chromium(*, whole: bool = False) -> str | None:
    """Return the path of a Chromium: `BPEVIZ_CHROMIUM`, or one on this machine.

    Args:
        whole: Whether to prefer a complete browser to one without windows.
    """
    configured = os.environ.get("BPEVIZ_CHROMIUM")
    names = (*CHROMIUMS, HEADLESS_SHELL) if whole else (HEADLESS_SHELL, *CHROMIUMS)
    return configured or next(filter(None, map(shutil.which, names)), None)


@dataclass
class Server:
    """A running app. `tracebacks` returns the errors in its log since the last call."""

    address: str
    log: Path
    process: int
    _read: int = 0

    def workers(self) -> list[int]:
        """Return the process ids of its training workers."""
        listed = Path(f"/proc/{self.process}/task").glob("*/children")
        children = [int(child) for one in listed for child in one.read_text().split()]
        return [child for child in children if b"bpeviz.jobs.worker" in _command(child)]

    def tracebacks(self) -> str:
        text = self.log.read_text(errors="replace")
        new, self._read = text[self._read :], len(text)
        lines = [line for line in DISCONNECTED.sub("", new).splitlines() if ' "GET ' not in line]
        # Streamlit prints a traceback in a box, with ❱ at the lines that failed.
        failed = any("Traceback" in line or "❱" in line for line in lines)
        return "\n".join(lines) if failed else ""


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""  # the process has just ended


@contextmanager
def serving(
    folder: Path, script: str = "app.py", port: int = 0, **environment: str
) -> Iterator[Server]:
    """Start the app on a port of this machine, and stop it at the end.

    Args:
        folder: The folder of its log.
        script: The script to run, if not the app.
        port: The port; 0 for a free one.
        **environment: Further environment variables.
    """
    if not port:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", script]
    options = {"port": port, "address": "127.0.0.1", "fileWatcherType": "none"}
    arguments = [f"--server.{name}={value}" for name, value in options.items()]
    log = folder / "server.log"
    base = environment.get("STREAMLIT_SERVER_BASE_URL_PATH", "")
    address = f"http://127.0.0.1:{port}{base}"
    with log.open("w") as out:
        process = subprocess.Popen(
            [*command, *arguments],
            cwd=ROOT,
            env=os.environ | environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            _await(process, f"{address}/_stcore/health", log)
            yield Server(address, log, process.pid)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _await(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.05)
    raise RuntimeError(f"The app did not start:\n{log.read_text(encoding='utf-8')}")

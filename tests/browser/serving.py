"""Start the app on a free port of this machine, and find a browser."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]

CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first has no windows. It renders the same pages in two thirds of the processor time."""

FLAGS = ("--disable-gpu",)
"""The flags of the browser besides those of Playwright: no graphics card."""

UNOPTIMIZED = "--js-flags=--no-opt --no-maglev"
"""Without optimizing compilers, which take longer than they save on pages that are soon left."""

OPTIONS = {
    "viewport": {"width": 1366, "height": 768},
    # Drawing Streamlit's animations would take a quarter of the processor time.
    "reduced_motion": "reduce",
    "color_scheme": "light",
    "permissions": ["clipboard-read", "clipboard-write"],
}
"""The options of a browser context."""

TIMEOUT = 60_000
"""Milliseconds until an action or an assertion fails. The machine may be slow and busy."""

# Streamlit 1.67 logs this traceback if a browser disconnects while it receives data. Users do not
# see it. A traceback with another error, or with a line of our code, does not match.
DISCONNECTED = re.compile(
    r".*Exception in ASGI application\n"
    rf"(?:(?!.*{re.escape(str(ROOT))}/(?:app\.py|bpeviz|pages))"
    r"(?:Traceback|During|  |starlette\.websockets\.WebSocketDisconnected: |(?=\n)).*\n)+"
    r"starlette\.websockets\.WebSocketDisconnected: Cannot call \"send\" .*"
)


def chromium() -> str | None:
    """Return the path of a Chromium: `BPEVIZ_CHROMIUM`, or one on this machine."""
    configured = os.environ.get("BPEVIZ_CHROMIUM")
    return configured or next(filter(None, map(shutil.which, CHROMIUMS)), None)


@dataclass
class Server:
    """A running app. `tracebacks` returns the errors in its log since the last call."""

    address: str
    log: Path
    process: int
    _read: int = 0

    def workers(self) -> list[int]:
        """Return the process ids of its workers with long trainings, whose priority is low."""
        own = os.getpriority(os.PRIO_PROCESS, self.process)
        listed = Path(f"/proc/{self.process}/task").glob("*/children")
        children = [int(child) for one in listed for child in one.read_text().split()]
        return [
            child
            for child in children
            if b"bpeviz.jobs.worker" in _command(child)
            and os.getpriority(os.PRIO_PROCESS, child) > own
        ]

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
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", script]
    options = {"port": port, "address": "127.0.0.1", "fileWatcherType": "none"}
    arguments = [f"--server.{name}={value}" for name, value in options.items()]
    base = environment.get("STREAMLIT_SERVER_BASE_URL_PATH", "")
    address = f"http://127.0.0.1:{port}{base}"
    with started([*command, *arguments], address, folder, cwd=ROOT, env=environment) as server:
        yield server


@contextmanager
def started(
    command: Sequence[str | Path],
    address: str,
    folder: Path,
    *,
    env: Mapping[str, str],
    **options: Any,
) -> Iterator[Server]:
    """Start the app by a command, and stop it at the end.

    Args:
        command: The command.
        address: The address under which it serves.
        folder: The folder of its log.
        env: Further environment variables.
        **options: Further arguments of `Popen`.
    """
    log = folder / "server.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            command, env=os.environ | env, stdout=out, stderr=subprocess.STDOUT, **options
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


@contextmanager
def proxied(folder: Path, **environment: str) -> Iterator[tuple[str, list[Server]]]:
    """Start two servers behind nginx, as `bpeviz/DEPLOYMENT.md` shows, but without TLS.

    Yield the address of nginx and the servers.
    """
    document = (ROOT / "bpeviz/DEPLOYMENT.md").read_text(encoding="utf-8")
    proxy, sticky = re.findall("```nginx\n(.*?)```", document, re.DOTALL)
    servers = []
    with ExitStack() as stack:
        for number in range(2):
            own = folder / str(number)
            own.mkdir()
            options = {
                "STREAMLIT_SERVER_BASE_URL_PATH": "/bpeviz",
                "STREAMLIT_BROWSER_SERVER_ADDRESS": "class.example",
                "BPEVIZ_SHORT_LINKS_FILE": str(folder / "links"),
            }
            servers.append(stack.enter_context(serving(own, **options, **environment)))
            sticky = sticky.replace(f":850{number + 1};", f":{urlsplit(servers[-1].address).port};")
        port = free_port()
        proxy = re.sub(r"upstream bpeviz \{.*?\n\}\n", lambda _: sticky, proxy, flags=re.DOTALL)
        proxy = re.sub(r"ssl_certificate.*\n", "", proxy)
        proxy = proxy.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
        proxy = proxy.replace("/var/log/nginx/", f"{folder}/")
        paths = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{path}_temp_path {folder}/{path};\n" for path in paths)
        (folder / "nginx.conf").write_text(
            # As another user, its workers could not write into the folder.
            f"user {getpass.getuser()};\ndaemon off;\npid {folder}/pid;\n"
            f"error_log {folder}/error.log;\nevents {{}}\n"
            f"http {{\n{temporary}{proxy}}}\n",
            encoding="utf-8",
        )
        nginx = subprocess.Popen(["nginx", "-p", folder, "-c", folder / "nginx.conf"])
        stack.callback(nginx.wait)
        stack.callback(nginx.terminate)
        address = f"http://127.0.0.1:{port}/bpeviz"
        _await(nginx, f"{address}/_stcore/health", folder / "error.log")
        yield address, servers


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _await(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    end = time.monotonic() + 180
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.05)
    raise RuntimeError(f"The app did not start:\n{log.read_text(encoding='utf-8')}")

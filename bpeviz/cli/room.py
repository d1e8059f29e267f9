"""The command `room`: start the server for a room."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import segno

import bpeviz
from bpeviz.cli.arguments import Command, option, whole_number
from bpeviz.cli.errors import CommandError
from bpeviz.network import network_address
from bpeviz.room import sheet

APP = Path(bpeviz.__file__).parents[1] / "app.py"
LETTERS = "abcdefghjkmnpqrstuvwxyz"
PORT = 8501

_HELP = """\
Start the app so that others in the network can open it, with a password. Then choose "Share", "Open
a room" on a page with a player, on Compare or on Learn. Followers see your steps on their phones,
and vote on the next one. With a run sheet, "Next" on the leader's page goes through its parts.
SHEET is a file like bpeviz/room/sheets/20-minutes.txt, or the name of one in this folder:
20-minutes.
"""
_EXAMPLES = """\
examples:
  python -m bpeviz room
  python -m bpeviz room sheet.txt
  BPEVIZ_PASSWORD="tea at four" python -m bpeviz room --port 8080
"""


def run(options: argparse.Namespace) -> int:
    """Start the server; return its exit code."""
    if not APP.exists():
        raise CommandError(f"There is no app to start: {APP} is missing.")
    run_sheet = _sheet(options.sheet) if options.sheet else None
    host = options.address or network_address()
    if not host:
        raise CommandError("This machine is in no network. Connect it, or give --address.")
    password = os.environ.get("BPEVIZ_PASSWORD") or "".join(
        secrets.choice(LETTERS) for _ in range(8)
    )
    address = f"http://{f'[{host}]' if ':' in host else host}:{options.port}"
    segno.make_qr(f"{address}/room").terminal(compact=True)
    print(
        f"You:       open {address}, then “Share”, “Open a room”\n"
        f"Followers: open {address}/room, or scan the code\n"
        f"Password:  {password}\n"
        "Stop with Ctrl-C.",
        flush=True,
    )
    command = [sys.executable, "-m", "streamlit", "run", str(APP), "--server.address", "0.0.0.0"]  # noqa: S104
    command += ["--server.port", str(options.port), "--browser.serverAddress", host]
    environment = os.environ | {"BPEVIZ_PASSWORD": password}
    if run_sheet is not None:
        environment["BPEVIZ_ROOM_SHEET"] = str(run_sheet)
    # Without a handler, SIGTERM would end this process alone, and the server would go on.
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    # The server starts without Ctrl-C, which would print a traceback of its imports: this process
    # ends it.
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = subprocess.Popen(command, cwd=APP.parent, env=environment)  # noqa: S603
    signal.signal(signal.SIGINT, interrupt)
    try:
        return server.wait()
    finally:
        server.terminate()
        server.wait()
        signal.signal(signal.SIGTERM, before)


def _sheet(name: str) -> Path:
    """Return the file of a run sheet, after a check."""
    path = Path(name)
    if not path.exists() and name in sheet.ours():
        path = sheet.FOLDER / f"{name}.txt"
    try:
        sheet.read(path)
    except sheet.SheetError as error:
        raise CommandError(f"{path}: {error}") from error
    except OSError as error:
        raise CommandError(f"The run sheet {path} cannot be read: {error.strerror}.") from error
    return path.resolve()


COMMAND = Command(
    "room",
    "start the app for a room, with an address, a QR code and a password",
    _HELP,
    _EXAMPLES,
    run,
    (
        option(
            "sheet",
            "SHEET",
            "a run sheet, which lists the parts of a workshop",
            nargs="?",
            default="",
        ),
        option(
            "--port",
            "N",
            f"the port (default: {PORT})",
            default=PORT,
            type=whole_number(1, 65_535),
        ),
        option(
            "--address",
            "NAME",
            "the name or IP address of this machine for others (default: that in its network)",
            default="",
        ),
    ),
)

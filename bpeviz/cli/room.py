"""Start the app for a room, with an address, a QR code and a password.

Start the app so that others in the network can open it, with a password. Then choose "Share", "Open
a room" on a page with a player, on Compare or on Learn. Followers see your steps on their phones,
and vote on the next one. With a run sheet, "Next" on the leader's page goes through its parts.
SHEET is a file like bpeviz/room/sheets/20-minutes.txt, or the name of one in this folder:
20-minutes.

Options:
  SHEET: a run sheet, which lists the parts of a workshop
  --port N: the port (default: $PORT)
  --address NAME: the name or IP address of this machine for others (default: that in its network)

Examples:
  python -m bpeviz room
  python -m bpeviz room sheet.txt
  BPEVIZ_PASSWORD="tea at four" python -m bpeviz room --port 8080
"""

from __future__ import annotations

import argparse
import os
import secrets
from pathlib import Path

from bpeviz import installation
from bpeviz.cli import app
from bpeviz.cli.arguments import Command, argument, option, whole_number
from bpeviz.cli.errors import CommandError
from bpeviz.network import network_address
from bpeviz.room import sheet

ALL = "0.0.0.0"  # noqa: S104
LETTERS = "abcdefghjkmnpqrstuvwxyz"


def run(options: argparse.Namespace) -> int:
    """Serve the app for a room until it is stopped; return the exit code."""
    installation.check("streamlit")
    import segno  # of the extra `app`

    run_sheet = _sheet(options.sheet) if options.sheet else None
    host = options.address or network_address()
    if not host:
        raise CommandError("This machine is in no network. Connect it, or give --address.")
    port = app.free_port(ALL, options.port)
    password = os.environ.get("BPEVIZ_PASSWORD") or "".join(
        secrets.choice(LETTERS) for _ in range(8)
    )
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    segno.make_qr(f"{address}/room").terminal(compact=True)
    print(
        f"You:       open {address}, then “Share”, “Open a room”\n"
        f"Password:  {password}, for you alone\n"
        f"Followers: open {address}/room, or scan the code; the leader's page shows them the "
        "letters and the room word\n"
        "Stop with Ctrl-C.",
        flush=True,
    )
    os.environ["BPEVIZ_PASSWORD"] = password
    if run_sheet is not None:
        os.environ["BPEVIZ_ROOM_SHEET"] = str(run_sheet)
    settings = {"server.address": ALL, "server.port": port, "browser.serverAddress": host}
    return app.serve({**settings, "server.headless": True})


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
    __doc__,
    run,
    argument("SHEET", name="sheet", nargs="?", default=""),
    option("--port N", default=app.PORT, type=whole_number(1, 65_535)),
    option("--address NAME", default=""),
    PORT=app.PORT,
)

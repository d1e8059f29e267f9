"""Serve the app on this machine, and open it in a browser.

Serve the app, and open it in a browser. It listens on this machine only, unless --address says
otherwise. Streamlit's environment variables, such as STREAMLIT_SERVER_BASE_URL_PATH, set the rest.

Options:
  --port N: the port (default: STREAMLIT_SERVER_PORT, or the first free one from $PORT on)
  --address NAME: the name or IP address to listen on, such as 0.0.0.0 for those of every network
    (default: STREAMLIT_SERVER_ADDRESS, or localhost)
  --headless: open no browser

Examples:
  python -m bpeviz app
  python -m bpeviz app --headless --port 8080
"""

from __future__ import annotations

import argparse
import errno
import os
import runpy
import signal
import socket
import sys
from collections.abc import Mapping

from bpeviz import installation
from bpeviz.cli.arguments import Command, flags, option, whole_number
from bpeviz.cli.errors import INTERRUPTED, CommandError, print_error
from bpeviz.network import network_address

PORT = 8501
_PORTS = 100
"""The number of ports that are tried, from `PORT` on."""

_ALL = ("0.0.0.0", "::")  # noqa: S104


def run(options: argparse.Namespace) -> int:
    """Serve the app until it is stopped; return the exit code."""
    installation.check("streamlit")
    port = free_port(options.address, options.port)
    settings: dict[str, object] = {"server.address": options.address, "server.port": port}
    if options.address in _ALL and "STREAMLIT_BROWSER_SERVER_ADDRESS" not in os.environ:
        # Otherwise Streamlit asks another host for the outside address of this machine.
        settings["browser.serverAddress"] = network_address() or "localhost"
    if options.headless or "STREAMLIT_SERVER_HEADLESS" not in os.environ:
        settings["server.headless"] = options.headless
    return serve(settings)


def free_port(address: str, port: int | None) -> int:
    """Return a port after a check that the app can listen on it.

    Args:
        address: The address to listen on.
        port: The port, or None for the first free one from `PORT` on.

    Raises:
        CommandError: The port is taken, or the address is not one of this machine.
    """
    for candidate in (port,) if port else range(PORT, PORT + _PORTS):
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            if os.name != "nt":  # where it would allow a port that is taken
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, candidate))
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    reason = error.strerror or str(error)
                    raise CommandError(f"The app cannot listen on {address}: {reason}.") from error
                taken = "is taken" if error.errno == errno.EADDRINUSE else "may not be used"
                if not port:
                    print(f"Port {candidate} {taken}. Trying the next one.", flush=True)
            else:
                return candidate
    raise CommandError(f"Port {candidate} {taken}. Choose another one with --port.")


def serve(settings: Mapping[str, object]) -> int:
    """Serve the app in this process until it is stopped, with options of `streamlit run`."""
    signal.signal(signal.SIGINT, _stop)
    script = str(installation.app_file("app.py"))
    sys.argv = ["streamlit", "run", script, *(f"--{name}={settings[name]}" for name in settings)]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    return 0


def _stop(*_: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second one ends the process at once
    # Streamlit's command would print a traceback, or “Aborted!”.
    print_error("Stopped.")
    sys.exit(INTERRUPTED)


COMMAND = Command(
    __doc__,
    run,
    option(
        "--port N",
        default=os.environ.get("STREAMLIT_SERVER_PORT") or None,
        type=whole_number(1, 65_535),
    ),
    option("--address NAME", default=os.environ.get("STREAMLIT_SERVER_ADDRESS") or "localhost"),
    *flags("--headless"),
    PORT=PORT,
)

"""What `app.py` passes to `st.App`: routes that come before Streamlit's own, and middleware.

The pages and the code of components are routes. The middleware, the outermost first, guards them,
asks for a password, and serves rooms. Under `AppTest`, the pages work without.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import sys
import webbrowser
from collections.abc import AsyncIterator
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from bpeviz import limits
from bpeviz.jobs import files, trainings
from bpeviz.ui import private
from bpeviz.ui.room import sheets
from bpeviz.ui.room.component_files import PATH, component_file
from bpeviz.ui.room.connections import RoomPages
from bpeviz.ui.server.guard import Guard
from bpeviz.ui.server.pages import content_security_policy, routes
from bpeviz.ui.server.password import PasswordGate

try:
    import resource
except ImportError:  # Windows, where sockets are not files
    resource = None  # type: ignore[assignment]

__all__ = ["options"]

SWITCH_INTERVAL = 0.001
"""Seconds that a page run keeps the interpreter while others wait for it; Python's default is 5 ms.

A run calls NumPy hundreds of times, and waits that long after each call beside another run.
"""


GARBAGE = (2_000, 10, 100)
"""Python's thresholds of garbage collection, by default 700, 10 and 10.

With the defaults, it scans what all users share so often that an edit takes a tenth longer.
"""


SESSIONS = 10
"""Seconds between checks for sessions of closed tabs, and for workers that are missing."""

_OPEN_FILES = (65_536, 10_240)
"""Numbers of open files to try: macOS refuses more than the second one."""

_log = logging.getLogger("bpeviz")


@contextlib.asynccontextmanager
async def _lifespan(_app: object) -> AsyncIterator[None]:
    """Keep workers for trainings and files while the app runs, and open it in a browser."""
    trainings.start()
    if not st.get_option("server.headless"):
        # The browser's request waits until the server answers, which is after this function.
        Thread(target=_open_in_browser, daemon=True).start()
    clock = asyncio.create_task(_keep_up())
    try:
        yield
    finally:
        clock.cancel()
        trainings.stop()
        files.stop()


def _open_in_browser() -> None:
    # On Linux without a screen, `webbrowser` would start a browser for text in this terminal.
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    if sys.platform != "linux" or any(map(os.environ.get, screens)):
        address = st.get_option("server.address")
        host = "localhost" if address in (None, "0.0.0.0", "::") else address  # noqa: S104
        scheme = "https" if st.get_option("server.sslCertFile") else "http"
        base = st.get_option("server.baseUrlPath").strip("/")
        host = f"[{host}]" if ":" in host else host
        webbrowser.open(f"{scheme}://{host}:{st.get_option('server.port')}/{base}")


async def _keep_up() -> None:
    """By a clock, start workers that are missing, and end the sessions of closed tabs.

    Streamlit ends them when it stores another one. Together, workers would delay the first page.
    """
    while True:
        await asyncio.sleep(SESSIONS)
        trainings.start()
        files.start()
        try:
            private.end_sessions()
        except Exception:  # a session that does not end must not keep the others
            _log.exception("A session could not be ended.")


def options() -> dict[str, Any]:
    """Return the arguments of `st.App`.

    Raises:
        SystemExit: An environment variable or a run sheet is invalid; the message is user-facing.
        RuntimeError: Another version of Streamlit is installed.
    """
    try:
        limits.check()
        sheets.offered()
    except ValueError as error:
        sys.exit(f"bpeviz: {error}")
    private.check()
    private.keep_messages()
    raise_open_files()
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.set_threshold(*GARBAGE)
    base = "/" + "/".join(filter(None, st.get_option("server.baseUrlPath").split("/")))
    origins = st.get_option("server.corsAllowedOrigins")
    hosts = [private.server_name() or "", *map(_host, origins)]  # an empty one is not known
    guard = {
        "base": base,
        "policy": content_security_policy(os.environ.get("BPEVIZ_FRAME_ANCESTORS", "")),
        "hosts": hosts if st.get_option("server.enableCORS") else None,
        "listens": st.get_option("server.address") or "",
    }
    layers = [Middleware(Guard, **guard)]
    if password := os.environ.get("BPEVIZ_PASSWORD"):
        layers.append(Middleware(PasswordGate, password=password, base=base))
    layers.append(Middleware(RoomPages, base=base))
    code = Route(base.rstrip("/") + PATH, component_file)
    return {"lifespan": _lifespan, "routes": [code, *routes(base)], "middleware": layers}


def _host(origin: str) -> str:
    return urlsplit(origin.strip()).hostname or ""


def raise_open_files() -> None:
    """Let this process open as many files as the system allows.

    A tab takes four: with 256, the default of macOS, the 59th tab would fail.
    """
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in _OPEN_FILES:
        most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        if soft == resource.RLIM_INFINITY or soft >= most:
            return
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            return

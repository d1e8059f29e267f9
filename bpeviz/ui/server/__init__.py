"""The middleware around Streamlit's server: headers, origins, password, sizes, style.

`app.py` passes it to `st.App`. Without it, as under `AppTest`, the pages work the same, but have
no layout.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware
from streamlit import config

from bpeviz import limits
from bpeviz.jobs import short
from bpeviz.ui.runtime import widget_values
from bpeviz.ui.server import memory
from bpeviz.ui.server.connections import Connections, raise_open_files
from bpeviz.ui.server.disconnects import QuietDisconnects
from bpeviz.ui.server.first_style import FirstStyle
from bpeviz.ui.server.headers import SecurityHeaders, content_security_policy
from bpeviz.ui.server.long_texts import LongTexts
from bpeviz.ui.server.messages import ValidMessages
from bpeviz.ui.server.origins import SameOrigin
from bpeviz.ui.server.page_addresses import PageAddresses
from bpeviz.ui.server.password import PasswordGate
from bpeviz.ui.server.request_sizes import RequestSizes
from bpeviz.ui.server.user_cookie import UserCookie

__all__ = ["lifespan", "middleware"]

SWITCH_INTERVAL = 0.001
"""Seconds that a page run keeps the interpreter while others wait for it; Python's default is 5 ms.

A run calls NumPy hundreds of times, and waits that long after each call beside another run.
"""


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """Keep a process for short trainings, and release memory, while the app runs."""
    short.start()
    try:
        async with memory.lifespan(app):
            yield
    finally:
        short.stop()


def middleware() -> list[Middleware]:
    """Return the middleware of the app, the outermost first.

    Raises:
        ValueError: An environment variable is invalid.
    """
    limits.check()
    sys.setswitchinterval(SWITCH_INTERVAL)
    memory.limit_arenas()
    cache_theme_options()
    widget_values.ignore_invalid()
    widget_values.look_up_singly()
    widget_values.look_up_components_plainly()
    base = "/" + "/".join(filter(None, st.get_option("server.baseUrlPath").split("/")))
    policy = content_security_policy(os.environ.get("BPEVIZ_FRAME_ANCESTORS", ""))
    found = [
        Middleware(QuietDisconnects),
        Middleware(SecurityHeaders, policy=policy),
        Middleware(RequestSizes, base=base),
    ]
    if st.get_option("server.enableCORS"):
        origins = st.get_option("server.corsAllowedOrigins")
        hosts = [st.get_option("browser.serverAddress"), *map(_host, origins)]
        found.append(Middleware(SameOrigin, hosts=hosts))
    if password := os.environ.get("BPEVIZ_PASSWORD"):
        found.append(Middleware(PasswordGate, password=password, base=base))
    return [
        *found,
        Middleware(Connections, files=raise_open_files()),
        Middleware(PageAddresses, base=base),
        Middleware(UserCookie, base=base),
        Middleware(LongTexts, base=base),
        Middleware(FirstStyle),
        Middleware(ValidMessages),
    ]


def cache_theme_options() -> None:
    """Cache Streamlit's options by section.

    Otherwise each page run searches all options for those of each theme.
    """
    find = config.get_options_for_section
    if not hasattr(find, "cache_clear"):
        config.get_options_for_section = cache(find)


def _host(origin: str) -> str:
    return urlsplit(origin.strip()).hostname or ""

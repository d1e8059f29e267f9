"""Identify the user of a page run by the browser, and set cookies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st
from starlette.types import Scope

from bpeviz.ui import private

COOKIE = "bpeviz_user"
"""A random token in the browser, the same for all its tabs."""

LASTS = 7 * 24 * 3600
"""Seconds for which a browser stores the cookies of a login and of a room."""


_acting_for: ContextVar[str] = ContextVar("acting_for", default="")
"""The user for whom a thread outside of page runs works."""


@contextmanager
def acting_for(user: str) -> Iterator[None]:
    """Work for a user within the block, outside of page runs."""
    token = _acting_for.set(user)
    try:
        yield
    finally:
        _acting_for.reset(token)


def current_user() -> str:
    """Return the token of the browser, or the id of the session if there is no token.

    Outside of page runs, the result is the user for whom the thread works, or empty.

    The network address does not identify a user: a class may share one.
    """
    session = private.session_id()
    if not session:
        return _acting_for.get()
    return browser_of(st.context.cookies) or f"session {session}"


def browser_of(cookies: Mapping[str, str]) -> str:
    """Return the user of a connection by its cookies, or "" if the browser refuses them."""
    token = cookies.get(COOKIE)
    if isinstance(token, str) and re.fullmatch(r"[\w-]{1,50}", token, re.ASCII):
        return f"browser {token}"
    return ""


def cookie(scope: Scope, name: str, value: str, base: str, seconds: int | None = None) -> str:
    """Return a Set-Cookie header that scripts cannot read and other sites do not send.

    Args:
        scope: The connection; over HTTPS, the cookie is sent over HTTPS only.
        name: The name.
        value: The value, in the characters that cookies allow.
        base: The path of the app.
        seconds: How long the browser stores it; None for until the browser closes.
    """
    parts = [f"{name}={value}", f"Path={base}", "HttpOnly", "SameSite=Lax"]
    if seconds is not None:
        parts.append(f"Max-Age={seconds}")
    if scope["scheme"] == "https":
        parts.append("Secure")
    return "; ".join(parts)

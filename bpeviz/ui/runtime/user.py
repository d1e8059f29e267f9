"""Identify the user of a page run by the browser."""

from __future__ import annotations

import re

import streamlit as st

from bpeviz.ui import private

COOKIE = "bpeviz_user"
"""A random token in the browser, the same for all its tabs."""


def current_user() -> str:
    """Return the token of the browser, or the id of the session if there is no token.

    Outside of page runs, the result is empty.

    The network address does not identify a user: a class may share one.
    """
    session = private.session_id()
    if not session:
        return ""
    token = st.context.cookies.get(COOKIE)
    if isinstance(token, str) and re.fullmatch(r"[\w-]{1,50}", token, re.ASCII):
        return f"browser {token}"
    return f"session {session}"

"""Dialogs, which a run of the whole page closes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, ParamSpec

import streamlit as st

P = ParamSpec("P")

_OPEN = "dialog_is_open"


def dialog(
    title: str, *, icon: str | None = None, width: Literal["small", "medium"] = "medium"
) -> Callable[[Callable[P, Any]], Callable[P, None]]:
    """Turn a function into a dialog (a decorator), as `st.dialog` does, and note that it opens."""

    def decorate(draw: Callable[P, Any]) -> Callable[P, None]:
        opening = st.dialog(title, width=width, icon=icon)(draw)

        @functools.wraps(draw)
        def open_dialog(*args: P.args, **kwargs: P.kwargs) -> None:
            st.session_state[_OPEN] = True
            opening(*args, **kwargs)

        return open_dialog

    return decorate


def begin_page() -> None:
    """Begin a run of a page, which closes any dialog."""
    st.session_state.pop(_OPEN, None)


def rerun_unless_open() -> None:
    """Run the page again, unless that would close a dialog that somebody reads."""
    if _OPEN not in st.session_state:
        st.rerun()

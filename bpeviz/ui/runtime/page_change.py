"""The values of widgets through a change of the page.

Streamlit 1.67 persists them (`persist_state="session"`), but not always: a value was lost if the
player reported a step at the same time, and the browser may still send the value of an earlier
visit. So in the first run of a page, every widget sets its value again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

_PAGE = "page"
"""The session key of the title of the page that is drawn."""

_ARRIVED = "arrived"
"""The session key that exists until the widgets of the first run of a page are drawn."""

_VALUES = "last_values"
"""The session key of the values of all widgets at the end of the last run of their page."""


def current() -> str:
    """Return the title of the page that is drawn."""
    return str(st.session_state.get(_PAGE, ""))


def has_arrived() -> bool:
    """Return whether this is the first run of the page."""
    return _ARRIVED in st.session_state


def begin_page(title: str) -> None:
    """Begin a run of a page, before its widgets."""
    if current() == title:
        st.session_state.pop(_ARRIVED, None)
    else:
        st.session_state[_ARRIVED] = True
    st.session_state[_PAGE] = title


def end_page(values: Mapping[str, Any]) -> None:
    """End a run of a page, after its widgets.

    Args:
        values: Their values by their keys.
    """
    st.session_state.pop(_ARRIVED, None)
    remember(values)


def remember(values: Mapping[str, Any]) -> None:
    """Note values of widgets by their keys, for the next first run of their page."""
    st.session_state[_VALUES] = st.session_state.get(_VALUES, {}) | dict(values)


def set_again(key: str) -> None:
    """Set the value of a widget that is about to be drawn, if this is the first run of its page."""
    if has_arrived():
        last = st.session_state.get(_VALUES, {}).get(key)
        value = st.session_state.get(key, last)
        if value is not None:
            st.session_state[key] = value

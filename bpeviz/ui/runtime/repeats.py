"""Values that a browser repeats after the script has replaced them.

Every message of a browser holds the values of all widgets. Until the browser has received a value
that the script set, its messages repeat the old one, and Streamlit takes that for a new choice: a
text that was just pasted was lost when the click that ended the typing chose something else. So the
script remembers the replaced values until the page is drawn, and undoes such a change.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

_REPLACED = "replaced_values"
"""Session key: for each widget key, the replaced value and the one in its place."""


def put(key: str, value: Any) -> None:
    """Set the value of a widget in place of the one that the browser has."""
    replaced = st.session_state.setdefault(_REPLACED, {})
    replaced[key] = st.session_state.get(key), value
    st.session_state[key] = value


def undo(key: str) -> bool:
    """Return whether a change of a widget was only a repetition, and undo it in that case."""
    old, new = st.session_state.get(_REPLACED, {}).get(key, (None, None))
    if new is None or st.session_state[key] != old:
        st.session_state.get(_REPLACED, {}).pop(key, None)
        return False
    st.session_state[key] = new
    return True


def forget() -> None:
    """Forget the replaced values: the browser has received the new ones."""
    st.session_state.pop(_REPLACED, None)

"""Parts of a page below the fold, which the browser draws after the columns above them."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from bpeviz.ui import components
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.widgets import SessionValue

_DRAWN: SessionValue[bool] = SessionValue("columns_drawn")
"""Whether the browser has drawn columns in this session."""


@fragment
def below_columns(part: Callable[[], None]) -> None:
    """Draw a part of the page, in a new session only once the browser has drawn the columns.

    The browser loads the scripts of charts before it draws anything, also what is above them.
    """
    place = st.container()
    if components.player_events(None, "below", steps=False, drawn=True)["drawn"]:
        _DRAWN.put(True)
    # Without a browser, as in tests, nothing draws the columns.
    if _DRAWN.present or not st.context.headers:
        with place:
            part()

"""How a page ends before its last line."""

from __future__ import annotations

from typing import NoReturn

from streamlit.runtime.scriptrunner import StopException


def stop() -> NoReturn:
    """End the page, of which what is drawn stays.

    `st.stop` does that, too, but lets nothing more be drawn: the frame of the page (`ui/page.py`)
    has still to draw the button that copies a link.
    """
    raise StopException

"""Detect a session that replaces an earlier one of a page that is still open.

After a restart of the server, or some minutes without a connection, the earlier session is lost.
The browser then sends its widget values to a new session. They are newer than the page's link.
"""

from __future__ import annotations

import streamlit as st


def reconnected() -> bool:
    """Return whether the page had an earlier session, and was not reloaded since.

    Streamlit's frontend sends the id of that session as the third of the WebSocket's protocols.
    """
    protocols = st.context.headers.get("Sec-WebSocket-Protocol", "")
    return any(name.strip() for name in protocols.split(",")[2:])

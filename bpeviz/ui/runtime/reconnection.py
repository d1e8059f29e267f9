"""Sessions that replace an earlier one, whose page the browser still shows.

A restarted server, or one that was unreachable for some minutes, has forgotten the session. The
browser then sends the values of its widgets to a new session. They are newer than the page's link.
"""

from __future__ import annotations

import streamlit as st


def reconnected() -> bool:
    """Return whether the browser had an earlier session, and did not reload the page since.

    Streamlit's browser side names that session as the third of the WebSocket's protocols.
    """
    protocols = st.context.headers.get("Sec-WebSocket-Protocol", "")
    return any(name.strip() for name in protocols.split(",")[2:])

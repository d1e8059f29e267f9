"""The frame of every page: its title, the menu, and the one question that it answers."""

from __future__ import annotations

import streamlit as st

PAGES = (
    ("app.py", "Train"),
    ("pages/Compare.py", "Compare"),
)
"""The pages in the order of the menu. A new page is a new file and a line here."""


def frame(title: str, question: str) -> None:
    """Draw the top of a page. Every page calls this first, so that each stands alone."""
    st.set_page_config(
        page_title=f"{title} · bpeviz", page_icon=":material/join_inner:", layout="wide"
    )
    # Streamlit leaves six rem free above a page; the player should be seen without scrolling.
    st.html(
        "<style>"
        "[data-testid=stMainBlockContainer]{padding-top:2.6rem;padding-bottom:4rem}"
        "[data-testid=stSidebarHeader]{height:2.6rem;min-height:0;margin-bottom:0}"
        "</style>"
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**bpeviz**", width="content")
        for path, name in PAGES:
            st.page_link(path, label=name)
    st.markdown(question)

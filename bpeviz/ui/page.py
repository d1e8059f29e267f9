"""The frame of every page: its title, the menu, and the question that it answers."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from bpeviz.ui.inputs import PAGE
from bpeviz.ui.pages.base import Page
from bpeviz.ui.pages.registry import PAGES
from bpeviz.ui.permalink import session
from bpeviz.ui.runtime.run_lock import turn

ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>"
    "<path fill='#1f6feb' d='M1 3h5v10H1z'/><path fill='#2f9e6e' d='M6 3h9v10H6z'/>"
    "<path stroke='#fff' d='M6 1v14'/></svg>"
)
"""Two tokens and the boundary between them. (A named icon would be fetched from outside.)"""

# Streamlit leaves six rem free above a page; the player should be seen without scrolling. On a
# narrow screen the button that opens the inputs needs some of that room.
STYLE = """<style>
[data-testid=stMainBlockContainer] { padding-top: 2.6rem; padding-bottom: 4rem; }
[data-testid=stSidebarHeader] { height: 2.6rem; min-height: 0; margin-bottom: 0; }
@media (max-width: 767px) { [data-testid=stMainBlockContainer] { padding-top: 4rem; } }
[data-testid=stPageLink] a:focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
[data-testid=stCaptionContainer] code { color: inherit; font-size: 0.95em; }
@media print {
  @page { margin: 12mm; }
  [data-testid=stSidebar], [data-testid=stHeader], [data-testid=stElementToolbar],
  [data-testid=stPageLink], [data-testid=stButton], [data-testid=stButtonGroup],
  [data-testid=stSlider], [data-testid=stTextArea], [data-testid=stTextInput],
  [data-testid=stNumberInput], [data-testid=stPopover], .st-key-copy_link {
    display: none !important;
  }
  [data-testid=stMainBlockContainer] { padding: 0 !important; }
  /* On paper the dark theme is light, too. */
  .stApp { background: #fff !important; }
  .stApp :is(p, h1, h2, h3, li, label) { color: #31333f !important; }
  h3 { break-after: avoid; }
}
</style>"""

# Tables and charts are pictures that are drawn for a dark ground where the theme is dark.
DARK = """<style>
@media print {
  [data-testid=stDataFrame], [data-testid=stVegaLiteChart] {
    filter: invert(1) hue-rotate(180deg) brightness(1.12);
  }
}
</style>"""


@cache
def _settle() -> None:
    """Let the collector of garbage leave out what is imported, once: it stays for ever.

    Else the collector passes through all of it every few seconds when the server is full, and
    everybody waits for a tenth of a second.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def frame(page: Page) -> Iterator[None]:
    """Draw the top of a page: the menu, the question, and a button that copies a link to it.

    Every page uses this frame, so that each works from a cold link. The values of a link are
    restored before the page draws its widgets. The button is drawn after them, also where the page
    stops early (`stop_run.stop`).
    """
    with turn():
        _settle()
        PAGE.put(page.title)
        st.set_page_config(page_title=f"{page.title} · bpeviz", page_icon=ICON, layout="wide")
        st.html(STYLE + DARK * (st.context.theme.type == "dark"))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown("**bpeviz**", width="content")
            for other in PAGES:
                st.page_link(other.path, label=other.title)
            place = st.container(width="content")
        st.markdown(page.question)
        session.restore(page)
        stopped = None
        try:
            yield
        except StopException as stop:
            stopped = stop
        with place:
            session.offer(page)
        if stopped:
            raise stopped

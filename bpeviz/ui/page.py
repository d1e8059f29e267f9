"""The frame of every page: the menu, the title, and the place of its text and settings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpeviz.ui import components, private, tab_state
from bpeviz.ui.export_dialog import EXPORT, export_button
from bpeviz.ui.inputs.token_count import run_once_loaded
from bpeviz.ui.learn import tours
from bpeviz.ui.mark import IMAGE, MARK
from bpeviz.ui.pages.base import TITLE, Page
from bpeviz.ui.permalink import session
from bpeviz.ui.registry import PAGES
from bpeviz.ui.room.dialog import room_button
from bpeviz.ui.runtime import dialogs, fragments, page_change, stop_run, style
from bpeviz.ui.runtime.fragments import fragment
from bpeviz.ui.widgets import SessionValues

UNSENT = 0.015
"""Seconds after a page run until its messages are sent: Streamlit 1.67 sends them every 0.01 s.

If a run of a fragment begins before that, Streamlit drops the unsent messages of this fragment. The
browser then takes its widgets for removed, and they lose their values.
"""


@contextmanager
def frame(page: Page) -> Iterator[DeltaGenerator]:
    """Draw the frame of a page; yield the place of its inputs.

    Elements inside the frame are drawn below its inputs. `with` the yielded container, they are
    drawn among these: the text in one line, and the settings as a sentence.
    `bpeviz.ui.runtime.style` lays the containers out.

    Every page uses this frame, so that each works from a cold link. The values of a link are
    restored before the page draws its widgets. The menu that copies a link is drawn after them,
    also where the page stops early (`stop_run.stop`).
    """
    with fragments.script_run():
        private.leave_containers()
        dialogs.begin_page()
        page_change.begin_page(page.title)
        EXPORT.clear()
        st.set_page_config(page_title=f"{page.title} · bpeviz", page_icon=MARK, layout="wide")
        with st.container(key="top", horizontal=True, gap=None):
            st.html(f"{IMAGE}<b>bpeviz</b>", width="content")
            with st.container(key="menu", horizontal=True, gap=None):
                for other in PAGES:
                    st.page_link(other.path, label=other.title)
            link, tour = st.container(width="content"), st.container(width="content")
        components.frame(page.title)
        with st.container(key="body" if page.has_inputs else "whole"):
            answer = "answer_in_lines" if page.has_long_verdict else "answer"
            with st.container(key=answer if page.has_verdict else "question"):
                if page.has_verdict:
                    st.markdown(page.question)
                TITLE.set(title := st.empty())
            inputs = st.container(key="inputs") if page.has_inputs else st.empty()
            with st.container(key="content"):
                tab_state.restore(page)
                tours.restore(page)
                session.restore(page)
                heading = page.heading() if page.heading else page.question
                if heading and not page.has_verdict:
                    title.title(heading, anchor=False)
                with stop_run.until_stopped():
                    yield inputs
        values = [(widget, widget.get()) for widget in page.widgets(SessionValues())]
        page_change.end_page({widget.key: value for widget, value in values})
        tab_state.store(values)
        session.keep_values()
        with tour:  # once the page has the state of its step
            tours.draw(page)
        with link:
            _share(page)
        if st.context.theme.type == "dark":
            st.html(style.DARK)
        if page.has_inputs:
            run_once_loaded()
    if st.context.headers:  # in a browser
        time.sleep(UNSENT)


@fragment
def _share(page: Page) -> None:
    """Draw the menu with the link to the page, its export and its room, while it is open."""
    menu = st.popover(
        "Share", icon=":material/share:", type="tertiary", key="share", on_change="rerun"
    )
    if menu.open:
        with menu:
            session.link_buttons(page)
            export_button(page)
            room_button(page)

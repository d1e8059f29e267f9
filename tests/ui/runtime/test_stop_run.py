"""Stopping a script run leaves its frame able to draw."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def stopping_page() -> None:
    import streamlit as st

    from bpeviz.ui.runtime import stop_run

    with stop_run.until_stopped():
        st.write("before")
        stop_run.stop()
        st.write("after")
    st.write("the frame")


def test_stop_ends_the_page_but_not_its_frame() -> None:
    app = AppTest.from_function(stopping_page).run()
    assert not app.exception
    assert [one.value for one in app.markdown] == ["before", "the frame"]

"""A run that a page asks for itself leaves an open dialog open."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from bpeviz.ui.runtime import dialogs

    @dialogs.dialog("A dialog")
    def show() -> None:
        st.write("Words to read.")

    dialogs.begin_page()
    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    if st.session_state["runs"] == 1:
        show()
    if st.session_state["runs"] < 3:
        dialogs.rerun_unless_open()


def test_page_does_not_close_a_dialog_itself() -> None:
    app = AppTest.from_function(page).run()
    assert app.session_state["runs"] == 1
    app.run()  # asked for by the user: it closes the dialog, and the page may ask for another
    assert app.session_state["runs"] == 3

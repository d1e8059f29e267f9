"""Runs of a page after runs of its fragments."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page() -> None:
    """Draw a page in a thread that ended a fragment in a dialog."""
    import streamlit as st
    from streamlit.delta_generator_singletons import context_dg_stack, get_dg_singleton_instance

    from bpeviz.ui import private

    @st.dialog("A dialog")
    def dialog() -> None:
        st.text("inside")

    around = get_dg_singleton_instance().event_dg._dialog("An earlier dialog")
    context_dg_stack.set((*context_dg_stack.get(), around))
    private.leave_containers()
    st.text("page")
    dialog()


def test_page_is_not_drawn_inside_the_containers_of_a_fragment() -> None:
    app = AppTest.from_function(page).run()
    assert not app.exception
    assert [one.value for one in app.main.text] == ["page"]

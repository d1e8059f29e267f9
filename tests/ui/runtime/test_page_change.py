"""Values of widgets outlast a change of the page, even where Streamlit loses them."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from bpeviz.ui.inputs.training import ALGORITHM

KEY = ALGORITHM.key


def pages() -> None:
    import streamlit as st

    from bpeviz.ui.inputs.training import ALGORITHM
    from bpeviz.ui.runtime import page_change

    page = st.session_state.get("shown", "first")
    page_change.begin_page(page)
    values = {}
    if page == "first":
        st.text(ALGORITHM.select())
        values = {ALGORITHM.key: ALGORITHM.get()}
    page_change.end_page(values)


def shown(app: AppTest) -> str:
    app.run()
    assert not app.exception
    return str(app.text[0].value)


def test_lost_value_is_set_again_when_the_page_is_opened() -> None:
    app = AppTest.from_function(pages).run()
    app.selectbox(key=KEY).select("unigram")
    assert shown(app) == "unigram"
    app.session_state["shown"] = "second"
    app.run()
    del app.session_state[KEY]  # as where the player reports a step at the same time
    app.session_state["shown"] = "first"
    assert shown(app) == "unigram"
    assert shown(app) == "unigram"


def test_later_choice_replaces_the_value() -> None:
    app = AppTest.from_function(pages).run()
    for chosen in ("unigram", "wordpiece"):
        app.selectbox(key=KEY).select(chosen)
        assert shown(app) == chosen

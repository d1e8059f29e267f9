"""Uploaded files: a session holds none that the page has read, and a limited amount in all."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from bpeviz import limits


def script() -> None:
    import streamlit as st

    from bpeviz.ui import private
    from bpeviz.ui.runtime import uploads

    def read() -> None:
        state = st.session_state
        read = uploads.take if state.get("taken") else uploads.files
        state.setdefault("read", []).append(read("one"))
        state.stored = len(private.uploads())

    st.file_uploader("one", key="one", on_change=read, accept_multiple_files=True)
    st.file_uploader("two", key="two")
    st.text(str(uploads.held()))
    st.text(uploads.refusal(0))


def app(**state: object) -> AppTest:
    opened = AppTest.from_function(script)
    for key, value in state.items():
        opened.session_state[key] = value
    return opened.run()


def held(opened: AppTest) -> int:
    return int(opened.text[0].value)


@pytest.mark.parametrize("taken", [True, False])
def test_taken_and_replaced_files_are_held_no_longer(taken: bool) -> None:
    opened = app(taken=taken)
    for number in range(3):
        content = bytes([number]) * 1_000_000
        opened.file_uploader[0].set_value((f"{number}.txt", content, "text/plain")).run()
        assert [(f"{number}.txt", content)] in opened.session_state["read"]
        assert opened.session_state["stored"] == (not taken)
    assert not opened.exception


def test_file_that_another_uploader_has_not_read_yet_stays() -> None:
    opened = app(taken=True)
    opened.file_uploader[1].set_value(("two", b"2" * 1_000_000, "text/plain")).run()
    opened.file_uploader[0].set_value(("one", b"1" * 2_000_000, "text/plain")).run()
    assert opened.session_state["read"][0] == [("one", b"1" * 2_000_000)]
    assert opened.session_state["stored"] == 1


def test_session_refuses_texts_beyond_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SESSION_TEXTS", 1)
    assert app(some="a" * 900_000).text[1].value == ""
    opened = app(some="a" * 600_000, more=["a" * 600_000])
    assert 1_200_000 <= held(opened) < 1_300_000
    assert "1 MB" in opened.text[1].value

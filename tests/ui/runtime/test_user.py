"""The user of a page run: the browser's token, or else the session."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from bpeviz import context
from bpeviz.ui.runtime import user


def script() -> None:
    import streamlit as st

    from bpeviz import context
    from bpeviz.ui.runtime import run_lock  # noqa: F401, sets the context

    st.text(context.current().user())


def test_user_is_the_token_of_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    cookies = {user.COOKIE: "a-token", "other": "x"}
    monkeypatch.setattr(user.st, "context", SimpleNamespace(cookies=cookies))
    assert AppTest.from_function(script).run().text[0].value == "browser a-token"


def test_thread_without_a_page_has_no_user() -> None:
    assert context.current().user() == ""


@pytest.mark.parametrize("cookies", [{}, {user.COOKIE: ""}, {user.COOKIE: "x" * 60_000}])
def test_session_without_a_token_is_a_user_of_its_own(
    cookies: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user.st, "context", SimpleNamespace(cookies=cookies))
    found = AppTest.from_function(script).run().text[0].value
    assert found.startswith("session ")
    assert found != "session "

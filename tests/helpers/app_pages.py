"""Open pages of the app in Streamlit's `AppTest`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

APP = Path(__file__).resolve().parents[2] / "app.py"


def opened(page: str, query: Mapping[str, str] | None = None, **state: Any) -> AppTest:
    """Return a page in a new session with `state`: texts and choices.

    Args:
        page: The name of a page, or the path of its file.
        query: The parameters of the address.
        **state: Values of the session. The menu “Share” is open unless they say otherwise.
    """
    app = AppTest.from_file(str(APP), default_timeout=60)
    for key, value in ({"share": True} | state).items():
        app.session_state[key] = value
    for key, value in (query or {}).items():
        app.query_params[key] = value
    path = {"Train": APP.name}.get(page, page if page.endswith(".py") else f"pages/{page}.py")
    return app.switch_page(path).run()


def errors(app: AppTest) -> list[str]:
    """Return the messages of errors, and check that there is no exception."""
    assert [one.message for one in app.exception] == []
    return [error.value for error in app.error]

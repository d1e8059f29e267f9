"""The text box of a page under Streamlit's `AppTest`, which does not run components."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from bpeviz.corpus import samples
from bpeviz.ui.inputs.text import OWN_TEXT
from helpers.payloads import payloads


def payload(app: AppTest, name: str = "text") -> dict[str, Any]:
    """Return what the page sent to a text box."""
    (found,) = [data for data in payloads(app) if data.get("name") == name and "samples" in data]
    assert isinstance(found, dict)
    if found["text"] is None:  # the browser has it
        found["text"] = app.session_state[f"{name}_box"]
    return found


def type_text(app: AppTest, text: str, name: str = "text") -> AppTest:
    """Use a text of the user, as a change of the browser does."""
    app.session_state[f"{name}_sample"] = OWN_TEXT
    app.session_state[f"{name}_box"] = text
    return app.run()


def choose_sample(app: AppTest, key: str) -> AppTest:
    """Use a sample, as a change of the browser does."""
    app.session_state["text_sample"] = key
    app.session_state["text_box"] = samples.by_key(key).text
    return app.run()

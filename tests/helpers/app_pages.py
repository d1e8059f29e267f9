"""Open pages of the app in Streamlit's `AppTest`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from bpeviz.corpus import samples
from bpeviz.ui.inputs.text import OWN_TEXT, TEXT
from bpeviz.ui.inputs.vocabulary_size import BOX

MENUS = [
    "share",
    *(
        f"{name}_menu"
        for name in (
            "algorithm",
            "trained_on",
            "have",
            "tokenizer",
            "special",
            "encoding",
            "compare",
            "many",
        )
    ),
]

APP = Path(__file__).resolve().parents[2] / "app.py"


class Page(AppTest):
    """A page of the app. Each run of it asserts that it shows no error, unless it `may_fail`."""

    may_fail = False

    def _run(self, *given: Any, **options: Any) -> AppTest:
        app = super()._run(*given, **options)
        shown = errors(app)
        assert shown == [] or self.may_fail
        return app


def opened(
    page: str,
    query: Mapping[str, str] | None = None,
    *,
    may_fail: bool = False,
    **state: Any,
) -> Page:
    """Return a page in a new session with `state`: texts and choices.

    Args:
        page: The name of a page, or the path of its file.
        query: The parameters of the address.
        may_fail: Whether the page may show errors, and not exceptions.
        **state: Values of the session. Menus are open unless they say otherwise.
    """
    app = Page(APP, default_timeout=60)
    app.may_fail = may_fail
    for key, value in (dict.fromkeys(MENUS, True) | state).items():
        app.session_state[key] = value
    for key, value in (query or {}).items():
        app.query_params[key] = value
    path = {"Train": APP.name}.get(page, page if page.endswith(".py") else f"pages/{page}.py")
    app.switch_page(path).run()
    return app


def trained_apart(text: str, **state: Any) -> dict[str, Any]:
    """Return the state of a page with a text, and the text of `state` to train on."""
    trained_on = {
        "trained_on_sample": state.pop("text_sample", OWN_TEXT),
        "trained_on_box": state.pop("text_box", samples.by_key(TEXT.first).text),
    }
    return {"text_sample": OWN_TEXT, "text_box": text} | trained_on | state


def with_text(page: str, text: str, **state: Any) -> Page:
    """Return a page with a text of the user's own."""
    return opened(page, text_box=text, text_sample=OWN_TEXT, **state)


def verdict(app: AppTest) -> str:
    """Return the title of a page as it is read."""
    (title,) = app.title
    return plain(title.value)


def captions(app: AppTest) -> str:
    """Return all captions of a page as they are read."""
    return plain(" ".join(caption.value for caption in app.caption))


def plain(text: str) -> str:
    """Return a text without escapes and joiners."""
    return text.replace("\\", "").replace("\u2060", "")


def size_box(app: AppTest) -> Any:
    """Return the box of the vocabulary size, or of the number of merges."""
    (box,) = (each for each in app.number_input if str(each.key).startswith(BOX))
    return box


def errors(app: AppTest) -> list[str]:
    """Return the messages of errors, and check that there is no exception."""
    assert [one.message for one in app.exception] == []
    return [error.value for error in app.error]

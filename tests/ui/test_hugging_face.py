"""The box for models on Hugging Face, with a stand-in of the download."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bpeviz import limits
from bpeviz.pretrained import download, hub
from bpeviz.pretrained.transfer import DownloadError
from bpeviz.ui import hugging_face

pytestmark = pytest.mark.slow


def page() -> None:
    import streamlit as st

    from bpeviz.ui import hugging_face

    hugging_face.box("id", lambda title, files: st.json([title, *(name for name, _ in files)]))


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    def stand_in(model: hub.ModelId, report: Callable[[str], None], _end: float) -> None:
        report("downloading *now*")
        time.sleep(0.3)
        if "missing" in model.model:
            raise DownloadError("there is no *such* model")
        hub._store(model, {"tokenizer.json": b"{}"}, None)

    monkeypatch.setattr(hub, "_download", stand_in)
    monkeypatch.setattr(download, "_downloads", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv(hugging_face.OPTION, "1")
    return AppTest.from_function(page, default_timeout=60).run()


def test_box_opens_the_files_of_a_model(app: AppTest) -> None:
    app.text_input(key="id").input(" hf:some/model-1@v2 ").run()
    assert [one.value for one in app.error] == []
    assert app.json[0].value == '["model-1@v2", "tokenizer.json"]'
    assert download.available("hf:some/model-1@v2")


def test_box_shows_why_a_model_cannot_be_opened(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.text_input(key="id").input("some/missing").run()
    assert r"there is no \*such\* model" in app.error[0].value
    assert [one.label for one in app.button] == ["Try again"]
    app.text_input(key="id").input("no id").run()
    assert "revision" in app.error[0].value
    assert not app.json


def test_box_repeats_a_refused_download_on_demand(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as busy:
        busy.setattr(limits, "HUB_DOWNLOADS", 0)
        app.text_input(key="id").input("some/model").run()
        assert "Try again in a minute" in app.error[0].value
    app.button[0].click().run()
    assert not app.error
    assert app.json[0].value == '["model", "tokenizer.json"]'
    app.text_input(key="id").input("some/missing").run()
    monkeypatch.setattr(hub, "_download", lambda model, *_: hub._store(model, {"a": b""}, None))
    app.run()
    assert r"there is no \*such\* model" in app.error[0].value
    app.button[0].click().run()
    assert not app.error
    assert app.json[0].value == '["missing", "a"]'


@pytest.mark.parametrize(
    ("given", "address", "path", "password", "expected"),
    [
        (None, "localhost", "", None, True),
        (None, "127.0.0.1", "", None, True),
        (None, "0.0.0.0", "", None, False),
        (None, None, "", None, False),
        (None, "localhost", "bpeviz", None, False),
        (None, "localhost", "", "secret", False),
        ("1", "0.0.0.0", "", "secret", True),
        ("0", "localhost", "", None, False),
        ("yes", "0.0.0.0", "", None, False),
    ],
)
def test_models_are_allowed_by_the_operator_or_on_this_machine_alone(
    monkeypatch: pytest.MonkeyPatch,
    given: str | None,
    address: str | None,
    path: str,
    password: str | None,
    expected: bool,
) -> None:
    for variable, value in ((hugging_face.OPTION, given), ("BPEVIZ_PASSWORD", password)):
        if value is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, value)
    options = {"server.address": address, "server.baseUrlPath": path}
    monkeypatch.setattr(hugging_face.st, "get_option", options.get)
    assert hugging_face.allowed() is expected

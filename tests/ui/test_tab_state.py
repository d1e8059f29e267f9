"""A reloaded tab: the state that its browser sends, and the files of the earlier session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import app_pages
from helpers.payloads import payloads
from helpers.text_box import payload
from helpers.widget_values import opened_address, session_values
from streamlit.testing.v1 import AppTest

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.corpus import samples
from bpeviz.formats import parse
from bpeviz.formats.opened import Opened
from bpeviz.ui import tab_state
from bpeviz.ui.inputs import text as text_input
from bpeviz.ui.registry import PAGES
from bpeviz.ui.runtime import long_texts
from bpeviz.ui.tab_state import MARK

ROOT = Path(__file__).resolve().parents[2]
TEXT = "banana bandana banana \U0001f600"
COMPARE = "pages/Compare.py"


def stored(app: AppTest) -> dict[str, Any]:
    """Return the records that the browser of a page has, by their names."""
    found: dict[str, Any] = {}
    for one in payloads(app):
        if "long" in one and "values" in one:
            found["values"] = one["values"]
            found |= {f"long/{name}": text for name, text in one["long"].items()}
        elif "samples" in one:
            sample, name = app.session_state[f"{one['name']}_sample"], one["name"]
            found[f"text/{name}"] = {"sample": sample, "text": app.session_state[f"{name}_box"]}
    return found


def asking(page: str = "app.py", **query: str) -> AppTest:
    """Return a page in a new session of a tab that was reloaded."""
    return app_pages.opened(page, {MARK: "1", **query}, may_fail=True)


def number_of(app: AppTest) -> int:
    """Return the number of a page's request for its state."""
    [asked] = [each for each in payloads(app) if each.get("mark") == MARK]
    name, number = asked["address"].split("/")[-2:]
    assert name == "tab_state"
    return int(number)


def answered(app: AppTest, records: Any) -> AppTest:
    """Return a page whose browser has sent these records, and whose address has no mark."""
    number, inbox = number_of(app), app.session_state["session"]
    inbox.put("tab_state", number, json.dumps(records).encode())
    app.session_state["tab_state"] = {"restored": {"number": number, "isSent": True}}
    app.query_params.pop(MARK, None)
    return app.run()


def reloaded(records: Any, page: str = "app.py", **query: str) -> AppTest:
    return answered(asking(page, **query), records)


def training_app() -> AppTest:
    state = {"largest": 300, "pattern": "whitespace", "text_sample": "own", "text_box": TEXT}
    return app_pages.opened("Train", **state)


def test_first_run_of_a_reloaded_tab_only_asks_for_its_state() -> None:
    app = asking()
    number = number_of(app)
    assert not app.selectbox
    assert not [one for one in payloads(app) if "views" in one or "samples" in one]
    # The browser has nothing, or its storage is switched off.
    app.session_state["tab_state"] = {"restored": {"number": number, "isSent": False}}
    app.run()
    assert not app.exception
    assert payload(app)["sample"] == text_input.TEXT.first


def test_new_session_of_an_open_page_has_the_settings_of_closed_menus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After a restart of the server, the browser sends the widgets on screen alone."""
    records = stored(app_pages.opened("Train", algorithm="wordpiece"))
    monkeypatch.setattr(tab_state, "reconnected", lambda: True)
    app = app_pages.opened("Train", tab_state={"restored": {"number": 1, "isSent": True}})
    assert not app.number_input, "that is the answer to an earlier request"
    assert answered(app, records).session_state["algorithm"] == "wordpiece"
    assert not [each for each in payloads(app.run()) if "mark" in each]


def test_other_ways_to_open_a_page_ask_for_nothing() -> None:
    assert not [each for each in payloads(app_pages.opened("Train")) if "mark" in each]


def test_long_texts_come_back_also_behind_a_sample() -> None:
    typed = "ä" * 30_000
    before = app_pages.opened(
        "Inspect", inspected_by="yours", pattern="list", words=typed, may_fail=True
    )
    records = stored(before) | {
        "own/text": "b" * 1_000_000,
        "text/text": {"sample": "spanish", "text": samples.by_key("spanish").text},
        "text/trained_on": {"sample": "own", "text": "c" * 30_000},
    }
    assert len(records["values"]) < 5_000
    app = reloaded(records, "pages/Inspect.py")
    assert app.session_state["words"] == typed
    assert app.session_state["text_own"] == "b" * 1_000_000
    assert app.session_state["trained_on_box"] == "c" * 30_000
    # A long value is sent to the browser only when it changes.
    app.run()
    assert "long/words" not in stored(app)
    assert "words" in json.loads(stored(app)["values"])["long"]


def test_link_replaces_the_state_of_the_tab() -> None:
    app = reloaded(stored(training_app()), sample="spanish")
    assert payload(app)["text"] == samples.by_key("spanish").text
    assert "largest" not in app.session_state


def tokenizer() -> Tokenizer:
    name = "bpe-bytes.json"
    return parse({name: (ROOT / "tests" / "fixtures" / name).read_bytes()})


def test_opened_files_come_back_while_the_earlier_session_exists() -> None:
    before = training_app()
    opened = Opened("file 1", "My *file*", tokenizer())
    before.session_state["tokenizers_opened"] = [opened]
    before.session_state["text_file"] = "a long file"
    before.session_state["text_file_name"] = "long.txt"
    before.switch_page(COMPARE).run()
    before.multiselect(key="compared").set_value(["gpt2", "file 1"]).run()
    records = stored(before)
    app = reloaded(records, COMPARE)
    assert app.session_state["tokenizers_opened"] == [opened]
    assert app.multiselect(key="compared").value == ["gpt2", "file 1"]
    assert app.session_state["text_file"] == "a long file"
    assert not app.warning
    # The earlier session has ended.
    del before, app
    long_texts._inboxes.clear()
    app = reloaded(records, COMPARE)
    [warning] = app.warning
    assert "no longer has “long\\.txt”, “My \\*file\\*”. Open them again" in warning.value
    assert app.multiselect(key="compared").value == ["gpt2"]
    app.session_state["tokenizers_opened"] = [opened]
    app.run()
    assert "“long\\.txt”. Open it again" in app.warning[0].value
    assert not app.switch_page("app.py").run().warning


@pytest.mark.slow
def test_files_of_many_texts_come_back_unless_a_link_replaces_them() -> None:
    before = training_app()
    files = [("en.txt", "the river"), ("t.csv", "lang,text\nes,el río\n")]
    before.session_state["named_files"] = files
    before.session_state["how_many_texts"] = "many"
    before.session_state["labels_of_t.csv"] = ""
    before.switch_page(COMPARE).run()
    records = stored(before)
    app = reloaded(records, COMPARE)
    assert app.session_state["named_files"] == files
    assert app.session_state["labels_of_t.csv"] == "", "the reading of the table that was chosen"
    assert not app.warning
    app = reloaded(records, COMPARE, sample="spanish")
    assert "named_files" not in app.session_state
    del before, app
    long_texts._inboxes.clear()
    app = reloaded(records, COMPARE)
    assert "no longer has “en\\.txt”, “t\\.csv”. Open them again" in app.warning[0].value


@pytest.mark.parametrize(
    "records",
    [
        [],
        {},
        {"values": "{"},
        {"values": "[]"},
        {"values": json.dumps({"values": {"largest": "x", "pattern": [], "unknown": 1}})},
        {"values": json.dumps({"long": ["a"]})},
        {"text/text": None},
        {"text/text": {"sample": 3, "text": 4}},
        {"text/text": {"sample": "own", "text": "x" * 10_000_001}},
    ],
    ids=lambda one: str(one)[:50],
)
def test_damaged_state_is_ignored(records: Any) -> None:
    train = PAGES[0]
    with opened_address(train, "") as (_, state):
        tab_state._take(train, json.dumps(records))
        assert session_values(train) == {}
        assert "text_own" not in state

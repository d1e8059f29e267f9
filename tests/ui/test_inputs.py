"""The text of a page: changes that the browser sends, and changes of the script."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest
from helpers import app_pages
from helpers.links import query_of
from helpers.payloads import drawn
from helpers.refusals import refusal
from pyarrow import parquet
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz import limits
from bpeviz.core.boundaries import SPECIAL_ID
from bpeviz.corpus import samples
from bpeviz.corpus.documents import Documents
from bpeviz.pretrained import download, rank_tokenizer
from bpeviz.ui.inputs import token_count
from bpeviz.ui.inputs.text import (
    EDITABLE,
    OWN_TEXT,
    SESSION,
    TEXT,
    Rows,
    read_file,
)
from bpeviz.ui.runtime.long_texts import Inbox


def script() -> None:
    import streamlit as st

    from bpeviz.ui.inputs.text import TEXT

    if not TEXT.box.present:
        TEXT.put(TEXT.first)
    if st.session_state.get("opened"):
        TEXT.file.put("a long text")
        TEXT.file_name.put("long.txt")
        TEXT.boxed_file.put("short.txt")
    st.session_state.taken = TEXT.take(st.session_state.get("change"))


def after(*changes: Any, opened: bool = False) -> AppTest:
    """Return a session after changes that a browser sent."""
    app = AppTest.from_function(script)
    for change in changes:
        app.session_state["change"] = change
        app.session_state["opened"] = opened
        app.run()
        assert [one.message for one in app.exception] == []
    return app


def change(number: Any, text: Any, sample: Any = OWN_TEXT) -> dict[str, Any]:
    return {"number": number, "sample": sample, "text": text}


def values(app: AppTest) -> tuple[str, str, int]:
    return tuple(app.session_state[one.key] for one in (TEXT.sample, TEXT.box, TEXT.version))


CHANGES: list[tuple[list[Any], bool, tuple[str, str, int]]] = [
    ([change(1, "mine")], True, (OWN_TEXT, "mine", 1)),  # which is not sent back
    (
        [change(1, "mine"), change(2, "mine", "spanish")],
        True,
        ("spanish", samples.by_key("spanish").text, 2),
    ),
    ([change(2, "second"), change(2, "again"), change(1, "first")], False, (OWN_TEXT, "second", 1)),
    *(
        ([other], False, (TEXT.first, samples.by_key(TEXT.first).text, 1))
        for other in (None, "text", {}, change("1", "a"), change(1, "a", "unknown"), change(1, 5))
    ),
]
"""Changes that a browser sends, whether the last one is used, and the values after them."""


@pytest.mark.parametrize(("changes", "is_used", "expected"), CHANGES)
def test_later_valid_change_is_used_once(
    changes: list[Any], is_used: bool, expected: tuple[str, str, int]
) -> None:
    app = after(*changes)
    assert app.session_state["taken"] == is_used
    assert values(app) == expected


def test_browser_without_the_text_gets_it() -> None:
    app = after(change(1, "mine"))
    assert app.session_state[TEXT.typed_at.key] == app.session_state[TEXT.version.key]
    app = after(change(1, "mine"), {"number": 2, "sample": OWN_TEXT, "text": None})
    assert values(app) == (OWN_TEXT, "mine", 2)
    assert app.session_state[TEXT.typed_at.key] == 1


def test_uploaded_text_is_used_once_it_is_there() -> None:
    uploaded = {"number": 7, "sample": OWN_TEXT, "isUploaded": True}
    inbox = Inbox()
    inbox.put(TEXT.name, 7, "naïve".encode())
    app = after(uploaded)
    assert not app.session_state["taken"]
    for session, taken in ((Inbox(), False), (inbox, True), (inbox, False)):
        app.session_state[SESSION.key] = session
        app.run()
        assert app.session_state["taken"] == taken
    assert values(app) == (OWN_TEXT, "naïve", 1)


def test_too_long_file_is_refused_with_the_commands_that_take_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "TEXT", 10)
    refusal(read_file, "long.txt", b"low lower lowest", naming=("long.txt", "1 GB"))


def test_change_closes_an_open_file() -> None:
    app = after(change(1, samples.by_key(TEXT.first).text), opened=True)
    assert TEXT.file.key not in app.session_state
    # The text is still that of the file that was put into the box.
    assert app.session_state[TEXT.boxed_file.key] == "short.txt"
    app = after(change(1, "other"), opened=True)
    assert TEXT.boxed_file.key not in app.session_state


# ---- special tokens

NAMED = {"text_sample": "own", "text_box": "low<|end|>low<|end|>", "special_names": "<|end|>"}
SPLIT = "Split the training text at special tokens"


def splits(app: AppTest) -> bool | None:
    """Return whether the switch is on; check that the player shows what it says."""
    assert app_pages.errors(app) == []
    switches = [one.value for one in app.toggle if one.label == SPLIT]
    (view,) = drawn(app, "views")["views"]
    assert (str(SPECIAL_ID) in view["tokenStyles"]) == ([*switches, False][0])
    assert ("Special tokens stay whole." in view["initialMessage"]) == ([*switches, False][0])
    return switches[0] if switches else None


@pytest.mark.parametrize(
    ("linked", "is_split"),
    [({}, True), ({"split_at_special": False}, False), ({"split_at_special": True}, True)],
)
def test_link_splits_at_special_tokens_unless_it_says_otherwise(
    linked: dict[str, Any], is_split: bool
) -> None:
    app = app_pages.opened("Train", query_of(NAMED | linked))
    assert splits(app) is is_split
    assert splits(app.run()) is is_split


def file_script() -> None:
    import streamlit as st

    from bpeviz.ui.inputs import text

    for name, content in st.session_state.pop("files", ()):
        text.TEXT.open_file(name, text.read_file(name, content))
    text.choose_text(text.TEXT)


def rows_of(app: AppTest) -> Documents:
    return Rows.unpacked(app.session_state[TEXT.table_rows.key]).documents


TICKETS = 'id,lang,message\n1,en,"the river, the sea"\n2,es,el río\n'


def test_opened_table_gives_its_column_of_text_or_another_one() -> None:
    app = AppTest.from_function(file_script, default_timeout=60)
    written = io.BytesIO()
    parquet.write_table(pa.table({"id": [1], "message": ["two words"]}), written)
    app.session_state["files"] = [("t.parquet", written.getvalue())]
    assert rows_of(app.run()).texts == ("two words",)
    app.session_state["files"] = [("t.csv", TICKETS.encode())]
    app.run()
    assert rows_of(app) == Documents(("the river, the sea", "el río"), ("en", "es"))
    (choice,) = app.selectbox
    assert (choice.label, choice.value) == ("Column of text in t\\.csv", "message")
    choice.set_value("lang").run()
    assert rows_of(app).texts == ("en", "es")
    app.selectbox[0].set_value("(the file as it is)").run()
    assert app.session_state[TEXT.box.key] == TICKETS
    assert TEXT.table_rows.key not in app.session_state
    app.selectbox[0].set_value("message").run()
    assert rows_of(app).texts == ("the river, the sea", "el río")
    app.session_state["files"] = [("a.txt", b"low")]
    assert not app.run().selectbox
    app.session_state["files"] = [("a.json", b'["low", 1]')]
    assert "json: one text" in app.run().caption[0].value
    assert app.session_state[TEXT.box.key] == '["low", 1]'
    app.session_state["files"] = [("p.csv", "en,es\nthe river,el río\na sea,un mar\n".encode())]
    assert app.run().selectbox[0].value == "(all columns of text)"
    languages = ("en", "en", "es", "es")
    assert rows_of(app) == Documents(("the river", "a sea", "el río", "un mar"), languages)
    assert [one.message for one in app.exception] == []


@pytest.mark.parametrize(
    ("name", "content", "sample"),
    [("long.txt", b"low " * EDITABLE, "banana"), ("t.csv", TICKETS.encode(), OWN_TEXT)],
)
def test_own_text_waits_behind_a_file_in_place_of_the_box(
    name: str, content: bytes, sample: str
) -> None:
    app = AppTest.from_function(file_script, default_timeout=60)
    before = ((TEXT.own, "typed"), (TEXT.sample, "banana"), (TEXT.box, "bananas"))
    for item, value in before:
        app.session_state[item.key] = value
    app.session_state["files"] = [(name, content)]
    app.run()
    assert app.session_state[TEXT.sample.key] == sample
    assert app.session_state[TEXT.box.key] == ("typed" if sample == OWN_TEXT else "bananas")
    assert app.session_state[TEXT.own.key] == "typed"


def test_parquet_file_that_is_damaged_or_a_bomb_is_refused() -> None:
    bomb = io.BytesIO()
    parquet.write_table(pa.table({"text": ["a" * 1_000_000] * 50}), bomb)
    refusal(read_file, "t.parquet", bomb.getvalue(), naming=("t.parquet", "40,000,000"))
    refusal(read_file, "t.parquet", b"PAR1 no", naming="t.parquet")


# ---- folded settings


def folded(app: AppTest) -> bool:
    return not any(box.key == "largest" for box in app.number_input)


def test_folded_number_out_of_bounds_has_a_message() -> None:
    app = app_pages.opened("Train", largest=100, bpe_atoms="characters")
    assert not app.warning
    app.session_state["bpe_atoms"] = "bytes"
    assert ["at least 256" in each.value for each in app.run().warning] == [True]
    assert folded(app)


BPE_OPTION = {"algorithm": "bpe", "bpe_min_count": 3}


@pytest.mark.parametrize(
    ("values", "is_folded"), [({"algorithm": "bpe"}, True), (BPE_OPTION, False)]
)
def test_link_opens_settings_that_it_has_a_value_of(values: Any, is_folded: bool) -> None:
    assert folded(app_pages.opened("Train", query_of(values))) == is_folded


def test_browser_that_draws_a_choice_anew_begins_with_its_value() -> None:
    choices = {"more_open": True, "bpe_atoms": "characters", "counted": True}
    app = app_pages.opened("Train", may_fail=True, **choices)  # the text is no list of counts
    assert [box.proto.default for box in app.selectbox if box.key == "bpe_atoms"] == [1]
    assert [toggle.proto.default for toggle in app.toggle if toggle.key == "counted"] == [True]


def test_tokens_of_a_text_in_gpt_4o_are_counted_once_its_file_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not download.available(token_count.NAME):
        pytest.skip("not available: o200k_base")
    texts = ["I like strawberry!", "👩‍👩‍👧‍👦", "", "a" * (token_count.COUNTED_CHARACTERS + 1)]
    with monkeypatch.context() as before:
        before.setattr(rank_tokenizer, "_loaded", {})
        assert [token_count.token_count(text) for text in texts] == [""] * 4
    sizes = [len(bpeviz.load(token_count.NAME).encode(text)) for text in texts[:2]]
    assert [token_count.token_count(text) for text in texts] == [
        f"18 characters · {sizes[0]} tokens in GPT-4o",
        f"1 character · {sizes[1]} tokens in GPT-4o",
        "",
        "",
    ]


def test_own_text_returns_after_samples_and_is_never_replaced_by_them() -> None:
    typed = "  typed, exactly. "
    chosen = {"number": 4, "sample": OWN_TEXT, "isOwn": True}
    app = after(change(1, typed), change(2, "", "russian"), change(3, "", "banana"))
    assert app.session_state["text_box"] == samples.by_key("banana").text
    app.session_state["change"] = chosen
    app.run()
    assert (app.session_state["text_sample"], app.session_state["text_box"]) == (OWN_TEXT, typed)
    # Without an own text, the one in the box becomes it.
    app = after(change(1, "", "banana"), chosen)
    assert app.session_state["text_box"] == samples.by_key("banana").text
    assert app.session_state["text_sample"] == OWN_TEXT

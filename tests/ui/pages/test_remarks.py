"""The remark in the stage where the steps change little of a text, and what its buttons do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import streamlit as st
from helpers import app_pages
from helpers.payloads import payloads
from streamlit.testing.v1 import AppTest

from bpeviz.pretrained import download, rank_tokenizer
from bpeviz.ui.inputs.token_count import NAME
from bpeviz.ui.pages import inspect, remarks
from bpeviz.ui.pages.inspect.encoding import TOKENIZER

OWN_TEXTS = {
    "hello world": "No two neighbors occur twice, so there is nothing to learn from it alone.",
    "a": "One character: nothing to join.",
    "é": "No two neighbors occur twice, so there is nothing to learn from it alone.",  # two bytes
    "मुझे हिंदी में लिखना अच्छा लगता है।": "After 9 merges, no two neighbors occur twice.",
    " \n\t ": "No two neighbors occur twice, so there is nothing to learn from it alone.",
}
KEYS = {"Train": "player", "Algorithms": "lock_step", "Inspect": "inspect_player"}

needs_gpt4o = pytest.mark.skipif(not download.available(NAME), reason=f"{NAME} is not here")


def opened(page: str, text: str, **state: Any) -> AppTest:
    return app_pages.opened(page, text_box=text, text_sample="own", **state)


def stage(app: AppTest) -> dict[str, Any]:
    """Return the payload of the player."""
    (player,) = [data for data in payloads(app) if "views" in data]
    return player


def ways(app: AppTest) -> list[str]:
    return [way for way, _ in stage(app)["remark"]["ways"]]


def press(
    app: AppTest, way: str, monkeypatch: pytest.MonkeyPatch, algorithms: Sequence[str] = ()
) -> AppTest:
    """Do what the callback of a button does, which AppTest cannot press."""
    before = dict(app.session_state._state.filtered_state)
    after = dict(before)
    with monkeypatch.context() as patch:
        patch.setattr(st, "session_state", after)
        remarks.follow(way, algorithms)
    for key, value in after.items():
        if key not in before or value != before[key]:
            app.session_state[key] = value
    return app.run()


def test_watched_link_has_names_and_values_of_inspect() -> None:
    closer, tokenizer = inspect.CLOSER, TOKENIZER
    assert {*remarks.WATCHED} == {closer.link, tokenizer.link} == {closer.key, tokenizer.key}
    assert remarks.WATCHED[closer.link] in closer.titles
    assert remarks.WATCHED[tokenizer.link] in tokenizer.titles


@pytest.mark.parametrize("page", KEYS)
@pytest.mark.parametrize("text", OWN_TEXTS)
def test_every_text_stands_on_the_stage(page: str, text: str) -> None:
    app = opened(page, text)
    assert {view["text"] for view in stage(app)["views"]} == {text}
    assert not app.info
    if page == "Train" or text == "a":
        assert stage(app)["remark"]["sentence"] == OWN_TEXTS[text]
    if page == "Train":
        assert ["text", "Try another text"] in stage(app)["ways"]
    if (page, text) == ("Algorithms", "hello world"):
        sentence = "None of these algorithms changes this text."
        assert stage(app)["remark"]["sentence"] == sentence


@pytest.mark.parametrize("page", KEYS)
def test_text_stands_below_the_message_of_settings_that_cannot_train(page: str) -> None:
    app = opened(page, "hello world", pattern="regex", regex="(", may_fail=True)
    assert len(app.error) == 1
    (view,) = stage(app)["views"]
    assert (view["text"], view["last"]) == ("hello world", 0)


def test_a_long_text_has_no_remark() -> None:
    assert stage(app_pages.opened("Train"))["remark"] is None


def steps_of(text: str, **state: Any) -> int:
    """Return the number of steps that change a text, as the library counts them."""
    payload = stage(opened("Train", text, **state))
    changing = payload["changingSteps"]
    return payload["last"] if changing is None else len(changing)


@needs_gpt4o
@pytest.mark.parametrize("text", ["hello world", "zq", "a", "strawberry", "aaa aaa"])
def test_buttons_give_the_text_at_least_one_step_more(text: str) -> None:
    rank_tokenizer.load(NAME)
    languages = {"trained_on_sample": "languages", "trained_on_box": ""}
    alone, borrowed = steps_of(text), steps_of(text, **languages)
    watched = len(np.unique(rank_tokenizer.load(NAME).boundaries(text).change_steps))
    once = steps_of(text, bpe_min_count=1)
    expected = [
        way
        for way, steps in (("watch", watched), ("languages", borrowed), ("once", once))
        if steps > alone
    ]
    assert ways(opened("Train", text)) == expected


def test_button_trains_on_the_languages_and_the_player_plays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = press(opened("Train", "hello world"), "languages", monkeypatch)
    shown = stage(app)
    assert shown["plays"]
    assert len(shown["changingSteps"]) == 3
    (view,) = shown["views"]
    assert (view["text"], view["trainedOn"]) == ("hello world", "34 languages")
    assert shown["remark"]["sentence"] == (
        "3 of 768 merges trained on 34 languages change this text."
    )
    assert "counted" not in app.session_state  # a link with it would open “More”
    assert not stage(app.run())["plays"]


@pytest.mark.parametrize("page", ["Train", "Algorithms"])
def test_button_merges_pairs_seen_once(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(page, "hello world", algorithms=["bpe"])
    app = press(app, "once", monkeypatch, ["bpe"] if page == "Algorithms" else ())
    shown = stage(app)
    assert shown["last"] == 9
    assert "memorizing" in shown["remark"]["sentence"]


@needs_gpt4o
def test_button_watches_the_merges_of_gpt4o_on_inspect(monkeypatch: pytest.MonkeyPatch) -> None:
    app = press(opened("Train", "hello world", closer="ids"), "watch", monkeypatch)
    shown = stage(app)
    assert shown["plays"]
    assert shown["last"] == 9
    assert app.selectbox(key="inspected_by").value == NAME


def test_training_text_that_changes_nothing_is_named() -> None:
    app = opened("Train", "xyz", trained_on_sample="banana", trained_on_box="banana bandana")
    remark = stage(app)["remark"]
    assert remark["sentence"] == "No merge trained on banana bandana banana changes this text."


def test_unknown_characters_are_named_and_this_text_is_offered() -> None:
    state = {"bpe_atoms": "characters", "trained_on_sample": "banana", "trained_on_box": "banana"}
    app = opened("Train", "new words", **state)
    assert "they are unknown" in stage(app)["remark"]["sentence"]
    assert ways(app) == ["this"]

"""The remark in the stage where the steps change little of a text, and what its buttons do."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest
import streamlit as st
from helpers import app_pages
from helpers.app_pages import with_text as opened
from helpers.payloads import drawn
from streamlit.testing.v1 import AppTest

from bpeviz.pretrained import download
from bpeviz.ui.inputs.token_count import NAME
from bpeviz.ui.pages import remarks

GPT4O = "GPT-4o’s merges, since no pair occurs twice."
OWN_TEXTS = {
    "hello world": f"{GPT4O} Train on",
    "a": "One character: nothing to merge.",
    "é": f"{GPT4O} Train on",  # two bytes, which GPT-4o merges
    "मुझे हिंदी में लिखना अच्छा लगता है।": "After 9 merges, no pair occurs twice.",
    " \n\t ": f"{GPT4O} Train on",
}

needs_gpt4o = pytest.mark.skipif(not download.available(NAME), reason=f"{NAME} is not here")


def stage(app: AppTest) -> dict[str, Any]:
    """Return the payload of the player."""
    return drawn(app, "views")


def ways(app: AppTest) -> list[str]:
    """Return the next steps of the stage, or of the sentence of settings."""
    keys = [str(button.key) for button in app.button]
    said = [key.removeprefix("way_") for key in keys if key.startswith("way_")]
    remark = stage(app)["remark"]
    return said or [way for way, _ in remark["ways"]]


def remark_of(app: AppTest) -> str:
    """Return why the steps change little, where it is said."""
    remark = stage(app)["remark"]
    said = [words.value for words in app.markdown if ", since " in words.value]
    return " ".join([*said, remark["sentence"] if remark else ""]).strip()


def press(app: AppTest, way: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """Do what the callback of a button does, which AppTest cannot press."""
    before = dict(app.session_state._state.filtered_state)
    after = dict(before)
    with monkeypatch.context() as patch:
        patch.setattr(st, "session_state", after)
        remarks.follow(way)
    for key, value in after.items():
        if key not in before or value != before[key]:
            app.session_state[key] = value
    return app.run()


@pytest.mark.parametrize(
    ("page", "text"),
    [
        *(("Train", text) for text in OWN_TEXTS),
        *((page, "hello world") for page in ("Algorithms", "Inspect")),
    ],
)
def test_every_text_stands_on_the_stage(page: str, text: str) -> None:
    app = opened(page, text, closer="steps", inspected_by="yours")
    assert {view["text"] for view in stage(app)["views"]} == {text}
    assert not app.info
    if page == "Train" or text == "a":
        assert remark_of(app) == OWN_TEXTS[text]
    assert not any("no pair" in caption.value.lower() for caption in app.caption)
    if page == "Train":
        assert ["text", "Try another text"] in stage(app)["ways"]
    if (page, text) == ("Algorithms", "hello world"):
        sentence = "None of these algorithms changes this text."
        assert stage(app)["remark"]["sentence"] == sentence
        assert ways(app) == ["languages"]


BANANA = "text=banana+bandana&algorithm=bpe&size="
REMARKS = {
    "": "",  # a long text
    f"{BANANA}260": "",  # the size is the reason
    f"{BANANA}256": "No merges at this size.",
    f"{BANANA}263": " merges, no neighbors",
    f"{BANANA}260&train_on=banana": " of 4 merges trained on",
    "text=aaaa&algorithm=unigram&size=280": "No prunings at this size.",
    "text=xyz&train_on=banana": "No merge trained on banana bandana ",
    "text=new+words&bpe_atoms=characters&trained_on_box=banana": "they are unknown",
}
"""Addresses of Train, and words of the remark."""


@pytest.mark.parametrize("query", REMARKS)
def test_remark_is_about_the_steps_on_screen(query: str) -> None:
    app = app_pages.opened("Train", dict(parse_qsl(query)))
    remark = stage(app)["remark"] or {"sentence": ""}
    assert REMARKS[query] in remark["sentence"]
    assert bool(remark["sentence"]) == bool(REMARKS[query])
    assert "unknown" not in REMARKS[query] or ways(app) == ["this"]


def test_text_stands_below_the_message_of_settings_that_cannot_train() -> None:
    app = opened("Train", "hello world", pattern="regex", regex="(", may_fail=True)
    assert len(app.error) == 1
    (view,) = stage(app)["views"]
    assert (view["text"], view["last"]) == ("hello world", 0)


def test_ids_of_the_tokenizer_are_one_press_away() -> None:
    app = app_pages.opened("Train", inspected_by="gpt2", closer="steps")
    (button,) = [button for button in app.button if button.label == "See its ids"]
    button.click().run()
    assert app.session_state["inspected_by"] == "yours"
    assert drawn(app, "bytes")


@needs_gpt4o
def test_text_without_merges_has_those_of_gpt4o_at_its_last_step() -> None:
    app = opened("Train", "hello world")
    shown = stage(app)
    (view,) = shown["views"]
    assert (shown["initialStep"], shown["last"]) == (9, 9)
    assert (view["algorithm"], view["tokenCounts"][-1]) == ("GPT-4o", 2)
    assert view["rule"] == "2 tokens in this text, after 9 of its 199,742 merges"
    assert ways(app) == ["languages", "once"]
    assert GPT4O in remark_of(app)
    assert app.title[-1].value == "**2 tokens** in GPT-4o"


def test_text_without_merges_has_those_of_languages_without_the_file_of_gpt4o(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(download, "available", lambda name: False)
    fetched: list[str] = []
    monkeypatch.setattr(download, "fetch_in_background", lambda name, retry: fetched.append(name))
    app = opened("Train", "hello world")
    (view,) = stage(app)["views"]
    assert view["algorithm"] == "A tokenizer trained here on 34 languages"
    assert view["rule"] == "8 tokens in this text, after 3 of its 768 merges"
    assert remark_of(app).startswith("The merges of 34 languages, since")
    assert ways(app) == ["languages", "get"]
    assert not fetched
    press(app, "get", monkeypatch)
    assert fetched == [NAME]


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


def test_button_merges_pairs_seen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = stage(press(opened("Train", "hello world"), "once", monkeypatch))
    assert payload["last"] == 9
    assert "memorizing" in payload["remark"]["sentence"]

"""The Inspect page without a browser: all samples and tokenizers, ids, tokens, bad input."""

from __future__ import annotations

import html
from functools import partial
from typing import Any

import pytest
from helpers import app_pages, usual
from helpers.app_pages import captions, errors, size_box, verdict
from helpers.html_tables import shown_tables
from helpers.payloads import drawn, payloads
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz.corpus import samples
from bpeviz.pretrained import download
from bpeviz.ui import markdown, page_trainings, training_progress
from bpeviz.ui.pages.inspect import GRID_BYTES, MAX_INSPECTED

FIRST = samples.by_key("seashells").text


FIRST_TEXT = "The naïve 世界 isn’t 3.14159 👍🏽"

of_text = partial(app_pages.opened, "Inspect")


def opened(inspected: str = FIRST_TEXT, inspected_by: str = "yours", **state: Any) -> AppTest:
    return of_text(inspected_by=inspected_by, **app_pages.trained_apart(inspected, **state))


def cl100k(**state: Any) -> AppTest:
    if not download.available("cl100k_base"):
        pytest.skip("cl100k is not on this machine.")
    return opened(inspected_by="cl100k_base", **state)


def tables(app: AppTest, column: str) -> list[Any]:
    """Return the tables with a column of this name."""
    return [one for one in shown_tables(app) if column in one]


def ids(app: AppTest) -> list[int]:
    return [token["id"] for token in drawn(app, "bytes")["tokens"] if token["id"] is not None]


def test_special_tokens_of_the_users_training_are_encoded() -> None:
    app = opened(inspected="low<s>", special_names="<s> </s> <s>", special_tokens="special")
    assert "Special tokens of Your tokenizer" in captions(app)
    tokens = drawn(app, "bytes")["tokens"]
    assert (tokens[-1]["label"], tokens[-1]["kind"]) == ("<s>", "special")
    assert app.radio(key="special_tokens").label == r"Treat \<s\> as"
    app = opened(special_names="[UNK]", algorithm="wordpiece", may_fail=True)
    assert "differ from" in " ".join(errors(app))


def test_page_counts_characters_and_shows_bytes_in_decimal() -> None:
    app = opened(inspected="né👍🏽")
    assert verdict(app).startswith("**11 tokens** · 3 characters · 11 bytes. Turned back, the ids")
    assert drawn(app, "bytes")["decimal"] is False
    app.toggle(key="decimal").set_value(True).run()
    assert drawn(app, "bytes")["decimal"] is True


def test_inspect_opens_with_gpt4o_if_it_is_on_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "available", lambda name: False)
    assert ids(of_text()) == usual.train("bpe", FIRST).tokenizer().encode(FIRST)
    monkeypatch.undo()
    if download.available("o200k_base"):
        app = of_text()
        assert ids(app) == bpeviz.load("o200k_base").encode(FIRST)
        assert verdict(app).startswith(f"**{len(ids(app))} tokens** · {len(FIRST)} characters")


def test_steps_of_the_users_tokenizer_take_the_place_of_the_grid() -> None:
    app = of_text(inspected_by="yours", closer="steps")
    assert not [data for data in payloads(app) if data and "bytes" in data]
    (view,) = drawn(app, "views")["views"]
    assert view["text"] == FIRST
    assert drawn(app, "views")["last"] >= 10
    assert drawn(app, "views")["initialStep"] == 1, "at the first merge"
    assert [way for way, _ in drawn(app, "views")["ways"]] == ["Compare", "Learn"]


def test_lattice_of_the_users_unigram_model_has_its_segmentations() -> None:
    text = "low low lower lowest, néwer newest wider. " * 3
    options = {"algorithm": "unigram", "unigram_atoms": "bytes", "closer": "steps"}
    app = opened("low néwer\u4e16", text_box=text, text_sample="own", **options)
    training = usual.train("unigram", text, atoms="bytes")
    tokenizer = training.at_step(training.opening)
    (word,) = [one for one in app.selectbox if one.label == "Word"]
    assert word.options == ["low", "·néwer世"]
    for number, part in enumerate(("low", " néwer\u4e16")):
        word.set_value(number).run()
        (drawing,) = [one.proto.body for one in app.get("html") if "lattice" in one.proto.body]
        names = [tokenizer.token_label(i) for i in tokenizer.encode(part)]
        assert f"Best: {html.escape(' | '.join(names))}, log probability" in drawing
        assert tables(app, "segmentation")[0]["segmentation"][0] == " ".join(names)
        assert not any("differ from the best path" in one.value for one in app.caption)


def test_special_tokens_are_plain_text_until_enabled() -> None:
    app = cl100k(inspected="a<|endoftext|>")
    assert ids(app) == [64, 27, 91, 8862, 728, 428, 91, 29]
    app.radio(key="special_tokens").set_value("special").run()
    assert ids(app) == [64, 100257]
    assert any(markdown.escape("<|fim_prefix|>") in one.value for one in app.caption)


def test_long_text_is_paged() -> None:
    app = opened(inspected="she sells shells, " * 120)
    (number,) = [one for one in app.number_input if one.label.startswith("Part shown")]
    first = drawn(app, "bytes")
    third = drawn(number.set_value(3).run(), "bytes")
    assert third["firstByte"] > first["firstByte"] == 0
    assert len(third["bytes"]) <= GRID_BYTES
    for closer in ("steps", "diagram"):
        app.button_group(key="closer").set_value(closer).run()
        assert drawn(app, "views")["views"][0]["part"][0] == third["firstByte"]
        assert len([it for it in app.number_input if it.label.startswith("Part")]) == 1
    app = opened(inspected="x " * MAX_INSPECTED)
    assert any(f"the first {MAX_INSPECTED:,} of" in one.value for one in app.caption)


def test_empty_text_causes_no_errors() -> None:
    for closer in ("steps", "diagram"):
        opened(inspected="", closer=closer)
    assert drawn(opened(inspected=""), "bytes")["columnCount"] == 0
    of_text(text_box="", text_sample="own")


def test_training_error_is_displayed_and_other_tokenizers_work() -> None:
    app = opened(pattern="regex", regex="[a-", may_fail=True)
    assert len(errors(app)) == 1
    assert "regular expression" in errors(app)[0]
    app = cl100k(pattern="regex", regex="[a-")
    assert "exactly" in verdict(app)


def test_look_up_and_its_merge_diagram_say_what_a_text_is_encoded_as_instead() -> None:
    if not download.available("o200k_base"):
        pytest.skip("o200k is not on this machine.")
    app = opened(inspected_by="o200k_base", closer="token", look_up="3914")
    assert "Alone, its text is encoded otherwise: as 198 (↵) and 393 (//)." in captions(app)
    assert drawn(app, "isDiagram")["views"][0]["text"] == "\n//"
    app.text_input(key="look_up").set_value("393").run()
    assert "Alone" not in captions(app)


def test_number_is_looked_up_as_an_id_or_as_the_text_of_another_token() -> None:
    app = opened(inspected_by="yours", closer="token", look_up="6")
    assert tables(app, "kind")[0]["id"].tolist() == [6, 54]


def test_own_tokenizer_is_trained_only_if_the_page_shows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A long training text must not stop the page while a published tokenizer is inspected."""
    asked: list[str] = []
    get = training_progress.get

    def counted(text: str, *more: Any) -> page_trainings.Trained:
        asked.append(text)
        return get(text, *more)

    monkeypatch.setattr(training_progress, "get", counted)
    app = cl100k(text_box="low lower " * 20_000, text_sample="own", inspected="low")
    assert ids(app) == [10516]
    app.button_group(key="closer").set_value("diagram").run()
    assert asked == []
    app.session_state["trained_on_sample"] = "this"
    app.session_state["text_box"] = "low lower lowest"
    app.selectbox(key="mirrored").set_value("yours").run()
    assert drawn(app, "mirrored")["mirrored"]["text"] == "low lower lowest"
    assert {*asked} == {"low lower lowest"}  # again, once a long training has ended


def test_vocabulary_size_stays_while_another_tokenizer_is_inspected() -> None:
    if not download.available("cl100k_base"):
        pytest.skip("cl100k is not on this machine.")
    app = opened()
    size_box(app).set_value(270).run()
    assert ids(app) == usual.train("bpe", FIRST).tokenizer(270).encode(FIRST_TEXT)
    app.radio(key="inspected_by").set_value("cl100k_base").run()
    assert app.session_state["size"] == 270
    app.radio(key="inspected_by").set_value("yours").run()
    assert size_box(app).value == 270

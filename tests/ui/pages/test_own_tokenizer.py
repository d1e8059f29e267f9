"""Compare with many texts, without a browser: one's own tokenizers for these languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import app_pages
from helpers.app_pages import size_box
from helpers.html_tables import shown_tables
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz.analysis.language_parity import Split
from bpeviz.ui.inputs.text import Rows
from bpeviz.ui.pages.own_tokenizer import file_of

ENGLISH = ["the river is wide", "the sea is wide and deep", "the river is deep", "we see the sea"]
GREEK = ["ο ποταμός είναι πλατύς", "η θάλασσα είναι πλατιά", "ο ποταμός είναι βαθύς", "η θάλασσα"]
TEXTS = {"English": ENGLISH, "Greek": GREEK}
PASTED = "\n".join(f"# {name}\n" + "\n".join(lines) for name, lines in TEXTS.items())


def opened(pasted: str = PASTED, **state: Any) -> AppTest:
    chosen = {"how_many_texts": "many", "pasted_texts": pasted, "compared": ["yours"]}
    return app_pages.opened("Compare", **chosen | {"own_for_texts": True, "own_merges": 40} | state)


def ratios(split: Split, algorithm: str, **how: Any) -> dict[str, float]:
    training = bpeviz.train(split.corpus, algorithm, merges=40, pattern="o200k", **how)
    return split.ratios(training.tokenizer())


def table(app: AppTest) -> list[list[str]]:
    shown = shown_tables(app)[-1]
    return [[*map(str, shown.columns)], *([*map(str, row)] for row in shown.to_numpy().tolist())]


def captions(app: AppTest) -> str:
    return " ".join(one.value for one in app.caption).replace("\\", "")


def test_ratios_of_shares_and_parity_are_those_of_the_library() -> None:
    app = opened(own_exponent="0.3")
    split = Split(TEXTS)
    found = {
        "with shares as they are": ratios(split, "multilingual", smoothing="1.0"),
        "with exponent 0.3": ratios(split, "multilingual", smoothing="0.3"),
        "with equal shares": ratios(split, "multilingual", smoothing="0.0"),
        "with parity": ratios(split, "parity"),
    }
    assert split.sentence(found) in [one.value for one in app.markdown]
    assert table(app) == [
        ["Language", "As they are", "Exponent 0.3", "All equal", "Parity"],
        *([name, *(f"{one[name]:.2f}" for one in found.values())] for name in TEXTS),
    ]
    assert "most were for Greek" in captions(app)
    assert "which favors" in captions(app)

    app.select_slider(key="own_exponent").set_value("1.0").run()
    assert table(app)[0] == ["Language", "As they are", "All equal", "Parity"]


def test_rows_that_were_not_trained_on_are_marked() -> None:
    app = opened(own_held_out="some")
    app.multiselect(key="own_held_out_texts").set_value(["Greek"]).run()
    assert [row[0] for row in table(app)[1:]] == ["English", "Greek (not trained on)"]
    split = Split(TEXTS, held_out=frozenset({"Greek"}))
    assert table(app)[2][-1] == f"{ratios(split, 'parity')['Greek']:.2f}"
    app.multiselect(key="own_held_out_texts").set_value(["English", "Greek"]).run()
    assert "Leave at least one language" in app.info[-1].value

    app.segmented_control(key="own_held_out").set_value("half").run()
    assert "Trained on lines 1 to 2, measured on lines 3 to 4" in captions(app)
    assert table(app)[0][0] == "Language, lines 3 to 4"
    value = ratios(Split(TEXTS, half=True), "parity")["Greek"]
    assert table(app)[2][-1] == f"{value:.2f}"


def test_a_name_that_is_no_longer_there_is_not_held_out() -> None:
    app = opened(own_held_out="some", own_held_out_texts=["German", "Greek"])
    assert app.multiselect(key="own_held_out_texts").value == ["Greek"]


@pytest.mark.parametrize("pasted", ["# a\nlow\n# b\nlow\nnew", "# a\nlow\nnew", "# a\nx\n# b\ny"])
def test_texts_that_are_not_parallel_have_a_message(pasted: str) -> None:
    app = opened(pasted)
    assert "needs parallel texts" in app.info[-1].value


def test_blank_text_is_not_trained_on() -> None:
    app = opened(PASTED + "\n# blank\n \n \n \n.", translations=True)
    app.segmented_control(key="own_held_out").set_value("half").run()
    assert [row[0] for row in table(app)[1:]] == ["English", "Greek", "blank"]


def test_one_of_them_becomes_the_own_tokenizer() -> None:
    app = opened()
    app.button(key="use_own").click().run()
    training = bpeviz.train(Split(TEXTS).corpus, "parity", merges=40, pattern="o200k")
    assert size_box(app).value == 256 + training.steps
    assert app.session_state["trained_on_box"] == Split(TEXTS).corpus
    assert app.session_state["algorithm"] == "parity"
    app.switch_page("app.py").run()


def test_rows_of_a_table_are_trained_on_alone() -> None:
    texts = {"English": [*ENGLISH, "in two\nparts"], "Greek": [*GREEK, "σε δύο\nμέρη"]}
    columns = [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]
    lines = "".join(f"{json.dumps(row)}\n" for row in columns)
    app = opened("", named_files=[("t.jsonl", lines)], open_files=["t.jsonl"])
    split = Split(texts, unit="row")
    assert table(app)[2][-1] == f"{ratios(split, 'parity')['Greek']:.2f}"
    assert "Measured on the rows that were trained on" in captions(app)
    app.button(key="use_own").click().run()
    training = bpeviz.train(split.corpus, "parity", merges=40, pattern="o200k")
    assert size_box(app).value == 256 + training.steps
    rows = Rows("texts of Compare", "all languages", split.corpus)
    assert app.session_state["trained_on_rows"] == rows.packed()


def test_file_for_hugging_face_has_the_same_ids(tmp_path: Path) -> None:
    for algorithm in ("multilingual", "parity"):
        training = bpeviz.train(Split(TEXTS).corpus, algorithm, merges=40, pattern="o200k")
        path = tmp_path / "tokenizer.json"
        path.write_bytes(file_of(training))
        library = bpeviz.read(path)
        for line in (*ENGLISH, *GREEK, "a -- b"):
            assert library.encode(line) == training.tokenizer().encode(line)

"""A table in place of the text of the pages: rows, each encoded and trained on alone."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from helpers import app_pages, usual
from helpers.app_pages import Page
from helpers.payloads import drawn, payloads
from helpers.text_box import payload
from ui.test_tab_state import reloaded, stored

import bpeviz
from bpeviz.cli import main
from bpeviz.corpus import tables
from bpeviz.corpus.documents import Documents
from bpeviz.ui.inputs.text import EDITABLE, Rows
from bpeviz.ui.runtime import long_texts

TEXTS = ("Yes.", "No, no.", "A line\nin two parts.", "", "名前 Yes.", "Yes. No.")
LABELS = ("a", "b", "a", "b", "a", "b")
PACKED = Rows("t.csv", "“message”", Documents(TEXTS, LABELS)).packed()
OWN = {"text_sample": "own", "text_box": "", "text_rows": PACKED, "text_file_name": "t.csv"}


def timeline(app: Page) -> dict[str, Any]:
    (view,) = drawn(app, "views")["views"]
    return dict(view)


@pytest.mark.parametrize("algorithm", ["bpe", "sentencepiece", "wordpiece", "multilingual"])
def test_train_page_has_the_figures_of_the_command_and_of_python(
    algorithm: str, tmp_path: Any
) -> None:
    app = app_pages.opened("Train", **OWN, algorithm=algorithm, pattern="gpt2")
    view = timeline(app)
    documents = Documents(TEXTS, LABELS)
    options = {name: value for name, value in usual.options(algorithm).items() if value != ""}
    training = bpeviz.train(documents, algorithm, **options)
    each = [len(training.tokenizer().encode(text)) for text in TEXTS]
    assert view["tokenCounts"][-1] == sum(each)
    assert view["text"] == "\n".join(TEXTS)
    path, output = tmp_path / "t.csv", tmp_path / "out.json"
    path.write_text(tables.as_table("t.csv", documents), "utf-8")
    how = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    train = ["train", str(path), "--algorithm", algorithm, "--output", str(output), *how]
    train.append("--format=bpeviz")
    assert main.main(train) == 0
    assert sum(map(len, bpeviz.read(output).encode_batch(TEXTS))) == sum(each)


def test_box_names_the_rows_and_joins_them_on_request() -> None:
    app = app_pages.opened("Train", **OWN)
    box = payload(app)
    assert box["file"] == "t.csv: 6 rows of “message”, each encoded alone"
    assert box["hasRows"]
    change = {"number": box["answered"] + 1, "sample": "own", "text": "", "joins": True}
    app.session_state["text_component"] = {"change": change}
    app.run().run()  # the component is drawn before its change is used
    assert not payload(app)["hasRows"]
    assert payload(app)["text"] == "\n".join(TEXTS)
    assert any("6 rows are joined" in caption.value for caption in app.caption)
    assert "rowEnds" not in timeline(app)
    app.session_state["text_component"] = {"change": {**change, "number": change["number"] + 1}}
    app.run()  # it has no rows any more
    assert payload(app)["text"] == "\n".join(TEXTS)


@pytest.mark.parametrize("texts", [TEXTS, ("the sea ", "a río ") * EDITABLE])
def test_reload_keeps_the_rows(texts: tuple[str, ...]) -> None:
    packed = Rows("t.csv", "“message”", Documents(texts[: EDITABLE // 5])).packed()
    before = app_pages.opened("Learn", **OWN | {"text_rows": packed}, share=False)
    before.switch_page("pages/Pre-tokenize.py").run()
    records = stored(before)
    app = reloaded(records, "pages/Pre-tokenize.py")
    assert app.session_state["text_rows"] == packed
    assert not app.warning
    is_long = len(packed) > EDITABLE
    assert ("text_rows" in json.dumps(records)) != is_long
    del before, app
    long_texts._inboxes.clear()
    app = reloaded(records, "pages/Pre-tokenize.py")
    assert ("text_rows" in app.session_state) != is_long
    assert len(app.warning) == is_long


def test_pages_of_one_text_show_a_row() -> None:
    app = app_pages.opened("Pre-tokenize", **OWN)
    rows = app.number_input(key="row_of_6")
    assert rows.label == "Row, 1 to 6"
    rows.set_value(3).run()
    assert any(data.get("text") == TEXTS[2] for data in payloads(app) if "rows" in data)
    app = app_pages.opened("Inspect", **OWN, row_of_6=2, inspected_by="gpt2")
    tokens = len(bpeviz.load("gpt2").encode(TEXTS[1]))
    assert re.fullmatch(rf"\*\*{tokens} tokens\*\* · .*· 7 bytes\..*", app.title[0].value)


def test_compare_opens_many_texts_with_the_groups_of_a_table() -> None:
    app = app_pages.opened("Compare", **OWN, compared=["gpt2"])
    assert app.session_state["how_many_texts"] == "many"
    (name, content) = app.session_state["named_files"][0]
    assert name == "t.csv"
    assert tables.read_table(name, content).texts == {
        label: Documents(tuple(text for text, own in zip(TEXTS, LABELS, strict=True)
                               if own == label and text))
        for label in ("a", "b")
    }  # fmt: skip
    each = bpeviz.load("gpt2").count_batch(TEXTS)
    (totals,) = [text.value for text in app.caption if text.value.startswith("Tokens of all")]
    assert f" {sum(each)}\\." in totals
    app.session_state["text_in_tokens"] = "a"
    app.run()
    score = drawn(app, "rowEnds")
    own = [text for text, label in zip(TEXTS, LABELS, strict=True) if label == "a"]
    assert score["rows"][0]["tokenCount"] == sum(bpeviz.load("gpt2").count_batch(own))
    assert score["rowEnds"] == [4, 25]
    app.session_state["how_many_texts"] = "one"
    app.run()  # it opens them once
    score = drawn(app, "rowEnds")
    assert score["rows"][0]["tokenCount"] == sum(each)


@pytest.mark.parametrize("path", ["t.csv", "t.tsv", "t.jsonl", "t.parquet"])
@pytest.mark.parametrize("labels", [(), LABELS])
def test_table_of_rows_reads_as_the_same_rows(path: str, labels: tuple[str, ...]) -> None:
    texts = tuple(text or 'a "quoted", cell\r\n' for text in TEXTS)
    table = tables.read_table(path, tables.as_table(path, Documents(texts, labels)))
    assert table.documents == Documents(texts, labels)

"""Import and export on the pages, without a browser."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
import regex
import tokenizers
from helpers import app_pages
from helpers.app_pages import errors
from helpers.gguf_files import Value, gguf_file
from helpers.payloads import drawn
from helpers.refusals import refusal
from helpers.text_box import type_text
from streamlit.testing.v1 import AppTest
from tokenizers import models, processors

import bpeviz
from bpeviz import formats
from bpeviz.corpus import samples
from bpeviz.formats import FORMATS, MAX_FILE, FormatError, archive
from bpeviz.formats.known_models import known_title
from bpeviz.formats.opened import Opened
from bpeviz.pretrained import catalog
from bpeviz.ui import markdown
from bpeviz.ui.opened_tokenizers import (
    LONGEST_TITLE,
    RESERVED,
    read_files,
    unique_title,
)
from bpeviz.views.table import Table

pytestmark = pytest.mark.slow

ENGLISH = samples.by_key("english-prose").text
TEXT = "low low lower lowest, newer newest wider. " * 3


@cache
def written(key: str) -> dict[str, bytes]:
    """Return the files of a small tokenizer in a format, or those of an algorithm."""
    if key == "ids in any order":
        about = b'# bpeviz {"atoms":"bytes","pattern":"gpt2"}\n'
        return {"a.csv": about + b"left,right,new_id\n108,111,900\n900,119,700\n"}
    if key == "wordpiece":
        return formats.dump(bpeviz.train(TEXT, key, vocab_size=40).tokenizer(), "huggingface")
    if key == "csv":
        how = {"atoms": "characters", "end_mark": "attached"}
        return formats.dump(bpeviz.train(TEXT, merges=20, **how).tokenizer(), key)
    return formats.dump(bpeviz.train(ENGLISH, vocab_size=300).tokenizer(), key)


def brought(key: str) -> Opened:
    return read_files([*written(key).items()])


# ---- files that are opened


def file_dialog() -> None:
    from bpeviz.ui import import_dialog

    import_dialog._uploader(lambda key: None)


def open_dialog() -> None:
    from bpeviz.ui import import_dialog

    import_dialog._dialog.__wrapped__(lambda key: None)


def test_assumed_pre_tokenization_can_be_changed() -> None:
    files = [*written("gpt2").items()]
    first = read_files(files, title="Mine")
    assert "GPT-2 is assumed" in first.assumption
    assert read_files(files, "cl100k").files == ()  # type: ignore[union-attr]
    app = AppTest.from_function(open_dialog)
    app.session_state["tokenizers_opened"] = [first]
    app.run()
    assert markdown.escape(first.assumption) in [one.value for one in app.caption]
    app.button(key=f"pre-tokenization of {first.key}").click().run()
    app.selectbox(key="split_of_file").set_value("characters").run()
    app.button(key="open_with_split").click().run()
    (changed,) = app.session_state["tokenizers_opened"]
    assert changed.title == "Mine"
    assert changed.assumption == ""
    assert len(changed.tokenizer.encode("low")) == 3


def test_file_without_pattern_opens_with_a_regular_expression() -> None:
    ranks = [("ranks.tiktoken", written("tiktoken")["tokenizer.tiktoken"])]
    app = AppTest.from_function(file_dialog)
    app.session_state["tokenizers_pending"] = ranks
    app.run()
    assert not app.text_input
    app.selectbox(key="split_of_file").set_value("regex").run()
    app.text_input(key="expression_of_file").set_value("[a-").run()
    app.button(key="open_with_split").click().run()
    assert "regular expression" in app.session_state["tokenizers_failed"]
    assert "tokenizers_opened" not in app.session_state  # the box remains, to correct it
    app.text_input(key="expression_of_file").set_value(r"\w|\s+").run()
    app.button(key="open_with_split").click().run()
    assert [one.message for one in app.exception] == []
    (one,) = app.session_state["tokenizers_opened"]
    assert one.tokenizer.tokens("low low")[0].raw == b"l"
    expected = formats.parse(dict(ranks), pattern="regex", expression=r"\w|\s+")
    assert one.tokenizer.encode(TEXT) == expected.encode(TEXT)
    assert "tokenizers_pending" not in app.session_state
    assert read_files(ranks, "regex", "", r"\w+|\W") is not None


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ([("a.csv", b"left,right\n1,999\n")], ("a.csv", "line 2")),
        ([("a.zip", archive.packed({"b.zip": archive.packed({"c": b"c"})}))], "b.zip"),
        ([("a.json", b"{}"), ("a.json", b"{}")], "a.json"),
        ([("a.json", bytes(MAX_FILE + 1))], "40 MB"),
        ([("a.json", b""), ("b", b""), ("c", b"")], "3"),
    ],
)
def test_invalid_file_raises_format_error(given: list[tuple[str, bytes]], named: Any) -> None:
    refusal(read_files, given, naming=named, error=FormatError)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("tokenizer.json", "tokenizer.json"),
        ("cl100k_base.tiktoken", "cl100k_base.tiktoken"),
        ("**bold**_x_.json", "bold x .json"),
        ("1. first.json", "1 first.json"),
        ("- [a](http://b.c) `d` :red[e] $f$ <i>", "a http b.c d red e f i"),
        ("\u202e../../etc", "etc"),
        ("…", "tokenizer"),
        *((title, regex.sub(r"[()]", "", title) + " 2") for title in RESERVED),
        ("qWEN", "qWEN 2"),
        ("a" * 99, f"{'a' * 11}…{'a' * 11}"),
        ("日本語.json", "日本語.json"),
    ],
)
def test_title_is_plain_and_unique(name: str, title: str) -> None:
    found = unique_title(name, [])
    assert found == title
    assert len(found) <= LONGEST_TITLE + 2
    again = unique_title(name, [found])
    assert again.casefold() not in ("", found.casefold())
    assert unique_title(name.upper(), [found, again]).casefold() not in map(
        str.casefold, (found, again)
    )


@pytest.mark.parametrize(
    ("name", "closer"),
    [("wordpiece", "token"), ("csv", "diagram"), ("ids in any order", "ids")],
)
def test_opened_file_is_available_on_inspect(name: str, closer: str) -> None:
    one = brought(name)
    state = {"look_up": "lo", "ids_box": "1, 2, 300", "mirrored": one.key}
    app = app_pages.opened("Inspect", inspected_by=one.key, tokenizers_opened=[one], **state)
    ids = [token["id"] for token in drawn(app, "bytes")["tokens"] if token["id"] is not None]
    assert ids == one.tokenizer.encode(samples.by_key("seashells").text)
    captions = [caption.value for caption in app.caption]
    assert (markdown.escape(one.assumption) in captions) == bool(one.assumption)
    app.button_group(key="closer").set_value(closer).run()
    if closer == "diagram":
        state = {"closer": "diagram", "inspected_by": "yours", "mirrored": one.key}
        app = app_pages.opened("Inspect", tokenizers_opened=[one], **state)
        is_mirrored = "mirrored" in drawn(app, "isDiagram")
        assert is_mirrored == (one.tokenizer.without_steps is None)


def test_inspect_adds_the_template_of_a_file_on_request() -> None:
    vocabulary = {"[UNK]": 0, "[CLS]": 1, "lo": 2}
    made = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.add_special_tokens(["[UNK]", "[CLS]"])
    made.post_processor = processors.TemplateProcessing("[CLS] $A", None, [("[CLS]", 1)])
    one = read_files([("tokenizer.json", made.to_str().encode())])
    state = {
        "inspected_by": one.key,
        "tokenizers_opened": [one],
        "text_box": "lo",
        "text_sample": "own",
    }
    app = app_pages.opened("Inspect", closer="diagram", **state)
    assert any("no merges to replay" in caption.value for caption in app.caption)
    app.button_group(key="closer").set_value("grid").run()
    assert [token["id"] for token in drawn(app, "bytes")["tokens"]] == [2]
    app.toggle(key="template").set_value(True).run()
    assert [token["id"] for token in drawn(app, "bytes")["tokens"]] == [1, 2]
    assert app.title[0].value.startswith("**2 tokens**, 1 from the template · 2 characters")
    type_text(app, "")
    assert [token["id"] for token in drawn(app, "bytes")["tokens"]] == [1]
    app.radio(key="inspected_by").set_value("yours").run()
    assert "template" not in [toggle.key for toggle in app.toggle]


def test_inspect_warns_if_text_and_template_begin_with_the_same_token() -> None:
    made = tokenizers.Tokenizer(models.WordLevel({"[UNK]": 0, "lo": 1}, unk_token="[UNK]"))
    made.add_special_tokens([tokenizers.AddedToken("<s>", rstrip=True)])
    made.post_processor = processors.TemplateProcessing("<s> $A", None, [("<s>", 2)])
    file = read_files([("tokenizer.json", made.to_str().encode())])
    state = {"inspected_by": file.key, "tokenizers_opened": [file], "template": True}
    warning = markdown.escape(
        "The text begins with <s>, and the template adds <s> too: the model gets it twice."
    )
    app = app_pages.opened(
        "Inspect", text_box="<s>lo", text_sample="own", special_tokens="special", **state
    )
    assert [shown.value for shown in app.warning] == [warning]
    tokens = drawn(app, "bytes")["tokens"]
    assert [token["id"] for token in tokens] == [2, 2, 1]
    app.toggle(key="template").set_value(False).run()
    assert [shown.value for shown in app.warning] == []


def test_dialog_stays_where_its_page_still_runs_and_it_has_an_answer() -> None:
    app = app_pages.opened("Compare", may_fail=True)
    app.button(key="open_tokenizer").click().run()

    def uploader() -> Any:
        (dialog,) = app.get("file_uploader")[1:]
        return dialog

    # Each run of AppTest is one of the whole page, as in a browser before the page has ended.
    data = (Path(__file__).parents[1] / "fixtures" / "bpe.tiktoken").read_bytes()
    uploader().set_value(("bpe.tiktoken", data, "application/octet-stream")).run()
    app.button(key="open_with_split").click().run()
    assert "bpe.tiktoken" in app.multiselect(key="compared").options
    assert not app.get("file_uploader")[1:]
    app.session_state["compare_menu"] = True  # it closed after the file
    app.run()
    app.button(key="open_tokenizer").click().run()
    uploader().set_value(("empty.json", b"{}", "application/json")).run()
    assert uploader()
    assert app.error


def test_file_that_fails_to_encode_is_omitted_with_a_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = brought("minbpe")

    def cut(self: object, text: str) -> None:
        raise ValueError("It takes *too* long.")

    monkeypatch.setattr(type(one.tokenizer), "boundaries", cut)
    state = {"text_sample": "own", "text_box": "not tokenized before", "compared": [one.key]}
    app = app_pages.opened("Compare", tokenizers_opened=[one], may_fail=True, **state)
    assert [r"It takes \*too\* long" in message for message in errors(app)] == [True]


# ---- taking along


def along(key: str, **state: Any) -> AppTest:
    page = "app.py" if key == "train" else key.capitalize()
    app = app_pages.opened(page, **state)
    assert not labels(app)
    app.button(key=f"along_{key}").click().run()
    return app


def labels(app: AppTest) -> list[str]:
    """Return the labels of the files offered, without those of tables."""
    found = [one.proto.label for one in app.get("download_button")]
    return [label for label in found if label != "Download CSV"]


@pytest.mark.parametrize("key", ["huggingface", "bpeviz"])
def test_export_offers_a_format_or_says_why_not_and_names_another(key: str) -> None:
    state = {"text_box": TEXT, "text_sample": "own", "format of train": FORMATS[key]}
    app = along("train", algorithm="scaffold", **state)
    assert labels(app)[:2] == ["Web page that plays", "Colored text (HTML)"]
    is_held = key == "bpeviz"
    reasons = [each.value for each in app.markdown if each.value.startswith("Not possible")]
    assert [label.partition(" ")[0] for label in labels(app)[2:]] == ["Save"] * is_held
    assert len(reasons) == (not is_held)
    assert all(markdown.escape(FORMATS["bpeviz"].title) in reason for reason in reasons)


def test_an_animation_is_offered_if_merges_change_the_text() -> None:
    one = brought("huggingface")
    state = {"tokenizers_opened": [one], "inspected_by": one.key}
    assert labels(along("inspect", **state))[0] == "Web page that plays"
    state |= {"text_box": "~", "text_sample": "own"}
    for key in ("inspect", "train"):
        assert "Web page that plays" not in labels(along(key, **state))


def test_refused_files_are_forgotten_unless_a_second_file_completes_them() -> None:
    """A pair may be given one file after the other; any other file is read alone."""

    def page() -> None:
        import streamlit as st

        from bpeviz.ui import import_dialog
        from bpeviz.ui.opened_tokenizers import opened

        def given(*files: tuple[str, bytes]) -> tuple[int, str]:
            import_dialog._open(files, "", lambda key: None)
            return len(opened()), st.session_state.get("tokenizers_failed", "")

        pair = st.session_state["pair"]
        vocab, merges = (("vocab.json", pair["vocab.json"]), ("merges.txt", pair["merges.txt"]))
        st.session_state["found"] = [
            given(("bad.json", b"{")),
            given(("worse.csv", b"left,right\n1,999\n")),
            given(vocab),
            given(merges),
            given(vocab),
            given(("bad.json", b"{")),
            given(merges),
        ]

    app = AppTest.from_function(page, default_timeout=60)
    app.session_state["pair"] = written("gpt2")
    app.run()
    assert not app.exception
    facts = [
        (0, "bad.json"),
        (0, "worse.csv"),
        (0, "merges.txt"),
        (1, ""),
        (1, "merges.txt"),
        (1, "bad.json"),
        (1, "merges.txt alone"),
    ]
    for (count, message), (expected, fact) in zip(app.session_state["found"], facts, strict=True):
        assert count == expected
        assert fact in message
        assert bool(fact) == bool(message)


def test_gguf_file_has_the_title_of_the_model_that_it_names() -> None:
    metadata: dict[str, Value] = {
        "general.name": "Small model",
        "model": "gpt2",
        "pre": "gpt-2",
        "tokens": ["a", "b", "ab"],
        "merges": ["a b"],
    }
    one = read_files([("model-Q4.gguf", gguf_file(metadata))])
    assert one.title == "Small model"


def test_files_of_a_folder_have_the_title_that_their_settings_name() -> None:
    files = formats.dump(bpeviz.train("low lower lowest", merges=5).tokenizer(), "gpt2")
    settings = {"added_tokens.json": b'{"<a>": 400}'}
    one = read_files([*settings.items(), *files.items()])
    assert one.title == "vocab.json"
    for name, title in (("owner/Model-7B", "Model-7B"), ("/home/me/model", "vocab.json")):
        settings["config.json"] = json.dumps({"_name_or_path": name}).encode()
        one = read_files([*settings.items(), *files.items()])
        assert one.title == title


def test_one_file_of_two_does_not_name_a_published_tokenizer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    contents = [b"vocabulary", b"merges"]
    wheel = catalog.Wheel("a==1", 1, "MIT")
    files = [
        catalog.VocabularyFile(hashlib.sha256(one).hexdigest(), wheel, "a") for one in contents
    ]
    entry = catalog.CatalogEntry("a", "A", "a model", "MIT", tuple(files))
    monkeypatch.setattr(catalog, "_ALL", (entry,))
    assert catalog.entry_of(contents[1], b"another vocabulary") is None
    assert catalog.entry_of(*reversed(contents), b"settings") == entry


def test_known_vocabularies_have_the_title_of_their_model() -> None:
    class Known:
        vocab_size = 128_256

        def find(self, query: str) -> list[int]:
            return [279] if query == " the" else []

    assert known_title(cast(Any, Known())) == "Llama 3"
    assert known_title(bpeviz.train("the", merges=1).tokenizer()) is None


def test_csv_of_table_has_no_formulas() -> None:
    cells = ["=1+1", "+", "-", "@A1", "a=b", "-5.2%", "x"]
    table = Table(["=token", "n"], [cells, range(7)])
    rows = list(csv.reader(io.StringIO(table.csv())))
    assert rows[0] == ["'=token", "n"]
    assert [row[0] for row in rows[1:]] == ["'=1+1", "'+", "'-", "'@A1", "a=b", "-5.2%", "x"]
    assert [row[1] for row in rows[1:]] == [str(i) for i in range(7)]
    cells = ["\n=1", "＝1", "＋1", "－1", "＠A", "a;=1", "b\r"]
    text = Table(["token"], [cells]).csv()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0] for row in rows[1:]] == [*(f"'{cell}" for cell in cells[:5]), *cells[5:]]
    assert '\n"a;=1"\n' in text

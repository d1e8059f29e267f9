"""Compare with many texts, without a browser: the table, its choices, and bad input."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import app_pages
import pytest
import usual
from app_pages import errors
from html_tables import shown_tables
from payloads import payloads
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz import limits
from bpeviz.corpus import named_texts, samples
from bpeviz.pretrained import catalog, download
from bpeviz.ui.inputs import named_texts as inputs
from bpeviz.ui.runtime import uploads
from bpeviz.views import playable

PASTED = "# en\nthe river\nthe sea\n\n# es\nel río\nel mar\n"
TRAINED = "low low lower lowest, newer newest wider " * 3
TOKENIZER = usual.train("bpe", TRAINED).tokenizer()


def opened(pasted: str = PASTED, **state: Any) -> AppTest:
    own = {"text_box": TRAINED, "text_sample": "own", "compared": ["yours"]}
    chosen = {"how_many_texts": "many", "pasted_texts": pasted}
    return app_pages.opened("Compare", **own | chosen | state)


def cells(app: AppTest) -> list[list[str]]:
    (table,) = shown_tables(app)
    return [[str(cell) for cell in row] for row in table.to_numpy().tolist()]


def captions(app: AppTest) -> str:
    return " ".join(one.value for one in app.caption)


def test_pasted_texts_are_the_rows_and_the_verdict_is_the_librarys() -> None:
    app = opened()
    assert errors(app) == []
    texts = {"en": "the river\nthe sea", "es": "el río\nel mar"}
    found = bpeviz.compare(texts, {"Your tokenizer": TOKENIZER}, "en")
    assert cells(app) == [[row.text, str(row.tokens)] for row in found.rows]
    assert found.verdict in [one.value.replace("\\", "") for one in app.markdown]
    assert "2 parallel texts of 2 lines" in captions(app)
    assert "no interval" in captions(app)

    app.segmented_control(key="figure_of_texts").set_value("premium").run()
    assert cells(app) == [[row.text, f"{row.premium:.2f}"] for row in found.rows]
    app.selectbox(key="relative_to").set_value("es").run()
    assert [row[1] for row in cells(app)] != [f"{row.premium:.2f}" for row in found.rows]
    assert cells(app)[1] == ["es", "1.00"]

    app.segmented_control(key="figure_of_texts").set_value("tokens").run()
    app.selectbox(key="texts_sorted_by").set_value("Your tokenizer").run()
    tokens = [int(row[1]) for row in cells(app)]
    assert tokens == sorted(tokens, reverse=True)


def test_an_example_is_compared_until_there_is_a_text() -> None:
    app = opened("")
    assert errors(app) == []
    names = [name for name, _ in named_texts.pasted(samples.languages())]
    assert [row[0] for row in cells(app)] == names
    assert "English" in names
    (edit,) = [one for one in app.button if one.label == "Edit the example"]
    edit.click().run()
    assert app.text_area(key="pasted_texts").value == samples.languages()
    assert [row[0] for row in cells(app)] == names


def test_files_and_their_columns_are_rows_beside_pasted_texts() -> None:
    files = [("a.txt", "low"), ("t.csv", "de,fr\nder Fluss,la rivière\n")]
    app = opened(named_files=files)
    assert errors(app) == []
    assert [row[0] for row in cells(app)] == ["en", "es", "a.txt", "de", "fr"]
    assert not [one for one in app.selectbox if one.key == "relative_to"], "not parallel"
    app.segmented_control(key="figure_of_texts").set_value("premium").run()
    assert [row[1] for row in cells(app)][2:] == ["–"] * 3
    assert "not as many lines as en" in captions(app)
    app.button(key="close_named_files").click().run()
    assert [row[0] for row in cells(app)] == ["en", "es"]


def test_a_text_is_shown_in_tokens() -> None:
    app = opened()
    app.selectbox(key="text_in_tokens").set_value("es").run()
    assert errors(app) == []
    (columns,) = [data for data in payloads(app) if "columns" in data]
    assert columns["text"] == "el río\nel mar"
    assert columns["baseline"] == 0


def test_the_own_tokenizer_is_not_the_baseline_of_a_shown_text() -> None:
    name = catalog.NAMES[0]
    if not download.available(name):
        pytest.skip(f"{name} is not available")
    app = opened(compared=["yours", name], text_in_tokens="es")
    assert errors(app) == []
    (columns,) = [data for data in payloads(app) if "columns" in data]
    assert columns["baseline"] == 1


@pytest.mark.parametrize(
    ("pasted", "message"),
    [
        ("# a\nlow\n# a\nnew", "Two texts are named a. Give each its own name."),
        ("\n".join(f"# {i}\nlow" for i in range(201)), "There are 201 texts. At most 200"),
        ("# a\n" + "low " * 10, "The texts have more than 0 MB together."),
    ],
)
def test_texts_that_cannot_be_compared_are_kept_with_a_message(
    monkeypatch: pytest.MonkeyPatch, pasted: str, message: str
) -> None:
    if "0 MB" in message:
        monkeypatch.setattr(limits, "COMPARED_SIZE", 0)
    app = opened(pasted)
    (shown,) = errors(app)
    assert message in shown.replace("\\", "")
    assert app.text_area(key="pasted_texts").value == pasted
    assert shown_tables(app) == []


def test_files_that_are_not_texts_or_tables_are_named_and_others_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = [("a.txt", b"low"), ("b.txt", b"\xff\xfel\0"), ("c.csv", b"en,es\na\n")]
    state: dict[str, Any] = {}
    monkeypatch.setattr("bpeviz.ui.widgets.st.session_state", state)
    monkeypatch.setattr(uploads, "take", Mock(return_value=given))
    monkeypatch.setattr(uploads, "refusal", Mock(return_value=""))
    inputs._take_files()
    assert state["named_files"] == [("a.txt", "low")]
    first, second = state["named_files_failed"]
    assert first.startswith("b.txt is not UTF-8 text")
    assert second == "c.csv, line 2: 1 column instead of 2."
    uploads.take.return_value = [("a.txt", b"lower")]  # type: ignore[attr-defined]
    inputs._take_files()
    assert state["named_files"] == [("a.txt", "lower")]
    assert state["named_files_failed"] == []


def test_export_has_the_tables_and_the_columns_of_the_shown_text() -> None:
    for state, places in (({}, 0), ({"text_in_tokens": "es"}, 1)):
        app = opened(**state)
        assert errors(app) == []
        offer = app.session_state["offered_export"]
        page = playable.html(offer.comparison()())
        assert page.count('<div id="place-columns">') == places
        for words in (">Premium</h2>", ">en</bdi>", ">es</bdi>", "Your tokenizer"):
            assert words in page

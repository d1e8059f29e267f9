"""Compare with many texts, without a browser: the table, its choices, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from helpers import app_pages, usual
from helpers.app_pages import captions, errors
from helpers.html_tables import shown_tables
from helpers.payloads import drawn, payloads
from streamlit.testing.v1 import AppTest

import bpeviz
from bpeviz import limits
from bpeviz.corpus import named_texts
from bpeviz.formats.opened import Opened
from bpeviz.pretrained import download
from bpeviz.progress import report
from bpeviz.ui.inputs import named_texts as inputs
from bpeviz.ui.pages import many_texts
from bpeviz.ui.runtime import uploads

PASTED = "# en\nthe river\nthe sea\n\n# es\nel río\nel mar\n"
TRAINED = "low low lower lowest, newer newest wider " * 3
TOKENIZER = usual.train("bpe", TRAINED).tokenizer()
TEXTS = dict(named_texts.pasted(PASTED))


def opened(pasted: str = PASTED, **state: Any) -> AppTest:
    own = {"trained_on_box": TRAINED, "trained_on_sample": "own", "compared": ["yours"]}
    texts = {"how_many_texts": "many", "pasted_texts": pasted, "compare_menu": True}
    return app_pages.opened("Compare", **own | texts | state)


def cells(app: AppTest) -> list[list[str]]:
    return [[row["name"], *(text for text, *_ in row["cells"])] for row in table(app)["rows"]]


def table(app: AppTest) -> dict[str, Any]:
    """Return the payload of the table."""
    return drawn(app, "header")


def verdict(app: AppTest) -> str:
    """Return the title with the clauses below it."""
    (small,) = (note.value for note in app.caption if "Tokens of all texts" in note.value)
    small = small.partition("Tokens of all texts")[0].strip()
    return f"{app_pages.verdict(app)} {app_pages.plain(small)}".strip()


def test_pasted_texts_are_the_rows_and_the_verdict_is_the_librarys() -> None:
    app = opened()
    texts = {"en": "the river\nthe sea", "es": "el río\nel mar"}
    found = bpeviz.compare(texts, {"Your tokenizer": TOKENIZER}, "en")
    assert cells(app) == [[row.text, f"{row.premium:.2f}"] for row in found.rows], "parallel"
    assert table(app)["plot"]["leader"] == 0
    assert found.verdict == verdict(app)
    assert "2 parallel texts of 2 lines" in captions(app)
    assert "no interval" in captions(app)

    app.selectbox(key="relative_to").set_value("es").run()
    assert [row[1] for row in cells(app)] != [f"{row.premium:.2f}" for row in found.rows]
    assert cells(app)[1] == ["es", "1.00"]

    app.segmented_control(key="figure_of_texts").set_value("tokens").run()
    values = [value for row in table(app)["rows"] for _, _, _, value, _ in row["cells"]]
    assert values == [row.tokens for row in found.rows]
    assert cells(app) == [[row.text, str(row.tokens)] for row in found.rows]


def test_the_users_own_tokenizer_takes_part_only_once_it_is_chosen() -> None:
    available("gpt2", "cl100k_base", "o200k_base")
    app = app_pages.opened("Compare")
    assert app.multiselect(key="compared").value == ["gpt2", "cl100k_base", "o200k_base", "yours"]
    app.segmented_control(key="how_many_texts").set_value("many").run()
    assert table(app)["opens"] == ["gpt2", "cl100k_base", "o200k_base"]
    app.multiselect(key="compared").set_value(["yours", "gpt2"]).run()
    assert table(app)["opens"] == ["gpt2", "yours"]
    app.segmented_control(key="how_many_texts").set_value("one").run()
    assert titles(app) == ["GPT-2", "Your tokenizer"]
    app.multiselect(key="compared").set_value(["gpt2"]).run()
    for how_many in ("many", "one"):
        app.segmented_control(key="how_many_texts").set_value(how_many).run()
    assert titles(app) == ["GPT-2"], "removed by the user"
    app = app_pages.opened("Compare", how_many_texts="many")
    assert table(app)["opens"] == ["gpt2", "cl100k_base", "o200k_base"]


def test_columns_of_one_name_are_all_shown_under_names_of_their_own() -> None:
    names = ["GPT-2", "Qwen", "Your tokenizer", "Text", "Text", "None"]
    files = [Opened(f"file {i}", name, TOKENIZER) for i, name in enumerate(names)]
    keys = ["yours", *(one.key for one in files)]
    state = {"tokenizers_opened": files, "compared": keys, "how_many_texts": "many"}
    app = opened(**state)
    header = table(app)["header"]
    assert len({*header}) == len(header) == 1 + len(keys)
    assert header[1:4] == ["GPT-2 2", "Qwen 2", "Your tokenizer 2"]
    assert table(app)["opens"] == [*keys[1:], "yours"]


def test_files_and_their_columns_are_rows_beside_pasted_texts() -> None:
    files = [("a.txt", "low"), ("t.csv", "de,fr\nder Fluss,la rivière\n")]
    app = opened(named_files=files)
    assert [row[0] for row in cells(app)] == ["en", "es", "a.txt", "de", "fr"]
    assert "a.txt: one text with its line ends." in captions(app)
    assert "2 parallel texts of 2 lines" in captions(app), "half of those in languages"
    app.segmented_control(key="figure_of_texts").set_value("premium").run()
    assert [row[1] for row in cells(app)][2:] == ["–"] * 3
    assert "not as many lines as en" in captions(app)
    app.multiselect(key="named_files_open").set_value(["a.txt"]).run()
    assert [row[0] for row in cells(app)] == ["en", "es", "a.txt"]
    app.multiselect(key="named_files_open").set_value([]).run()
    assert [row[0] for row in cells(app)] == ["en", "es"]


def test_a_table_with_labels_says_so_and_can_be_read_otherwise() -> None:
    content = "lang,text\nen,a river\nes,un río\nen,the sea\n"
    app = opened("", named_files=[("t.csv", content)])
    assert [row[0] for row in cells(app)] == ["en", "es"]
    understood = "t.csv: 3 rows of “text”, each encoded alone, grouped by the 2 labels of “lang”."
    assert understood in captions(app)
    app.multiselect(key="columns_of_t.csv").set_value(["lang"]).run()
    assert [row[0] for row in cells(app)] == ["lang"]
    app.multiselect(key="columns_of_t.csv").set_value(["text"]).run()
    app.selectbox(key="labels_of_t.csv").set_value("").run()
    assert [row[0] for row in cells(app)] == ["text"]
    app.multiselect(key="columns_of_t.csv").set_value(["lang", "text"]).run()
    assert [row[0] for row in cells(app)] == ["lang", "text"]
    assert "t.csv: 2 texts, one per column: lang, text; 3 rows, each encoded alone." in captions(
        app
    )
    app.session_state["named_files"] = [("t.csv", "id,name\n1,a\n")]
    app.run()
    assert [row[0] for row in cells(app)] == ["name"]


def test_texts_are_translations_by_their_names_or_if_the_user_says_so() -> None:
    rows = [f"{lang},a line about {i}" for i in range(12) for lang in ("en", "es")]
    app = opened("", named_files=[("t.csv", "\n".join(["lang,text", *rows]))])
    app.segmented_control(key="figure_of_texts").set_value("premium").run()
    assert "parallel" not in captions(app)
    assert "A premium compares translations: texts named" in captions(app)
    assert all(int(row[1]) for row in cells(app)), "tokens"
    app.toggle(key="translations").set_value(True).run()
    assert "2 parallel texts of 12 rows" in captions(app)
    assert [row[1] for row in cells(app)] == ["1.00 (1.00 to 1.00)"] * 2
    app.multiselect(key="named_files_open").set_value([]).run()
    assert "34 parallel texts" in captions(app), "the example, by its names"
    assert not [one for one in app.toggle if one.key == "translations"]


def titles(app: AppTest) -> list[str]:
    return [column["title"].split(" (")[0] for column in drawn(app, "showIds")["rows"]]


def available(*names: str) -> tuple[str, ...]:
    """Return published tokenizers, or skip the test without their files."""
    if not all(map(download.available, names)):
        pytest.skip(f"not available: {', '.join(names)}")
    return names


def test_a_long_text_of_many_is_shown_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PAGE_TEXT", 6)
    app = opened(text_in_tokens="es")
    assert "The first 6 of 13 characters are shown here." in captions(app)
    assert drawn(app, "showIds")["text"] == "el río"


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
    app = opened(pasted, may_fail=True)
    (shown,) = errors(app)
    assert message in shown.replace("\\", "")
    assert app.text_area(key="pasted_texts").value == pasted
    assert not [data for data in payloads(app) if "showIds" in data]


@pytest.fixture
def take(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[tuple[str, bytes]]], dict[str, Any]]:
    """Return a function that opens files together, and returns the session."""
    state: dict[str, Any] = {}
    monkeypatch.setattr("bpeviz.ui.widgets.st.session_state", state)
    monkeypatch.setattr(uploads, "refusal", Mock(return_value=""))

    def opened_together(files: list[tuple[str, bytes]]) -> dict[str, Any]:
        monkeypatch.setattr(uploads, "take", Mock(return_value=files))
        inputs._take_files()
        return state

    return opened_together


def test_files_that_are_not_texts_or_tables_are_named_and_others_are_kept(take: Any) -> None:
    state = take([("a.txt", b"low"), ("b.txt", b"\xff\xd8l\0"), ("c.csv", b"en,es\na\n")])
    assert state["named_files"] == [("a.txt", "low")]
    second, first = state["named_files_failed"]
    assert first.startswith("c.csv, line 2: 1 column instead of 2.")
    assert second.startswith("b.txt is not a text in UTF-8: byte 1 is FF")
    take([("a.txt", b"lower")])
    assert state["named_files"] == [("a.txt", "lower")]
    assert state["named_files_failed"] == []


def test_files_of_a_folder_are_sorted_and_keep_apart_if_they_have_one_name(take: Any) -> None:
    folder = [("b.md", b"1"), (".hidden", b"2"), ("a.md", b"3"), ("b.md", b"4"), ("LICENSE", b"5")]
    state = take([*folder, ("LICENSE", b"6")])
    assert state["named_files"] == [
        ("LICENSE", "5"),
        ("LICENSE (2)", "6"),
        ("a.md", "3"),
        ("b.md", "1"),
        ("b (2).md", "4"),
    ]
    assert state["named_files_failed"] == []
    assert take([(".hidden", b"2")])["named_files"][-1] == (".hidden", "2"), "opened alone"


def test_typed_prices_give_costs() -> None:
    app = opened(figure_of_texts="cost")
    tokens = [len(TOKENIZER.encode(text)) for text in TEXTS.values()]
    assert [int(row[1]) for row in cells(app)] == tokens, "without a price"
    assert f"Tokens of all texts: Your tokenizer {sum(tokens)}" in captions(app)
    box = app.number_input(key="price_of_yours")
    assert (box.label, box.value) == ("Your tokenizer", None)
    box.set_value(2.5).run()
    costs = [2.5 * len(TOKENIZER.encode(text)) / 1e6 for text in TEXTS.values()]
    assert [float(row[1]) for row in cells(app)] == pytest.approx(costs, rel=5e-3)
    (total,) = bpeviz.compare(TEXTS, {"mine": TOKENIZER}, prices={"mine": 2.5}).tokenizers
    assert total.cost == pytest.approx(sum(costs))
    note = captions(app).partition("Cost of all texts: Your tokenizer ")[2]
    assert float(note.split()[0].rstrip(".")) == pytest.approx(total.cost, rel=5e-3)
    app.segmented_control(key="figure_of_texts").set_value("tokens").run()
    assert not [one for one in app.number_input if one.key == "price_of_yours"]
    app.segmented_control(key="figure_of_texts").set_value("cost").run()
    assert app.number_input(key="price_of_yours").value == 2.5


def test_special_tokens_are_counted_if_a_file_adds_some(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(figure_of_texts="tokens")
    assert "Counts are without special tokens." in captions(app)
    assert not [one for one in app.toggle if one.key == "with_special_tokens"]
    before = [int(row[1]) for row in cells(app)]
    monkeypatch.setattr(type(TOKENIZER), "template", ((1,), (2,)))
    app.run()
    assert [int(row[1]) for row in cells(app)] == before
    app.toggle(key="with_special_tokens").set_value(True).run()
    assert [int(row[1]) for row in cells(app)] == [tokens + 2 for tokens in before]
    note = "Counts include the special tokens around each text: Your tokenizer 2."
    assert note in captions(app)


def test_section_has_the_worst_lines() -> None:
    app = opened()
    assert shown_tables(app) == []
    app = opened(worst_lines_open=True)
    (worst,) = shown_tables(app)
    dearest = max(TEXTS, key=lambda name: len(TOKENIZER.encode(TEXTS[name])))
    lines = bpeviz.worst_lines(TEXTS[dearest], TOKENIZER)
    assert f"{dearest} under Your tokenizer." in captions(app)
    assert worst["Line"].tolist() == [str(line.number) for line in lines]
    assert worst["Text"].tolist() == [line.text for line in lines]
    app.session_state["text_in_tokens"] = "es"
    app.run()
    assert shown_tables(app)[0]["Text"].tolist() == [
        line.text for line in bpeviz.worst_lines(TEXTS["es"], TOKENIZER)
    ]


def test_a_comparison_can_be_stopped_and_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed: list[bool] = []

    def compare(*arguments: Any, **options: Any) -> Any:
        if not pressed:
            for done in range(2):
                report("es", done, 2)
        return bpeviz.compare(*arguments, **options)

    def button(label: str, **options: Any) -> bool:
        if label == "Stop comparing":
            options["on_click"](*options["args"])
            pressed.append(True)
        return draw(label, **options)

    monkeypatch.setattr(many_texts, "compare", compare)
    monkeypatch.setattr(many_texts, "PROGRESS", -1)
    draw = many_texts.st.button
    monkeypatch.setattr(many_texts.st, "button", button)
    app = opened("# en\nthe stop\n\n# es\nla parada\n")  # in no cache
    assert len(pressed) == 1, "one button, with the progress"
    app.run()
    assert "The comparison was stopped." in [one.value for one in app.warning]
    assert not [data for data in payloads(app) if "header" in data]
    (again,) = [one for one in app.button if one.label == "Compare again"]
    again.click().run()
    assert [row[0] for row in cells(app)] == ["en", "es"]


def test_tokenizer_trained_on_one_of_the_texts_is_not_ranked() -> None:
    how = {"algorithm": "wordpiece", "trained_on_sample": "own"}
    texts = "# en\nthe river\n# es\nel río\n"
    for trained_on, is_ranked in [("the river\nla mer", False), ("la mer", True)]:
        app = opened(texts, compared=["yours", "gpt2"], trained_on_box=trained_on, **how)
        words = verdict(app)
        assert ("Yours, trained on these texts: " in words) != is_ranked
        assert words.startswith("GPT-2 needs")

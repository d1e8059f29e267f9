"""Tables with one text per column, or with a column of labels."""

from __future__ import annotations

import json

import pytest

from bpeviz.corpus.files import CorpusError
from bpeviz.corpus.named_texts import collect, read_table

LABELED = [("en", "the river"), ("es", "el río"), ("en", "the sea"), ("es", "el mar")]


def as_csv(header: str, rows: list[tuple[str, ...]]) -> str:
    return "\n".join([header, *map(",".join, rows)])


@pytest.mark.parametrize("header", ["lang,text", "a,b"])
def test_lines_are_grouped_by_a_column_of_labels(header: str) -> None:
    table = read_table("t.csv", as_csv(header, [*LABELED]))
    label, text = header.split(",")
    assert table.label == label
    assert table.texts == [("en", ["the river", "the sea"]), ("es", ["el río", "el mar"])]
    assert table.about == f"t.csv: the lines of “{text}”, grouped by the 2 labels of “{label}”."
    swapped = as_csv("b,a", [(text, label) for label, text in LABELED])
    assert read_table("t.csv", swapped).label == "a"


def test_columns_beside_labels_and_text_are_named_as_left_out() -> None:
    rows = [("1", "en", "low", "a long note"), ("2", "es", "bajo", "another")]
    table = read_table("t.csv", as_csv("id,Lang,Text,note", [*rows]))
    assert table.texts == [("en", ["low"]), ("es", ["bajo"])]
    assert table.about.endswith("by the 2 labels of “Lang”. Not compared: id, note.")


def test_labels_in_json_may_be_numbers_or_absent() -> None:
    rows = [{"label": 1, "text": "low"}, {"label": None, "text": "new"}, {"label": 1, "text": "a"}]
    table = read_table("t.jsonl", "\n".join(map(json.dumps, rows)))
    assert table.texts == [("1", ["low", "a"]), ("no label", ["new"])]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("en,es", [("yes", "sí"), ("no", "no"), ("the sea", "el mar")]),
        ("en,es", [("yes", "sí")] * 4),
        ("a,b", [("x" * 41, str(i)) for i in range(4)]),
        ("lang,words,source", [("en", "a", "b")] * 4),
        ("lang,text", []),
        ("lang", [("en",)] * 3),
    ],
    ids=["distinct", "both repeat", "long", "three", "empty", "one"],
)
def test_other_tables_have_one_text_per_column(header: str, rows: list[tuple[str, ...]]) -> None:
    table = read_table("t.csv", as_csv(header, rows))
    assert table.label == ""
    assert [name for name, _ in table.texts] == header.split(",")
    assert "one per column." in table.about


def test_the_column_of_labels_can_be_chosen() -> None:
    content = as_csv("id,lang,words", [("1", "en", "the river"), ("2", "es", "el río")])
    table = read_table("t.csv", content, "lang")
    assert table.texts == [("en", ["the river"]), ("es", ["el río"])]
    assert table.about.endswith("Not compared: id.")
    assert read_table("t.csv", as_csv("lang,text", [*LABELED]), "").label == ""
    with pytest.raises(CorpusError, match=r"^t.csv has no column topic. Its columns are id, lang"):
        read_table("t.csv", content, "topic")
    with pytest.raises(CorpusError, match=r"^t.csv has no column of text beside lang.$"):
        read_table("t.csv", "lang\nen", "lang")


def test_each_table_has_its_own_column_of_labels() -> None:
    labeled = as_csv("lang,text", [*LABELED])
    tables = [read_table("a.csv", labeled), read_table("b.csv", labeled, "")]
    found = collect([("c.txt", "low"), *(("", table) for table in tables)], "")
    assert [*found] == ["c.txt", "en", "es", "lang", "text"]
    assert found["en"] == ["the river", "the sea"]


def test_texts_of_two_tables_with_one_name_have_the_names_of_their_tables() -> None:
    tables = [read_table(f"{name}.csv", f"en,{name}\nlow,new\n") for name in "ab"]
    found = collect([("c", "low"), *(("", table) for table in tables)], "")
    assert [*found] == ["c", "a.csv: en", "a", "b.csv: en", "b"]


def test_a_cell_of_a_table_may_be_a_whole_document() -> None:
    table = read_table("t.csv", "en,es\n" + "low " * 100_000 + ",bajo\n")
    assert [len(lines[0]) for _, lines in table.texts] == [400_000, 4]

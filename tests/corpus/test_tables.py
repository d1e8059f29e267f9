"""Tables: which columns are texts, labels, and translations, and how files become tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from helpers.refusals import refusal
from pyarrow import parquet as arrow_parquet

from bpeviz.corpus import parquet, samples
from bpeviz.corpus.documents import Documents
from bpeviz.corpus.files import CorpusError
from bpeviz.corpus.named_texts import collect
from bpeviz.corpus.tables import are_translations, language_of, read_table

LABELED = [("en", "the river"), ("es", "el río"), ("en", "the sea"), ("es", "el mar")]
EN = ["Where is the river?", "I see two ships.", "It rains.", "My order has not arrived."]
JA = ["川はどこですか。", "船が二隻見えます。", "雨が降る。", "注文が届きません。"]


def cells(texts: Mapping[str, Documents]) -> dict[str, list[str]]:
    """Return the texts of documents by name."""
    return {name: [*documents.texts] for name, documents in texts.items()}


def as_csv(header: str, rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([header, *map(",".join, rows)])


def as_json(**columns: Sequence[Any]) -> str:
    rows = zip(*columns.values(), strict=True)
    return "\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows)


def tickets(**others: Any) -> dict[str, Any]:
    """Return columns of 40 rows, of which one is text and one contains labels."""
    languages = ("en", "hi", "th", "es")
    return {
        "id": [*range(40)],
        "key": [f"7d4c{i:02}e2-88b1-4f0e-9a77-0c3c1b5a9e{i:02}" for i in range(40)],
        "language": [languages[i % 4] for i in range(40)],
        "message": [f"Order {i} has not arrived, {'please ' * (i % 5)}help." for i in range(40)],
        "url": [f"https://example.com/orders/a-very-long-path/{i}?q=help" for i in range(40)],
        "created": [str(date(2026, 11, i % 20 + 1)) for i in range(40)],
        "at": [f"Sun, {i % 28 + 1} Nov 2026 10:{i:02}:00 +0000" for i in range(40)],
        "stars": [i % 5 + 1 for i in range(40)],
    } | others


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("delimiter", [*",;\t|"])
@pytest.mark.parametrize("stated", [False, True])
def test_separator_of_csv_is_recognized_outside_quotes(
    stated: bool, delimiter: str, quoting: Any
) -> None:
    rows = [["a, b; c| d\te", "1,5"], ['so "it" is; said,', "2|5"], ["x;y;z|\n|", "3\t5"]]
    out = io.StringIO("sep=" + delimiter + "\r\n" if stated else "")
    out.seek(0, io.SEEK_END)
    csv.writer(out, delimiter=delimiter, quoting=quoting).writerows([["a;b,c", "n"], *rows])
    table = read_table("t.csv", out.getvalue())
    assert [*table.columns.values()] == [[text for text, _ in rows], [n for _, n in rows]]


def test_csv_without_a_consistent_separator_is_reported_with_the_line() -> None:
    for first, line in (("", 3), ("sep=;\n", 4)):
        rows = ("text;n", "a;1", "b;c;2") if first else ("text,n", "a,1", "b;c")
        table, naming = first + "\n".join(rows), ("t.csv", f"line {line}", "sep=;")
        refusal(read_table, "t.csv", table, naming=naming, error=CorpusError)
    assert [*read_table("t.csv", "sep=:\ntext:n\na;b,c:1\n").columns] == ["text", "n"]


@pytest.mark.parametrize(
    ("columns", "text", "label"),
    [
        (tickets(), "message", "language"),
        ({name: one for name, one in tickets().items() if name != "language"}, "message", "stars"),
        (tickets(language=["a", "b"] * 20, topic=["en", "hi"] * 20), "message", "language"),
        ({"topic": ["a", "b"] * 20, "l": ["en", "hi"] * 20, "m": tickets()["message"]}, "m", "l"),
        (tickets(text=["ok"] * 40), "text", "language"),
        (tickets(note=[None, "a long remark on it, " * 200] + [None] * 38), "message", "language"),
        ({"id": [*range(4)], "no": [*range(4)], "body": EN}, "body", ""),
        ({"title": ["Two words"] * 3 + ["One"], "body": EN}, "body", "title"),
        ({"to": ["a@b.de", "c@d.de"], "is": ["x1", "x2"], "body": EN[:2]}, "body", ""),
        ({"created": ["2026-11-15"] * 4, "price": ["1.50", "2.00"] * 2, "body": JA}, "body", ""),
        ({"html": [f"<p>{line}\n{line}</p>" for line in EN], "body": EN}, "body", ""),
        ({"#": [1, 2, 3, 4], "": [*"abcd"], "body": EN}, "body", ""),
        ({"n": [1, 2], "lang": ["en", "es"], "m": ["low", "bajo"]}, "m", "lang"),
    ],
)
def test_the_text_and_the_labels_are_recognized(
    columns: dict[str, Any], text: str, label: str
) -> None:
    for path, content in (("t.jsonl", as_json(**columns)), ("t.csv", csv_of(columns))):
        table = read_table(path, content)
        assert ([*table.text], table.label, table.is_parallel) == ([text], label, False)
        others = [name for name in columns if name not in (text, label)]
        assert ("Not used: " in table.about()) == bool(others)


def csv_of(columns: dict[str, Any]) -> str:
    written = io.StringIO()
    csv.writer(written).writerows([[*columns], *zip(*columns.values(), strict=True)])
    return written.getvalue()


def test_texts_of_labels_with_as_many_lines_are_not_translations() -> None:
    table = read_table("t.csv", csv_of(tickets()))
    assert {name: len(lines) for name, lines in table.texts.items()} == dict.fromkeys(
        ("en", "hi", "th", "es"), 10
    )
    _, translations = collect([("", table)], "")
    assert translations == []
    assert table.about() == (
        "t.csv: 40 rows of “message”, each encoded alone, grouped by the 4 labels of “language”. "
        "Not used: id, key, url, created, at and 1 more."
    )
    assert "grouped" not in table.about(grouped=False)


@pytest.mark.parametrize(
    ("headings", "is_parallel"),
    [
        (("en", "ja"), True),
        (("English", "Japanese"), True),
        (("eng_Latn", "jpn_Jpan"), True),
        (("EN-us", "日本語"), True),
        (("source", "target"), False),
        (("en", "en-GB"), False),
        (("en", "comment"), False),
    ],
)
def test_columns_are_translations_by_their_headings(
    headings: tuple[str, str], is_parallel: bool
) -> None:
    first, second = headings
    table = read_table("t.csv", csv_of({"id": [*range(4)], first: EN, second: JA}))
    assert table.is_parallel == is_parallel
    if is_parallel:
        assert cells(table.texts) == {first: EN, second: JA}
        about = (
            f"t.csv: 2 parallel texts, one per column: {first}, {second}; {len(EN)} rows, each "
            "encoded alone. Not used: id."
        )
        assert table.about() == about
        assert collect([("", table)], "")[1] == [first, second]
    chosen = read_table("t.csv", csv_of({first: EN, second: JA}), None, headings)
    assert cells(chosen.texts) == {first: EN, second: JA}
    assert chosen.is_parallel == is_parallel


def test_words_and_numbers_under_headings_of_languages_are_not_translations() -> None:
    words = read_table("t.csv", "en,es\nyes,sí\nno,no\n")
    assert (cells(words.texts), words.is_parallel) == (
        {"en": ["yes", "no"], "es": ["sí", "no"]},
        False,
    )
    numbers = read_table("t.csv", "id,no,is\n1,2,the river\n2,3,a sea\n")
    assert (numbers.text, numbers.is_parallel) == (["is"], False)


def test_all_languages_of_the_passage_are_known_by_name() -> None:
    assert len({*map(language_of, samples.LANGUAGES)}) == len(samples.LANGUAGES)
    assert are_translations(samples.LANGUAGES)
    assert [*map(language_of, ["", "text", "a-b", "xx-YY", "message"])] == [""] * 5


def test_pasted_texts_and_files_named_as_languages_are_translations() -> None:
    assert collect([("en", "low"), ("es.txt", "bajo"), ("code", "x")], "")[1] == ["en", "es.txt"]
    assert collect([("en", "low"), ("notes", "bajo")], "")[1] == []


# --- JSON and Parquet


def test_nested_values_missing_keys_and_null_are_columns_that_are_not_chosen() -> None:
    rows = [
        {"lang": "en", "text": "the river", "meta": {"a": 1}, "tags": []},
        {"lang": "es", "note": "x", "text": "el r\\u00edo", "meta": None},
        {"lang": "en", "text": None},
        {"lang": None, "text": "\ud800 lone"},
    ]
    content = "\n\n".join(map(json.dumps, rows)).replace("\\\\u", "\\u")
    for path in ("t.jsonl", "t.NDJSON", "t.log"):
        table = read_table(path, content)
        assert cells(table.texts) == {
            "en": ["the river"],
            "es": ["el río"],
            "no label": ["\N{REPLACEMENT CHARACTER} lone"],
        }
        assert table.about().endswith("Not used: note, meta, tags.")
    refusal(
        read_table,
        "t.jsonl",
        content,
        None,
        ["meta"],
        naming=("t.jsonl", "meta", "lang, text, note"),
        error=CorpusError,
    )
    refusal(read_table, "t.jsonl", '{"a": [1]}', naming=("t.jsonl", ": a."), error=CorpusError)
    twice = '{"a": "low", "a": "new"}'
    refusal(read_table, "t.jsonl", twice, naming=("line 1", "2 values of a"), error=CorpusError)
    refusal(read_table, "t.json", f"[{twice}]", naming="2 values of a", error=CorpusError)
    refusal(
        read_table,
        "t.jsonl",
        json.dumps(dict.fromkeys(map(str, range(1_001)))),
        naming=("t.jsonl", "1,000"),
        error=CorpusError,
    )


def test_messages_of_conversations_are_texts_by_role() -> None:
    chats = [
        [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi there"}],
        [{"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image"}]}],
        [{"role": "assistant", "content": None, "tool_calls": []}],
        None,
    ]
    content = as_json(lang=["en", "es", "en", "es"], messages=chats)
    table = read_table("t.jsonl", content)
    assert cells(table.texts) == {"system": ["Be kind."], "user": ["Hi there", "Look"]}
    assert table.about() == (
        "t.jsonl: 3 rows of “messages”, each encoded alone, grouped by the 2 labels of “role”. "
        "Not used: lang."
    )
    assert cells(read_table("t.jsonl", content, "lang").texts) == {
        "en": ["Be kind.", "Hi there"],
        "es": ["Look"],
    }
    other = content.replace('"role"', '"from"').replace('"content"', '"value"')
    assert read_table("t.jsonl", other).texts == table.texts
    own = read_table("t.jsonl", content.replace('"lang"', '"role"', 1).replace('"lang"', '"role"'))
    assert own.label == "role in messages"


def test_parquet_gives_its_rows_as_json() -> None:
    columns = {"id": [1, 2], "day": [date(2026, 1, 2)] * 2, "raw": [b"a", b"b"], "m": EN[:2]}
    written = io.BytesIO()
    arrow_parquet.write_table(pa.table(columns | {"chat": [[{"a": 1}]] * 2}), written)
    table = read_table("t.parquet", parquet.rows("t.parquet", written.getvalue()))
    assert cells(table.texts) == {"m": EN[:2]}
    assert (
        table.about()
        == "t.parquet: 2 rows of “m”, each encoded alone. Not used: id, day, raw, chat."
    )
    with pytest.raises(CorpusError, match="damaged"):
        parquet.rows("t.parquet", written.getvalue()[:-9])
    counts = io.BytesIO()
    arrow_parquet.write_table(pa.table({"chunk": ["a"], "count": [1], "first": [0]}), counts)
    with pytest.raises(CorpusError, match="--counts"):
        parquet.rows("t.parquet", counts.getvalue())


# --- CSV


def test_a_first_line_of_values_is_not_of_headings() -> None:
    table = read_table("t.csv", csv_of({"0": [1, 2, 3], "en": ["en", "es", "es"], EN[0]: EN[1:]}))
    assert cells(table.texts) == {"en": EN[:2], "es": EN[2:]}
    assert table.about().endswith("by the 2 labels of “column 2”. Not used: column 1.")
    years = read_table("t.csv", csv_of({"2025": EN, "label": [*"abab"]}))
    assert (years.text, years.label) == (["2025"], "label")


def test_quotes_in_tsv_are_plain_signs_unless_they_enclose_cells() -> None:
    plain = read_table("t.tsv", 'en\tes\n"Hi, he said\tHola, dijo\nA "b" c\tA b\n')
    assert cells(plain.texts)["en"] == ['"Hi, he said', 'A "b" c']
    quoted = read_table("t.tsv", 'en\tes\n"two\nlines"\tdos líneas\n')
    assert cells(quoted.texts)["en"] == ["two\nlines"]


@pytest.mark.parametrize("header", ["lang,text", "a,b"])
def test_lines_are_grouped_by_a_column_of_labels(header: str) -> None:
    table = read_table("t.csv", as_csv(header, LABELED))
    label, text = header.split(",")
    assert table.label == label
    assert cells(table.texts) == {"en": ["the river", "the sea"], "es": ["el río", "el mar"]}
    assert table.about() == (
        f"t.csv: 4 rows of “{text}”, each encoded alone, grouped by the 2 labels of “{label}”."
    )
    swapped = as_csv("b,a", [(text, label) for label, text in LABELED])
    assert read_table("t.csv", swapped).label == "a"


def test_labels_in_json_may_be_numbers_or_absent() -> None:
    content = as_json(label=[1, None, 1], text=["low", "new", "a"])
    assert cells(read_table("t.jsonl", content).texts) == {"1": ["low", "a"], "no label": ["new"]}


def test_the_columns_can_be_chosen() -> None:
    content = as_csv("id,lang,words", [("1", "en", "the river"), ("2", "es", "el río")])
    table = read_table("t.csv", content, "lang", ["id"])
    assert cells(table.texts) == {"en": ["1"], "es": ["2"]}
    assert table.about().endswith("Not used: words.")
    assert cells(read_table("t.csv", content, "").texts) == {"words": ["the river", "el río"]}
    assert read_table("t.csv", content, "", ["id", "lang"]).label == ""
    for label, text, message in (
        ("topic", [], "t.csv has no column topic. Its columns are id, lang, words."),
        ("lang", ["id", "words"], "t.csv: choose one column of text beside lang."),
        ("lang", ["lang"], "t.csv has no column of text beside lang."),
    ):
        with pytest.raises(CorpusError) as caught:
            read_table("t.csv", content, label, text)
        assert str(caught.value) == message
    refusal(read_table, "t.csv", "lang\nen", "lang", naming=("t.csv", "lang"), error=CorpusError)


def test_each_table_has_its_own_column_of_labels() -> None:
    labeled = as_csv("lang,text", LABELED)
    tables = [read_table("a.csv", labeled), read_table("b.csv", labeled, "")]
    found, _ = collect([("c.txt", "low"), *(("", table) for table in tables)], "")
    assert [*found] == ["c.txt", "en", "es", "text"]
    assert found["en"] == Documents(("the river", "the sea"))


def test_texts_of_two_tables_with_one_name_have_the_names_of_their_tables() -> None:
    tables = [read_table(f"{name}.csv", f"en,{name}\nlow,new\n") for name in ("es", "fr")]
    found, _ = collect([("c", "low"), *(("", table) for table in tables)], "")
    assert [*found] == ["c", "es.csv: en", "es", "fr.csv: en", "fr"]


def test_a_cell_of_a_table_may_be_a_whole_document() -> None:
    table = read_table("t.csv", "en,es\n" + "low " * 100_000 + ",bajo\n")
    assert [len(documents.texts[0]) for documents in table.texts.values()] == [400_000, 4]

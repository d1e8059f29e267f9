"""Files that people have: compressed ones, other encodings, lists in JSON, folders, chats."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from helpers.refusals import refusal
from helpers.shell import Shell
from hypothesis import given
from hypothesis import strategies as st

from bpeviz.corpus import files, tables
from bpeviz.corpus.files import ByteRange, CorpusError
from bpeviz.ui.inputs.text import Rows, read_file

TEXT = "low lower 世界 naïve\r\nnew 🐚 \ufeff\n" + "\0" + "a" * 100
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "two gzip files": lambda raw: gzip.compress(raw[:7]) + gzip.compress(raw[7:]),
    "zstd": lambda raw: bytes(pa.compress(raw, codec="zstd", asbytes=True)),
}
MARKED = {
    "none": TEXT.encode(),
    "UTF-8": TEXT.encode("utf-8-sig"),
    "UTF-16 LE": b"\xff\xfe" + TEXT.encode("utf-16-le"),
    "UTF-32 LE": b"\xff\xfe\0\0" + TEXT.encode("utf-32-le"),
    "UTF-16 BE": b"\xfe\xff" + TEXT.encode("utf-16-be"),
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("mark", MARKED)
def test_text_is_read_by_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: str, mark: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(PACKED[packed](MARKED[mark]))
    for size in (4, 7, 1 << 20):
        monkeypatch.setattr(files, "_READ", size)
        assert files.read_whole(str(path)) == TEXT
        assert "".join(files.read([ByteRange(str(path))])) == TEXT
    assert read_file("a", path.read_bytes()) == TEXT


@given(st.text(), st.sampled_from(["utf-8", "utf-16", "utf-32", "utf-16-be", "gb18030", "cp037"]))
def test_every_encoding_equals_that_of_python(text: str, encoding: str) -> None:
    raw = text.encode(encoding, "replace")
    opened = lambda _: io.BytesIO(raw)  # noqa: E731
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_READ", 3)
        assert files.read_whole("a", opened, encoding) == raw.decode(encoding)


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_bombs_and_damaged_files_end_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codec: str
) -> None:
    bomb = bytes(pa.compress(b"a" * 50_000_000, codec=codec, asbytes=True))
    path = tmp_path / "a.txt"
    path.write_bytes(bomb)
    monkeypatch.setattr(files, "MAX_TEXT", 5_000_000)
    refusal(files.read_whole, str(path), naming=(str(path), "5,000,000"), error=CorpusError)
    refusal(read_file, "a.txt", bomb, naming=("a.txt", "40,000,000"), error=CorpusError)
    for damaged in (bomb[:20], bomb[:5] + b"\xff" * 50):
        path.write_bytes(damaged)
        refusal(files.read_whole, str(path), naming=str(path), error=CorpusError)
    refusal(lambda: [*files.parts([str(path)], "gpt2")], naming=str(path), error=CorpusError)
    path.write_bytes(MARKED["UTF-16 LE"])
    refusal(lambda: [*files.parts([str(path)], "gpt2")], naming="UTF-16", error=CorpusError)


ROWS = st.lists(
    st.dictionaries(st.sampled_from(["text", "label"]), st.text(min_size=1), min_size=2), min_size=1
)


@given(ROWS, st.sampled_from([None, 2]))
def test_list_of_objects_is_the_table_of_its_lines(rows: list[Any], indent: int | None) -> None:
    content = json.dumps(rows, indent=indent)
    assert tables.is_table("a.json", content)
    lines = tables.read_table("a.jsonl", "\n".join(map(json.dumps, rows)), "", ("text",))
    for path in ("a.json", "a.jsonl", "a.json.gz"):
        assert tables.read_table(path, content, "", ("text",)).documents == lines.documents
    named = "\n".join(map(json.dumps, rows))
    assert tables.is_table("a.json", named) == (len(rows) > 1)
    assert tables.read_table("a.json", named, "", ("text",)).documents == lines.documents


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1))
def test_list_of_texts_has_a_document_for_each(texts: list[str]) -> None:
    table = tables.read_table("a.json", json.dumps(texts))
    assert table.documents == tables.Documents.of(texts)
    assert not table.is_whole


@pytest.mark.parametrize("content", ['[{"a": 1}, 2]', '["a", 1]', '[{"a": 1', '["a"] "b"'])
def test_other_list_is_one_text_with_a_sentence(content: str) -> None:
    table = tables.read_table("a.json", content)
    assert table.documents.texts == (content,)
    assert table.about().startswith("a.json: one text")
    assert not tables.is_table("a.json", '{"a": [1]}')
    assert not tables.is_table("a.json", '{\n  "a": {\n}}')
    assert not tables.is_table("a.json", "[1, 2]")
    assert not tables.is_table("a.txt", '["a"]')


def test_tool_calls_are_named_as_left_out(shell: Shell) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "What is the weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "Sunny"},
    ]
    table = tables.read_table("a.json", json.dumps([{"messages": messages}] * 2))
    assert "Not used: the tool calls of 2 messages." in table.about()
    assert "the tool calls of 2 messages" in Rows.of(table).about
    assert [*table.texts] == ["user", "tool"]
    Path("a.json").write_text(json.dumps([{"messages": messages}]), encoding="utf-8")
    assert shell("train", "a.json", *SIZE).code == 0
    for options in ((), ("--text", "messages")):
        shell("encode", "a.json", "--tokenizer", "t.json", "--count", *options)
        assert "the tool calls of 1 message." in shell.err
        assert len(shell.out.splitlines()) == (1 if options else 2)
    (_, chat), *_ = table.conversations
    assert json.loads(chat)["messages"] == messages, "a chat template renders all"


SIZE = ("--merges", "3", "--output", "t.json", "--format", "bpeviz")


@pytest.fixture
def folder(shell: Shell) -> Shell:
    Path("f/sub").mkdir(parents=True)
    Path("f/.hidden").write_bytes(b"hidden")
    Path("f/b.txt.gz").write_bytes(gzip.compress(b"lower"))
    Path("f/sub/a.txt").write_bytes(b"\xff\xfel\0o\0w\0")
    Path("f/a.png").write_bytes(b"\x89PNG\0\0")
    Path("latin.txt").write_bytes("été".encode("latin-1"))
    return shell


def test_train_and_encode_take_folders_in_the_order_of_compare(folder: Shell) -> None:
    assert folder("train", "f", *SIZE).code == 0
    assert "f/a.png" in folder.err
    left_out = "Left out, since they are not texts in UTF-8: f/a.png."
    counted = folder("encode", "f", "--tokenizer", "t.json", "--count")
    names = [line.split(" ", 1)[1] for line in counted.out.decode().splitlines()]
    assert names == ["f/b.txt.gz", "f/sub/a.txt"]
    assert left_out in counted.err
    compared = folder("compare", "f", "--tokenizer", "t.json", "--csv")
    rows = compared.out.decode().splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == ["b.txt.gz", "sub/a"]
    assert left_out in compared.err


@pytest.mark.parametrize("command", ["encode", "compare", "count", "train"])
def test_encoding_is_named(folder: Shell, command: str) -> None:
    assert folder("train", "f", *SIZE).code == 0
    how = {"train": SIZE, "count": ("--output", "c.parquet")}
    options = how.get(command, ("--tokenizer", "t.json"))
    refused = folder(command, "latin.txt", *options).sentence
    assert "byte 1 is E9" in refused
    assert "--encoding latin-1" in refused
    assert folder(command, "latin.txt", *options, "--encoding", "latin-1").code == 0
    assert folder(command, "latin.txt", *options, "--encoding", "rot13").code == 2


@pytest.mark.parametrize("command", ["encode", "count"])
@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (b'id,text\n1,"not closed\n2,low\n', "line 3"),
        ("low".encode("utf-16-le"), "zero bytes"),
        (b"\x89PNG\0", "byte 1 is 89"),
    ],
)
def test_damaged_files_are_refused(shell: Shell, command: str, content: bytes, fact: str) -> None:
    Path("a.csv").write_bytes(content)
    output = ("--output", "c.parquet") if command == "count" else ("--tokenizer", "gpt2")
    for how in ("table", "text")[: 1 + (fact != "line 3")]:
        assert fact in shell(command, "a.csv", "--as", how, *output).sentence
        assert "--encoding" not in shell.err


def test_lists_in_json_are_tables_on_the_command_line(folder: Shell) -> None:
    assert folder("train", "f", *SIZE).code == 0
    rows = [{"text": "low low", "n": 1}, {"text": "new", "n": 2}]
    Path("a.json").write_bytes(json.dumps(rows).encode())
    assert "a.json: 2 rows of “text”" in folder("compare", "a.json", "--tokenizer", "t.json").err
    packed = Path("a.jsonl.gz")
    packed.write_bytes(gzip.compress(b'{"text": "low low"}\n{"text": "new"}\n'))
    assert "2 rows of “text”" in folder("compare", str(packed), "--tokenizer", "t.json").err
    assert folder("count", str(packed), "--output", "c.parquet").code == 0
    Path("b.json").write_bytes(b'{"text": "low"}')
    compared = folder("compare", "b.json", "--tokenizer", "t.json")
    assert compared.code == 0
    assert "b.json: one text" in compared.err
    assert "echo -n hello" in folder("encode", "hello", "--tokenizer", "t.json").sentence
    prices = ("--tokenizer", "t.json", "--tokenizer", "gpt2", "--price", "gpt2=1")
    assert "Without a price, and so without costs: t.json" in folder("compare", "f", *prices).err

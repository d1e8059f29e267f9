"""Tables of ten shapes: each total is the sum of what the library of a tokenizer gives per row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
import sentencepiece
import tiktoken
import tokenizers
from helpers import app_pages
from helpers.library_files import LINES, sentencepiece_model
from helpers.payloads import payloads
from pyarrow import parquet as arrow_parquet

import bpeviz
from bpeviz.cli import main
from bpeviz.corpus import parquet

pytestmark = pytest.mark.slow

Counted = Callable[[Sequence[str]], int]

PUBLISHED = ("gpt2", "cl100k_base", "o200k_base")
MODELS = {
    "mistral.model": {"model_type": "bpe", "byte_fallback": True, "vocab_size": 1_200}
    | {"normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    "unigram.model": {},
}
"""SentencePiece's settings for Mistral 7B, and its defaults."""

EN = ["The river is wide.", "", "the sea  ", "two\nlines", "“Yes”, he said; no | maybe"]
ES = ["El río es ancho.", "el mar", "", "dos\r\nlíneas", "«Sí», dijo"]
ROLES = ["system", "user", "assistant"]
CHATS = [["Be kind.", "Hi\nthere", "Hello!"], ["Be kind.", "名前は?", " "], ["", "12345", "👍🏽"]]
MANY = [f"{line[i % 40 : i % 40 + 9]} {i}" for i in range(250) for line in LINES]


def as_csv(*columns: Sequence[str]) -> bytes:
    written = io.StringIO()
    csv.writer(written).writerows(zip(*columns, strict=True))
    return written.getvalue().encode()


def as_parquet(**columns: Sequence[str]) -> bytes:
    written = io.BytesIO()
    arrow_parquet.write_table(pa.table(columns), written)
    return written.getvalue()


def messages(chat: Sequence[str]) -> str:
    content = [{"role": role, "content": text} for role, text in zip(ROLES, chat, strict=True)]
    return json.dumps({"id": 7, "messages": content})


TABLES: dict[str, tuple[str, bytes, dict[str, list[str]]]] = {
    "one column": ("t.csv", as_csv(["text", *EN]), {"text": EN}),
    "labels": (
        "t.csv",
        as_csv(["lang", *["en"] * 5, *["es"] * 5], ["text", *EN, *ES]),
        {"en": EN, "es": ES},
    ),
    "roles": (
        "t.tsv",
        "\n".join(["role\ttext", *(f"{ROLES[i % 3]}\t{EN[0]} {i}" for i in range(9))]).encode(),
        {role: [f"{EN[0]} {i}" for i in range(k, 9, 3)] for k, role in enumerate(ROLES)},
    ),
    "blank rows": ("t.csv", as_csv(["text", *EN, "", " ", "\n"] * 2), {"text": [*EN, "text", *EN]}),
    "line ends inside": ("t.csv", as_csv(["text", "a\n\nb\r\n", "\n c", "d\r"]), {
        "text": ["a\n\nb\r\n", "\n c", "d\r"]
    }),
    "parallel columns": ("t.csv", as_csv(["en", *EN], ["es", *ES]), {"en": EN, "es": ES}),
    "messages": (
        "t.jsonl",
        "\n".join(map(messages, CHATS)).encode(),
        {role: [chat[i] for chat in CHATS] for i, role in enumerate(ROLES)},
    ),
    "Parquet": ("t.parquet", as_parquet(text=ES), {"text": ES}),
    "10,000 rows": ("t.csv", as_csv(["text", *MANY]), {"text": MANY}),
    "one row": ("t.jsonl", json.dumps({"text": EN[3]}).encode(), {"text": EN[3:4]}),
}  # fmt: skip


@cache
def libraries() -> dict[str, Counted]:
    """Return for each tokenizer how many tokens its library needs for rows."""
    counted: dict[str, Counted] = {}
    for name in PUBLISHED:
        encoding = tiktoken.get_encoding(name)
        counted[name] = lambda rows, of=encoding: sum(map(len, map(of.encode_ordinary, rows)))
    for name in MODELS:
        model = sentencepiece.SentencePieceProcessor(model_proto=content_of(name))
        counted[name] = lambda rows, of=model: sum(map(len, of.encode([*rows])))
    words = tokenizers.Tokenizer.from_str(content_of("wordpiece.json").decode())
    counted["wordpiece.json"] = lambda rows: sum(
        len(encoding.ids) for encoding in words.encode_batch([*rows], add_special_tokens=False)
    )
    return counted


@cache
def content_of(name: str) -> bytes:
    """Return a tokenizer file that its library trains."""
    if name in MODELS:
        return sentencepiece_model(**MODELS[name])
    words = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    words.normalizer = tokenizers.normalizers.BertNormalizer()
    words.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    special = ["[UNK]", "[CLS]", "[SEP]"]
    trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=600, special_tokens=special)
    words.train_from_iterator(LINES, trainer)
    around = [(name, words.token_to_id(name)) for name in special[1:]]
    words.post_processor = tokenizers.processors.BertProcessing(*around[::-1])
    return words.to_str().encode()


@pytest.mark.parametrize("shape", TABLES)
def test_totals_are_the_sums_of_the_library_for_each_row(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, content, texts = TABLES[shape]
    Path(name).write_bytes(content)
    expected = {
        (text, tokenizer): count([row for row in rows if row.strip()])
        for text, rows in texts.items()
        for tokenizer, count in libraries().items()
    }
    for file in (*MODELS, "wordpiece.json"):
        Path(file).write_bytes(content_of(file))
    chosen = [argument for tokenizer in libraries() for argument in ("--tokenizer", tokenizer)]
    assert main.main(["compare", name, *chosen, "--json", "--output", "out.json"]) == 0
    rows = json.loads(Path("out.json").read_text("utf-8"))["rows"]
    assert {(row["text"], row["tokenizer"]): row["tokens"] for row in rows} == expected
    named = {of: bpeviz.load(of) if of in PUBLISHED else bpeviz.read(of) for of in libraries()}
    compared = bpeviz.compare(texts, named)
    assert {(row.text, row.tokenizer): row.tokens for row in compared.rows} == expected
    on_page = parquet.rows(name, content) if name.endswith("parquet") else content.decode()
    state = {"how_many_texts": "many", "compared": [*PUBLISHED], "figure_of_texts": "tokens"}
    app = app_pages.opened("Compare", share=False, named_files=[(name, on_page)], **state)
    (table,) = [data for data in payloads(app) if "rows" in data and "header" in data]
    assert {row["name"]: [cell[0] for cell in row["cells"]] for row in table["rows"]} == {
        text: [f"{expected[text, tokenizer]:,}" for tokenizer in PUBLISHED] for text in texts
    }

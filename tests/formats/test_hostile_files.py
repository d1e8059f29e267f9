"""Any file is read, or rejected by one message that names the place of the error."""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from helpers.refusals import refusal

import bpeviz
from bpeviz import formats
from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.formats import FormatError, library
from bpeviz.formats.parsing import MAX_ENTRIES, MAX_JSON_VALUES
from bpeviz.libraries import pool as library_pool

TEXT = "low lower lowest, don't été 12 ab"


@cache
def written(key: str) -> dict[str, bytes]:
    return formats.dump(bpeviz.train(TEXT, merges=6, special_tokens=("<|e|>",)).tokenizer(), key)


# Errors name their place


def replaced(key: str, old: bytes, new: bytes) -> dict[str, bytes]:
    """Return the files of a tokenizer with replaced bytes."""
    files = {name: content.replace(old, new) for name, content in written(key).items()}
    assert files != written(key)
    return files


def ranks(*lines: str, arguments: object = None) -> dict[str, bytes]:
    """Return a rank file of all single bytes, followed by more lines."""
    of_bytes = (f"{base64.b64encode(bytes([i])).decode()} {i}" for i in range(256))
    files = {"a.tiktoken": "\n".join([*of_bytes, *lines]).encode()}
    arguments = {"pat_str": "(?s:.)+", "special_tokens": {}} if arguments is None else arguments
    return files | {"a.tiktoken.json": json.dumps(arguments).encode()}


def two_files(entries: dict[str, object], *merges: str) -> dict[str, bytes]:
    """Return vocab.json with all bytes and more entries, and merges.txt."""
    of_bytes = {character: i for i, character in enumerate(CHARACTER_OF.values())}
    return {
        "vocab.json": json.dumps({**of_bytes, **entries}).encode(),
        "merges.txt": "\n".join(["#version: 0.2", *merges]).encode(),
    }


def merges_csv(*lines: str, atoms: str = "bytes", pattern: str = "none", **more: Any) -> Any:
    first = f"# bpeviz {json.dumps({'atoms': atoms, 'pattern': pattern, **more})}"
    return {"merges.csv": "\n".join([first, "left,right,new_id,count", *lines]).encode()}


def model(*lines: str) -> dict[str, bytes]:
    return {"a.model": "\n".join(["minbpe v1", *lines]).encode()}


JSON = "tokenizer.json"
HOSTILE: dict[str, tuple[dict[str, bytes], list[str]]] = {
    # Not text, and not JSON
    "empty": ({JSON: b""}, ["tokenizer.json is empty"]),
    "binary": ({"a.tiktoken": bytes(range(256))}, ["a.tiktoken:", "byte 129", "0x80"]),
    "SentencePiece's": (
        {"a.model": b"\n\x0e\n\x05<unk>\x15\0\0\0\0"},
        ["a.model: sentencepiece refuses it:", "damaged"],
    ),
    "deep": (
        {JSON: b'{"model":' + b"[" * 100_000 + b"]" * 100_000 + b"}"},
        ["tokenizer.json:", "nested too deeply"],
    ),
    "broken off": (
        {JSON: b'{"model": {"type": "BPE",\n"vocab": '},
        ["tokenizer.json, line 2, column 10:", "not valid JSON"],
    ),
    "NaN": (
        replaced("huggingface", b'"truncation":null', b'"truncation":NaN'),
        ["tokenizer.json:", "NaN"],
    ),
    "too many values": (
        {JSON: b'{"model": [' + b"0," * (MAX_JSON_VALUES + 1) + b"0]}"},
        ["tokenizer.json:", "4,000,000"],
    ),
    # GPT-2's two files
    "one of two files": ({"merges.txt": b"#version: 0.2\na b\n"}, ["not merges.txt alone"]),
    "a vocabulary and merges of different tokenizers": (
        two_files({"ab": 256}, "a b", "c d"),
        ["merges.txt", "merges[1]:", "'cd'"],
    ),
    "files that do not go together": (
        {"a.json": b"{}", "b.json": b"{}"},
        ["do not belong together"],
    ),
    "a token of RWKV that Python takes gigabytes to parse": (
        {"a.txt": b"1 'a' 1\n2 'b' 1\n3 '" + b"a" * 10_000_000 + b"' 10000000\n"},
        ["a.txt, line 3:", "10,000,0", "too many"],
    ),
    "more tokens of RWKV than it takes seconds to parse": (
        {"a.txt": b"1 'a' 1\n" * 200_001},
        ["a.txt", "200,001", "limit"],
    ),
    "a merge with two spaces": (two_files({"ab": 256}, "a  b"), ["merges.txt, line 2:", "'a  b'"]),
    # tiktoken's ranks
    "wrong base64": (ranks("YW*= 256"), ["a.tiktoken, line 257:", "'YW*='", "64"]),
    "a rank without end": (
        ranks("YWI= " + "9" * 5_000),
        ["a.tiktoken, line 257:", "'9999999999999999999999999999…9999999999999999999999999999'"],
    ),
    "a token twice": (ranks("YWI= 256", "YWI= 257"), ["a.tiktoken, line 258:", "b'ab'"]),
    "one of the bytes missing": (
        {"a.tiktoken": b"\n".join(ranks()["a.tiktoken"].split(b"\n")[:-1])},
        ["a.tiktoken:", "0xFF"],
    ),
    "a byte after a merge": (
        {"a.tiktoken": ranks()["a.tiktoken"].replace(b" 97", b" 256") + b"\nYWI= 97"},
        ["a.tiktoken, line 98:", "0x61", "256", "0"],
    ),
    "ranks without a split": (
        {"a.tiktoken": ranks()["a.tiktoken"]},
        ["a.tiktoken:", "the file tokenizer.tiktoken.json"],
    ),
    "a split that leaves out a part": (
        ranks(arguments={"pat_str": r"\w+", "special_tokens": {}}),
        ["a.tiktoken.json, pat_str:", "other ids"],
    ),
    "a special token with a token's rank": (
        ranks(arguments={"pat_str": "(?s:.)+", "special_tokens": {"<e>": 97}}),
        ["a.tiktoken.json, special_tokens['<e>']:", "97"],
    ),
    # minbpe's
    "a merge of what comes later": (model("", "0", "97 257"), ["a.model, line 4:", "257"]),
    "more special tokens than lines": (model("", "5", "<e> 300"), ["a.model, line 3:", "5"]),
    "a special token with a merge's id": (
        model("", "1", "<e> 256", "97 98"),
        ["a.model, line 5:", "256"],
    ),
    "doublings": (
        model("", "0", "97 97", *(f"{i} {i}" for i in range(256, 300))),
        ["275", "1,048,576", "1,000,000"],
    ),
    # Merges as CSV
    "no columns": (
        {"merges.csv": b'# bpeviz {"atoms": "bytes", "pattern": "none"}'},
        ["merges.csv, line 2:", "''"],
    ),
    "a number missing": (merges_csv("97,98,256"), ["merges.csv, line 3:", "4", "'97,98,256'"]),
    "a special token merged": (
        merges_csv("97,300,301,1", special={"<e>": 300}),
        ["merges.csv, line 3:", "300"],
    ),
    "no split": ({"merges.csv": b"left,right\n97,98\n"}, ["merges.csv:", "choose a pattern"]),
    "an unknown split": (
        merges_csv(pattern="x"),
        ["merges.csv, line 1, pattern:", "gpt2"],
    ),
    "an expression with contradictory flags": (
        merges_csv(pattern="regex", expression="(?a)(?L)x"),
        ["merges.csv, line 1, expression:", "incompatible"],
    ),
    "an expression that compiles slowly": (
        merges_csv(pattern="regex", expression="((){50000})"),
        ["merges.csv, line 1, expression:"],
    ),
    "an atom of three entries": (
        merges_csv(atoms="characters", alphabet=[[0, "a", 1]]),
        ["merges.csv, line 1, alphabet", "an id and an atom"],
    ),
    "too many lines": (
        {"merges.csv": b"left,right\n" + b"0,0\n" * MAX_ENTRIES},
        ["merges.csv:", "1,000,001", "1,000,000"],
    ),
    # Names
    "a name with control characters": (
        {"a\x1b[31m\n\u202e<b>.csv": b"left,right\n0,0\n"},
        ["a?[31m??<b>.csv:", "choose a pattern"],
    ),
    "control characters in what is shown": (
        two_files({}, "\x1b[31m \u202e"),
        ["merges.txt", "'\\x1b[31m'"],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_file_error_names_the_place(what: str) -> None:
    files, facts = HOSTILE[what]
    message = refusal(formats.parse, files, error=FormatError)
    assert len(message) < 600
    for fact in facts:
        before, found, message = message.partition(fact)
        assert found, (fact, before)


# Size


@pytest.mark.parametrize("name", ["t.json", "t.tiktoken", "t.model", "t.csv", "t", "vocab.json"])
def test_file_over_the_size_limit_raises_format_error(name: str, tmp_path: Path) -> None:
    with (tmp_path / name).open("wb") as sparse:
        sparse.truncate(200_000_000)
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    asked = tmp_path if name == "vocab.json" else tmp_path / name
    with pytest.raises(FormatError) as error:
        bpeviz.read(asked)
    assert f"{name} is too large: the limit is 40,000,000" in str(error.value)


def test_endless_file_raises_format_error() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("This system has no /dev/zero.")
    refusal(bpeviz.read, "/dev/zero", naming=("zero", "40,000,000"), error=FormatError)


def test_folder_without_tokenizer_raises_format_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("low")
    refusal(bpeviz.read, tmp_path, naming="tokenizer.json", error=FormatError)


@pytest.mark.parametrize("key", ["sentencepiece", "huggingface"])
def test_file_with_too_many_entries_is_refused_once_it_is_loaded(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The spellings of so many entries take more seconds than the file itself."""
    settings = {"atoms": "characters", "pattern": "whitespace"}
    tokenizer = bpeviz.train("low lower lowest", "unigram", vocab_size=9, **settings)
    files = formats.dump(tokenizer.tokenizer(), key)
    monkeypatch.setattr(library, "MAX_ENTRIES", 5)
    with (
        patch.object(library_pool, "ask", side_effect=library_pool.ask) as asked,
        pytest.raises(FormatError, match="the limit of 5"),
    ):
        formats.parse(files)
    assert asked.call_count == 1

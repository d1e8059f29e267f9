"""Folders of `transformers`: a vocabulary with the settings of its model beside it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.difficult import DIFFICULT
from helpers.properties import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import bpeviz
from bpeviz import formats
from bpeviz.cli.main import main
from bpeviz.core.byte_alphabet import BYTE_OF
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.ui.opened_tokenizers import read_files

PAIRS = "o,w Ġ,t h,e l,ow Ġ,low Ġt,he a,k b,ak e,r e,s i,n Ġ,bak Ġ,in ow,n Ġt,own Ġlow,es er,y"
MERGES = [pair.replace(",", " ") for pair in f"{PAIRS} Ġbak,ery Ġlowes,t".split()]
OF_BYTES = ["<s>", "<pad>", "</s>", "<unk>", *sorted(BYTE_OF)]
OF_BYTES += [merge.replace(" ", "") for merge in MERGES] + ["<mask>"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *".,[]"]
PIECES += [f"##{letter}" for letter in LETTERS] + ["the", "low", "##est", "caf", "##é", "中", "A"]
BYTES: dict[str, bytes] = {
    "vocab.json": json.dumps({name: i for i, name in enumerate(OF_BYTES)}).encode(),
    "merges.txt": "\n".join(["#version: 0.2", *MERGES, ""]).encode(),
}
BERT: dict[str, bytes] = {"vocab.txt": "\n".join([*PIECES, ""]).encode()}
MASK = {"content": "<mask>", "lstrip": True, "__type": "AddedToken"}


def folder(files: Mapping[str, bytes], **beside: object) -> dict[str, bytes]:
    """Return files with JSON files beside them, such as config={…}, without their endings."""
    return {**files, **{f"{name}.json": json.dumps(one).encode() for name, one in beside.items()}}


def configured(kind: str, **values: object) -> dict[str, bytes]:
    """Return the folder of a class of tokenizers with these settings."""
    files = BERT if kind.endswith("Bert") else BYTES
    return folder(files, tokenizer_config={"tokenizer_class": f"{kind}Tokenizer", **values})


def encoded(ours: Tokenizer, text: str) -> list[int]:
    """Return the ids of a text with all special tokens allowed."""
    return ours.encode(text, allowed_special={*ours.special_tokens})


@pytest.mark.parametrize(
    ("files", "texts", "template"),
    [
        (
            configured("GPT2", mask_token=MASK),
            {" the  <mask>": [265, 279], "the  <mask>": [87, 262, 279]},
            ([], []),
        ),
        (configured("GPT2", bos_token="</s>", add_bos_token=True), {"low": [263]}, ([2], [])),
        (configured("Bert"), {"CAFÉ A": [64, 39, 5], "中a": [66, 5]}, ([2], [3])),
        (configured("Bert", do_lower_case=False), {"CAFÉ A": [1, 67]}, ([2], [3])),
        (folder(BERT, config={"model_type": "bert"}), {"A": [5]}, ([2], [3])),
        (folder(BYTES, config={"model_type": "blip-2"}), {"<|endoftext|>": [280]}, ([], [])),
        (
            folder(
                configured("Bert"),
                added_tokens={"Foo": 68},
                special_tokens_map={"sep_token": "low"},
            ),
            {"Low low FOO": [62, 62, 68]},
            ([2], [62]),
        ),
    ],
)
def test_folder_gives_the_ids_of_transformers(
    files: dict[str, bytes],
    texts: dict[str, list[int]],
    template: tuple[list[int], list[int]],
    tmp_path: Path,
) -> None:
    ours = written(files, tmp_path)
    assert {text: encoded(ours, text) for text in texts} == texts
    assert ours.template == template


def written(files: Mapping[str, bytes], path: Path) -> Tokenizer:
    for name, content in files.items():
        (path / name).write_bytes(content)
    return bpeviz.read(path)


def test_page_library_and_paths_read_the_same_settings(tmp_path: Path) -> None:
    files = configured("GPT2", mask_token=MASK)
    ids = encoded(written(files, tmp_path), " the  <mask>")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for name, content in files.items():
            packed.writestr(f"model/{name}", content)
    opened = [read_files([*files.items()]), read_files([("a.zip", archive.getvalue())])]
    assert [one is not None and encoded(one.tokenizer, " the  <mask>") for one in opened] == [
        ids,
        ids,
    ]
    for name in BYTES:
        (tmp_path / name).rename(tmp_path / f"mine-{name}")
    for path in (tmp_path, tmp_path / "mine-vocab.json"):
        assert encoded(bpeviz.read(path), " the  <mask>") == ids
    (tmp_path / "mine-vocab.txt").write_bytes(BERT["vocab.txt"] + b"\n\n")
    assert bpeviz.read(tmp_path / "mine-vocab.txt").special_tokens.keys() >= {"<mask>"}


@pytest.mark.parametrize("value", [7, [7, None], {"a": [7]}])
def test_invalid_settings_count_as_missing(value: object) -> None:
    names = ("mask_token", "extra_special_tokens", "additional_special_tokens", "strip_accents")
    for files in (BYTES, BERT):
        plain = encoded(formats.parse(files), "the [MASK]<mask>")
        beside: dict[str, object] = dict.fromkeys(names, value)
        for more in ({}, {"added_tokens_decoder": value}, {"added_tokens_decoder": {"²": value}}):
            given = folder(files, tokenizer_config=beside | more, special_tokens_map=beside)
            assert encoded(formats.parse(given | {"added_tokens.json": b"[7]"}), "the")
        given = folder(files, tokenizer_config={"added_tokens_decoder": {"9" * 5_000: value}})
        assert encoded(formats.parse(given), "the [MASK]<mask>") == plain


# ---- Against the library

NAMES = ["<s>", "</s>", "<mask>", "<|endoftext|>", "[MASK]", "[CLS]", "<x>", "foo", "low", "the"]
PARTS = [*NAMES, "Foo", "CAF", " ", "  ", "CAFÉ", "cafe\u0301", "中文", "lowest", "İ", ", ", "\n"]
FLAGS = ("lstrip", "rstrip", "single_word", "normalized")
CLASSES = ("GPT2", "CodeGen", "Bert", "DistilBert")


def token(draw: Random, content: str, *flags: str) -> dict[str, object]:
    return {"content": content} | {
        flag: draw.random() < 0.5 for flag in (*FLAGS, *flags) if draw.random() < 0.6
    }


def named(draw: Random, **marks: object) -> dict[str, object]:
    """Return some special tokens by role, as texts or objects.

    A token of several roles has the same flags in all of them, as in real files.
    """
    roles = [f"{one}_token" for one in ("bos", "eos", "sep", "pad", "cls", "mask", "image")]
    tokens = {name: name if draw.random() < 0.5 else token(draw, name) | marks for name in NAMES}
    return {role: tokens[draw.choice(NAMES)] for role in roles if draw.random() < 0.3}


def drawn(draw: Random) -> dict[str, bytes]:
    """Return a folder with random settings."""
    kind = draw.choice(CLASSES)
    flags = "do_lower_case strip_accents tokenize_chinese_chars add_prefix_space add_bos_token"
    values: dict[str, Any] = named(draw, __type="AddedToken")
    values |= {one: draw.random() < 0.5 for one in flags.split() if draw.random() < 0.3}
    values |= {"never_split": ["CAFÉ"]} if draw.random() < 0.2 else {}
    key = draw.choice(["extra_special_tokens", "additional_special_tokens"])
    values |= {key: draw.sample(NAMES, 2)} if draw.random() < 0.3 else {}
    beside: dict[str, object] = {}
    if draw.random() < 0.4:
        listed = {str(draw.randrange(300)): token(draw, one, "special") for one in NAMES[:6]}
        values["added_tokens_decoder"] = listed
    if draw.random() < 0.3:
        beside["special_tokens_map"] = named(draw)
    if draw.random() < 0.3:
        beside["added_tokens"] = {one: 400 + i for i, one in enumerate(draw.sample(NAMES, 3))}
    if kind in CLASSES[:2] and draw.random() < 0.3:
        beside["config"] = {"model_type": draw.choice(["qwen3", "gpt2", "roberta"])}
    return folder(configured(kind, **values), **beside)


def random_texts(draw: Random) -> Iterator[str]:
    yield from ("".join(draw.choices(PARTS, k=draw.randint(0, 9))) for _ in range(12))
    yield from draw.sample(DIFFICULT, 5)


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
@settings(max_examples=examples(40), deadline=None)
def test_any_folder_gives_the_ids_of_transformers(
    tmp_path_factory: pytest.TempPathFactory, draw: Random
) -> None:
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    from transformers import AutoTokenizer

    path = tmp_path_factory.mktemp("model")
    files = drawn(draw)
    ours = written(files, path)
    theirs: Any = AutoTokenizer.from_pretrained(path)
    before, after = ours.template
    for text in random_texts(draw):
        ids = encoded(ours, text)
        assert ids == theirs(text, add_special_tokens=False).input_ids, (files, text)
        assert [*before, *ids, *after] == theirs(text).input_ids


# ---- Settings beside a tokenizer.json


def drawn_json(draw: Random) -> dict[str, bytes]:
    """Return a folder with a tokenizer.json, and random settings that may contradict it."""
    files = drawn(draw)
    source = {name: content for name, content in files.items() if name in {*BYTES, *BERT}}
    own = draw.choice([files, drawn(draw) | source])
    with contextlib.suppress(formats.FormatError):
        tokenizer = formats.parse(own, "wordpiece" if "vocab.txt" in own else "gpt2")
        content = formats.dump(tokenizer, "huggingface")["tokenizer.json"]
        kept = {name: content for name, content in files.items() if name not in source}
        settings = json.loads(kept["tokenizer_config.json"])
        settings["tokenizer_class"] = draw.choice([settings["tokenizer_class"], *KINDS])
        if draw.random() < 0.3:
            kept["config.json"] = json.dumps({"model_type": draw.choice(TYPES)}).encode()
        kept["tokenizer_config.json"] = json.dumps(settings).encode()
        return kept | {"tokenizer.json": content}
    return {}


KINDS = ["PreTrainedTokenizerFast", "TokenizersBackend", "GPT2Tokenizer", "RobertaTokenizerFast"]
KINDS += ["LlamaTokenizer", "GPTNeoXTokenizerFast", "Qwen2Tokenizer", "BertTokenizer"]
TYPES = ["qwen2", "gpt2", "roberta", "gpt_neox", "llama", "phi3", "modernbert", "qwen3", "bert"]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(30), pytest.param(range(500), marks=pytest.mark.thorough)])
def test_settings_beside_a_tokenizer_json_change_nothing_or_are_said(
    tmp_path_factory: pytest.TempPathFactory, seeds: range
) -> None:
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    from transformers import AutoTokenizer

    equal = 0
    for seed in seeds:
        draw = Random(seed)
        if not (files := drawn_json(draw)):
            continue
        path = tmp_path_factory.mktemp("model")
        ours = written(files, path)
        if formats.assumption(files):
            continue
        theirs: Any = AutoTokenizer.from_pretrained(path)
        before, after = ours.template
        equal += 1
        for text in random_texts(draw):
            ids = encoded(ours, text)
            plain = theirs(text, add_special_tokens=False).input_ids
            assert ids == plain, (seed, text, files["tokenizer_config.json"])
            assert [*before, *ids, *after] == theirs(text).input_ids, (seed, text)
    assert equal > len(seeds) / 20, "not everything is said to differ"


def test_difference_of_the_prefix_is_said() -> None:
    tokenizer = bpeviz.train("low the low", merges=4, special_tokens=("<|endoftext|>",)).tokenizer()
    content = formats.dump(tokenizer, "huggingface")
    beside = configured("GPT2", add_prefix_space=True)["tokenizer_config.json"]
    files = content | {"tokenizer_config.json": beside}
    assert formats.assumption(files) == (
        "In transformers 5.24, tokenizer_config.json adds a space in front; tokenizer.json does "
        "not. bpeviz applies tokenizer.json alone."
    )
    beside = configured("GPT2")["tokenizer_config.json"]
    assert formats.assumption(content | {"tokenizer_config.json": beside}) == ""
    assert formats.assumption(content) == ""


def test_difference_is_in_the_json_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer = bpeviz.train("low the low", merges=4).tokenizer()
    beside = configured("GPT2", add_prefix_space=True)["tokenizer_config.json"]
    files = formats.dump(tokenizer, "huggingface") | {"tokenizer_config.json": beside}
    written(files, tmp_path)
    (tmp_path / "text.txt").write_text("low")
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        given = ["--tokenizer", str(path), "--json"]
        assert main(["encode", str(tmp_path / "text.txt"), *given]) == 0
        assert json.loads(capsys.readouterr().out)["note"] == formats.assumption(files)
        assert main(["compare", str(tmp_path / "text.txt"), *given]) == 0
        rows = {row["tokenizer"]: row for row in json.loads(capsys.readouterr().out)}
        assert rows[str(path)]["note"] == formats.assumption(files)
        assert main(["compare", f"a={tmp_path / 'text.txt'}", *given]) == 0
        (row,) = json.loads(capsys.readouterr().out)["tokenizers"]
        assert row["note"] == formats.assumption(files)
        for query in (["low"], []):
            assert main(["lookup", *query, *given]) == 0
            assert json.loads(capsys.readouterr().out)["note"].endswith(formats.assumption(files))

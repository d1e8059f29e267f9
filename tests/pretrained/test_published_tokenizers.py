"""The catalog's tokenizers, fetched from the package index, beside the libraries of their files."""

from __future__ import annotations

import tempfile
import unicodedata
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch

import pytest
from helpers.packages import python_package
from helpers.real_files import Reference, check_same, of_content, of_ranks
from helpers.texts import many_texts

import bpeviz
from bpeviz.pretrained import catalog, download
from bpeviz.pretrained.download import VocabularyUnavailable

pytestmark = pytest.mark.thorough

HELLO_WORLD = {
    "llama_3": [15339, 1917],
    "llama_4": [25681, 3817],
    "mistral_v1": [6312, 28709, 1526],
    "mistral_v3": [7080, 29477, 2294],
    "mistral_nemo": [29706, 4304],
    "qwen": [14990, 1879],
    "deepseek": [33310, 2058],
    "claude_2": [9381, 2253],
    "jurassic_2": [38136, 1754],
    "clip": [3306, 1002],
    "whisper": [675, 1913, 1002],
    "rwkv": [34550, 40213],
}


def library(name: str) -> Reference:
    """Return the library for which a file was made."""
    (content,) = download.contents(name).values()
    entry = catalog.ENTRIES[name]
    if name == "rwkv":
        return rwkv(content)
    if entry.pattern:
        return of_ranks(content, entry.pattern, entry.special_tokens)
    return of_content(content)


@pytest.mark.parametrize("name", HELLO_WORLD)
def test_published_tokenizers_give_the_ids_and_boundaries_of_their_library(name: str) -> None:
    try:
        download.fetch(name)
    except VocabularyUnavailable as error:
        pytest.skip(str(error))
    tokenizer = bpeviz.load(name)
    assert tokenizer.encode("hello world") == HELLO_WORLD[name]
    if name == "clip":
        theirs = clip(*download.contents(name).values())
        for text in many_texts():
            if "Σ" not in text:  # at the end of a word, its lower case is ς in Python
                assert tokenizer.encode(text) == theirs(text), text
        return
    check_same(tokenizer, library(name), many_texts())


def clip(content: bytes) -> Callable[[str], list[int]]:
    """Return the tokenizer of the package `open-clip-torch`, without the repair of damaged text."""
    with zipfile.ZipFile(python_package("open-clip-torch==3.3.0")) as archive:
        source = archive.read("open_clip/tokenizer.py").decode()
    repair = SimpleNamespace(fix_text=partial(unicodedata.normalize, "NFC"))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "bpe_simple_vocab_16e6.txt.gz").write_bytes(content)
        names: dict[str, Any] = {"__file__": str(Path(folder, "tokenizer.py"))}
        with patch.dict("sys.modules", {"ftfy": repair, "torch": Mock()}):
            exec(source, names)
    names["html"] = SimpleNamespace(unescape=str)
    encode: Callable[[str], list[int]] = names["_tokenizer"].encode
    return encode


def rwkv(content: bytes) -> Reference:
    """Return the tokenizer of the package `rwkv`."""
    wheel = python_package("rwkv==0.8.32")
    with zipfile.ZipFile(wheel) as archive:
        source = archive.read("rwkv/rwkv_tokenizer.py").decode()
    names: dict[str, Any] = {}
    exec(source, names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vocab.txt")
        path.write_bytes(content)
        theirs = names["TRIE_TOKENIZER"](str(path))

    def encode(text: str) -> list[tuple[int, bytes]]:
        return [(i, theirs.idx2token[i]) for i in theirs.encodeBytes(text.encode())]

    return encode


def test_every_entry_from_the_package_index_is_tested() -> None:
    assert {*HELLO_WORLD} == {*catalog.ENTRIES} - {*catalog.NAMES}

"""Load tokenizer files with other libraries; each loader returns a function from text to ids.

The functions encode the names of special tokens as plain text.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import regex
import tiktoken
import tiktoken.load
import tokenizers
from tokenizers import decoders, models, pre_tokenizers

from bpeviz.formats import FORMATS
from bpeviz.pretokenizers.patterns import PATTERNS

Encode = Callable[[str], list[int]]
Files = Mapping[str, bytes]


def written(files: Files, folder: str) -> list[str]:
    """Write files to a folder and return their paths."""
    for name, content in files.items():
        Path(folder, name).write_bytes(content)
    return [str(Path(folder, name)) for name in files]


def tokenizer_json(files: Files) -> tokenizers.Tokenizer:
    with tempfile.TemporaryDirectory() as folder:
        (path,) = written(files, folder)
        return tokenizers.Tokenizer.from_file(path)


def hugging_face(files: Files) -> Encode:
    """Load a tokenizer.json with `tokenizers.Tokenizer.from_file`."""
    return of_library(tokenizer_json(files))


def of_library(theirs: tokenizers.Tokenizer) -> Encode:
    theirs.encode_special_tokens = True

    def encode(text: str) -> list[int]:
        found: list[int] = theirs.encode(text, add_special_tokens=False).ids
        return found

    return encode


def gpt2(files: Files) -> Encode:
    """Load vocab.json and merges.txt with `BPE.from_file` and GPT-2's own pre-tokenizer."""
    with tempfile.TemporaryDirectory() as folder:
        model = models.BPE.from_file(*written(files, folder))
    theirs = tokenizers.Tokenizer(model)
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = decoders.ByteLevel()
    return of_library(theirs)


def of_tiktoken(files: Files) -> Encode:
    """Load ranks with `load_tiktoken_bpe`, and the encoding's arguments from the second file."""
    arguments = json.loads(files["tokenizer.tiktoken.json"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.tiktoken")
        path.write_bytes(files["tokenizer.tiktoken"])
        ranks = tiktoken.load.load_tiktoken_bpe(str(path))
    encoding = tiktoken.Encoding(mergeable_ranks=ranks, **arguments)

    def encode(text: str) -> list[int]:
        return encoding.encode(text, disallowed_special=())

    return encode


class BasicTokenizer:
    """minbpe's tokenizer without pre-tokenization (`base.py`, `basic.py`)."""

    pattern = ""

    def load(self, path: str) -> None:
        """Read the merges. The pattern for encoding stays that of the constructor."""
        with open(path, encoding="utf-8") as file:
            if not path.endswith(".model") or file.readline().strip() != "minbpe v1":
                raise ValueError("This is no minbpe v1.")
            file.readline()  # `load` stores the pattern, and encoding does not use it
            for _ in range(int(file.readline().strip())):
                name, token_id = file.readline().strip().split()
                if not name or int(token_id) < 256:
                    raise ValueError("This is no special token.")
            self.merges = {(*map(int, line.split()),): i for i, line in enumerate(file, 256)}

    def encode(self, text: str) -> list[int]:
        pre_tokens = regex.findall(self.pattern, text) if self.pattern else [text]
        return [token_id for pre_token in pre_tokens for token_id in self._merged(pre_token)]

    def _merged(self, pre_token: str) -> list[int]:
        ids = [*pre_token.encode()]
        while len(ids) > 1:
            pair = min(pairwise(ids), key=lambda p: self.merges.get(p, 1e9))
            if pair not in self.merges:
                break
            at, joined = 0, []
            while at < len(ids):
                here = at + 1 < len(ids) and (ids[at], ids[at + 1]) == pair
                joined.append(self.merges[pair] if here else ids[at])
                at += 1 + here
            ids = joined
        return ids


class RegexTokenizer(BasicTokenizer):
    """minbpe's tokenizer with a pattern (`regex.py`), GPT-4's by default."""

    def __init__(self, pattern: str | None = None) -> None:
        self.pattern = PATTERNS["cl100k"].expression if pattern is None else pattern


def minbpe(files: Files) -> Encode:
    """Load a .model file with the lines that bpeviz shows for it."""
    names: dict[str, Any] = {"BasicTokenizer": BasicTokenizer, "RegexTokenizer": RegexTokenizer}
    with tempfile.TemporaryDirectory() as folder:
        (path,) = written(files, folder)
        exec(FORMATS["minbpe"].example.replace("tokenizer.model", path), names)
    encode: Encode = names["tokenizer"].encode
    return encode


LIBRARIES: dict[str, Callable[[Files], Encode]] = {
    "huggingface": hugging_face,
    "gpt2": gpt2,
    "tiktoken": of_tiktoken,
    "minbpe": minbpe,
}
"""The loader of each format. (Only bpeviz reads merges as CSV.)"""

"""Explain nine kinds of files that are not tokenizers, or that are incomplete."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import regex

from bpeviz.formats.base import FormatError, MissingFileError, printable_name
from bpeviz.formats.parsing import error_at, quoted

COMPANIONS = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "config.json",
    "generation_config.json",
    "chat_template.jinja",
    "chat_template.json",
    "preprocessor_config.json",
    "video_preprocessor_config.json",
    "processor_config.json",
    "model.safetensors.index.json",
    "params.json",
    "README.md",
)
"""Files beside a tokenizer in a folder of Hugging Face."""


def is_companion(name: str) -> bool:
    """Return whether a file beside a tokenizer has settings or a chat template."""
    return name in COMPANIONS or name.endswith(".jinja")


_CHOOSE = (
    "Choose the tokenizer itself, such as tokenizer.json, tokenizer.model, or vocab.json and "
    "merges.txt"
)
_SETTINGS = (
    "these are settings. The tokenizer beside them is missing, such as tokenizer.json, "
    "tokenizer.model, or vocab.json and merges.txt"
)
WEIGHTS = "these are the weights of a model. Its tokenizer is in another file, which is missing"

# fmt: off
_KINDS: tuple[tuple[bytes, str], ...] = (
    (rb"version https://git-lfs", "this is a pointer of Git LFS, and the file itself is missing. "
     "Download it, or run `git lfs pull`"),
    (rb"\x80|\(dp0", "this looks like a pickle, which is never loaded"),
    (rb"<!doctype html|<html", "this is a web page. Download the file itself, such as by “raw”"),
    (rb"PK\x03\x04|.{257}ustar|BZh|\xfd7zXZ|7z\xbc\xaf|Rar!|\x28\xb5\x2f\xfd",
     "this is an archive without a tokenizer, or one that is neither .zip nor .gz. Unpack it, and "
     "choose the files in it"),
    (rb"\x89HDF|.{4}TFL3|.{8}\{\"|\x93NUMPY|lmgg", WEIGHTS),
    (rb"\xff\xfe|\xfe\xff|(?:[\x01-\x7f]\0){4}", "this is UTF-16; save it as UTF-8"),
)
"""Kinds of files by a regular expression for their first bytes, in any case."""

_JSON_KINDS: tuple[tuple[str, str], ...] = (
    ("weight_map", WEIGHTS),
    ("tokenizer_class model_type architectures transformers_version model_max_length n_layers "
     "hidden_size bos_token eos_token unk_token pad_token cls_token bos_token_id peft_type "
     "feature_extractor_type image_processor_type processor_class chat_template pat_str",
     _SETTINGS),
)
"""Kinds of JSON files by the keys of which one is present."""
# fmt: on

_COMPILED = [(regex.compile(b"(?si:" + start + b")"), reason) for start, reason in _KINDS]
_MERGES = regex.compile(rb"(?:#version[^\n]*\n)?(?:[^\s\d]+ [^\s\d]+\r?\n){2}")

_LARGEST_SETTINGS = 20_000_000
"""Bytes of a JSON file up to which its kind is explained."""


def refuse_known(files: Mapping[str, bytes]) -> None:
    """Raise `FormatError` for contents that are known, but not a tokenizer."""
    for name, content in files.items():
        start = _start(content)
        for kind, reason in _COMPILED:
            if kind.match(start) or kind.match(content[:300]):
                raise error_at(name, "", reason)
        if len(files) == 1 and start.startswith(b"{"):
            _explain_json(name, content)


def _start(content: bytes) -> bytes:
    return content[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n")


def unknown_format(files: Mapping[str, bytes]) -> FormatError:
    """Return the error for files in no known format; the message says what they contain."""
    names = " and ".join(map(printable_name, files))
    if len(files) > 2:
        return FormatError(f"{len(files)} files are too many: a tokenizer has one or two.")
    if len(files) > 1:
        return FormatError(f"{names}: these files do not belong together. {_CHOOSE}.")
    ((name, content),) = files.items()
    if _MERGES.match(_start(content)):
        return MissingFileError(
            f"{names} is a list of merges without ids. Open it together with its vocab.json."
        )
    contents = "binary data"
    if is_text_file(content):
        lines = content[:200].decode("utf-8-sig", "ignore").strip().splitlines()
        contents = f"text that begins with {quoted(lines[0] if lines else '')}"
    return error_at(name, "", f"unknown format: {contents}. {_CHOOSE}")


def is_text_file(content: bytes) -> bool:
    """Return whether a file of an unknown kind begins as text."""
    try:
        text = content[:200].decode("utf-8", "strict" if len(content) <= 200 else "ignore")
    except UnicodeDecodeError:
        return False
    return "\0" not in text and len(text.encode()) > 150 * (len(content) > 200)


def _explain_json(file: str, content: bytes) -> None:
    """Raise `FormatError` for a JSON file that is not a tokenizer.json, if its kind is known.

    The file is parsed leniently: a tokenizer_config.json may contain a number of 31 digits.
    """
    try:
        is_small = len(content) <= _LARGEST_SETTINGS
        value: Any = json.loads(content.decode("utf-8-sig")) if is_small else None
    except (ValueError, RecursionError):
        return
    if not isinstance(value, dict) or isinstance(value.get("model"), dict | list):
        return
    for keys, reason in _JSON_KINDS:
        if not value.keys().isdisjoint(keys.split()):
            raise error_at(file, "", reason)
    if value and all(type(number) is int for number in value.values()):
        raise MissingFileError(
            f"{printable_name(file)} is a vocabulary without merges. It needs its merges.txt."
        )

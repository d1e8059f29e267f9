"""Explain files that are not tokenizers, or that are incomplete."""

from __future__ import annotations

from collections.abc import Mapping

import regex

from bpeviz.formats.parsing import error_at

_COMPANIONS = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "config.json",
    "generation_config.json",
    "chat_template.jinja",
    "preprocessor_config.json",
    "README.md",
)
"""Files beside a tokenizer in a folder of Hugging Face; none is needed for ids."""

_STARTS: tuple[tuple[bytes, str], ...] = (
    (
        b"version https://git-lfs",
        "this is a pointer of Git LFS, and the file itself is missing. Download it, or run "
        "`git lfs pull`",
    ),
    (b"\x80", "this looks like a pickle, which is never loaded"),
    (b"<!doctype html", "this is a web page. Download the file itself, for example by “raw”"),
    (b"<html", "this is a web page. Download the file itself, for example by “raw”"),
    (b"PK\x03\x04", "this is an archive with other files than a tokenizer"),
    (b"%PDF", "this is a PDF"),
    (b"\x89PNG", "unknown format: this is a picture"),
)

_SETTINGS = regex.compile(rb'"(?:tokenizer_class|model_type|architectures|bos_token)"')
_PIECE_LIST = regex.compile(rb"<unk>\t[-0-9.]+\r?\n")
_SAFETENSORS = regex.compile(rb"^.{8}\{\"", regex.DOTALL)


def explain(files: Mapping[str, bytes]) -> None:
    """Raise `FormatError` for contents that are known, but not a tokenizer."""
    for name, content in files.items():
        start = content[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n")
        for known, reason in _STARTS:
            if start[: len(known)].lower() == known.lower():
                raise error_at(name, "", reason)
        if _SAFETENSORS.match(content[:20]):
            raise error_at(name, "", "these are the weights of a model. Its tokenizer is missing")
        if _PIECE_LIST.match(start):
            raise error_at(
                name,
                "",
                "this list of SentencePiece’s pieces is for reading. The .model beside it is "
                "missing",
            )


def without_companions(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Return the files of a tokenizer out of a whole folder.

    Files with settings of a model are left out, and all others beside a tokenizer.json.
    """
    if len(files) < 2:
        return files
    last = {name: name.replace("\\", "/").rsplit("/", 1)[-1] for name in files}
    kept = {name: content for name, content in files.items() if last[name] not in _COMPANIONS}
    for name, content in kept.items():
        if last[name] == "tokenizer.json":
            return {name: content}
    return kept or files


def check_not_settings(file: str, content: bytes) -> None:
    """Raise `FormatError` for a JSON file with settings of a model or a tokenizer."""
    if _SETTINGS.search(content[:100_000]):
        raise error_at(
            file,
            "",
            "these are settings. The tokenizer.json beside them is missing (or tokenizer.model, "
            "or vocab.json and merges.txt)",
        )

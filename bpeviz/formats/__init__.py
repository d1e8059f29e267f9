"""Tokenizers as files: those of the libraries that people use, written and read exactly.

`dump` writes a tokenizer so that the format's own library finds the same ids on every text, or
refuses and says why: nothing is ever left out silently. `parse` reads a file as data: strictly, in
bounds, and never half; what a file asks for that is not done here exactly is refused, with the line
or the key. The ids of a file are kept.

A format is a file of this package and a line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats import csv_merges, gpt2, huggingface, minbpe, tiktoken_ranks
from bpeviz.formats.merges import CannotError
from bpeviz.formats.parsing import MAX_FILE, Format, FormatError, shown_name
from bpeviz.text import shorten

__all__ = ["FORMATS", "MAX_FILE", "Format", "FormatError", "dump", "parse"]

_MODULES = {
    module.FORMAT.key: module for module in (huggingface, gpt2, tiktoken_ranks, minbpe, csv_merges)
}

FORMATS: dict[str, Format] = {key: module.FORMAT for key, module in _MODULES.items()}
"""The formats by key, in the order in which they are offered."""

_MOST_FILES = 2


def dump(tokenizer: Tokenizer, format: str) -> dict[str, bytes]:
    """Return the files of a tokenizer in a format, by name.

    Raises `FormatError` where the format cannot hold it; the message is a sentence with the reason.

    >>> import bpeviz
    >>> tokenizer = bpeviz.train("low lower lowest", vocab_size=258).tokenizer()
    >>> print(dump(tokenizer, "minbpe")["tokenizer.model"].decode().splitlines()[-2:])
    ['108 111', '256 119']
    """
    module = _MODULES.get(format)
    if module is None:
        raise FormatError(f"There is no format {format!r}. Known: {', '.join(FORMATS)}.")
    try:
        written: dict[str, bytes] = module.write(tokenizer)
    except CannotError as error:
        raise FormatError(f"{module.FORMAT.title} cannot hold this tokenizer: {error}.") from error
    return written


def parse(
    files: Mapping[str, bytes],
    format: str | None = None,
    *,
    pattern: str = "",
    expression: str = "",
) -> Tokenizer:
    """Return the tokenizer of one file or of two that belong together, by name.

    format: found from the names and the content where it is None.
    pattern, expression: how a text is split, as in `bpeviz.train`, for a file that does not say so:
        ranks of tiktoken's without the second file, and merges as CSV without the first line.

    Raises `FormatError`, whose message is a sentence that tells the line or the key.
    """
    if not files:
        raise FormatError("There is no file.")
    if len(files) > _MOST_FILES:
        raise FormatError(f"{len(files)} files are too many: a tokenizer has one or two.")
    for name, content in files.items():
        if len(content) > MAX_FILE:
            raise FormatError(
                f"{shown_name(name)} has {len(content) / 1e6:,.0f} MB, and at most "
                f"{MAX_FILE / 1e6:,.0f} MB are taken."
            )
        if not content.strip():
            raise FormatError(f"{shown_name(name)} is empty.")
    if format is None:
        format = _recognized(files)
    if format not in FORMATS:
        raise FormatError(f"There is no format {format!r}. Known: {', '.join(FORMATS)}.")
    given = dict(files)
    name = _name(given)
    try:
        if format == "tiktoken":
            return tiktoken_ranks.read(name, given, pattern, expression)
        if format == "csv":
            return csv_merges.read(name, given, pattern, expression)
        if format == "minbpe":
            return minbpe.read(name, given)
        if format == "gpt2":
            return gpt2.read(name, given)
        return huggingface.read(name, given)
    except CannotError as error:
        raise FormatError(f"{shown_name(next(iter(given)))} is not taken: {error}.") from error


def _name(files: Mapping[str, bytes]) -> str:
    """Return what a tokenizer is called after its files."""
    first = min(files, key=len)
    stem = first.replace("\\", "/").rsplit("/", 1)[-1].split(".", 1)[0]
    return shorten(shown_name(stem), 40) or "tokenizer"


def _recognized(files: Mapping[str, bytes]) -> str:
    """Return the format of files, by their names and by how they begin."""
    by_end = {name.lower().rsplit(".", 1)[-1]: content for name, content in files.items()}
    if "tiktoken" in by_end:
        return "tiktoken"
    if {"txt", "bpe"} & {*by_end}:
        return "gpt2"
    if "csv" in by_end:
        return "csv"
    if "model" in by_end:
        return "minbpe"
    if len(files) == 2:
        raise FormatError(
            "These two files do not belong together; two are vocab.json and merges.txt, or ranks "
            "as .tiktoken and the .tiktoken.json that goes with them."
        )
    ((name, content),) = files.items()
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:20]
    if start[:1] == b"{":
        if b'"model"' not in content:
            raise FormatError(
                f"{shown_name(name)} is no tokenizer.json, for it has no key “model”; with a "
                "vocab.json its merges.txt is needed as well."
            )
        return "huggingface"
    if start.startswith(b"minbpe v1"):
        return "minbpe"
    if start.startswith((b"# bpeviz", b"left,right")):
        return "csv"
    if "json" in by_end:
        return "huggingface"
    titles = "; ".join(format.title for format in FORMATS.values())
    raise FormatError(f"{shown_name(name)} is of no format that is read here; these are: {titles}.")

"""vocab.txt of BERT: one piece a line, whose number is its id; or JSON with an id for each piece.

The file contains no settings. Those of BERT are assumed: its normalization and its splits.
tokenizer_config.json says whether texts are converted to lower case. Without it, they are if no
entry has a capital letter.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import regex

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import HEAD, Format, Source
from bpeviz.formats.huggingface import tokenizer_of_document
from bpeviz.formats.huggingface.common import (
    add_tokens,
    bert_normalizer,
    document_of,
    template,
)
from bpeviz.formats.model_settings import BERT, BERT_TOKENS, model_settings
from bpeviz.formats.parsing import (
    checked_text,
    error_at,
    parse_json,
    quoted,
    split_lines,
)


def _read_wordpiece(source: Source) -> Tokenizer:
    file, content = source.single()
    entries = parse_json(file, content).vocabulary() if _is_json(content) else _lines(file, content)
    settings = model_settings(source.settings, BERT, entries)
    unknown = settings.tokens.get("unk_token", "[UNK]")
    if unknown not in entries:
        raise error_at(file, "", f"{quoted(unknown)} is missing, the unknown token of this model")
    # By default, BERT's classes in `transformers` convert texts to lower case. A vocabulary without
    # settings may be of a model with capital letters, so its entries decide.
    lower = settings.flag("do_lower_case", settings.is_known or is_lower(entries))
    document = bert_document(entries, bool(lower), unknown)
    document["normalizer"] |= {
        "handle_chinese_chars": settings.flag("tokenize_chinese_chars", True),
        "strip_accents": settings.flag("strip_accents", None),
    }
    add_tokens(document, settings)
    return tokenizer_of_document(source.name, file, document)


def _lines(file: str, content: bytes) -> dict[str, int]:
    """Return the number of each line, from 0. Raises `FormatError`."""
    entries: dict[str, int] = {}
    for number, line in enumerate(split_lines(file, content)):
        entry = checked_text(file, f"line {number + 1:,}", line.rstrip())
        if entry and entry in entries:
            raise error_at(file, f"line {number + 1:,}", f"{quoted(entry)} occurs twice")
        entries[entry] = number
    return entries


def _assumption(source: Source) -> str:
    """Return which settings are assumed, and why."""
    settings = model_settings(source.settings, BERT)
    reason = ""
    if settings.is_known:
        reason = f", since {settings.named_in} names {settings.name}"
    elif settings.flag("do_lower_case", None) is not None:
        reason = ", except for the case"
    return f"The vocabulary contains no settings. Those of BERT are assumed{reason}."


def is_lower(entries: Collection[str]) -> bool:
    """Return whether a vocabulary without capital letters needs texts in lower case."""
    return all(entry == entry.lower() for entry in entries if entry[:1] != "[")


def bert_document(entries: Mapping[str, int], lower: bool, unknown: str) -> dict[str, Any]:
    """Return the tokenizer.json of BERT.

    Args:
        entries: ids by piece.
        lower: whether it converts texts to lower case.
        unknown: the unknown token.
    """
    special = {name: entries[name] for name in (*BERT_TOKENS, unknown) if name in entries}
    document = document_of(
        {
            "type": "WordPiece",
            "unk_token": unknown,
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": dict(entries),
        },
        special,
        normalizers=[bert_normalizer(lower)],
        pre_tokenizers=[{"type": "BertPreTokenizer"}],
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
    )
    if {"[CLS]", "[SEP]"} <= entries.keys():
        document["post_processor"] = template(entries, ["[CLS]"], ["[SEP]"])
    return document


def _detect_wordpiece(files: Mapping[str, bytes]) -> bool:
    content = next(iter(files.values()))
    unknown = _UNKNOWN_ENTRY if _is_json(content) else _UNKNOWN_LINE
    return len(files) == 1 and unknown.search(content) is not None


def _is_json(content: bytes) -> bool:
    """Return whether a file begins as an object of ids by piece."""
    return _FIRST_ENTRY.match(content[:HEAD]) is not None


_FIRST_ENTRY = regex.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:[^"\\]|\\.)++"\s*:\s*[0-9]')
_UNKNOWN_ENTRY = regex.compile(rb'"\[UNK\]"\s*:\s*[0-9]')
_UNKNOWN_LINE = regex.compile(rb"(?:^|\n)\[UNK\]\r?\n")

FORMAT = Format(
    key="wordpiece",
    title="BERT’s vocab.txt",
    about="One piece a line, for WordPiece with the normalization of BERT.",
    files=("vocab.txt",),
    read=_read_wordpiece,
    detect=_detect_wordpiece,
    assumption=_assumption,
)

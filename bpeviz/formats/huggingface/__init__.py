"""Hugging Face's tokenizer.json, as the library `tokenizers` reads and writes it.

Three models are written: BPE (over bytes or characters), WordPiece and Unigram. A `Split` makes the
same pre-tokens as bpeviz, with the expression translated for Oniguruma; over bytes, a `ByteLevel`
maps bytes to characters. The library then encodes every text as bpeviz does, apart from differences
between Unicode tables. If that is impossible, the tokenizer is rejected.

The library always recognizes the names of special tokens in a text, unless a program sets
`tokenizer.encode_special_tokens = True`. bpeviz recognizes those that `encode` allows.

Every file is read, and its library applies it. Only merges over bytes with a named pattern are
applied by bpeviz: they are common, and need no child process, of which there are few.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import regex

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import (
    Format,
    FormatError,
    Source,
    UnsupportedError,
)
from bpeviz.formats.huggingface import bpe, sentencepiece, unigram, wordpiece
from bpeviz.formats.huggingface.common import require, template
from bpeviz.formats.huggingface.settings import differences
from bpeviz.formats.library import content_of, read_tokenizer_json
from bpeviz.formats.merges import as_ranks, merges_of, tokenizer_of
from bpeviz.formats.parsing import Node, dump_json, parse_json
from bpeviz.formats.recognition import refuse_known
from bpeviz.formats.remapped_ids import with_template
from bpeviz.libraries.tokenizer import LONGEST_TEMPLATE, LibraryTokenizer
from bpeviz.libraries.worker import HUGGING_FACE
from bpeviz.pretokenizers.patterns import CUSTOM
from bpeviz.trainers.unigram import UnigramTokenizer
from bpeviz.trainers.wordpiece import WordPieceTokenizer

LARGEST_PARSED = 12_000_000
"""Bytes of a file up to which this process parses it."""


def _write(tokenizer: Tokenizer) -> dict[str, bytes]:
    dense = tokenizer.with_dense_ids
    if (content := content_of(dense, HUGGING_FACE)) is not None:
        return {FORMAT.files[0]: content}
    to_document = _DOCUMENTS.get(dense.exact_kind, _document_of_merges)
    document = to_document(dense, tokenizer)
    if tokenizer is not dense:
        special = tokenizer.special_tokens
        named = {i: name for name, i in special.items()}
        is_special = named.keys() >= {*chain(*tokenizer.template)}
        require(is_special, "its template has an ordinary token")
        before, after = ([named[i] for i in ids] for ids in tokenizer.template)
        document["post_processor"] = template(special, before, after)
    return {FORMAT.files[0]: dump_json(document)}


def _document_of_merges(_: Any, tokenizer: Any) -> dict[str, Any]:
    try:
        return bpe.to_document(merges_of(tokenizer))
    except UnsupportedError:
        if (table := as_ranks(tokenizer)) is None:
            raise
        return bpe.document_of_ranks(table)


_DOCUMENTS: Mapping[str, Callable[[Any, Any], dict[str, Any]]] = {
    LibraryTokenizer.kind: sentencepiece.to_document,
    WordPieceTokenizer.kind: wordpiece.to_document,
    UnigramTokenizer.kind: unigram.to_document,
}
"""What makes the document of a kind of tokenizers, except those of merges and ranks."""


def _read(source: Source) -> Tokenizer:
    file, content = source.single()
    content = content.removeprefix(b"\xef\xbb\xbf")  # the library refuses a byte order mark
    if (inside := _inside(content)) is not None:
        return _read(replace(source, files={file: inside}))
    refuse_known({file: content})
    if len(content) <= LARGEST_PARSED:
        document = parse_json(file, content)  # its errors name the line
        if "model" not in document:
            raise document.error("this is not a tokenizer.json: the key “model” is missing")
        with contextlib.suppress(FormatError, UnsupportedError):
            return _read_merges(source.name, document)
    return read_tokenizer_json(source.name, file, content)


def tokenizer_of_document(name: str, file: str, document: dict[str, Any]) -> Tokenizer:
    """Return the tokenizer of a tokenizer.json that another file was converted to.

    Args:
        name: The name of the tokenizer.
        file: The name of the other file.
        document: The tokenizer.json.

    Raises:
        FormatError: The file is not valid.
    """
    invalid: FormatError | None = None
    try:
        return _read_merges(name, Node(file, document))
    except UnsupportedError:
        pass
    except FormatError as error:
        invalid = error  # the library accepts more, such as a vocabulary without some bytes
    try:
        return read_tokenizer_json(name, file, dump_json(document))
    except FormatError as error:
        raise (invalid or error) from None


def _inside(content: bytes) -> bytes | None:
    """Return the tokenizer.json that a file of MidiTok contains as a text, or None."""
    if (match := _MIDITOK.search(content)) is None:
        return None
    with contextlib.suppress(ValueError):
        document: str = json.loads(match[1])
        return document.encode("utf-8", "replace")
    return None


_MIDITOK = regex.compile(rb'"_(?:bpe_)?model"\s*:\s*("\{(?:[^"\\]|\\.)++")')
"""The key of MidiTok's tokenizer, `_bpe_model` before version 3, and the text after it."""


def _read_merges(name: str, document: Node) -> Tokenizer:
    """Return the tokenizer of merges over bytes with a known pattern, which needs no child process.

    Raises:
        FormatError: The file is not valid.
        UnsupportedError: Merges alone do not represent it.
    """
    for key in ("truncation", "padding"):
        document[key].expect(None)
    decoder = document["decoder"]
    require(decoder.value is None or decoder["type"].value == "ByteLevel", "it decodes otherwise")
    document["model"]["dropout"].expect(None, 0.0)
    before, after = _template(document["post_processor"])
    merges = bpe.merges_of_document(document)
    require(merges.pre_tokenizer.pattern != CUSTOM, "its expression is not known")
    tokenizer = tokenizer_of(name, merges)
    if not before + after:
        return tokenizer
    complete = with_template(tokenizer, before, after)
    if complete is None:
        raise UnsupportedError("its template has tokens without an id")
    return complete


def _template(processor: Node) -> tuple[list[int], list[int]]:
    """Return the ids that a post-processor adds before and after a text for a model.

    Raises:
        FormatError: It is not a post-processor.
        UnsupportedError: It may change the ids of a text, or does not contain the text once.
    """
    before: list[int] = []
    after: list[int] = []
    if processor.value is None:
        return before, after
    steps = [processor]
    if processor["type"].value == "Sequence":
        steps = [*processor["processors"].nodes()]
    for step in steps:
        if step["type"].expect("ByteLevel", "TemplateProcessing") == "TemplateProcessing":
            try:
                ids = [_ids(part, step.value["special_tokens"]) for part in step.value["single"]]
                at = ids.index(None)
                before = [*chain.from_iterable(ids[:at]), *before]
                after += chain.from_iterable(ids[at + 1 :])
            except (KeyError, TypeError, ValueError) as error:
                raise UnsupportedError("its template does not contain the text once") from error
    added = [*before, *after]
    is_usable = len(added) <= LONGEST_TEMPLATE and all(type(token_id) is int for token_id in added)
    require(is_usable, "its template is not usable")
    return before, after


def _ids(part: dict[str, Any], special: dict[str, Any]) -> Any:  # list[int] | None
    """Return the ids of a part of a template, or None for the text."""
    return None if "Sequence" in part else special[part["SpecialToken"]["id"]]["ids"]


def _detect(files: Mapping[str, bytes]) -> bool:
    content = next(iter(files.values()))
    return len(files) == 1 and content[:40].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


FORMAT = Format(
    key="huggingface",
    title="Hugging Face’s tokenizer.json",
    about="One file with everything, for merges over bytes or characters, WordPiece and Unigram.",
    files=("tokenizer.json",),
    suffixes=(".json",),
    write=_write,
    read=_read,
    detect=_detect,
    assumption=differences,
)

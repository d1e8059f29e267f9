"""A BPE model of SentencePiece as a tokenizer.json, as `transformers` converts Llama 2's.

Source: `LlamaConverter` and `SpmConverter` in `convert_slow_tokenizer.py`; `bpe_model.cc` of
SentencePiece. The library joins the two neighbors whose joined piece has the highest score. So each
two pieces that make a third one are a merge, in the order of scores.
"""

from __future__ import annotations

import base64
import struct
from typing import Any

from bpeviz.formats.huggingface.common import Part, bpe_model, document_of, require
from bpeviz.formats.parsing import quoted
from bpeviz.libraries.tokenizer import LibraryTokenizer
from bpeviz.libraries.worker import fields

_SPACE = "▁"
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED = range(1, 5)
_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_AS_SUFFIX = 24
"""The fields of the messages in `sentencepiece_model.proto`."""


def to_document(tokenizer: LibraryTokenizer) -> dict[str, Any]:
    """Return the document of a model. Raises `UnsupportedError`."""
    kind = tokenizer.info["model"]["type"]
    require(
        kind == "BPE",
        f"its model is {kind}, and only SentencePiece’s BPE models can be converted",
    )
    pieces: list[tuple[str, float, int]] = []
    settings: dict[int, dict[int, int | bytes]] = {_TRAINER: {}, _NORMALIZER: {}}
    for field, value in fields(tokenizer.file.content):
        if field == _PIECES and isinstance(value, bytes):
            piece: dict[int, Any] = dict(fields(value))
            score = struct.unpack("<f", piece.get(2, bytes(4)))[0]
            pieces.append((piece.get(1, b"").decode(), score, piece.get(3, _NORMAL)))
        elif field in settings and isinstance(value, bytes):
            settings[field] = dict(fields(value))
    rules = settings[_NORMALIZER]
    require(not settings[_TRAINER].get(_AS_SUFFIX), "its ▁ is at the end of words")
    require(rules.get(5, 1) == 1, "it does not write spaces as ▁")
    entries = {name: i for i, (name, _, _) in enumerate(pieces)}
    require(len(entries) == len(pieces), "two of its pieces are equal")
    merges: list[tuple[float, str, str]] = []
    for name, score, its_kind in pieces:
        if its_kind != _NORMAL or len(name) < 2:
            continue
        for character in name:
            require(
                character in entries,
                f"the character {quoted(character)} is in its piece {quoted(name)}, and not alone",
            )
        halves = ((name[:i], name[i:]) for i in range(1, len(name)))
        merges += ((-score, *pair) for pair in halves if entries.keys() >= {*pair})
    merges.sort(key=lambda merge: merge[0])
    unknown = next((name for name, _, its_kind in pieces if its_kind == _UNKNOWN), None)
    prefix = rules.get(3, 1) == 1
    for name, _, its_kind in pieces:
        require(
            not (prefix and its_kind == _USER_DEFINED),
            "it writes ▁ before a text, and a tokenizer.json would also write it after its symbol "
            f"{quoted(name)}",
        )
    document = document_of(
        bpe_model(
            entries,
            (pair for _, *pair in merges),
            unk_token=unknown,
            fuse_unk=True,
            byte_fallback=bool(tokenizer.info["model"]["byte_fallback"]),
        ),
        {name: i for i, (name, _, its_kind) in enumerate(pieces) if its_kind in _ADDED},
        normalizers=_normalizers(rules, prefix),
        pre_tokenizers=[],
        decoder={
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": _SPACE}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                *([{"type": "Strip", "content": " ", "start": 1, "stop": 0}] * prefix),
            ],
        },
    )
    for token in document["added_tokens"]:
        token["special"] = pieces[token["id"]][2] != _USER_DEFINED
    return document


_ADDED = (_UNKNOWN, _CONTROL, _USER_DEFINED)


def _normalizers(rules: dict[int, int | bytes], prefix: bool) -> list[Part]:
    found: list[Part] = []
    table = rules.get(2)
    if isinstance(table, bytes) and table:
        table_in_base64 = base64.b64encode(table).decode()
        found.append({"type": "Precompiled", "precompiled_charsmap": table_in_base64})
    if rules.get(4, 1) == 1:  # spaces at both ends, and all but one of several, are removed
        found.append({"type": "Replace", "pattern": {"Regex": "^ +| +$"}, "content": ""})
        found.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    if prefix:
        found.append({"type": "Prepend", "prepend": _SPACE})
    found.append({"type": "Replace", "pattern": {"String": " "}, "content": _SPACE})
    return found

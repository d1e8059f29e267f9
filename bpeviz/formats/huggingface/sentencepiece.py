"""A BPE model of SentencePiece as a tokenizer.json, as `transformers` converts Llama 2's.

Source: `LlamaConverter` and `SpmConverter` in `convert_slow_tokenizer.py`; `bpe_model.cc` of
SentencePiece. The library joins the two neighbors whose joined piece has the highest score. So each
two pieces that make a third one are a merge, in the order of scores.
"""

from __future__ import annotations

import base64
from typing import Any

from bpeviz.formats.base import UnsupportedError
from bpeviz.formats.huggingface.common import (
    ComponentJSON,
    bpe_model,
    document_of,
    replaced,
    require,
    space_decoder,
)
from bpeviz.formats.parsing import quoted
from bpeviz.libraries.tokenizer import LibraryTokenizer

_SPACE = "▁"


def to_document(tokenizer: LibraryTokenizer, _: object) -> dict[str, Any]:
    """Return the document of a model. Raises `UnsupportedError`."""
    from sentencepiece import sentencepiece_model_pb2

    kind = tokenizer.info["model"]["type"]
    require(
        kind == "BPE",
        f"its model is {kind}, and only SentencePiece’s BPE models can be converted",
    )
    messages: Any = sentencepiece_model_pb2  # its classes are made at run time
    model = messages.ModelProto.FromString(tokenizer.file.content)
    kinds = messages.ModelProto.SentencePiece
    pieces, rules = model.pieces, model.normalizer_spec
    require(not model.trainer_spec.treat_whitespace_as_suffix, "its ▁ is at the end of words")
    require(rules.escape_whitespaces, "it does not write spaces as ▁")
    entries = {piece.piece: i for i, piece in enumerate(pieces)}
    require(len(entries) == len(pieces), "two of its pieces are equal")
    merges: list[tuple[float, str, str]] = []
    for piece in pieces:
        name = piece.piece
        if piece.type != kinds.NORMAL or len(name) < 2:
            continue
        if absent := [character for character in name if character not in entries]:
            raise UnsupportedError(
                f"the character {quoted(absent[0])} is in its piece {quoted(name)}, and not alone"
            )
        halves = ((name[:i], name[i:]) for i in range(1, len(name)))
        merges += ((-piece.score, *pair) for pair in halves if entries.keys() >= {*pair})
    merges.sort(key=lambda merge: merge[0])
    unknown = next((piece.piece for piece in pieces if piece.type == kinds.UNKNOWN), None)
    prefix = rules.add_dummy_prefix
    symbol = next((piece.piece for piece in pieces if piece.type == kinds.USER_DEFINED), "")
    require(
        not (prefix and symbol),
        "it writes ▁ before a text, and a tokenizer.json would also write it after its symbol "
        f"{quoted(symbol)}",
    )
    added = (kinds.CONTROL, kinds.USER_DEFINED)  # no text contains the unknown piece
    document = document_of(
        bpe_model(
            entries,
            (pair for _, *pair in merges),
            unk_token=unknown,
            fuse_unk=True,
            byte_fallback=bool(tokenizer.info["model"]["byte_fallback"]),
        ),
        {piece.piece: i for i, piece in enumerate(pieces) if piece.type in added},
        normalizers=_normalizers(rules),
        pre_tokenizers=[],
        decoder=space_decoder(
            _SPACE, *[{"type": "Strip", "content": " ", "start": 1, "stop": 0}] * prefix
        ),
    )
    for token in document["added_tokens"]:
        token["special"] = pieces[token["id"]].type != kinds.USER_DEFINED
        token |= dict.fromkeys(tokenizer.added_flags(token["id"]), True)
    return document


def _normalizers(rules: Any) -> list[ComponentJSON]:
    """Return the normalizers that do what the rules of a model say."""
    normalizers: list[ComponentJSON] = []
    if rules.precompiled_charsmap:
        table = base64.b64encode(rules.precompiled_charsmap).decode()
        normalizers.append({"type": "Precompiled", "precompiled_charsmap": table})
    if rules.remove_extra_whitespaces:  # spaces at both ends, and all but one of several
        normalizers.append(replaced({"Regex": "^ +| +$"}, ""))
        normalizers.append(replaced({"Regex": " {2,}"}, " "))
    if rules.add_dummy_prefix:
        normalizers.append({"type": "Prepend", "prepend": _SPACE})
    return [*normalizers, replaced({"String": " "}, _SPACE)]

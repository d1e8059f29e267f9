"""Compare the tokenizer of a real file with the library for which the file was made."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence

import sentencepiece
import tiktoken
import tokenizers

from bpeviz.core.boundaries import DROPPED_ID, UNKNOWN_ID
from bpeviz.core.byte_alphabet import BYTE_OF
from bpeviz.core.tokenizer import Tokenizer

Reference = Callable[[str], list[tuple[int, bytes]]]
"""Returns the ids of a text, and the bytes that each token has in the library."""

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


def of_content(content: bytes) -> Reference:
    """Return the library of a tokenizer.json, a tekken.json or a SentencePiece model."""
    if b'"default_num_special_tokens"' in content[:100_000]:
        return of_tekken(json.loads(content))
    return of_json(content) if content.startswith(b"{") else of_sentencepiece(content)


def of_ranks(content: bytes, pattern: str, special: Mapping[str, int] = {}) -> Reference:
    """Return tiktoken with the ranks of a file."""
    rows = [line.split() for line in content.splitlines()]
    ranks = {base64.b64decode(token): int(rank) for token, rank in rows}
    return _of_tiktoken(
        tiktoken.Encoding(
            "ranks", pat_str=pattern, mergeable_ranks=ranks, special_tokens=dict(special)
        )
    )


def of_tekken(document: Mapping[str, Mapping[str, object]]) -> Reference:
    """Return tiktoken with a tekken.json, as `tekken.py` in mistral-common reads it."""
    config, vocab = document["config"], document["vocab"]
    special, size = config["default_num_special_tokens"], config["default_vocab_size"]
    assert isinstance(special, int)
    assert isinstance(size, int)
    assert isinstance(vocab, list)
    ranks = {base64.b64decode(row["token_bytes"]): row["rank"] for row in vocab[: size - special]}
    pattern = str(config["pattern"])
    return _of_tiktoken(
        tiktoken.Encoding("tekken", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}),
        special,
    )


def _of_tiktoken(encoding: tiktoken.Encoding, first: int = 0) -> Reference:
    def encode(text: str) -> list[tuple[int, bytes]]:
        ranks = encoding.encode_ordinary(text)
        return [(rank + first, encoding.decode_single_token_bytes(rank)) for rank in ranks]

    return encode


def of_json(content: bytes) -> Reference:
    """Return `tokenizers` with a tokenizer.json."""
    theirs = tokenizers.Tokenizer.from_buffer(content)
    theirs.encode_special_tokens = True
    theirs.no_truncation()
    theirs.no_padding()
    added = {token.content for token in theirs.get_added_tokens_decoder().values()}
    over_bytes = '"ByteLevel"' in str(theirs.pre_tokenizer) + str(theirs.decoder) or (
        "ByteLevel" in repr(theirs.decoder)
    )

    def raw(token: str) -> bytes:
        if token in added:
            return token.encode()
        if byte := _BYTE.fullmatch(token):
            return bytes.fromhex(byte[1])
        if over_bytes:
            return bytes(BYTE_OF[character] for character in token)
        return token.replace("▁", " ").encode()

    def encode(text: str) -> list[tuple[int, bytes]]:
        found = theirs.encode(text, add_special_tokens=False)
        return [*zip(found.ids, map(raw, found.tokens), strict=True)]

    return encode


def of_sentencepiece(content: bytes) -> Reference:
    """Return `sentencepiece` with a model."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=content)

    def raw(token_id: int) -> bytes:
        piece = processor.id_to_piece(token_id)
        byte = _BYTE.fullmatch(piece) if processor.is_byte(token_id) else None
        return bytes.fromhex(byte[1]) if byte else piece.replace("▁", " ").encode()

    def encode(text: str) -> list[tuple[int, bytes]]:
        return [(token_id, raw(token_id)) for token_id in processor.encode(text)]

    return encode


def check_same(tokenizer: Tokenizer, reference: Reference, texts: Sequence[str]) -> None:
    """Check that ids are those of the library, and boundaries where its tokens are the text."""
    exact = 0
    for text in texts:
        expected = reference(text)
        ids = [token_id for token_id, _ in expected]
        assert tokenizer.encode(text) == ids, text
        bounds = tokenizer.boundaries(text)
        found = [
            tokenizer.unknown_id if token_id == UNKNOWN_ID else token_id
            for token_id in bounds.ids(bounds.steps).tolist()
            if token_id != DROPPED_ID
        ]
        assert found == ids, text
        joined = b"".join(raw for _, raw in expected)
        prefix = len(joined) - len(text.encode())
        if joined in (text.encode(), b" " + text.encode()):
            ends, at = [], -prefix
            for _, raw in expected:
                at += len(raw)
                ends.append(max(0, at))
            # A space before the text may be a token of its own, which covers nothing.
            assert sorted({*bounds.cuts(bounds.steps).tolist()} - {0}) == sorted({*ends} - {0}), (
                text
            )
            exact += 1
    assert exact > len(texts) / 3

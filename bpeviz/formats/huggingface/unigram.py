"""The model Unigram of a tokenizer.json. The library applies files with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any, cast

from bpeviz.core.byte_alphabet import CHARACTER_OF
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import UnsupportedError
from bpeviz.formats.huggingface.common import (
    BYTE_LEVEL,
    assigned_ids,
    document_of,
    ids_of,
    split_at,
    splits,
)
from bpeviz.trainers.unigram import LONGEST_PRE_TOKEN, UnigramTokenizer

NEVER_CHOSEN = -1e9
"""The log probability of the unknown token, so that a text that spells it out does not match it."""

PIECE_ATOMS = 512
"""Atoms of a piece: as many as the bytes of the longest pre-token."""

MAX_SQUARES = 8_000_000
"""Sum of the squares of all pieces' lengths: the library stores all beginnings of all pieces."""

QUANTUM = 2.0**-30
"""Log probabilities are multiples of this number (see `bpeviz.core.lattice`).

So a sum of 512 of them is exact in any order, and ties are the same in both programs.
"""


def to_document(dense: UnigramTokenizer, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the document of a tokenizer.

    Args:
        dense: the trained tokenizer.
        tokenizer: the same with the ids of the document.

    Raises:
        UnsupportedError: the library would encode differently.
    """
    pre_tokenizer = dense.pre_tokenizer
    over_bytes = pre_tokenizer.atoms == "bytes"
    special = dict(tokenizer.special_tokens)
    if not dense.alphabet:
        raise UnsupportedError("it has no pieces")
    by_id: dict[int, list[Any]] = {}
    for token_id, piece, score in zip(
        ids_of(dense, tokenizer), dense.model.pieces, dense.model.scores.tolist(), strict=True
    ):
        if over_bytes:
            piece = "".join(CHARACTER_OF[ord(symbol)] for symbol in piece)
        if len(piece) > PIECE_ATOMS:
            raise UnsupportedError(f"one of its pieces has more than {PIECE_ATOMS:,} atoms")
        by_id[token_id] = [piece, _readable(score)]
    _check_size(dense.model.pieces)
    last = BYTE_LEVEL
    if pre_tokenizer.unknown is not None:
        by_id[special[pre_tokenizer.unknown]] = [pre_tokenizer.unknown, NEVER_CHOSEN]
        # The library encodes a run of unknown characters in a pre-token as one unknown token, and
        # bpeviz as one for each. So each is a pre-token.
        last = split_at(_other_character(dense.alphabet))
    if {*by_id} != {*range(len(by_id))}:
        raise UnsupportedError("its ids have gaps, and in this format they are indices of a list")
    entries = {piece: token_id for token_id, (piece, _) in by_id.items()}
    if len(entries) < len(by_id) or any(entries.get(name, i) != i for name, i in special.items()):
        raise UnsupportedError("two ids have the same spelling")
    if assigned_ids(entries, special) != special:
        raise UnsupportedError("the ids of its special tokens do not follow the others")
    model = {
        "type": "Unigram",
        "unk_id": None if pre_tokenizer.unknown is None else special[pre_tokenizer.unknown],
        "vocab": [by_id[i] for i in range(len(by_id))],
        "byte_fallback": False,
    }
    return document_of(
        model,
        special,
        pre_tokenizers=[*splits(pre_tokenizer.pattern, pre_tokenizer.expression), _SHORT, last],
        decoder=BYTE_LEVEL if over_bytes else {"type": "Fuse"},
    )


def _as_read(score: float) -> float:
    """Return a number as the library reads its shortest digits.

    Its JSON reader (serde_json without `float_roundtrip`) converts all digits to one float and
    divides it by a power of ten, so the last place may be wrong.
    """
    sign, digits, exponent = Decimal(repr(score)).as_tuple()
    whole_number = float("".join(map(str, digits)))
    places = cast(int, exponent)
    magnitude = whole_number / 10.0**-places if places < 0 else whole_number * 10.0**places
    return -magnitude if sign else magnitude


def _readable(score: float) -> float:
    """Return the nearest multiple of the quantum that the library reads exactly.

    That is nearly always the score itself. A misread score would make sums depend on the order of
    addition, and break ties.
    """
    for distance in range(100):
        for candidate in (score - distance * QUANTUM, score + distance * QUANTUM):
            if _as_read(candidate) == candidate:
                return candidate
    raise UnsupportedError(f"the library would misread its log probability {score}")


def _check_size(pieces: Collection[str]) -> None:
    if sum(len(piece) ** 2 for piece in pieces) > MAX_SQUARES:
        raise UnsupportedError("the total size of its pieces is too large")


_SHORT = split_at(f"(?m:.){{1,{LONGEST_PRE_TOKEN}}}")
"""Splits a pre-token after each so many characters, as `ShortPreTokens` does."""


def _other_character(characters: Sequence[str]) -> str:
    """Return an expression for a character other than these."""
    if not characters:
        return "(?m:.)"
    codes = sorted(map(ord, characters))
    written = ""
    for _, run in groupby(enumerate(codes), lambda item: item[1] - item[0]):
        of_run = [code for _, code in run]
        written += f"\\x{{{of_run[0]:X}}}"
        if len(of_run) > 1:
            written += f"-\\x{{{of_run[-1]:X}}}"
    return f"[^{written}]"

"""The model Unigram of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any, cast

import numpy as np

from bpeviz.core.byte_alphabet import BYTE_OF, CHARACTER_OF
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import UnsupportedError
from bpeviz.formats.byte_alphabet import byte_symbols
from bpeviz.formats.huggingface.common import (
    BYTE_LEVEL,
    assigned_ids,
    check_added,
    check_same,
    document_of,
    encoded_differently,
    ids_of,
    parse_split,
    split_at,
    splits,
)
from bpeviz.formats.parsing import Node, checked_text, describe, quoted
from bpeviz.formats.remapped_ids import with_ids
from bpeviz.pretokenizers.pretokenizer import UNKNOWN
from bpeviz.trainers.unigram import LONGEST_PRE_TOKEN, Round, ShortPreTokens, UnigramTokenizer

NEVER_CHOSEN = -1e9
"""The log probability of the unknown token, so that a text that spells it out does not match it."""

LONGEST_PIECE = 512
"""Atoms of a piece: as many as the bytes of the longest pre-token."""

MAX_SQUARES = 8_000_000
"""Sum of the squares of all pieces' lengths: the library stores all beginnings of all pieces."""

LEAST_LIKELY = -(2.0**14)
"""The smallest log probability."""

QUANTUM = 2.0**-30
"""Log probabilities are multiples of this number (see `bpeviz.core.lattice`).

So a sum of 512 of them is exact in any order, and ties are the same in both programs.
"""


def to_document(inner: UnigramTokenizer, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the document of a tokenizer.

    Args:
        inner: the trained tokenizer.
        tokenizer: the same with the ids of the document.

    Raises:
        UnsupportedError: the library would encode differently.
    """
    pre_tokenizer = inner.pre_tokenizer
    over_bytes = pre_tokenizer.atoms == "bytes"
    special = dict(tokenizer.special_tokens)
    if not inner.alphabet:
        raise UnsupportedError("it has no pieces")
    by_id: dict[int, list[Any]] = {}
    for token_id, piece, score in zip(
        ids_of(inner, tokenizer), inner.model.pieces, inner.model.scores.tolist(), strict=True
    ):
        if over_bytes:
            piece = "".join(CHARACTER_OF[ord(symbol)] for symbol in piece)
        if len(piece) > LONGEST_PIECE:
            raise UnsupportedError(f"one of its pieces has more than {LONGEST_PIECE:,} atoms")
        by_id[token_id] = [piece, _readable(score)]
    _check_size(inner.model.pieces)
    last = BYTE_LEVEL
    if pre_tokenizer.unknown is not None:
        by_id[special[pre_tokenizer.unknown]] = [pre_tokenizer.unknown, NEVER_CHOSEN]
        # The library encodes a run of unknown characters in a pre-token as one unknown token, and
        # bpeviz as one for each. So each is a pre-token.
        last = split_at(_other_character(inner.alphabet))
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
    found = whole_number / 10.0**-places if places < 0 else whole_number * 10.0**places
    return -found if sign else found


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


def from_document(name: str, document: Node, model: Node, special: Mapping[str, int]) -> Tokenizer:
    """Return the tokenizer of a document. Raises `FormatError`."""
    unknown_id = model["unk_id"]
    model["byte_fallback"].expect(False, None, why="all atoms are characters, or all are bytes")
    vocabulary = model["vocab"]
    model.reject_unknown_keys()
    rows = [_piece(entry) for entry in vocabulary.nodes()]
    pieces = {i: piece for i, (piece, _) in enumerate(rows)}
    entries = {piece: i for i, piece in pieces.items()}
    if len(entries) < len(pieces):
        duplicate = next(piece for i, piece in pieces.items() if entries[piece] != i)
        raise vocabulary.error(f"the piece {quoted(duplicate)} occurs twice")
    part = document["pre_tokenizer"]
    parts = [*part["pretokenizers"].nodes()] if "pretokenizers" in part else []
    if len(parts) not in (2, 3):
        raise part.expected(
            f"a Sequence for Unigram (a Split; one after each {LONGEST_PRE_TOKEN} characters; one "
            "at unknown characters, or a ByteLevel)"
        )
    over_bytes = parts[-1].value == BYTE_LEVEL
    if over_bytes:
        unknown_id.expect(None, why="over bytes, every text is known")
        byte_symbols(vocabulary, entries)
    else:
        unknown = unknown_id.value
        if type(unknown) is not int or special.get(UNKNOWN) != unknown:
            raise unknown_id.expected(f"the id of the added token {UNKNOWN}")
        if unknown >= len(rows) or rows[unknown] != (UNKNOWN, NEVER_CHOSEN):
            raise vocabulary.entry_error(
                unknown, f"expected {UNKNOWN} and {NEVER_CHOSEN:g}, so that no text matches it"
            )
        del pieces[unknown]
    for entry in special:
        if entry in entries and (over_bytes or entry != UNKNOWN):
            raise document["added_tokens"].error(f"{quoted(entry)} is also a piece of the model")
    pattern = parse_split(parts[0]) if len(parts) == 3 else ("none", "")
    symbols = {
        i: _byte_symbols(vocabulary, i, piece) if over_bytes else piece
        for i, piece in pieces.items()
    }
    atoms = [i for i, piece in symbols.items() if len(piece) == 1]
    known = {symbols[i] for i in atoms}
    for i, piece in symbols.items():
        score = rows[i][1]
        if score % QUANTUM or _as_read(score) != score:
            raise vocabulary.entry_error(
                i,
                f"expected a log probability that is a multiple of 1/{1 / QUANTUM:,.0f}, as bpeviz "
                f"writes it, not {score!r}: other sums depend on the order of addition",
            )
        if not known.issuperset(piece):
            raise vocabulary.entry_error(
                i, f"{quoted(pieces[i])} contains a character that is not a piece"
            )
    check_added(document, entries, special)
    _check_size(symbols.values())
    ids = [*atoms, *(i for i, piece in symbols.items() if len(piece) > 1)]
    zeros = np.zeros(len(ids))
    only_round = Round(
        number=1,
        start=0,
        before=len(ids),
        after=len(ids),
        loss=0.0,
        log_probabilities=np.array([rows[i][1] for i in ids], np.float64),
        losses=zeros,
        uses=zeros.astype(np.int64),
        order=np.empty(0, np.int64),
    )
    names = sorted(special, key=special.__getitem__)
    inner = UnigramTokenizer(
        name,
        ShortPreTokens("bytes" if over_bytes else "characters", *pattern),
        tuple(symbols[i] for i in atoms),
        tuple(symbols[i] for i in ids),
        (only_round,),
        0,
        special=tuple(one for one in names if over_bytes or one != UNKNOWN),
    )
    tokenizer = with_ids(inner, tuple(ids), special)
    try:
        check_same(document, model, to_document(inner, tokenizer))
    except UnsupportedError as error:
        raise encoded_differently(document, error) from None
    return tokenizer


def _piece(entry: Node) -> tuple[str, float]:
    """Return a piece and its log probability. Raises `FormatError`."""
    pair = entry.list()
    if len(pair) != 2 or not isinstance(pair[0], str):
        raise entry.error("expected a piece and its log probability")
    piece, score = pair
    checked_text(entry.file, entry.path, piece)
    if not 0 < len(piece) <= LONGEST_PIECE:
        raise entry.error(f"a piece has 1 to {LONGEST_PIECE:,} characters")
    is_probability = type(score) in (int, float) and LEAST_LIKELY <= score <= -LEAST_LIKELY
    if not is_probability and score != NEVER_CHOSEN:
        raise entry.error(
            f"expected a log probability of {LEAST_LIKELY:,.0f} or more, not {describe(score)}"
        )
    return piece, float(score)


def _byte_symbols(vocabulary: Node, token_id: int, piece: str) -> str:
    for character in piece:
        if character not in BYTE_OF:
            raise vocabulary.entry_error(token_id, f"{quoted(character)} is not a byte")
    return "".join(chr(BYTE_OF[character]) for character in piece)

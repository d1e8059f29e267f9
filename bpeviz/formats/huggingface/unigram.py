"""The model Unigram."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any, cast

import numpy as np

from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.byte_alphabet import BYTE_OF, CHARACTER_OF, check_bytes
from bpeviz.formats.huggingface.common import (
    BYTE_LEVEL,
    check_added,
    check_same,
    ids_given,
    ids_of,
    read_alike,
    split_at,
    split_of,
    splits,
    whole,
)
from bpeviz.formats.merges import CannotError
from bpeviz.formats.parsing import Keys, checked_text, kind, listed, shown, wrong
from bpeviz.formats.remapped_ids import with_ids
from bpeviz.pretokenizers.pretokenizer import UNKNOWN
from bpeviz.trainers.unigram import LONGEST_PRE_TOKEN, Round, ShortPreTokens, UnigramTokenizer

NEVER_CHOSEN = -1e9
"""The log probability of the unknown token, so that no text that spells it out is taken for it."""

LONGEST_PIECE = 512
MAX_SQUARES = 8_000_000
LEAST_LIKELY = -(2.0**14)
QUANTUM = 2.0**-30
"""How many atoms a piece may have (as many bytes as the longest pre-token), what the squares of these
may come to (all beginnings of all pieces are looked up), and how small a log probability may be,
and of what it is a multiple (see `bpeviz.core.lattice`).

So a sum of 512 of them is exact in whatever order they are added,
and what ties here ties there.
"""


def document(inner: UnigramTokenizer, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the document of a tokenizer, which has its ids, and `inner` the rest.

    Raises `CannotError`.
    """
    pre_tokenizer = inner.pre_tokenizer
    over_bytes = pre_tokenizer.atoms == "bytes"
    special = dict(tokenizer.special_tokens)
    if not inner.alphabet:
        raise CannotError("it has no pieces")
    by_id: dict[int, list[Any]] = {}
    for token_id, piece, score in zip(
        ids_of(inner, tokenizer), inner.model.pieces, inner.model.scores.tolist(), strict=True
    ):
        if over_bytes:
            piece = "".join(CHARACTER_OF[ord(symbol)] for symbol in piece)
        if len(piece) > LONGEST_PIECE:
            raise CannotError(f"one of its pieces has more than {LONGEST_PIECE:,} atoms")
        by_id[token_id] = [piece, _readable(score)]
    _check_size(inner.model.pieces)
    if pre_tokenizer.unknown is not None:
        # There a run of unknown characters in one pre-token is one unknown token; here each is.
        by_id[special[pre_tokenizer.unknown]] = [pre_tokenizer.unknown, NEVER_CHOSEN]
        last = split_at(_none_of(inner.alphabet))
    else:
        last = BYTE_LEVEL
    if {*by_id} != {*range(len(by_id))}:
        raise CannotError("its ids leave gaps, and there they are places in a list")
    entries = {piece: token_id for token_id, (piece, _) in by_id.items()}
    if len(entries) < len(by_id) or any(entries.get(name, i) != i for name, i in special.items()):
        raise CannotError("two of its ids are spelt alike, and there a spelling has one id")
    if ids_given(entries, special) != special:
        raise CannotError(
            "the ids of its special tokens do not follow the others, as they do there"
        )
    model = {
        "type": "Unigram",
        "unk_id": None if pre_tokenizer.unknown is None else special[pre_tokenizer.unknown],
        "vocab": [by_id[i] for i in range(len(by_id))],
        "byte_fallback": False,
    }
    return whole(
        model,
        special,
        pre_tokenizers=[*splits(pre_tokenizer.pattern, pre_tokenizer.expression), _SHORT, last],
        decoder=BYTE_LEVEL if over_bytes else {"type": "Fuse"},
    )


def _as_read(score: float) -> float:
    """Return a number as the library reads its shortest digits.

    Its JSON reader (serde_json without `float_roundtrip`) makes one float of all digits and divides
    it by a power of ten, and so may miss the last place.
    """
    sign, digits, exponent = Decimal(repr(score)).as_tuple()
    whole_number = float("".join(map(str, digits)))
    places = cast(int, exponent)
    found = whole_number / 10.0**-places if places < 0 else whole_number * 10.0**places
    return -found if sign else found


def _readable(score: float) -> float:
    """Return a multiple of the quantum that the library reads exactly: the nearest, if any is.

    That is nearly always the score itself. One that is misread would make sums depend on the order
    of adding, and break ties that are none.
    """
    for away in range(100):
        for one in (score - away * QUANTUM, score + away * QUANTUM):
            if _as_read(one) == one:
                return one
    raise CannotError(f"the log probability {score} cannot be written so that it is read alike")


def _check_size(pieces: Collection[str]) -> None:
    """Raise `CannotError` where there is too much in pieces."""
    if sum(len(piece) ** 2 for piece in pieces) > MAX_SQUARES:
        raise CannotError("its pieces are too long together")


_SHORT = split_at(f"(?m:.){{1,{LONGEST_PRE_TOKEN}}}")
"""Cuts a pre-token after each so many characters, as `ShortPreTokens` does."""


def _none_of(characters: Sequence[str]) -> str:
    """Return an expression for a character that is none of these."""
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


def read(name: str, keys: Keys, model: Keys, special: Mapping[str, int]) -> Tokenizer:
    """Return the tokenizer of a document. Raises `FormatError`."""
    unknown_id = model.get("unk_id")
    model.expect(
        "byte_fallback", False, None, why="here all atoms are characters, or all are bytes"
    )
    listed_pieces = model.listed("vocab")
    model.done()
    pieces: dict[int, str] = {}
    scores: dict[int, float] = {}
    for place, entry in enumerate(listed_pieces):
        pieces[place], scores[place] = _piece(keys.name, f"model.vocab[{place}]", entry)
    entries = {piece: i for i, piece in pieces.items()}
    if len(entries) < len(pieces):
        twice = next(piece for i, piece in pieces.items() if entries[piece] != i)
        raise wrong(keys.name, "model.vocab", f"the piece {shown(twice)} comes twice")
    value = keys.get("pre_tokenizer")
    parts = value.get("pretokenizers") if isinstance(value, dict) else None
    if not isinstance(parts, list) or len(parts) not in (2, 3):
        raise keys.wrong(
            "pre_tokenizer",
            f"for Unigram expected a Sequence (a Split; one after each {LONGEST_PRE_TOKEN} characters; "
            f"one at unknown characters, or a ByteLevel), not {kind(value)}",
        )
    over_bytes = parts[-1] == BYTE_LEVEL
    if over_bytes:
        if unknown_id is not None:
            raise model.wrong("unk_id", "expected null: over bytes nothing is unknown")
        check_bytes(keys.name, "model.vocab", entries)
    else:
        if type(unknown_id) is not int or special.get(UNKNOWN) != unknown_id:
            raise model.wrong(
                "unk_id",
                f"expected the id of {UNKNOWN}, which must be among added_tokens, not "
                f"{kind(unknown_id)}",
            )
        if pieces.get(unknown_id) != UNKNOWN or scores[unknown_id] != NEVER_CHOSEN:
            raise wrong(
                keys.name,
                f"model.vocab[{unknown_id}]",
                f"expected {UNKNOWN} and {NEVER_CHOSEN:g}, so that no text that spells it out is "
                "taken for it",
            )
        del pieces[unknown_id]
    for entry in special:
        if entry in entries and (over_bytes or entry != UNKNOWN):
            raise keys.wrong("added_tokens", f"{shown(entry)} is a piece of the model as well")
    pattern = ("none", "")
    if len(parts) == 3:
        path = "pre_tokenizer.pretokenizers[0]"
        pattern = split_of(keys.name, path, parts[0], otherwise="a Split")
    symbols = {i: _symbols(keys.name, i, piece, over_bytes) for i, piece in pieces.items()}
    atoms = [i for i, piece in symbols.items() if len(piece) == 1]
    known = {symbols[i] for i in atoms}
    for i, piece in symbols.items():
        if scores[i] % QUANTUM or _as_read(scores[i]) != scores[i]:
            raise wrong(
                keys.name,
                f"model.vocab[{i}]",
                f"expected a log probability that is a multiple of 1/{1 / QUANTUM:,.0f}, as is "
                f"written here, not {scores[i]!r}: sums of others depend on the order of adding",
            )
        if not known.issuperset(piece):
            raise wrong(
                keys.name,
                f"model.vocab[{i}]",
                f"{shown(pieces[i])} holds a character that is no piece by itself",
            )
    check_added(keys, entries, special)
    _check_size(symbols.values())
    ids = [*atoms, *(i for i, piece in symbols.items() if len(piece) > 1)]
    nothing = np.zeros(len(ids))
    only = Round(
        number=1,
        start=0,
        before=len(ids),
        after=len(ids),
        loss=0.0,
        log_probabilities=np.array([scores[i] for i in ids], np.float64),
        losses=nothing,
        uses=nothing.astype(np.int64),
        order=np.empty(0, np.int64),
    )
    names = sorted(special, key=special.__getitem__)
    inner = UnigramTokenizer(
        name,
        ShortPreTokens("bytes" if over_bytes else "characters", *pattern),
        tuple(symbols[i] for i in atoms),
        tuple(symbols[i] for i in ids),
        (only,),
        0,
        special=tuple(one for one in names if over_bytes or one != UNKNOWN),
    )
    tokenizer = with_ids(inner, tuple(ids), special)
    try:
        check_same(keys, model, document(inner, tokenizer))
    except CannotError as error:
        raise read_alike(keys, error) from None
    return tokenizer


def _piece(file: str, where: str, entry: object) -> tuple[str, float]:
    pair = listed(file, where, entry)
    if len(pair) != 2 or not isinstance(pair[0], str):
        raise wrong(file, where, "expected a piece and its log probability")
    piece, score = checked_text(file, where, pair[0]), pair[1]
    if not 0 < len(piece) <= LONGEST_PIECE:
        raise wrong(file, where, f"a piece has 1 to {LONGEST_PIECE:,} characters")
    usual = type(score) in (int, float) and LEAST_LIKELY <= score <= -LEAST_LIKELY
    if not usual and score != NEVER_CHOSEN:
        raise wrong(
            file,
            where,
            f"expected a log probability, {LEAST_LIKELY:,.0f} or more, not {kind(score)}",
        )
    return piece, float(score)


def _symbols(file: str, token_id: int, piece: str, over_bytes: bool) -> str:
    """Return a piece with one character for each atom."""
    if not over_bytes:
        return piece
    for character in piece:
        if character not in BYTE_OF:
            raise wrong(file, f"model.vocab[{token_id}]", f"{shown(character)} stands for no byte")
    return "".join(chr(BYTE_OF[character]) for character in piece)

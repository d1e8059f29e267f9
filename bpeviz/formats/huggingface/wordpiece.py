"""The model WordPiece."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import regex

from bpeviz.core.longest_match import LONGEST_WORD
from bpeviz.core.merges import Merge
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.huggingface.common import (
    Part,
    check_added,
    check_same,
    ids_of,
    read_alike,
    split_of,
    splits,
    whole,
    with_special,
)
from bpeviz.formats.merges import CannotError
from bpeviz.formats.parsing import Keys, kind, shown, vocabulary, wrong
from bpeviz.formats.remapped_ids import with_ids
from bpeviz.pretokenizers.patterns import pretokenize
from bpeviz.trainers.wordpiece import CONTINUES, UNKNOWN, WordPieceSplitting, WordPieceTokenizer

LONGEST_PIECE = 1_000
"""How many characters a piece may have that is written or read. What is longer than the longest
word, of 100, is never looked for anyway, here nor there."""

_WHITE_SPACE: Part = {"type": "WhitespaceSplit"}

Piece = tuple[str, bool]
"""The characters of a piece, and whether it continues a word."""


def document(inner: WordPieceTokenizer, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the document of a tokenizer, which has its ids, and `inner` the rest.

    Raises `CannotError`.
    """
    pre_tokenizer = cast(WordPieceSplitting, inner.pre_tokenizer)
    pieces = _pieces(inner)
    prefix = _prefix(pre_tokenizer, pieces)
    entries: dict[str, int] = {}
    for (piece, continues), token_id in zip(pieces, ids_of(inner, tokenizer), strict=True):
        name = prefix * continues + piece
        if name in entries:
            raise CannotError(
                f"the ids {entries[name]} and {token_id} are both spelt {shown(name)}, and there a "
                "spelling has one id"
            )
        entries[name] = token_id
    special = dict(tokenizer.special_tokens)
    for name in special:
        if name in entries:
            raise CannotError(f"its special token {shown(name)} is spelt like another token")
    entries[UNKNOWN] = special[UNKNOWN]
    entries = with_special(entries, special)
    for name in special:
        if name in entries and _may_be_spelt(name, pre_tokenizer, prefix):
            raise CannotError(
                f"there a word that begins with {shown(name)} would be taken for that special "
                f"token even in a text, and the split {pre_tokenizer.pattern} may leave such a word "
                "whole"
            )
    model = {
        "type": "WordPiece",
        "unk_token": UNKNOWN,
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": LONGEST_WORD,
        "vocab": entries,
    }
    parts = [_WHITE_SPACE]
    if pre_tokenizer.pattern not in ("none", "whitespace"):  # white space parts words anyway
        parts = [*splits(pre_tokenizer.pattern, pre_tokenizer.expression), _WHITE_SPACE]
    return whole(
        model,
        special,
        normalizers=_lower(pre_tokenizer, inner.alphabet),
        pre_tokenizers=parts,
        decoder={"type": "WordPiece", "prefix": prefix, "cleanup": False},
    )


def _pieces(inner: WordPieceTokenizer) -> list[Piece]:
    """Return each piece, by id."""
    found = [_parted(symbol) for symbol in inner.alphabet]
    for merge in inner.merges:
        (left, continues), (right, _) = found[merge.left], found[merge.right]
        found.append((left + right, continues))
        if len(left) + len(right) > LONGEST_PIECE:
            raise CannotError(
                f"one of its pieces has {len(left) + len(right):,} characters, and at most "
                f"{LONGEST_PIECE:,} are taken"
            )
    return found


def _parted(symbol: str) -> Piece:
    return symbol.removeprefix(CONTINUES), symbol.startswith(CONTINUES)


_PARTING = ("gpt2", "cl100k", "o200k", "words", "arithmetic", "nltk", "characters")
"""Splits of which one look at some signs tells whether they ever stand in one pre-token, whatever is
around them."""


def _prefix(pre_tokenizer: WordPieceSplitting, pieces: Sequence[Piece]) -> str:
    """Return what is written before a piece that continues a word: ## where that is safe.

    There a piece is a string, so a word that spells out ## would be taken for the middle of
    another. Unless the split parts all such words, a space is written before the ##, which no word
    can have.
    """
    mixed_up = " " + CONTINUES
    if pre_tokenizer.pattern not in _PARTING:
        return mixed_up
    if any(piece.startswith(CONTINUES) for piece, continues in pieces if not continues):
        return mixed_up
    for first in {piece[0] for piece, continues in pieces if continues}:
        if len(pretokenize(CONTINUES + first, pre_tokenizer.pattern)[0]) > len(CONTINUES):
            return mixed_up
    return CONTINUES


def _may_be_spelt(name: str, pre_tokenizer: WordPieceSplitting, prefix: str) -> bool:
    """Tell whether a text may be taken for an entry of the vocabulary that is a special token."""
    if name.startswith(prefix):
        return True
    if regex.search(r"\s", name) or (pre_tokenizer.case == "lower" and name.lower() != name):
        return False  # no word holds white space, and none then a capital
    return (
        pre_tokenizer.pattern not in _PARTING or len(pretokenize(name, pre_tokenizer.pattern)) == 1
    )


_RUNES = [chr(code) for code in range(0x16A0, 0x16EB)]  # letters without case


def _lower(pre_tokenizer: WordPieceSplitting, alphabet: Sequence[str]) -> list[Part]:
    """Return the normalizers that put a text into lower case as our splitting does.

    İ alone has a lower case of two characters; here it stays one. Where it was never learnt it is
    unknown, and so is a rune that was never learnt.
    """
    if pre_tokenizer.case == "keep":
        return []
    if pre_tokenizer.pattern not in ("none", "whitespace", "words", "arithmetic", "characters"):
        raise CannotError(
            f"its split {pre_tokenizer.pattern} may tell capital letters apart, and there the text is "
            "in lower case before it is split"
        )
    known = {_parted(symbol)[0] for symbol in alphabet}
    if "İ".lower() in known:
        raise CannotError("it knows İ, whose lower case is two characters there and one here")
    rune = next((rune for rune in _RUNES if rune not in known), None)
    if rune is None:
        raise CannotError("it knows all runes, one of which would have to stand for İ")
    return [
        {"type": "Replace", "pattern": {"String": "İ"}, "content": rune},
        {"type": "Lowercase"},
    ]


def read(name: str, keys: Keys, model: Keys, special: Mapping[str, int]) -> Tokenizer:
    """Return the tokenizer of a document. Raises `FormatError`."""
    prefix = model.expect("continuing_subword_prefix", CONTINUES, " " + CONTINUES)
    model.expect("unk_token", UNKNOWN)
    model.expect("max_input_chars_per_word", LONGEST_WORD)
    entries = vocabulary(keys.name, "model.vocab", model.get("vocab"))
    model.done()
    if UNKNOWN not in special:
        raise keys.wrong("added_tokens", f"{UNKNOWN} must be among them: what is unknown")
    pieces: dict[int, Piece] = {}
    for entry, token_id in sorted(entries.items(), key=lambda item: item[1]):
        if special.get(entry) == token_id:
            continue
        piece = entry.removeprefix(prefix)
        if not 0 < len(piece) <= LONGEST_PIECE:
            raise wrong(
                keys.name,
                f"model.vocab[{shown(entry)}]",
                f"a piece has 1 to {LONGEST_PIECE:,} characters",
            )
        pieces[token_id] = piece, entry.startswith(prefix)
    check_added(keys, entries, special)
    alphabet = [token_id for token_id, (piece, _) in pieces.items() if len(piece) == 1]
    longer = [token_id for token_id, (piece, _) in pieces.items() if len(piece) > 1]
    number = {pieces[token_id]: i for i, token_id in enumerate(alphabet)}
    merges: list[Merge] = []
    for token_id in longer:
        parts = _halves(pieces[token_id], number)
        if parts is None:
            raise wrong(
                keys.name,
                f"model.vocab[{shown(pieces[token_id][0])}]",
                "it is not made of two pieces of lower ids, as every piece is here",
            )
        merges.append(Merge(*parts, len(number), 0, 0, 0))
        number[pieces[token_id]] = len(number)
    inner = WordPieceTokenizer(
        name,
        _splitting(keys),
        tuple(CONTINUES * pieces[i][1] + pieces[i][0] for i in alphabet),
        tuple(merges),
        unknown_words=True,
        special=tuple(sorted(special, key=special.__getitem__)),
    )
    tokenizer = with_ids(inner, (*alphabet, *longer), special)
    try:
        ours = document(inner, tokenizer)
        needed = ours["model"]["continuing_subword_prefix"]
        if prefix == CONTINUES != needed:
            raise model.wrong(
                "continuing_subword_prefix",
                f"with this split a word that spells out {CONTINUES} would be taken there for the "
                f"middle of another, and never here; expected {json.dumps(needed)}, which no word "
                "spells out",
            )
        ours["model"]["continuing_subword_prefix"] = prefix
        check_same(keys, model, ours)
    except CannotError as error:
        raise read_alike(keys, error) from None
    return tokenizer


def _halves(whole_piece: Piece, number: Mapping[Piece, int]) -> tuple[int, int] | None:
    """Return two pieces that make a longer one. (Any will do: order plays no part in encoding.)"""
    piece, continues = whole_piece
    for cut in range(len(piece) - 1, 0, -1):
        left = number.get((piece[:cut], continues))
        right = number.get((piece[cut:], True))
        if left is not None and right is not None:
            return left, right
    return None


def _splitting(keys: Keys) -> WordPieceSplitting:
    """Read how a text is split; `check_same` compares all of it afterwards."""
    value = keys.get("pre_tokenizer")
    pattern = ("whitespace", "")
    if value != _WHITE_SPACE:
        parts = value.get("pretokenizers") if isinstance(value, dict) else None
        if not isinstance(parts, list) or len(parts) != 2 or parts[1] != _WHITE_SPACE:
            raise keys.wrong(
                "pre_tokenizer",
                "for WordPiece expected WhitespaceSplit, alone or behind one Split, not "
                f"{kind(value)}",
            )
        path = "pre_tokenizer.pretokenizers[0]"
        pattern = split_of(keys.name, path, parts[0], otherwise="a Split")
    return WordPieceSplitting(
        pattern=pattern[0],
        expression=pattern[1],
        case="keep" if keys.get("normalizer") is None else "lower",
    )

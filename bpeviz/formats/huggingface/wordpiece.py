"""The model WordPiece of a tokenizer.json. The library applies files with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import regex

from bpeviz.core.longest_match import LONGEST_WORD
from bpeviz.core.tokenizer import Tokenizer
from bpeviz.formats.base import UnsupportedError
from bpeviz.formats.huggingface.common import (
    ComponentJSON,
    document_of,
    ids_of,
    replaced,
    splits,
    with_special,
)
from bpeviz.formats.merges import ids_by_spelling
from bpeviz.formats.parsing import quoted
from bpeviz.pretokenizers.patterns import WITH_UNMATCHED_TEXT, pretokenize
from bpeviz.trainers.wordpiece import (
    CONTINUES,
    UNKNOWN_WORD,
    WordPiecePreTokenizer,
    WordPieceTokenizer,
)

PIECE_CHARACTERS = 1_000
"""Characters of a piece. Words have at most 100, so longer pieces are never found."""

_WHITE_SPACE: ComponentJSON = {"type": "WhitespaceSplit"}

Piece = tuple[str, bool]
"""The characters of a piece, and whether it continues a word."""


def to_document(dense: WordPieceTokenizer, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the document of a tokenizer.

    Args:
        dense: the trained tokenizer.
        tokenizer: the same with the ids of the document.

    Raises:
        UnsupportedError: the library would encode differently.
    """
    pre_tokenizer = dense.pre_tokenizer
    if pre_tokenizer.unmatched == "drop" and pre_tokenizer.pattern in WITH_UNMATCHED_TEXT:
        raise UnsupportedError(
            f"it drops text that the pattern {pre_tokenizer.pattern} does not match, and bpeviz "
            "writes only patterns that match all text but white space"
        )
    pieces = _pieces(dense)
    prefix = _prefix(pre_tokenizer, pieces)
    names = [prefix * continues + piece for piece, continues in pieces]
    special = dict(tokenizer.special_tokens)
    spellings = dict(zip(ids_of(dense, tokenizer), names, strict=True))
    entries = ids_by_spelling(spellings, special)
    entries[UNKNOWN_WORD] = special[UNKNOWN_WORD]
    entries = with_special(entries, special)
    for name in special:
        if name in entries and _may_match_special(name, pre_tokenizer, prefix):
            raise UnsupportedError(
                f"the library would encode a word that starts with {quoted(name)} as that special "
                f"token, and the pattern {pre_tokenizer.pattern} allows such a word"
            )
    model = {
        "type": "WordPiece",
        "unk_token": UNKNOWN_WORD,
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": LONGEST_WORD,
        "vocab": entries,
    }
    parts = [_WHITE_SPACE]
    if pre_tokenizer.pattern not in ("none", "whitespace"):  # white space separates words anyway
        parts = [*splits(pre_tokenizer.pattern, pre_tokenizer.expression), _WHITE_SPACE]
    return document_of(
        model,
        special,
        normalizers=_lower(pre_tokenizer, dense.alphabet),
        pre_tokenizers=parts,
        decoder={"type": "WordPiece", "prefix": prefix, "cleanup": False},
    )


def _pieces(dense: WordPieceTokenizer) -> list[Piece]:
    """Return each piece, by id."""
    pieces = [_piece_of(symbol) for symbol in dense.alphabet]
    for merge in dense.merges:
        (left, continues), (right, _) = pieces[merge.left], pieces[merge.right]
        pieces.append((left + right, continues))
        if len(left) + len(right) > PIECE_CHARACTERS:
            raise UnsupportedError(
                f"one of its pieces has {len(left) + len(right):,} characters; the limit is "
                f"{PIECE_CHARACTERS:,}"
            )
    return pieces


def _piece_of(symbol: str) -> Piece:
    return symbol.removeprefix(CONTINUES), symbol.startswith(CONTINUES)


_CONTEXT_FREE = ("gpt2", "cl100k", "o200k", "words", "arithmetic", "nltk", "characters")
"""Patterns that keep some characters in one pre-token always or never, whatever is around them."""


def _prefix(pre_tokenizer: WordPiecePreTokenizer, pieces: Sequence[Piece]) -> str:
    """Return the prefix of pieces that continue a word: ## if that is safe.

    A piece is a string in this format, so a word that spells out ## could match the middle of
    another one. Unless the pattern splits all such words, the prefix is a space and ##, since no
    word contains a space.
    """
    safe_prefix = " " + CONTINUES
    if pre_tokenizer.pattern not in _CONTEXT_FREE:
        return safe_prefix
    if any(piece.startswith(CONTINUES) for piece, continues in pieces if not continues):
        return safe_prefix
    for first in {piece[0] for piece, continues in pieces if continues}:
        if len(pretokenize(CONTINUES + first, pre_tokenizer.pattern)[0]) > len(CONTINUES):
            return safe_prefix
    return CONTINUES


def _may_match_special(name: str, pre_tokenizer: WordPiecePreTokenizer, prefix: str) -> bool:
    """Return whether a word of a text may match the entry of a special token."""
    if name.startswith(prefix):
        return True
    if regex.search(r"\s", name) or (pre_tokenizer.case == "lower" and name.lower() != name):
        return False  # words have no white space, and then no capitals
    return (
        pre_tokenizer.pattern not in _CONTEXT_FREE
        or len(pretokenize(name, pre_tokenizer.pattern)) == 1
    )


_RUNES = [chr(code) for code in range(0x16A0, 0x16EB)]  # letters without case


def _lower(pre_tokenizer: WordPiecePreTokenizer, alphabet: Sequence[str]) -> list[ComponentJSON]:
    """Return the normalizers for lower case.

    İ is the only character with two characters as lower case in the library and one in bpeviz. If
    it is unknown, an unknown rune replaces it.
    """
    if pre_tokenizer.case == "keep":
        return []
    if pre_tokenizer.pattern not in ("none", "whitespace", "words", "arithmetic", "characters"):
        raise UnsupportedError(
            f"its pattern {pre_tokenizer.pattern} may distinguish capital letters, and the library "
            "converts the text to lower case before it splits"
        )
    known = {_piece_of(symbol)[0] for symbol in alphabet}
    if "İ".lower() in known:
        raise UnsupportedError(
            "it contains İ, which has a lower case of two characters in the library"
        )
    rune = next((rune for rune in _RUNES if rune not in known), None)
    if rune is None:
        raise UnsupportedError("it contains all runes, one of which would have to replace İ")
    return [
        replaced({"String": "İ"}, rune),
        {"type": "Lowercase"},
    ]

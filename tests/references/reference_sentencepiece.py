"""SentencePiece's BPE by its definition, slow and simple.

It shares no code with `bpeviz`. Tests also compare bpeviz with the library itself. Unlike the
library, these loops return the counts and the intermediate steps.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

NEVER_MERGED = "\0\x1f▅▁\n"


class Merge(NamedTuple):
    """A merge of the naive trainer."""

    left: str
    right: str
    count: int
    applied: int
    ties: int


class Atom(NamedTuple):
    """A character, a byte or a run of unknown characters, with its size in bytes."""

    symbol: str
    size: int


def script(character: str) -> str | None:
    """Return the script of a character from its Unicode name, or None for a combining mark.

    Only the scripts that the tests use are supported. A combining mark fits any script.
    """
    if unicodedata.combining(character):
        return None
    name = unicodedata.name(character, "")
    if name.startswith(("CJK UNIFIED", "HIRAGANA LETTER", "KATAKANA LETTER", "KATAKANA-HIRAGANA")):
        return "Han"
    for known in ("LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW", "DEVANAGARI"):
        if name.startswith((f"{known} SMALL", f"{known} CAPITAL", f"{known} LETTER")):
            return known
    return "Common"


def is_valid(piece: str, longest: int = 16, split_digits: bool = False) -> bool:
    """Return whether training may create a piece."""
    letters = piece.removeprefix("▁")
    scripts = {script(letter) for letter in letters} - {None}
    digits = any(digit in piece for digit in "0123456789")
    return (
        len(piece) <= longest
        and "▁" not in letters
        and len(scripts) <= 1
        and not (split_digits and digits and len(piece) > 1)
    )


def words(text: str, prefix: bool) -> list[str]:
    """Split a text into lines, and lines at spaces; a line end is a word by itself.

    In a word, " " is a space and "_" the dummy prefix, so the texts must not contain "_".
    """
    found: list[str] = []
    line_begins = prefix
    for character in text:
        if character == "\n":
            found.append(character)
            line_begins = prefix
            continue
        if line_begins:
            found.append("_")
            line_begins = False
            if character != " ":
                found[-1] += character
                continue
        if character == " " or not found or found[-1] == "\n":
            found.append(character)
        else:
            found[-1] += character
    return found


def train(
    texts: dict[str, int],
    limit: int,
    prefix: bool = True,
    longest: int = 16,
    split_digits: bool = False,
) -> list[Merge]:
    """Train: count all pairs of pieces, choose the best, replace it everywhere, repeat."""
    rows: list[tuple[list[str], int]] = []
    for text, times in texts.items():
        for word in words(text, prefix):
            row: list[str] = []
            for character in word:
                if character in NEVER_MERGED:
                    rows.append((row, times))
                    row = []
                else:
                    row.append("▁" if character in " _" else character)
            rows.append((row, times))
    merges: list[Merge] = []
    while len(merges) < limit:
        counts: dict[tuple[str, str], int] = {}
        for row, times in rows:
            for left, right in pairwise(row):
                if is_valid(left + right, longest, split_digits):
                    counts[left, right] = counts.get((left, right), 0) + times
        if not counts:
            break
        highest = max(counts.values())
        tied = [pair for pair, count in counts.items() if count == highest]
        pair = min(tied, key=lambda pair: (len(pair[0] + pair[1]), pair[0] + pair[1]))
        applied = 0
        for row, times in rows:
            i = 0
            while i + 1 < len(row):
                if (row[i], row[i + 1]) == pair:
                    row[i : i + 2] = [pair[0] + pair[1]]
                    applied += times
                i += 1
        merges.append(Merge(*pair, highest, applied, len(tied) - 1))
    return merges


def atoms(word: str, known: set[str], fallback: bool) -> list[Atom]:
    """Return the atoms of a word; an unknown one has the symbol "<unk>"."""
    found: list[Atom] = []
    for character in word:
        size = 0 if character == "_" else len(character.encode())
        symbol = "▁" if character in " _" else character
        if symbol in known and character not in NEVER_MERGED:
            found.append(Atom(symbol, size))
        elif fallback:
            found += [Atom(f"<0x{byte:02X}>", 1) for byte in character.encode()]
        elif found and found[-1].symbol == "<unk>":
            found[-1] = Atom("<unk>", found[-1].size + size)
        else:
            found.append(Atom("<unk>", size))
    return found


def encode(row: Sequence[Atom], pieces: Sequence[str]) -> list[Atom]:
    """Merge the neighbors that together form the piece of the lowest rank, the leftmost first.

    Like the library, this looks up the merged piece, not the pair.
    """
    joined = list(row)
    while True:
        ranked = [
            (pieces.index(left.symbol + right.symbol), i)
            for i, (left, right) in enumerate(pairwise(joined))
            if left.symbol + right.symbol in pieces
        ]
        if not ranked:
            return joined
        _, i = min(ranked)
        left, right = joined[i : i + 2]
        joined[i : i + 2] = [Atom(left.symbol + right.symbol, left.size + right.size)]

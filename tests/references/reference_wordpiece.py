"""WordPiece and longest match by their definitions, slow and simple.

They share no code with `bpeviz`. A token is the tuple of its atoms' symbols. In WordPiece these are
the first character of a word unchanged, and each further character with ## before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import regex

Token = tuple[str, ...]


class Step(NamedTuple):
    """A merge of the naive trainer."""

    left: Token
    right: Token
    count: int
    applied: int
    ties: int
    score: Fraction


def word_symbols(word: str, lower: bool = False) -> list[str]:
    """Return the atoms of a word."""
    characters = [character.lower() if lower else character for character in word]
    return characters[:1] + ["##" + character for character in characters[1:]]


def matches(text: str, expression: str) -> list[str]:
    """Return the matches of an expression from left to right, which all other text is not."""
    found: list[str] = []
    end = 0
    for match in regex.finditer(expression, text):
        if match.start() >= end:
            found.append(match[0])
            end = match.end()
    return found


def replace_all(row: Sequence[Token], left: Token, right: Token) -> list[Token]:
    """Merge a pair from left to right."""
    out: list[Token] = []
    i = 0
    while i < len(row):
        if i + 1 < len(row) and (row[i], row[i + 1]) == (left, right):
            out.append(left + right)
            i += 2
        else:
            out.append(row[i])
            i += 1
    return out


def scores(rows: Sequence[tuple[Sequence[Token], int]]) -> dict[tuple[Token, Token], Fraction]:
    """Return count(a b) / (count(a) · count(b)) of all pairs, in first-seen order."""
    tokens: dict[Token, int] = {}
    for row, weight in rows:
        for token in row:
            tokens[token] = tokens.get(token, 0) + weight
    return {
        (left, right): Fraction(count, tokens[left] * tokens[right])
        for (left, right), count in counts(rows).items()
    }


def counts(rows: Sequence[tuple[Sequence[Token], int]]) -> dict[tuple[Token, Token], int]:
    """Return the count of each pair, in first-seen order."""
    found: dict[tuple[Token, Token], int] = {}
    for row, weight in rows:
        for i in range(len(row) - 1):
            found[row[i], row[i + 1]] = found.get((row[i], row[i + 1]), 0) + weight
    return found


def train(
    words: Sequence[tuple[Sequence[str], int]],
    limit: int,
    ids: Mapping[Token, int],
    ties: str = "first",
    min_count: int = 1,
) -> tuple[list[Step], str]:
    """Train: compute all scores, choose the highest, replace the pair everywhere, repeat.

    Args:
        words: The symbols of each word, with its count.
        limit: The largest number of merges.
        ids: The ids of the atoms, which the tie rule "smallest" compares.
        ties: The tie rule: "first" or "smallest".
        min_count: Pairs with a lower count are not merged.

    Returns:
        The merges, and why training ended: "full", "no pair" or "rare".
    """
    rows = [([(symbol,) for symbol in symbols], weight) for symbols, weight in words]
    number = dict(ids)
    steps: list[Step] = []
    while len(steps) < limit:
        count = counts(rows)
        score = {pair: s for pair, s in scores(rows).items() if count[pair] >= min_count}
        if not score:
            return steps, "rare" if count else "no pair"
        highest = max(score.values())
        tied = [pair for pair in score if score[pair] == highest]
        if ties == "first":
            left, right = tied[0]
        else:
            left, right = min(tied, key=lambda pair: (number[pair[0]], number[pair[1]]))
        number[left + right] = len(number)
        merged = [(replace_all(row, left, right), weight) for row, weight in rows]
        applied = sum(
            (len(before) - len(after)) * weight
            for (before, weight), (after, _) in zip(rows, merged, strict=True)
        )
        steps.append(Step(left, right, count[left, right], applied, len(tied) - 1, highest))
        rows = merged
    return steps, "full"


def longest_match(symbols: Sequence[str], pieces: Mapping[Token, int]) -> list[tuple[int, int]]:
    """Take the longest piece from the left; return the id and the number of atoms of each.

    An unknown atom has the id -1.
    """
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(symbols):
        for end in range(len(symbols), start, -1):
            if tuple(symbols[start:end]) in pieces:
                found.append((pieces[tuple(symbols[start:end])], end - start))
                break
        else:
            found.append((-1, 1))
        start += found[-1][1]
    return found


def wordpiece(symbols: Sequence[str], pieces: Mapping[Token, int]) -> list[tuple[int, int]]:
    """Encode as BERT does: a word with an unknown atom, or a long one, is unknown as a whole."""
    found = longest_match(symbols, pieces)
    if len(symbols) > 100 or any(token == -1 for token, _ in found):
        return [(-1, len(symbols))]
    return found

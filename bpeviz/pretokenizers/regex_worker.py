"""The worker of `bpeviz.pretokenizers.expressions`: it runs expressions that are not ours.

It imports only `regex` and the standard library. A request is an expression and texts in UTF-8,
with lone surrogates.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

import regex

from bpeviz.workers import serving

ENDS, WORD_ENDS, SPANS = range(3)
"""Operations: find the ends of the pre-tokens; find those of a word list, which is sent in place of
the expression; find the start and the end of each match."""

ERRORS = "surrogatepass"

IDLE = 600.0
"""Seconds after which an unused worker ends."""

_COMPILED = 16
"""The largest number of compiled expressions that a child caches."""


def ends(compiled: regex.Pattern[str], text: str) -> Iterator[int]:
    """Yield the ends of the pre-tokens: the matches and the parts between them."""
    end = 0
    for match in compiled.finditer(text):
        start, stop = match.span()
        if start > end:
            yield start
            end = start
        if stop > end:
            yield stop
            end = stop
    if end < len(text):
        yield len(text)


def spans(compiled: regex.Pattern[str], text: str) -> Iterator[int]:
    """Yield the start and the end of each match from left to right, as `ends` finds them."""
    end = 0
    for match in compiled.finditer(text):
        if match.end() >= end:
            yield max(match.start(), end)
            yield (end := match.end())


@lru_cache(_COMPILED)
def _listed(expression: str) -> tuple[frozenset[str], dict[str, list[int]]]:
    """Return the words of a list, and the lengths of those with each first character."""
    words = frozenset(expression.split())
    lengths: dict[str, set[int]] = {}
    for word in words:
        lengths.setdefault(word[0], set()).add(len(word))
    return words, {first: sorted(sizes, reverse=True) for first, sizes in lengths.items()}


def word_ends(expression: str, text: str) -> Iterator[int]:
    """Yield from the left the end of the longest listed word at each place, or of a character."""
    words, lengths = _listed(expression)
    at = 0
    while at < len(text):
        for length in lengths.get(text[at], ()):
            if text[at : at + length] in words:
                break
        else:
            length = 1
        at = min(at + length, len(text))  # a shorter word may have been found at the end
        yield at


@lru_cache(_COMPILED)
def _compiled(expression: str) -> regex.Pattern[str]:
    return regex.compile(expression, cache_pattern=False)  # the cache of `regex` holds 500


def _answer(operation: int, parts: Sequence[serving.Buffer]) -> Sequence[memoryview]:
    """Return the results in a row as int64; refuse an expression, without a reason if nested."""
    expression, *texts = (str(part, "utf-8", ERRORS) for part in parts)
    try:
        places: Iterator[Iterator[int]]
        if operation == WORD_ENDS:
            places = (word_ends(expression, text) for text in texts)
        else:
            compiled, find = _compiled(expression), spans if operation == SPANS else ends
            places = (find(compiled, text) for text in texts)
        return (memoryview(array("q", chain.from_iterable(places))),)
    except RecursionError:
        raise serving.Refused from None
    except (MemoryError, OverflowError):
        raise MemoryError from None
    except Exception as error:  # `regex` raises its own error, but also ValueError and others
        raise serving.Refused(str(error).encode("utf-8", "replace")) from error


def main() -> None:
    """Answer requests."""
    serving.serve(_answer, niceness=5, idle=IDLE)

"""Split texts at the names of special tokens.

An expression of 30,000 alternatives takes ten seconds to compile, and tries them one by one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import lru_cache

from bpeviz.text import clean


class SpecialNames:
    """Finds names in texts: from the left, and the longest name at each place."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = sorted(names)
        self._longest = max(map(len, self._names), default=0)
        first = sorted({re.escape(name[0]) for name in self._names})
        self._first = re.compile(f"[{''.join(first)}]")

    def split(self, text: str) -> list[tuple[str, bool]]:
        """Return the parts of a text, none of them empty: (part, whether it is a name)."""
        parts: list[tuple[str, bool]] = []
        end = 0
        for match in self._first.finditer(text):
            at = match.start()
            if at >= end and (name := self._longest_prefix(text[at : at + self._longest])):
                parts += [(text[end:at], False), (name, True)]
                end = at + len(name)
        parts.append((text[end:], False))
        return [(part, special) for part, special in parts if part]

    def _longest_prefix(self, text: str) -> str:
        """Return the longest name that begins a text, or an empty text."""
        while place := bisect_right(self._names, text):
            # All names that begin the text also begin the last name that is not after it.
            last = self._names[place - 1]
            if text.startswith(last):
                return last
            text = text[: shared(text, last)]
        return ""


def shared(first: Sequence[object], second: Sequence[object]) -> int:
    """Return the number of characters, or of ids, with which both begin."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def split_at_names(text: str, names: Collection[str]) -> list[tuple[str, bool]]:
    """Split a text, cleaned first, at names: (part, whether it is a name)."""
    text = clean(text)
    return special_names(frozenset(names)).split(text) if names else [(text, False)]


def with_unknown(names: tuple[str, ...], unknown: str | None) -> tuple[str, ...]:
    """Return special tokens in the order of their ids, with the unknown token if there is one."""
    return names if unknown is None or unknown in names else (unknown, *names)


def without_names(text: str, names: Collection[str]) -> list[str]:
    """Return the parts of a text between names."""
    return [part for part, is_name in split_at_names(text, names) if not is_name]


@lru_cache(4)
def special_names(names: frozenset[str]) -> SpecialNames:
    """Return the names, which must not be empty, prepared for splitting."""
    return SpecialNames(names)

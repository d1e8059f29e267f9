"""Lists of ids as programs print them: numbers, JSON, and values of Python and its libraries."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import suppress
from math import inf
from typing import Any

import regex

from bpeviz.text import shorten, split_lines, visible

LISTS = ("ids", "input_ids", "token_ids", "tokens")
"""The names of the lists of ids in an object, the preferred ones first."""

_NUMBER = regex.compile(r"[+-]?[0-9]{1,18}")  # parsing thousands of digits is slow
_WORD = regex.compile(r"[^\s,;|\[\](){}]+")
_ARRAY = regex.compile(
    r"\b(?:(?:np|numpy|torch)\.)?(?:tensor|array|u?int(?:8|16|32|64))(?=\()"
    r"|,\s*(?:dtype|device)=['\"\w.:]+"
)
"""The names of arrays, and their kinds, in text that PyTorch or NumPy prints."""


class IdsError(ValueError):
    """An id list cannot be read. The text is a user-facing message."""


def read_ids(text: str, most: float = inf, longest: float = inf) -> list[int]:
    """Return the ids in a text.

    They are numbers between spaces, commas, brackets or lines, also as PyTorch or NumPy prints
    them. An object, one of several lines of objects or a list of them, in JSON or as Python prints
    it, has them as "ids", "input_ids", "token_ids" or "tokens".

    Args:
        text: The text.
        most: The most ids.
        longest: The most characters.

    Raises:
        IdsError: An entry is not an id.

    >>> read_ids("9468 239,235"), read_ids('{"ids": [1]}'), read_ids("{'input_ids': tensor([[7]])}")
    ([9468, 239, 235], [1], [7])
    """
    if len(text) > longest:
        raise IdsError(f"The list has {len(text):,} characters; at most {longest:,} are allowed.")
    plain = _ARRAY.sub(lambda name: " " * len(name[0]), text) if "(" in text else text
    if "..." in plain:
        raise IdsError("The list is abbreviated: “...” stands for ids. Print all of them.")
    ids = _of_objects(plain) if ":" in plain else [*_numbers(plain)]
    if len(ids) > most:
        raise IdsError(f"The list has {len(ids):,} ids; the limit is {most:,}. Paste fewer ids.")
    return ids


def _numbers(text: str) -> Iterator[int]:
    """Yield the numbers between separators. Raises `IdsError` for another word."""
    for match in _WORD.finditer(text):
        word = match[0]
        if not _NUMBER.fullmatch(word):
            line = text.count("\n", 0, match.start())
            place = f" of line {line + 1:,}" if line else ""
            at = match.start() - text.rfind("\n", 0, match.start())
            raise IdsError(
                f"“{visible(shorten(word, 20))}” at character {at:,}{place} is not an id: ids are "
                "whole numbers, such as 31373, 995."
            )
        yield int(word)


def _of_objects(text: str) -> list[int]:
    """Return the ids of the objects in a text."""
    values: Any = None
    for read in (json.loads, _json_lines, ast.literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            values = read(text.strip())
            break
    else:
        raise IdsError("The text contains a colon but is not an object in JSON or Python.")
    ids: list[int] = []
    for given in values if isinstance(values, list | tuple) else [values]:
        lists = [given[name] for name in LISTS if name in given] if isinstance(given, dict) else []
        if not lists:
            raise IdsError(f"The object has none of these lists: {', '.join(LISTS)}.")
        ids += _flat(lists[0])
    return ids


def _json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in split_lines(text) if line.strip()]


def _flat(value: Any) -> Iterator[int]:
    """Yield the ids of a list, or of the lists in it."""
    waiting = [value]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, list | tuple):
            waiting += reversed(entry)
        elif isinstance(entry, int) and not isinstance(entry, bool) and abs(entry) < 10**18:
            yield entry
        else:
            name = visible(shorten(json.dumps(entry, default=repr), 20))
            raise IdsError(f"“{name}” in the list is not an id: ids are whole numbers.")

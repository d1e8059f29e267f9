"""Normalization: how a tokenizer changes a text before it splits it, and what is lost.

A text is divided into units: graphemes, and runs of white space that become shorter. The normalized
text that comes from a unit shows its changes.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import regex

from bpeviz.text import Normalized, joined, label, number_word, shorten

Kind = Literal[
    "mark", "prefix", "lower case", "accent", "lower case and accent", "spelling", "other"
]
"""A space is written ▁; a space is added; letters become lower case, lose accents, or both; other
code points for the same characters; or another change."""

_MARK = "▁"
_RUNS = regex.compile(r"\s+|\X")
_GRAPHEME = regex.compile(r"\X")
_NAMES = {" ": "a space", "\n": "a line break", "\r\n": "a line break", "\t": "a tab"}

_EXAMPLES = 4
"""The most examples of a kind of change, and the most other changes that are described."""

_LONGEST = 24
"""The most characters of a unit in a description."""


@dataclass(frozen=True)
class Unit:
    """Characters `start` to `end` of a text, and the normalized text that comes from them."""

    start: int
    end: int
    original: str
    normalized: str

    def differences(self) -> Iterator[tuple[Kind, str, str]]:
        """Yield each difference: its kind, the text before it, and the text after it."""
        before, after = self.original, self.normalized
        added = _leading(after) - _leading(before)
        longer = len(after) > (len(before) if before.isspace() else _leading(after))
        if added == 1 and longer:
            yield "prefix", before, after[0]
            after = after[1:]
            if not before[-1].isspace():
                after = after.removesuffix(" ")
        if _MARK in after and _MARK not in before:
            after = after.replace(_MARK, " ")
            if " " in before:
                yield "mark", " ", _MARK
        if before != after:
            yield _kind(before, after), before, after

    @property
    def description(self) -> str:
        """The changes in words, or "" if there are none."""
        return "; ".join(describe([self]))


def units(text: str, normalized: Normalized) -> list[Unit]:
    """Divide a text into units, from left to right."""
    if normalized.text == text:
        return []
    starts = normalized.starts
    divided: list[Unit] = []
    for run in _RUNS.finditer(text):
        start, end = run.span()
        shorter = bisect_left(starts, end) - bisect_left(starts, start) < end - start
        parts = [run] if shorter else _GRAPHEME.finditer(text, start, end)
        for part in parts:
            start, end = part.span()
            low, high = bisect_left(starts, start), bisect_left(starts, end)
            divided.append(Unit(start, end, part[0], normalized.text[low:high]))
    return divided


def describe(changed: Sequence[Unit]) -> list[str]:
    """Return clauses in words for the changes of units, those that lose something first."""
    befores: dict[Kind, dict[str, None]] = {}
    others: dict[str, int] = {}
    for unit in changed:
        for kind, before, after in unit.differences():
            if kind == "other":
                clause = _other(before, after)
                others[clause] = others.get(clause, 0) + 1
            else:
                befores.setdefault(kind, {})[after if kind == "prefix" else before] = None
    clauses = [
        f"{_listed([*befores[kind]])} {_CLAUSES[kind][len(befores[kind]) > 1]}"
        for kind in ("accent", "lower case and accent", "lower case", "spelling")
        if kind in befores
    ]
    clauses += [
        clause if times == 1 else f"{clause}, {times:,} times"
        for clause, times in [*others.items()][:_EXAMPLES]
    ]
    if len(others) > _EXAMPLES:
        clauses.append(f"{len(others) - _EXAMPLES:,} other changes")
    if "mark" in befores:
        clauses.append(f"spaces are written as {_MARK}")
    if "prefix" in befores:
        added = _MARK if _MARK in befores["prefix"] else "space"
        clauses.append(f"a {added} that is not in the text was added")
    return clauses


_CLAUSES: dict[Kind, tuple[str, str]] = {
    "accent": ("lost its accent", "lost their accents"),
    "lower case": ("became lower case", "became lower case"),
    "lower case and accent": (
        "became lower case and lost its accent",
        "became lower case and lost their accents",
    ),
    "spelling": ("is written with other code points", "are written with other code points"),
}
"""The clauses for one example and for several."""


def _kind(before: str, after: str) -> Kind:
    if not after:
        return "other"
    if unicodedata.normalize("NFD", before) == unicodedata.normalize("NFD", after):
        return "spelling"
    if after in (before.lower(), "".join(map(str.lower, before))):
        return "lower case"
    if _bare(before) == after:
        return "accent"
    return "lower case and accent" if _bare(before.lower()) == after else "other"


def _other(before: str, after: str) -> str:
    """Return the clause of a change: "three spaces became one", "① became 1"."""
    was = "were" if before.isspace() and len(before) > 1 and before not in _NAMES else "was"
    if not after:
        return f"{_named(before)} {was} removed"
    both = {*before, *after} == {" "}
    # Without the number, fonts may draw both alike: ﬁ and fi, ½ and 1⁄2.
    longer = len(after) > len(before) and not before.isspace()
    size = f" ({number_word(len(after))} characters)" if longer else ""
    return f"{_named(before)} became {number_word(len(after)) if both else _named(after)}{size}"


def _named(text: str) -> str:
    if {*text} == {" "} and len(text) > 1:
        return f"{number_word(len(text))} spaces"
    return _NAMES.get(text) or shorten(label(text.encode()), _LONGEST)


def _listed(texts: Sequence[str]) -> str:
    """Return examples: "é", "é and ï", or "é, ï, ö, ü and 3 others"."""
    named = [_named(text) for text in texts[:_EXAMPLES]]
    if len(texts) > _EXAMPLES:
        more = len(texts) - _EXAMPLES
        named.append(f"{more:,} other{'s' * (more > 1)}")
    return joined(named)


def _leading(text: str) -> int:
    """Return the number of spaces and ▁ at the start of a text."""
    return len(text) - len(text.lstrip(f" {_MARK}"))


def _bare(text: str) -> str:
    """Return a text without accents, which are combining marks in the decomposed form."""
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(character for character in decomposed if unicodedata.category(character) != "Mn")

"""Payloads of the Pre-tokenize page: a text in columns, one for each pre-tokenization."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from bpeviz.analysis.pretokenization import Column, name
from bpeviz.pretokenizers.alternatives import ALTERNATIVES, matched
from bpeviz.text import color_index, counted, digest_of


def side_by_side(
    columns: Sequence[Column], first: int, last: int, *, nested: bool = False
) -> dict[str, Any]:
    """Return the payload of the columns of the Pre-tokenize page, as plain JSON values.

    Args:
        columns: Pre-tokenizations of one text.
        first: The first character to show; ends are in UTF-8 bytes from there.
        last: The end of the part to show.
        nested: Each column divides the pre-tokens of the previous one, whose boundaries are marked.
    """
    shown: list[dict[str, Any]] = []
    for column in columns:
        pre_tokens = _shown(column, first, last)
        ends = list(accumulate(size for size, *_ in pre_tokens))
        marked = shown[-1]["tokenEnds"][:-1] if nested and shown else []
        shown.append(
            {
                "title": column.title,
                "notes": [column.about],
                "tokenCount": len(column.cut),
                "tokenEnds": ends,
                "tokens": [[None, *looks] for _, *looks in pre_tokens],
                "extra": marked,
                "missing": [],
            }
        )
    data: dict[str, Any] = {
        "text": columns[0].cut.text[first:last],
        "columns": shown,
        "baseline": -1,
        "unit": "pre-token",
        "ariaLabel": "The text level by level" if nested else "The text in each pre-tokenization",
    }
    return data | {"key": digest_of(data)}


def _shown(column: Column, first: int, last: int) -> list[tuple[int, str, str, int]]:
    """Return the pre-tokens between two characters: size in bytes, name, description, color index.

    Pre-tokens at the edges are cropped. A single character has no color index.
    """
    of = column.cut
    begin, stop = of.ended(first), of.ended(last - 1)
    starts, ends = of.starts(begin, stop + 1), of.ends[begin : stop + 1].tolist()
    alternatives = ALTERNATIVES.get(column.pattern, ())
    why = matched(of.text, column.pattern, starts) if alternatives else [-1] * len(starts)
    found = []
    looks: dict[tuple[str, int], tuple[str, str, int]] = {}
    for start, end, by in zip(starts, ends, why, strict=True):
        pre_token = of.text[start:end]
        if (pre_token, by) not in looks:
            raw = pre_token.encode()
            rule = f". Alternative {by + 1}: {alternatives[by].about}" if alternatives else ""
            looks[pre_token, by] = (
                name(pre_token),
                f"{counted(len(pre_token), 'character')}, {counted(len(raw), 'byte')}; "
                f"{counted(of.times[pre_token], 'time')} in this text{rule}",
                color_index(raw) if len(pre_token) > 1 else -1,
            )
        size = len(of.text[max(start, first) : min(end, last)].encode())
        found.append((size, *looks[pre_token, by]))
    return found

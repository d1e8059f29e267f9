"""Payloads of the Pre-tokenize page: a text in rows, one for each pre-tokenization."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from bpeviz.analysis.hues import Coloring, contacts_at, hues
from bpeviz.analysis.pretokenization import PreTokenizedColumn, name
from bpeviz.core.boundaries import ended
from bpeviz.pretokenizers.alternatives import ALTERNATIVES, matched
from bpeviz.text import color_key, counted, digest_of
from bpeviz.views.payloads import Score, ScoreRow


def payload(columns: Sequence[PreTokenizedColumn], first: int, last: int, label: str = "") -> Score:
    """Return the payload of a text in several pre-tokenizations, as plain JSON values.

    Args:
        columns: Pre-tokenizations of one text.
        first: The first character to show; ends are in UTF-8 bytes from there.
        last: The end of the part to show.
        label: The accessible name of the score.
    """
    parts = [_shown(column, first, last) for column in columns]
    rows = [[distinct[i][3] for i in indices] for _, indices, distinct in parts]
    colors = hues(Coloring(contacts_at(row), lambda key: key) for row in rows)
    drawn: list[ScoreRow] = []
    for column, (sizes, indices, distinct) in zip(columns, parts, strict=True):
        drawn.append(
            {
                "title": column.title,
                "notes": [column.about],
                "tokenCount": len(column.cut),
                "tokenEnds": list(accumulate(sizes)),
                "tokens": indices,
                "distinct": [[*about, colors.index(key), rule] for *about, key, rule in distinct],
            }
        )
    data: Score = {
        "key": "",
        "text": columns[0].cut.text[first:last],
        "rows": drawn,
        "baseline": -1,
        "unit": "pre-token",
        "ariaLabel": label or "The text in each pre-tokenization",
    }
    data["key"] = digest_of(data)
    return data


def _shown(
    column: PreTokenizedColumn, first: int, last: int
) -> tuple[list[int], list[int], list[list[Any]]]:
    """Return the pre-tokens of a part: sizes in bytes, the index of each, and the distinct ones.

    Each of these is None (it has no id), a name, a description, a color key (-1 for a single
    character), and the alternative of the expression that matches it, if known. Pre-tokens at the
    edges of the part, given in characters, are cropped.
    """
    of = column.cut
    begin, stop = ended(of.ends, first), ended(of.ends, last - 1)
    starts, ends = of.starts(begin, stop + 1), of.ends[begin : stop + 1].tolist()
    alternatives = ALTERNATIVES.get(column.pattern, ())
    why = matched(of.text, column.pattern, starts) if alternatives else [-1] * len(starts)
    text = of.text
    pre_tokens = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    numbers: dict[tuple[str, int], int] = {}
    indices = [numbers.setdefault(key, len(numbers)) for key in zip(pre_tokens, why, strict=True)]
    distinct: list[list[Any]] = []
    for pre_token, by in numbers:
        raw = pre_token.encode()
        rule = f"alternative {by + 1}: {alternatives[by].about}" if alternatives else ""
        about = (
            f"{counted(len(pre_token), 'character')}, {counted(len(raw), 'byte')}; "
            f"{counted(of.times[pre_token], 'time')} in this text"
        )
        key = color_key(raw) if len(pre_token) > 1 else -1
        distinct.append([None, name(pre_token), about, key, rule])
    if pre_tokens:  # crop the last one first: it may also be the first
        pre_tokens[-1] = text[starts[-1] : min(ends[-1], last)]
        pre_tokens[0] = pre_tokens[0][max(0, first - starts[0]) :]
    return [len(pre_token.encode()) for pre_token in pre_tokens], indices, distinct

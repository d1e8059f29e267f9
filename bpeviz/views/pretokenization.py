"""The stage of the Pre-tokenize page: a text in rows, one for each pre-tokenization."""

from __future__ import annotations

from collections.abc import Sequence

from bpeviz.analysis.pretokenization import PreTokenizedColumn, name
from bpeviz.core.boundaries import ended
from bpeviz.pretokenizers.alternatives import ALTERNATIVES, matched
from bpeviz.text import color_key, counted, digest_of
from bpeviz.views.payloads import Score
from bpeviz.views.stage import Row, Stage, TokenNames, of_pieces


def payload(columns: Sequence[PreTokenizedColumn], first: int, last: int) -> Score:
    """Return the payload of a text in several pre-tokenizations, as plain JSON values.

    Args:
        columns: Pre-tokenizations of one text.
        first: The first character to show; ends are in UTF-8 bytes from there.
        last: The end of the part to show.
    """
    data = Stage([_row(column, first, last) for column in columns]).score(ranks=False)
    for row, column in zip(data["rows"], columns, strict=True):
        row["notes"], row["tokenCount"] = [], len(column.cut)
    data["unit"], data["ariaLabel"] = "pre-token", "The text in each pre-tokenization"
    data["verdict"] = ""
    data["key"] = digest_of(data)
    return data


def _row(column: PreTokenizedColumn, first: int, last: int) -> Row:
    """Return the row of a part of a text in pre-tokens.

    Each id is a distinct pre-token with the alternative of the expression that matches it. The
    color key of a single character is -1. Pre-tokens at the edges of the part, given in characters,
    are cropped.
    """
    of = column.cut
    begin, stop = ended(of.ends, first), ended(of.ends, last - 1)
    starts, ends = of.starts(begin, stop + 1), of.ends[begin : stop + 1].tolist()
    alternatives = ALTERNATIVES.get(column.pattern, ())
    why = matched(of.text, column.pattern, starts) if alternatives else [-1] * len(starts)
    pre_tokens = [of.text[start:end] for start, end in zip(starts, ends, strict=True)]
    numbers: dict[tuple[str, int], int] = {}
    ids = [numbers.setdefault(key, len(numbers)) for key in zip(pre_tokens, why, strict=True)]
    distinct = [*numbers]

    def key(number: int) -> int:
        pre_token = distinct[number][0]
        return color_key(pre_token.encode()) if len(pre_token) > 1 else -1

    def note(number: int) -> tuple[str, str]:
        pre_token, by = distinct[number]
        about = (
            f"{counted(len(pre_token), 'character')}, {counted(len(pre_token.encode()), 'byte')}; "
            f"{counted(of.times[pre_token], 'time')} in this text"
        )
        return about, f"alternative {by + 1}: {alternatives[by].about}" if alternatives else ""

    names = TokenNames(lambda i: name(distinct[i][0]), key, lambda _: None, None, note)
    if pre_tokens:  # crop the last one first: it may also be the first
        pre_tokens[-1] = of.text[starts[-1] : min(ends[-1], last)]
        pre_tokens[0] = pre_tokens[0][max(0, first - starts[0]) :]
    sizes = (len(pre_token.encode()) for pre_token in pre_tokens)
    pieces = [*zip(ids, sizes, strict=True)]
    return of_pieces(of.text[first:last], column.title, pieces, names)

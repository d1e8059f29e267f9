"""A comparison of many texts as a table: a row for each text, a column for each tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from math import log

from bpeviz.analysis.comparison import ComparedText, Comparison, TextIntervals
from bpeviz.analysis.intervals import leaders
from bpeviz.views.html_table import Cell
from bpeviz.views.tables import Table

FIGURES: Mapping[str, str] = {
    "tokens": "Tokens",
    "bytes_per_token": "Bytes per token",
    "premium": "Premium",
}
"""The figures that the cells can contain, with their titles."""

LEGEND = (
    "More color: costs more. Framed: the best of its row, unless other lines like these may change "
    "the order (95% bootstrap interval over lines)."
)
"""Explains the shades and the marks."""


def exact(found: Comparison) -> Table:
    """Return all figures of a comparison, one row for each text and tokenizer."""
    rows = [(*astuple(row)[:-1], "; ".join(row.notes)) for row in found.rows]
    return Table([field.name for field in fields(ComparedText)], [*zip(*rows, strict=True)])


def by_text(found: Comparison) -> dict[str, list[ComparedText]]:
    """Return the rows of each text, in the order of the tokenizers."""
    rows: dict[str, list[ComparedText]] = {}
    for row in found.rows:
        rows.setdefault(row.text, []).append(row)
    return rows


def sort(rows: Mapping[str, Sequence[ComparedText]], figure: str, column: str) -> list[str]:
    """Return the names of the texts, those with the most tokens first.

    Args:
        rows: The rows of each text.
        figure: The figure to sort by.
        column: The name of the tokenizer to sort by, or "" for the order of the texts.
    """

    def cost(name: str) -> float:
        one = next(row for row in rows[name] if row.tokenizer == column)
        return _cost(one, figure) or 0.0

    known = {row.tokenizer for of_text in rows.values() for row in of_text}
    return sorted(rows, key=cost, reverse=True) if column in known else [*rows]


def cells(
    found: Comparison,
    names: Sequence[str],
    figure: str,
    is_parallel: bool,
) -> list[list[str | Cell]]:
    """Return the cells of a table, shaded by what a text costs.

    Args:
        found: The comparison.
        names: The names of the texts, in order.
        figure: One of `FIGURES`.
        is_parallel: Whether the texts are translations of each other. Otherwise their tokens are
            compared within a row only.
    """
    rows = by_text(found)
    costs = {name: [_cost(row, figure) for row in rows[name]] for name in names}
    if figure == "tokens" and not is_parallel:
        costs = {
            name: [one and one / min(filter(None, of_text)) for one in of_text]
            for name, of_text in costs.items()
        }
    known = [one for of_text in costs.values() for one in of_text if one]
    low, high = (log(min(known)), log(max(known))) if known else (0.0, 0.0)

    def shade(cost: float | None) -> float:
        return (log(cost) - low) / (high - low) if cost and high > low else 0.0

    return [
        [
            name,
            *(
                Cell(_text(row, figure), shade(cost), "fewest" if i in best else "")
                for (i, row), cost in zip(enumerate(rows[name]), costs[name], strict=True)
            ),
        ]
        for name in names
        for best in [_best(rows[name], figure, found.intervals[name])]
    ]


def _cost(row: ComparedText, figure: str) -> float | None:
    """Return a figure that is large where a text is dear, or None where it is not known."""
    value: float | None = getattr(row, figure)
    return 1 / value if value and figure == "bytes_per_token" else value


def _best(row: Sequence[ComparedText], figure: str, intervals: TextIntervals) -> list[int]:
    """Return the indices of the best cells of a row; none if all are equal, or in doubt."""
    if figure == "premium":
        best = leaders([one.premium and round(one.premium, 2) for one in row], intervals.premium)
    else:
        best = [i for i, one in enumerate(row) if one.best]
    return best if len(best) < len(row) else []


def _text(row: ComparedText, figure: str) -> str:
    if figure == "tokens":
        return f"{row.tokens:,}"
    value = getattr(row, figure)
    interval = f" ({row.low:.2f} to {row.high:.2f})" if row.low is not None else ""
    return "–" if value is None else f"{value:.2f}" + interval * (figure == "premium")

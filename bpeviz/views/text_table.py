"""A comparison of many texts as a table: a row for each text, a column for each tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from math import floor, log, log10
from typing import Any

import numpy as np

from bpeviz.analysis import fairness, verdict
from bpeviz.analysis.comparison import ComparedText, Comparison, TextIntervals
from bpeviz.analysis.fairness import ComparedTokenizer, Figure
from bpeviz.analysis.intervals import Ratios, leaders
from bpeviz.analysis.metrics import Column
from bpeviz.text import digest_of
from bpeviz.views import table_svg
from bpeviz.views.html_table import Cell
from bpeviz.views.tables import Table

FIGURES: Mapping[str, str] = {
    "tokens": "Tokens",
    "bytes_per_token": "Bytes per token",
    "tokens_per_word": "Tokens per word",
    "premium": "Premium",
    "cost": "Cost",
}
"""The figures that the cells can contain, with their titles."""

_MORE_COLOR: Mapping[str, str] = {
    "tokens": "more tokens",
    "bytes_per_token": "fewer bytes per token",
    "tokens_per_word": "more tokens per word",
    "premium": "a larger premium",
    "cost": "a higher cost",
}
"""The meaning of more color in a cell, by figure."""

ONE_ROW = "Tokens"
"""The name of the row of one text."""

WITHOUT_SPECIAL = "Counts are without special tokens."


def legend(figure: str) -> str:
    """Return what the shades and the marks of a table mean."""
    more = f"More color: {_MORE_COLOR[figure]}."
    if figure == "tokens_per_word":
        return more
    return (
        f"{more} A frame marks the best of a row. There is none where all are equal, or where "
        "other lines like these may change the order (95% bootstrap interval over lines)."
    )


def exact(found: Comparison) -> Table:
    """Return all figures of a comparison, one row for each text and tokenizer.

    The figures of a tokenizer over all texts are in each of its rows.
    """
    *names, notes = (field.name for field in fields(ComparedText))
    columns = [[getattr(row, name) for row in found.rows] for name in names]
    of_all = [field.name for field in fields(ComparedTokenizer)][1:]
    tokenizers = {one.tokenizer: one for one in found.tokenizers}
    columns += [[getattr(tokenizers[row.tokenizer], name) for row in found.rows] for name in of_all]
    columns.append(["; ".join(row.notes) for row in found.rows])
    return Table([*names, *(f"all_texts_{name}" for name in of_all), notes], columns)


def by_text(found: Comparison) -> dict[str, list[ComparedText]]:
    """Return the rows of each text, in the order of the tokenizers."""
    rows: dict[str, list[ComparedText]] = {}
    for row in found.rows:
        rows.setdefault(row.text, []).append(row)
    return rows


def payload(found: Comparison, figure: str, label: str, *, is_parallel: bool) -> dict[str, Any]:
    """Return the payload of the component `texts_table`.

    Args:
        found: The comparison.
        figure: One of `FIGURES`.
        label: The accessible name.
        is_parallel: Whether the texts are translations of each other.
    """
    rows = by_text(found)
    names = [row.tokenizer for row in next(iter(rows.values()), ())]
    return _payload(label, ["Text", *names], rows, cells(found, figure, is_parallel))


def payload_of_columns(columns: Sequence[Column], label: str) -> dict[str, Any]:
    """Return the payload of a table with one row, the tokens of a text under each tokenizer."""
    standings = [*map(verdict.standing, columns)]
    best = verdict.best(standings)
    counts = [one.tokens or None for one in standings]
    row = [
        Cell(f"{one.tokens:,}", shade, "fewest" if i in best else "", one.tokens)
        for i, (one, shade) in enumerate(zip(standings, _shades([counts])[0], strict=True))
    ]
    return _payload(label, ["", *(one.name for one in standings)], [ONE_ROW], [row])


def _payload(
    label: str, header: Sequence[str], names: Iterable[str], rows: Iterable[Sequence[Cell]]
) -> dict[str, Any]:
    content = {
        "label": label,
        "header": header,
        "rows": [
            {"name": name, "cells": [*map(tuple, row)]}
            for name, row in zip(names, rows, strict=True)
        ],
    }
    return content | {"key": digest_of(content)}


def cells(found: Comparison, figure: str, is_parallel: bool) -> list[list[Cell]]:
    """Return the cells of each text, shaded from the best to the worst.

    Args:
        found: The comparison.
        figure: One of `FIGURES`.
        is_parallel: Whether the texts are translations of each other. Otherwise their tokens are
            compared within a row only.
    """
    rows = by_text(found)
    values = [[_larger_is_worse(row, figure) for row in of_text] for of_text in rows.values()]
    if figure in ("tokens", "cost") and not is_parallel:
        values = [
            [one and one / min(filter(None, of_text)) for one in of_text] for of_text in values
        ]
    digits = _digits(found) if figure == "cost" else 2
    mark = "lowest" if figure == "cost" else "fewest"
    return [
        [
            Cell(_text(row, figure, digits), shade, mark if i in best else "", getattr(row, figure))
            for i, (row, shade) in enumerate(zip(of_text, shades, strict=True))
        ]
        for (name, of_text), shades in zip(rows.items(), _shades(values), strict=True)
        for best in [_best(of_text, figure, found.intervals[name])]
    ]


def _shades(values: Sequence[Sequence[float | None]]) -> list[list[float]]:
    """Return the shade of each value, from 0 for the least to 1, on a logarithmic scale."""
    known = [one for row in values for one in row if one]
    low, high = (log(min(known)), log(max(known))) if known else (0.0, 0.0)

    def shade(value: float | None) -> float:
        return round((log(value) - low) / (high - low), 2) if value and high > low else 0.0

    return [[*map(shade, row)] for row in values]


def _larger_is_worse(row: ComparedText, figure: str) -> float | None:
    """Return a figure, inverted if a larger one is better; None where it is not known."""
    value: float | None = getattr(row, figure)
    return 1 / value if value and figure == "bytes_per_token" else value


def _best(row: Sequence[ComparedText], figure: str, intervals: TextIntervals) -> list[int]:
    """Return the indices of the best cells of a row; none if all are equal, or in doubt."""
    if figure == "premium":
        best = leaders([one.premium and round(one.premium, 2) for one in row], intervals.premium)
    elif figure == "cost":
        best = _lowest_costs(row, intervals.tokens)
    elif figure == "tokens_per_word":
        best = []  # it has no interval
    else:
        best = [i for i, one in enumerate(row) if one.best]
    compared = sum(getattr(one, figure) is not None for one in row)
    return best if len(best) < len(row) and compared > 1 else []


def _lowest_costs(row: Sequence[ComparedText], ratios: Ratios | None) -> list[int]:
    """Return the indices of the lowest costs, or none in doubt."""
    costs = [None if one.unknown else one.cost for one in row]
    if ratios is not None:
        prices = np.array([(one.cost or 0.0) / (one.tokens or 1) for one in row])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = ratios * (prices[:, None] / prices)
    return leaders(costs, ratios)


def _digits(found: Comparison) -> int:
    """Return how many digits after the point show the smallest cost."""
    least = min((row.cost for row in found.rows if row.cost), default=1.0)
    return min(9, max(2, 2 - floor(log10(least))))


def _text(row: ComparedText, figure: str, digits: int) -> str:
    if figure == "tokens":
        return f"{row.tokens:,}"
    value = getattr(row, figure)
    interval = f" ({row.low:.2f} to {row.high:.2f})" if row.low is not None else ""
    return "–" if value is None else f"{value:,.{digits}f}" + interval * (figure == "premium")


def ordered(payload: Mapping[str, Any]) -> list[tuple[str, list[Cell]]]:
    """Return the name and the cells of each row of a payload, in the order that it is drawn in."""
    rows = [(row["name"], [Cell(*cell) for cell in row["cells"]]) for row in payload["rows"]]
    order = payload.get("sorted")
    keys = [payload["header"][0], *payload.get("opens", ())]
    columns = keys if order and order["column"] in keys else payload["header"]
    if not order or order["column"] not in columns:
        return rows
    column = columns.index(order["column"])
    if column == 0:
        return sorted(rows, key=lambda row: row[0], reverse=not order["isAscending"])

    def value(row: tuple[str, list[Cell]]) -> tuple[bool, float]:
        found = row[1][column - 1].value
        return found is None, (found or 0.0) * (1 if order["isAscending"] else -1)

    return sorted(rows, key=value)


def svg(
    found: Comparison,
    figure: str,
    payload: Mapping[str, Any],
    settings: Sequence[str] = (),
    link: str = "",
) -> str:
    """Return the table of a payload as an SVG drawing, below the verdict.

    Args:
        found: The comparison.
        figure: The figure of the table.
        payload: The payload of the table.
        settings: The settings of tokenizers, in words.
        link: The address that opens it again, or "".
    """
    notes = [f"{payload['label']}. {legend(figure)}"]
    if not found.special_tokens:
        notes.append(WITHOUT_SPECIAL)
    rows = ordered(payload)
    return table_svg.svg(found.verdict, payload["header"], rows, [*notes, *settings], link)


def figures(found: Comparison) -> list[Figure]:
    """Return the descriptions of the figures of tokenizers that are known."""
    return [fairness.FIGURES[name] for name in _known(found)]


def of_tokenizers(found: Comparison) -> Table:
    """Return the figures of each tokenizer over all texts, for readers."""
    costs = dict(total_costs(found))
    rows = [
        [
            one.tokenizer,
            f"{one.tokens:,}",
            *([costs.get(one.tokenizer, "–")] if costs else ()),
            *(fairness.shown(one, name) for name in _known(found)),
        ]
        for one in found.tokenizers
    ]
    names = ["Tokenizer", "Tokens", *["Cost"] * bool(costs)]
    names += [one.title for one in figures(found)]
    return Table(names, [*zip(*rows, strict=True)])


def total_costs(found: Comparison) -> list[tuple[str, str]]:
    """Return the tokenizers that have a price, each with the cost of all texts."""
    digits = _digits(found)
    return [
        (one.tokenizer, f"{one.cost:,.{digits}f}")
        for one in found.tokenizers
        if one.cost is not None
    ]


def _known(found: Comparison) -> list[str]:
    return [
        name
        for name in fairness.FIGURES
        if any(getattr(one, name) is not None for one in found.tokenizers)
    ]

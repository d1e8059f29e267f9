"""A comparison of many texts as a table: a row for each text, a column for each tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from itertools import compress
from math import log

import numpy as np

from bpeviz.analysis import figures
from bpeviz.analysis.compared_text import TOTALS, ComparedText
from bpeviz.analysis.comparison import Comparison, TextIntervals
from bpeviz.analysis.figures import Figure
from bpeviz.analysis.intervals import Ratios, leaders
from bpeviz.text import digest_of
from bpeviz.views.payloads import DotPlot, TextsTable
from bpeviz.views.table import Cell, Table

WITHOUT_SPECIAL = "Counts are without special tokens."


def legend(comparison: Comparison, figure: Figure) -> str:
    """Return what the shades and the marks of a table mean."""
    more = f"Darker: {figure.worse}."
    if figure is figures.tokens_per_word:
        return more
    return (
        f"{more} Framed: best. No frame: all are equal, or the difference may be chance (95% "
        f"bootstrap interval over {comparison.unit}s)."
    )


def chart_legend(comparison: Comparison, figure: Figure) -> str:
    """Return the order of the rows of a dot plot, and what its bars mean."""
    has_bars = figure is figures.premium and any(row.low for row in comparison.rows)
    bars = f"A thin bar is a 95% bootstrap interval over {comparison.unit}s." if has_bars else ""
    leading = [row for row in comparison.rows if row.tokenizer == comparison.leader]
    differ = len({getattr(row, figure.key) for row in leading}) > 1
    return f"{f'Rows are in the order of {comparison.leader}. ' * differ}{bars}".rstrip()


def title(figure: Figure, relative_to: str | None) -> str:
    """Return the title of a figure: of a premium, the text that it is relative to, if any."""
    return f"× {relative_to}" if figure is figures.premium and relative_to else figure.title


def explains(note: str, figure: Figure) -> bool:
    """Return whether a note of a comparison is about a figure, or about all of them."""
    others = {"premium": figures.premium, "tokens per word": figures.tokens_per_word}
    is_about = [other for name, other in others.items() if name in note]
    return not is_about or figure in is_about


def exact(comparison: Comparison) -> Table:
    """Return all figures of a comparison, one row for each text and tokenizer.

    The figures of a tokenizer over all texts are in each of its rows.
    """
    rows = comparison.rows
    totals = {total.tokenizer: vars(total) for total in comparison.tokenizers}
    *names, notes = (field.name for field in fields(ComparedText))
    columns = {name: [getattr(row, name) for row in rows] for name in names}
    for name in [*next(iter(totals.values()))][1:]:
        columns[f"all_texts_{name}"] = [totals[row.tokenizer][name] for row in rows]
    return Table.of(columns | {notes: ["; ".join(row.notes) for row in rows]})


def by_text(comparison: Comparison) -> dict[str, list[ComparedText]]:
    """Return the rows of each text, in the order of the tokenizers."""
    rows: dict[str, list[ComparedText]] = {}
    for row in comparison.rows:
        rows.setdefault(row.text, []).append(row)
    return rows


def payload(comparison: Comparison, figure: Figure, label: str) -> TextsTable:
    """Return the payload of the component `texts_table`.

    Args:
        comparison: The comparison.
        figure: The figure in the cells.
        label: The accessible name.
    """
    rows = by_text(comparison)
    names = [row.tokenizer for row in next(iter(rows.values()), ())]
    of_texts = zip(rows, cells(comparison, figure), strict=True)
    is_premium = figure is figures.premium
    axis = f"tokens relative to {comparison.relative_to}" if is_premium else figure.name
    plot: DotPlot = {
        "leader": names.index(comparison.leader),
        "axis": f"{axis} (logarithmic axis)",
        "unit": "×" * is_premium,
        "note": f"{label}. {chart_legend(comparison, figure)}".rstrip(),
    }
    data: TextsTable = {
        "key": "",
        "label": label,
        "header": ["Text", *names],
        "rows": [{"name": name, "cells": [*row]} for name, row in of_texts],
        "plot": plot if any(getattr(row, figure.key) for row in comparison.rows) else None,
    }
    data["key"] = digest_of(data)
    return data


def cells(comparison: Comparison, figure: Figure) -> list[list[Cell]]:
    """Return the cells of each text, shaded from the best to the worst of a row."""
    rows = by_text(comparison)
    key, mark = figure.key, "lowest" if figure is figures.cost else "fewest"
    values: list[list[float | None]] = [
        [getattr(row, key) for row in part] for part in rows.values()
    ]
    if figure.better == "more":
        values = [[value and 1 / value for value in part] for part in values]
    if figure is figures.cost:
        figure = _with_digits(comparison)
    return [
        [
            Cell(
                row.shown(figure),
                shade,
                mark if i in best else "",
                getattr(row, key),
                (row.low, row.high) if figure is figures.premium and row.low and row.high else None,
            )
            for i, (row, shade) in enumerate(zip(of_text, shades, strict=True))
        ]
        for (name, of_text), shades in zip(rows.items(), _shades(values), strict=True)
        for best in [_best(of_text, key, comparison.intervals[name])]
    ]


def _shades(values: Sequence[Sequence[float | None]]) -> list[list[float]]:
    """Return the shade of each value, from 0 for the least of a row to 1, on a logarithmic scale.

    A shade of 1 is the largest ratio in any row.
    """
    logs = [[log(value) if value else None for value in row] for row in values]
    least = [min((value for value in row if value is not None), default=0.0) for row in logs]
    above = [
        [0.0 if value is None else value - low for value in row]
        for row, low in zip(logs, least, strict=True)
    ]
    most = max((value for row in above for value in row), default=0.0) or 1.0
    return [[round(value / most, 2) for value in row] for row in above]


def _best(row: Sequence[ComparedText], key: str, intervals: TextIntervals) -> list[int]:
    """Return the indices of the best cells of a row; none if all are equal, or in doubt."""
    if key == figures.premium.key:
        premiums = [text.premium and round(text.premium, 2) for text in row]
        best = leaders(premiums, intervals.premium)
    elif key == figures.cost.key:
        best = _lowest_costs(row, intervals.tokens)
    elif key == figures.tokens_per_word.key:
        best = []  # it has no interval
    else:
        best = [i for i, text in enumerate(row) if text.best]
    compared = sum(getattr(text, key) is not None for text in row)
    return best if len(best) < len(row) and compared > 1 else []


def _lowest_costs(row: Sequence[ComparedText], ratios: Ratios | None) -> list[int]:
    """Return the indices of the lowest costs, or none in doubt."""
    costs = [None if text.unknown else text.cost for text in row]
    if ratios is not None:
        prices = np.array([(text.cost or 0.0) / (text.tokens or 1) for text in row])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = ratios * (prices[:, None] / prices)
    return leaders(costs, ratios)


def _with_digits(comparison: Comparison) -> Figure:
    return figures.cost_in(row.cost for row in comparison.rows)


def of_texts(comparison: Comparison, columns: Sequence[Figure]) -> Table:
    """Return figures of each text under each tokenizer, for readers."""
    rows = comparison.rows
    names = {"Text": [row.text for row in rows], "Tokenizer": [row.tokenizer for row in rows]}
    return Table.of(
        names | {figure.title: [row.shown(figure) for row in rows] for figure in columns}
    )


def totals(comparison: Comparison) -> list[Figure]:
    """Return the figures of tokenizers over all texts that are known."""
    rows = comparison.tokenizers
    known = [any(getattr(row, key) is not None for row in rows) for key in TOTALS]
    return [*compress(TOTALS.values(), known)]


def of_tokenizers(comparison: Comparison) -> Table:
    """Return the figures of each tokenizer over all texts, for readers."""
    rows = comparison.tokenizers
    known = [figures.tokens, *[_with_digits(comparison)] * bool(total_costs(comparison))]
    columns = {
        figure.title: [row.shown(figure) for row in rows] for figure in known + totals(comparison)
    }
    return Table.of({"Tokenizer": [row.tokenizer for row in rows]} | columns)


def total_costs(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the tokenizers that have a price, each with the cost of all texts."""
    figure = _with_digits(comparison)
    rows = [row for row in comparison.tokenizers if row.cost is not None]
    return [(row.tokenizer, row.shown(figure)) for row in rows]

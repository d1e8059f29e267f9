"""Short tables as HTML, with one tab stop each.

`st.dataframe` has five tab stops, draws on a canvas, and makes the browser load a data grid.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import streamlit as st

from bpeviz.text import without_formula
from bpeviz.views.html_table import table
from bpeviz.views.tables import Table

__all__ = ["MOST_ROWS", "csv", "draw", "offer_file", "table"]

MOST_ROWS = 200
"""Longer tables need the search and the speed of `st.dataframe`."""


def draw(
    shown: Table,
    key: str,
    *,
    label: str,
    right: Collection[str] = (),
    scrolls: bool = False,
    grouped: bool = False,
    download: bool = False,
) -> None:
    """Draw a table; columns of numbers are right-aligned.

    Args:
        shown: The table.
        key: The key of the element, and the name of its file.
        label: The accessible name.
        right: The names of right-aligned columns of texts.
        scrolls: Whether a high table scrolls.
        grouped: Whether to separate the thousands of integers.
        download: Whether to offer the table as a file.
    """
    if len(shown) > MOST_ROWS:
        st.dataframe(shown.frame(), hide_index=True, height=316, key=key)
        return
    columns = zip(shown.names, shown.columns, strict=True)
    numbers = {name for name, values in columns if _are_numbers(values)}
    rows = [[_text(value, grouped=grouped) for value in row] for row in shown.rows]
    st.html(table(shown.names, rows, label=label, right={*right, *numbers}, scrolls=scrolls))
    if download:
        offer_file(shown, key, label)


def offer_file(shown: Table, key: str, label: str) -> None:
    """Draw a button that downloads a table as CSV.

    Args:
        shown: The table.
        key: The name of the file.
        label: The name of the table.
    """
    st.download_button(
        "Download CSV",
        # On demand: a browser fetches finished content at once, to check its address.
        lambda: csv(shown).encode("utf-8-sig"),
        f"{key.replace('_', '-').replace(' ', '-')}.csv",
        "text/csv",
        key=f"{key} as a file",
        icon=":material/download:",
        help=f"Download the table “{label}”.",
        type="tertiary",
        on_click="ignore",
    )


def csv(shown: Table) -> str:
    """Return a table as CSV for a spreadsheet, without cells that it takes for formulas."""
    header = [str(without_formula(name)) for name in shown.names]
    safe: str = shown.frame().map(without_formula).to_csv(index=False, header=header)
    return safe


def _are_numbers(values: Sequence[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float | np.integer) for value in known)


def _text(value: object, *, grouped: bool = False) -> str:
    """Return a cell's text: at most four digits of a fraction, and nothing for a missing value.

    >>> _text(0.00132174), _text(12345.6), _text(-1.5), _text(7), _text(None)
    ('0.001322', '12,346', '-1.5', '7', '')
    """
    if value is None or value != value:  # None or NaN
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if grouped and isinstance(value, int | np.integer) else str(value)

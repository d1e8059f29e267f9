"""Short tables as HTML, with one tab stop each.

`st.dataframe` has five tab stops, draws on a canvas, and makes the browser load a data grid.
"""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from bpeviz.views.table import Table

MOST_ROWS = 200
"""Longer tables need the search and the speed of `st.dataframe`."""

ROWS = 8
"""The visible rows of a table that scrolls."""

HEIGHT = 2 + 35 * (1 + ROWS)
"""Pixels of a table that scrolls: a border, its head and whole rows."""


def draw_table(
    table: Table,
    key: str,
    *,
    label: str,
    right: Collection[str] = (),
    grouped: bool = False,
    download: bool = False,
) -> None:
    """Draw a table; columns of numbers are right-aligned.

    Args:
        table: The table.
        key: The key of the element, and the name of its file.
        label: The accessible name.
        right: The names of right-aligned columns of texts.
        grouped: Whether to separate the thousands of integers.
        download: Whether to offer the table as a file.
    """
    if len(table) > MOST_ROWS:
        st.dataframe(table.frame(), hide_index=True, height=HEIGHT, key=key)
        st.caption(f"{len(table) - ROWS:,} more: scroll, or search in the table.")
        return
    st.html(table.html(label, right=right, grouped=grouped))
    if download:
        offer_file(table, key, label)


def offer_file(table: Table, key: str, label: str) -> None:
    """Draw a button that downloads a table as CSV.

    Args:
        table: The table.
        key: The name of the file.
        label: The name of the table.
    """
    st.download_button(
        "Download CSV",
        # On demand: a browser fetches finished content at once, to check its address.
        lambda: table.csv().encode("utf-8-sig"),
        f"{key.replace('_', '-').replace(' ', '-')}.csv",
        "text/csv",
        key=f"{key} as a file",
        icon=":material/download:",
        help=f"Download the table “{label}”.",
        type="tertiary",
        on_click="ignore",
    )
